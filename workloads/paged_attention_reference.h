// SPDX-License-Identifier: Apache-2.0
// What paged_attention must give: softmax(q k / sqrt(D)) v over the whole context of a row, in
// double. That the kernels round their weights to bfloat16 is left to the tolerance.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "tidemark/session/entry_data.h"
#include "tidemark/session/workload_entry.h"
#include "workloads/paged_attention_data.h"
#include "workloads/seeded_numbers.h"

namespace tidemark {

class AttentionReference {
 public:
  explicit AttentionReference(const EntryData& data)
      : query_(data.values<Bfloat16>(AttentionData::kQuery)),
        keys_(data.values<Bfloat16>(AttentionData::kKeys)),
        values_(data.values<Bfloat16>(AttentionData::kValues)),
        table_(data.values<std::int32_t>(AttentionData::kTable)),
        contexts_(data.values<std::int32_t>(AttentionData::kContexts)) {
    const TensorShape& cache = data.buffers()[AttentionData::kKeys].shape;
    heads_ = data.buffers()[AttentionData::kQuery].shape.extent[1];
    block_size_ = cache.extent[1];
    head_size_ = cache.extent[3];
    table_width_ = table_.size() / contexts_.size();
  }

  [[nodiscard]] std::uint64_t sequences() const { return contexts_.size(); }
  [[nodiscard]] std::uint64_t heads() const { return heads_; }
  [[nodiscard]] std::uint64_t head_size() const { return head_size_; }
  // Multiplications that all rows together take.
  [[nodiscard]] double work() const {
    double positions = 0;
    for (const std::int32_t context : contexts_) positions += context;
    return positions * 2 * static_cast<double>(heads_ * head_size_);
  }

  [[nodiscard]] std::vector<double> row(std::uint64_t sequence, std::uint64_t head) const {
    const auto context = static_cast<std::uint64_t>(contexts_[sequence]);
    const Bfloat16* q = &query_[(sequence * heads_ + head) * head_size_];
    std::vector<double> query(head_size_), weights(context), result(head_size_, 0.0);
    for (std::uint64_t i = 0; i < head_size_; ++i) query[i] = as_double(q[i]);
    for (std::uint64_t at = 0; at < context; ++at) {
      const Bfloat16* key = position(keys_, sequence, at);
      double score = 0;
      for (std::uint64_t i = 0; i < head_size_; ++i) score += query[i] * as_double(key[i]);
      weights[at] = score / std::sqrt(static_cast<double>(head_size_));
    }
    const double largest = *std::max_element(weights.begin(), weights.end());
    double sum = 0;
    for (double& weight : weights) sum += weight = std::exp(weight - largest);
    for (std::uint64_t at = 0; at < context; ++at) {
      const Bfloat16* value = position(values_, sequence, at);
      const double weight = weights[at] / sum;
      for (std::uint64_t i = 0; i < head_size_; ++i) result[i] += weight * as_double(value[i]);
    }
    return result;
  }

 private:
  static double as_double(Bfloat16 value) { return static_cast<double>(value.to_float()); }
  [[nodiscard]] const Bfloat16* position(std::span<const Bfloat16> cache, std::uint64_t sequence,
                                         std::uint64_t at) const {
    const auto block =
        static_cast<std::uint64_t>(table_[sequence * table_width_ + at / block_size_]);
    return &cache[(block * block_size_ + at % block_size_) * head_size_];
  }

  std::span<const Bfloat16> query_, keys_, values_;
  std::span<const std::int32_t> table_, contexts_;
  std::uint64_t heads_ = 0, head_size_ = 0, block_size_ = 0, table_width_ = 0;
};

// Larger cases are compared in part: so many rows, of every sequence as many, heads by the seed.
inline constexpr double kAttentionWorkMax = 1e8;
inline constexpr std::uint64_t kAttentionRowsCompared = 512;

inline ResultCheck check_attention(std::uint64_t seed, const EntryData& data) {
  const AttentionReference reference(data);
  const auto out = data.values<float>(AttentionData::kOut);
  const auto unwritten =
      std::count_if(out.begin(), out.end(), [](float value) { return !std::isfinite(value); });
  if (unwritten > 0)
    return {false, fmt::format("{} of {} elements of out are not finite or were not written",
                               unwritten, out.size())};

  const std::uint64_t heads = reference.heads(), head_size = reference.head_size();
  const std::uint64_t wanted =
      (kAttentionRowsCompared + reference.sequences() - 1) / reference.sequences();
  const std::uint64_t compared =
      reference.work() <= kAttentionWorkMax ? heads : std::min(heads, wanted);
  const SeededNumbers random(seed, AttentionData::kOut);
  ResultComparison comparison("out", 1e-3, 1e-3);
  for (std::uint64_t sequence = 0; sequence < reference.sequences(); ++sequence)
    for (std::uint64_t i = 0; i < compared; ++i) {
      const std::uint64_t head = (random.word(sequence) % heads + i * heads / compared) % heads;
      const std::vector<double> expected = reference.row(sequence, head);
      const std::uint64_t first = (sequence * heads + head) * head_size;
      for (std::uint64_t element = 0; element < head_size; ++element)
        comparison.add(first + element, static_cast<double>(out[first + element]),
                       expected[element]);
    }
  ResultCheck check = comparison.result();
  if (compared < heads)
    check.text += fmt::format("; compared {} of {} rows, every element is finite",
                              compared * reference.sequences(), heads * reference.sequences());
  return check;
}

}  // namespace tidemark
