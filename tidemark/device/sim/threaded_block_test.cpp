// SPDX-License-Identifier: Apache-2.0
// A block of several threads: what it promises to kernels holds for every number of threads, and
// one thread gives the same.
#include "tidemark/device/sim/threaded_block.h"

#include <array>
#include <numeric>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace tidemark {
namespace {

using Threaded = ThreadedSimBlock<SimEnv>;
static_assert(KernelBlock<Threaded> && KernelBlock<BasicSimBlock<SimEnv>>);
static_assert(BasicSimBlock<SimEnv>::kThreads == 1 && Threaded::kThreads == 0);

// work(block) on every thread of a block.
template <class Work>
void run_block(std::uint32_t threads, const Work& work) {
  BlockTeam team(threads);
  std::vector<std::jthread> running;
  for (std::uint32_t thread = 0; thread < threads; ++thread)
    running.emplace_back([&, thread] {
      Threaded block(team, thread);
      work(block);
    });
}

constexpr std::array kSizes{1u, 2u, 3u, 4u, 7u};

TEST(ThreadedBlock, NumbersItsThreadsWarpsAndLanes) {
  for (const std::uint32_t threads : kSizes) {
    std::vector<std::uint32_t> seen(threads);
    run_block(threads, [&](Threaded& block) {
      EXPECT_EQ(block.threads(), threads);
      EXPECT_EQ(block.warp() * Threaded::kWarpThreads + block.lane(), block.thread());
      ++seen[block.thread()];
    });
    EXPECT_EQ(std::set<std::uint32_t>(seen.begin(), seen.end()), std::set<std::uint32_t>{1});
  }
}

TEST(ThreadedBlock, SyncIsBetweenWhatOneWritesAndAnotherReads) {
  for (const std::uint32_t threads : kSizes) {
    std::vector<std::uint32_t> turns(threads, 0);  // not atomic: the barrier orders it
    run_block(threads, [&](Threaded& block) {
      for (std::uint32_t turn = 1; turn <= 50; ++turn) {
        turns[block.thread()] = turn;
        block.sync();
        EXPECT_EQ(turns[(block.thread() + 1) % threads], turn);
        block.sync();
      }
    });
  }
}

// Long enough that the others sleep.
TEST(ThreadedBlock, WhoSleepsAtABarrierIsWoken) {
  int written = 0;
  run_block(4, [&](Threaded& block) {
    if (block.thread() == 3) {
      Threaded::wait_ns(50'000'000);
      written = 7;
    }
    block.sync();
    EXPECT_EQ(written, 7);
  });
}

struct Wide {
  std::uint64_t words[20];
  std::uint8_t last;
};

TEST(ThreadedBlock, BroadcastGivesEverybodyTheValueOfTheFirst) {
  for (const std::uint32_t threads : kSizes)
    run_block(threads, [&](Threaded& block) {
      for (std::uint64_t round = 0; round < 10; ++round) {
        Wide mine{};
        for (auto& word : mine.words) word = round * 100 + block.thread();
        mine.last = static_cast<std::uint8_t>(block.thread());
        const Wide first = block.broadcast(mine);
        for (const auto word : first.words) EXPECT_EQ(word, round * 100);
        EXPECT_EQ(first.last, 0);
        EXPECT_EQ(block.broadcast(static_cast<std::uint16_t>(block.thread() + 5)), 5);
      }
    });
}

// Digits: an operation whose order shows.
TEST(ThreadedBlock, ReduceKeepsTheOrderOfTheThreads) {
  struct Digits {
    std::uint64_t value, scale;
  };
  for (const std::uint32_t threads : kSizes) {
    Digits wanted{0, 1};
    for (std::uint32_t i = 0; i < threads; ++i)
      wanted = {wanted.value * 10 + i % 10, wanted.scale * 10};
    run_block(threads, [&](Threaded& block) {
      for (int round = 0; round < 10; ++round) {
        const Digits all =
            block.reduce(Digits{block.thread() % 10, 10}, [](const Digits& a, const Digits& b) {
              return Digits{a.value * b.scale + b.value, a.scale * b.scale};
            });
        EXPECT_EQ(all.value, wanted.value);
        const auto largest = block.reduce(
            block.thread(), [](std::uint32_t a, std::uint32_t b) { return a > b ? a : b; });
        EXPECT_EQ(largest, threads - 1);
      }
    });
  }
}

TEST(ThreadedBlock, CopyBringsEveryByteAndNoOther) {
  std::vector<unsigned char> from(5000);
  std::iota(from.begin(), from.end(), static_cast<unsigned char>(1));
  for (const std::uint32_t threads : kSizes)
    for (const std::size_t bytes : {0u, 1u, 64u, 65u, 255u, 4097u}) {
      std::vector<unsigned char> to(5000, 0);
      run_block(threads, [&](Threaded& block) {
        block.copy(to.data() + 3, from.data(), bytes);
        block.sync();
        EXPECT_TRUE(std::equal(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(bytes),
                               to.begin() + 3));
        EXPECT_EQ(to[2] + to[bytes + 3], 0);
      });
    }
}

template <class Block>
void multiply(Block& block, std::vector<float>& out) {
  constexpr TileShape kShape{.rows = 5, .inner = 9, .columns = 48};
  std::vector<float> left(kShape.rows * kShape.inner), right(kShape.inner * kShape.columns);
  for (std::size_t i = 0; i < left.size(); ++i) left[i] = static_cast<float>(i % 7) - 3.1f;
  for (std::size_t i = 0; i < right.size(); ++i) right[i] = static_cast<float>(i % 11) * 0.3f;
  block.multiply_tile(kShape, left.data(), right.data(), out.data());
}

TEST(ThreadedBlock, MultipliesTilesAsOneThreadDoes) {
  BasicSimBlock<SimEnv> solo;
  std::vector<float> alone(5 * 48);
  multiply(solo, alone);
  float sum = 0;  // row 0, column 1
  for (std::size_t k = 0; k < 9; ++k)
    sum += (static_cast<float>(k % 7) - 3.1f) * static_cast<float>((k * 48 + 1) % 11) * 0.3f;
  EXPECT_NEAR(alone[1], sum, 1e-4f);
  for (const std::uint32_t threads : kSizes) {
    std::vector<float> together(5 * 48);
    run_block(threads, [&](Threaded& block) { multiply(block, together); });
    EXPECT_EQ(together, alone) << threads;
  }
}

TEST(ThreadedBlock, SharedMemoryIsTheSameForAllAndDirty) {
  run_block(4, [&](Threaded& block) {
    for (std::uint32_t round = 0; round < 5; ++round) {
      block.open_shared(1024);
      const auto* bytes = block.shared<unsigned char>(3);
      auto* words = block.shared<std::uint64_t>(4);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(words) % alignof(std::uint64_t), 0u);
      EXPECT_EQ(bytes[0], 0xFF);
      block.sync();
      words[block.thread()] = round + block.thread();
      block.sync();
      EXPECT_EQ(words[(block.thread() + 1) % 4], round + (block.thread() + 1) % 4);
      block.close_shared();
      block.sync();
    }
    EXPECT_EQ(block.shared_overrun(), 0u);
  });
}

template <class Block>
void ask_for_too_much(Block& block) {
  block.open_shared(64);
  block.template shared<float>(8);
  EXPECT_EQ(block.shared_overrun(), 0u);
  auto* more = block.template shared<double>(5);
  more[4] = 1;  // a kernel that does not look is named, not a crash
  EXPECT_EQ(block.shared_overrun(), 72u);
  block.close_shared();
  EXPECT_NE(block.template shared<char>(1), nullptr) << "nothing was declared";
}

TEST(ThreadedBlock, WhoAsksForMoreThanWasDeclaredIsSeen) {
  BasicSimBlock<SimEnv> solo;
  ask_for_too_much(solo);
  run_block(3, [](Threaded& block) { ask_for_too_much(block); });
}

}  // namespace
}  // namespace tidemark
