// SPDX-License-Identifier: Apache-2.0
// A frame of the dump that several threads make is the one that one thread makes, whatever the
// view, how much of it is kept, and how the frame is cut into fragments. Mean and l2 are sums, in
// another order.
#include <cmath>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tidemark/base/testing/seed_range.h"
#include "tidemark/device/sim/threaded_block.h"
#include "tidemark/runtime/dump/block_dump_source.h"
#include "tidemark/runtime/dump/dump_source.h"

namespace tidemark {
namespace {

using Bytes = std::vector<unsigned char>;
using Block = ThreadedSimBlock<SimEnv>;

struct Tensor {
  TensorView view;
  Bytes memory;
};

Tensor random_tensor(std::mt19937_64& random) {
  const auto below = [&](std::uint64_t bound) { return random() % bound; };
  TensorShape shape{.rank = static_cast<std::uint32_t>(below(4)), .extent = {}};
  for (std::uint32_t i = 0; i < shape.rank; ++i) shape.extent[i] = 1 + below(12);
  const auto dtype = static_cast<DType>(below(kDTypeCount));
  Tensor made{.view = TensorView::row_major(below(3) * 8, dtype, shape), .memory = {}};
  for (std::uint32_t i = 0; i < shape.rank; ++i) {
    const auto first = below(made.view.shape.extent[i]);
    if (below(2) == 0) made.view = made.view.slice(i, first, made.view.shape.extent[i] - first);
    if (below(4) == 0) made.view = made.view.transpose(i, 0);
  }
  made.memory.resize(made.view.buffer + (made.view.end_element() + 1) * dtype_bytes(dtype));
  for (auto& byte : made.memory) byte = static_cast<unsigned char>(below(4) == 0 ? 0 : random());
  return made;
}

DumpHeader header_for(const TensorView& view, std::uint64_t payload_bytes) {
  DumpHeader header;
  describe_tensor(header, {.view = view, .access = Access::kInput});
  header.task_id = 77;
  header.flags = kDumpHasStats;
  header.payload_bytes = std::min(payload_bytes, header.logical_bytes);
  return header;
}

Bytes by_one_thread(const Tensor& of, const DumpHeader& header) {
  DumpSource source(header, of.memory.data(), &of.view);
  Bytes frame(DumpSource::total_bytes(header));
  source.read(frame.data(), frame.size());
  return frame;
}

// The lengths are of fragments: whole quanta, but for the last one.
Bytes by_threads(const Tensor& of, const DumpHeader& header, std::uint32_t threads,
                 const std::vector<std::uint64_t>& lengths) {
  std::uint64_t quanta = 0;
  for (const std::uint64_t length : lengths) quanta += (length + 15) / 16;
  std::vector<SharedQuantum> stored(quanta);
  BlockTeam team(threads);
  const auto work = [&](std::uint32_t thread) {
    Block block(team, thread);
    DumpHeader mine = header;
    if (thread != 0) mine.task_id = ~thread;  // thread 0's is the one
    BlockDumpSource<Block> source(block, mine, of.memory.data(), &of.view);
    std::uint64_t at = 0;
    for (const std::uint64_t length : lengths) {
      source.store(stored.data() + at, length);
      at += (length + 15) / 16;
      block.sync();
    }
  };
  std::vector<std::jthread> others;
  for (std::uint32_t thread = 1; thread < threads; ++thread) others.emplace_back(work, thread);
  work(0);
  others.clear();
  Bytes frame(DumpSource::total_bytes(header));
  for (std::uint64_t i = 0; i < frame.size(); ++i) {
    std::uint64_t words[2];
    stored[i / 16].load_own(words[0], words[1]);
    frame[i] = static_cast<unsigned char>(words[i % 16 / 8] >> (8 * (i % 8)));
  }
  return frame;
}

DumpStats stats_in(const Bytes& frame) {
  DumpStats stats;
  std::memcpy(&stats, frame.data() + frame.size() - sizeof(stats), sizeof(stats));
  return stats;
}

void expect_same(const Bytes& got, const Bytes& want) {
  ASSERT_EQ(got.size(), want.size());
  const auto before_stats = static_cast<std::ptrdiff_t>(want.size() - sizeof(DumpStats));
  ASSERT_TRUE(std::equal(want.begin(), want.begin() + before_stats, got.begin()));
  const DumpStats stats = stats_in(got), alone = stats_in(want);
  EXPECT_EQ(stats.hash, alone.hash);
  EXPECT_EQ(stats.nan, alone.nan);
  EXPECT_EQ(stats.inf, alone.inf);
  EXPECT_EQ(stats.zero, alone.zero);
  EXPECT_EQ(stats.min, alone.min);
  EXPECT_EQ(stats.max, alone.max);
  if (!std::isfinite(alone.l2)) return;
  EXPECT_NEAR(stats.mean, alone.mean, alone.l2 * 1e-12);
  EXPECT_NEAR(stats.l2, alone.l2, alone.l2 * 1e-12);
}

TEST(ThreadedDump, MakesTheFrameThatOneThreadMakes) {
  std::mt19937_64 random(5);
  for (std::uint64_t round = 0; round < fewer_under_sanitizer(1000); ++round) {
    SCOPED_TRACE(round);
    const Tensor tensor = random_tensor(random);
    const std::uint64_t kept[] = {0, random() % 40 * 8, ~std::uint64_t{0}};
    const DumpHeader header = header_for(tensor.view, kept[random() % 3]);
    std::vector<std::uint64_t> lengths;
    for (std::uint64_t left = DumpSource::total_bytes(header); left > 0; left -= lengths.back())
      lengths.push_back(std::min(left, 16 * (1 + random() % 30)));
    const auto threads = static_cast<std::uint32_t>(1 + random() % 4);
    expect_same(by_threads(tensor, header, threads, lengths), by_one_thread(tensor, header));
    if (HasFailure()) break;
  }
}

}  // namespace
}  // namespace tidemark
