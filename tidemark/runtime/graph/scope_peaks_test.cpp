// SPDX-License-Identifier: Apache-2.0
// The peaks of open scopes against a model that remembers everything that was seen in each of them.
#include "tidemark/runtime/graph/scope_peaks.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

namespace tidemark {
namespace {

void expect_equal(const ScopePeaks& peaks, const ScopePeaks& expected) {
  for (std::uint32_t ring = 0; ring < kRingCount; ++ring) {
    EXPECT_EQ(peaks.tasks[ring], expected.tasks[ring]) << "ring " << ring;
    EXPECT_EQ(peaks.heap_bytes[ring], expected.heap_bytes[ring]) << "ring " << ring;
    EXPECT_EQ(peaks.deps[ring], expected.deps[ring]) << "ring " << ring;
    EXPECT_EQ(peaks.fanin[ring], expected.fanin[ring]) << "ring " << ring;
    EXPECT_EQ(peaks.heap_request[ring], expected.heap_request[ring]) << "ring " << ring;
    EXPECT_EQ(peaks.args_bytes[ring], expected.args_bytes[ring]) << "ring " << ring;
  }
  EXPECT_EQ(peaks.map_entries, expected.map_entries);
}

struct Taking {
  Resource resource = Resource::kNone;
  std::uint32_t ring = 0;
  std::uint64_t used = 0;
  std::uint64_t taken = 0;
};

// What was found at a scope's begin and taken inside it or inside scopes within it, all of it.
struct ModelScope {
  std::vector<ScopePeaks> found;
  std::vector<Taking> takings;

  template <class Value>
  [[nodiscard]] std::uint64_t most(Resource resource, std::uint32_t ring, const Value& value,
                                   std::uint64_t Taking::*taken) const {
    std::uint64_t most = 0;
    for (const ScopePeaks& seen : found) most = std::max<std::uint64_t>(most, value(seen));
    for (const Taking& taking : takings)
      if (taking.resource == resource && taking.ring == ring) most = std::max(most, taking.*taken);
    return most;
  }
  [[nodiscard]] ScopePeaks peaks() const {
    ScopePeaks all;
    for (std::uint32_t ring = 0; ring < kRingCount; ++ring) {
      const auto count = [&](Resource resource, std::uint32_t(ScopePeaks::*counts)[kRingCount]) {
        return static_cast<std::uint32_t>(most(
            resource, ring, [&](const ScopePeaks& seen) { return (seen.*counts)[ring]; },
            &Taking::used));
      };
      all.tasks[ring] = count(Resource::kTaskWindow, &ScopePeaks::tasks);
      all.deps[ring] = count(Resource::kDepPool, &ScopePeaks::deps);
      all.fanin[ring] = count(Resource::kFanin, &ScopePeaks::fanin);
      all.heap_bytes[ring] = most(
          Resource::kHeap, ring, [&](const ScopePeaks& seen) { return seen.heap_bytes[ring]; },
          &Taking::used);
      all.heap_request[ring] = most(
          Resource::kHeap, ring, [&](const ScopePeaks& seen) { return seen.heap_request[ring]; },
          &Taking::taken);
      all.args_bytes[ring] = most(
          Resource::kArguments, ring, [&](const ScopePeaks& seen) { return seen.args_bytes[ring]; },
          &Taking::used);
      // The map is one for all rings.
      all.map_entries =
          std::max(all.map_entries,
                   static_cast<std::uint32_t>(most(
                       Resource::kTensorMap, ring,
                       [](const ScopePeaks& seen) { return seen.map_entries; }, &Taking::used)));
    }
    return all;
  }
};

class ModelStack {
 public:
  [[nodiscard]] std::size_t depth() const { return scopes_.size(); }
  void open(const ScopePeaks& occupancy) {
    scopes_.emplace_back();
    for (ModelScope& scope : scopes_) scope.found.push_back(occupancy);
  }
  void took(const Taking& taking) {
    for (ModelScope& scope : scopes_) scope.takings.push_back(taking);
  }
  ScopePeaks close() {
    const ScopePeaks peaks = scopes_.back().peaks();
    scopes_.pop_back();
    return peaks;
  }

 private:
  std::vector<ModelScope> scopes_;
};

ScopePeaks random_occupancy(std::mt19937_64& random) {
  ScopePeaks now;
  for (std::uint32_t ring = 0; ring < kRingCount; ++ring) {
    now.tasks[ring] = random() % 100;
    now.heap_bytes[ring] = (random() % 100) << 32;
    now.deps[ring] = random() % 100;
    now.fanin[ring] = random() % 100;
    now.args_bytes[ring] = (random() % 100) << 32;
  }
  now.map_entries = random() % 100;
  return now;
}

Taking random_taking(std::mt19937_64& random) {
  const auto resource = static_cast<Resource>(random() % kResourceCount);
  const bool bytes = resource == Resource::kHeap || resource == Resource::kArguments;
  return {.resource = resource,
          .ring = static_cast<std::uint32_t>(random() % kRingCount),
          .used = (random() % 120) << (bytes ? 32 : 0),
          .taken = random() % 10'000};
}

TEST(PeakStack, AgreesWithAModelThatRemembersEverything) {
  std::mt19937_64 random(51);
  for (int sequence = 0; sequence < 4000 && !HasFailure(); ++sequence) {
    PeakStack stack;
    ModelStack model;
    const std::size_t depth_max = 1 + random() % 8;
    for (int step = 0; step < 40; ++step) {
      const std::uint64_t choice = random() % 8;
      if (choice == 0 && model.depth() < depth_max) {
        const ScopePeaks occupancy = random_occupancy(random);
        stack.open(occupancy);
        model.open(occupancy);
      } else if (choice == 1 && model.depth() > 0) {
        expect_equal(stack.close(), model.close());
      } else {
        const Taking taking = random_taking(random);
        stack.took(taking.resource, taking.ring, taking.used, taking.taken);
        model.took(taking);
      }
    }
    while (model.depth() > 0) expect_equal(stack.close(), model.close());
  }
}

TEST(PeakStack, KeepsApartScopesThatFollowEachOther) {
  PeakStack stack;
  stack.open({});
  stack.open({});
  stack.took(Resource::kHeap, 1, 1000, 600);
  expect_equal(stack.close(), {.heap_bytes = {0, 1000}, .heap_request = {0, 600}});
  stack.open({});
  stack.took(Resource::kTaskWindow, 2, 5, 1);
  expect_equal(stack.close(), {.tasks = {0, 0, 5}});
  expect_equal(stack.close(),
               {.heap_bytes = {0, 1000}, .tasks = {0, 0, 5}, .heap_request = {0, 600}});
}

TEST(PeakStack, HoldsAsManyScopesAsCanBeOpen) {
  PeakStack stack;
  for (std::uint32_t depth = 0; depth < kScopeDepthMax; ++depth) {
    stack.open({});
    stack.took(Resource::kTensorMap, 0, kScopeDepthMax - depth, 1);
  }
  for (std::uint32_t depth = kScopeDepthMax; depth-- > 0;)
    EXPECT_EQ(stack.close().map_entries, kScopeDepthMax - depth);
}

TEST(PeakStack, IgnoresWhatIsTakenOutsideOfAllScopes) {
  PeakStack stack;
  stack.took(Resource::kHeap, 0, 1 << 20, 1 << 20);
  stack.open({});
  expect_equal(stack.close(), {});
}

}  // namespace
}  // namespace tidemark
