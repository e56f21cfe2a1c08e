// SPDX-License-Identifier: Apache-2.0
#include "tidemark/tiles/sample_pyramid.h"

#include <algorithm>

namespace tidemark {
namespace {

constexpr auto kCoversNothing = [](std::uint64_t, std::uint32_t) {};

}  // namespace

void SampleBucket::add(std::int64_t value) { merge({1, value, value, value}); }

void SampleBucket::merge(const SampleBucket& child) {
  least = count == 0 ? child.least : std::min(least, child.least);
  most = count == 0 ? child.most : std::max(most, child.most);
  last = child.last;
  count += child.count;
}

void SamplePyramid::add(const TileSample& sample) {
  if (added_ < kSparseRows) {
    ahead_.push_back(sample);
  } else {
    TileSample& oldest = ahead_[added_ % kSparseRows];
    take(oldest, sample.begin);
    oldest = sample;
  }
  ++added_;
}

void SamplePyramid::finish() {
  for (std::size_t i = 0; i < ahead_.size(); ++i)
    take(ahead_[(added_ + i) % ahead_.size()], kNoTime);
  tiles_.finish(kCoversNothing);
}

void SamplePyramid::take(const TileSample& sample, std::uint64_t later) {
  tiles_.move_to(sample.begin, later, kCoversNothing);
  if (tiles_.has(tiles_.lowest())) tiles_.at(tiles_.lowest(), sample.begin).add(sample.value);
}

}  // namespace tidemark
