// SPDX-License-Identifier: Apache-2.0
// The cases of paged_attention and their inputs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "tidemark/base/check.h"
#include "tidemark/session/entry_data.h"
#include "tidemark/session/workload_entry.h"
#include "workloads/seeded_numbers.h"

namespace tidemark {

// Which tensor of the entry is which.
struct AttentionData {
  static constexpr std::uint32_t kQuery = 0;     // [sequences, heads, head size] bfloat16
  static constexpr std::uint32_t kKeys = 1;      // [blocks, block size, 1, head size] bfloat16
  static constexpr std::uint32_t kValues = 2;    // as the keys
  static constexpr std::uint32_t kTable = 3;     // [sequences, most blocks of a sequence] int32
  static constexpr std::uint32_t kContexts = 4;  // [sequences] int32
  static constexpr std::uint32_t kOut = 5;       // [sequences, heads, head size] float32
};

struct AttentionCase {
  std::string name;
  std::uint64_t heads, head_size, block_size;
  std::vector<std::int32_t> contexts;  // one per sequence

  [[nodiscard]] std::uint64_t blocks_of(std::int32_t context) const {
    return (static_cast<std::uint64_t>(context) + block_size - 1) / block_size;
  }
};

inline std::vector<AttentionCase> all_attention_cases() {
  const auto same = [](std::size_t sequences, std::int32_t context) {
    return std::vector<std::int32_t>(sequences, context);
  };
  return {{"Small1", 16, 16, 16, {33}},
          {"Small2", 16, 16, 16, {128}},
          {"VarSeq2", 16, 16, 16, {33, 17}},
          {"VarSeq4", 16, 16, 16, {33, 64, 128, 15}},
          {"Case1", 16, 128, 128, same(256, 8192)},
          {"Case2", 64, 128, 64, same(64, 8192)}};
}

inline std::vector<WorkloadCase> attention_cases() {
  std::vector<WorkloadCase> cases;
  for (const auto& one : all_attention_cases()) {
    const auto [least, most] = std::minmax_element(one.contexts.begin(), one.contexts.end());
    cases.push_back(
        {one.name, fmt::format("{} sequences, {} heads of {}, blocks of {}, contexts {}",
                               one.contexts.size(), one.heads, one.head_size, one.block_size,
                               *least == *most ? fmt::format("{}", *most)
                                               : fmt::format("{} to {}", *least, *most))});
  }
  return cases;
}

inline AttentionCase find_attention_case(const std::string& name) {
  const auto cases = all_attention_cases();
  if (name.empty()) return cases.front();
  const auto found = std::ranges::find(cases, name, &AttentionCase::name);
  TM_CHECK(found != cases.end());
  return *found;
}

// The cache has at most so many blocks. Long sequences share them, as requests with a common
// beginning do in a prefix cache; a block comes at most once in a sequence.
inline constexpr std::uint64_t kPhysicalBlocksMax = 512;

// 0 .. count - 1, shuffled.
inline std::vector<std::int32_t> shuffled_blocks(std::uint64_t seed, std::uint64_t count) {
  const SeededNumbers random(seed, AttentionData::kTable);
  std::vector<std::int32_t> blocks(count);
  std::iota(blocks.begin(), blocks.end(), 0);
  for (std::uint64_t i = count; i > 1; --i) std::swap(blocks[i - 1], blocks[random.word(i) % i]);
  return blocks;
}

inline void prepare_attention(const WorkloadSetup& setup, EntryData& data) {
  const AttentionCase shape = find_attention_case(setup.case_name);
  const std::uint64_t sequences = shape.contexts.size();
  std::uint64_t blocks = 0, table_width = 0;
  for (const std::int32_t context : shape.contexts) {
    blocks += shape.blocks_of(context);
    table_width = std::max(table_width, shape.blocks_of(context));
  }
  const auto order = shuffled_blocks(setup.seed, std::min(blocks, kPhysicalBlocksMax));
  std::vector<std::int32_t> table(sequences * table_width, -1);  // -1: not to be looked at
  std::uint64_t next = 0;
  for (std::uint64_t sequence = 0; sequence < sequences; ++sequence)
    for (std::uint64_t i = 0; i < shape.blocks_of(shape.contexts[sequence]); ++i)
      table[sequence * table_width + i] = order[next++ % order.size()];

  const auto random = [&](std::uint32_t stream) {
    return [numbers = SeededNumbers(setup.seed, stream)](std::uint64_t i) {
      return Bfloat16::from_float(numbers.number(i));
    };
  };
  const TensorShape rows{3, {sequences, shape.heads, shape.head_size}};
  const TensorShape cache{4, {order.size(), shape.block_size, 1, shape.head_size}};
  data.add<Bfloat16>(rows, random(AttentionData::kQuery));
  data.add<Bfloat16>(cache, random(AttentionData::kKeys));
  data.add<Bfloat16>(cache, random(AttentionData::kValues));
  data.add<std::int32_t>({2, {sequences, table_width}}, [&](std::uint64_t i) { return table[i]; });
  data.add<std::int32_t>({1, {sequences}}, [&](std::uint64_t i) { return shape.contexts[i]; });
  data.add<float>(rows, [](std::uint64_t) { return NAN; });  // what stays NaN was not written
}

}  // namespace tidemark
