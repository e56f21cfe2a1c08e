// SPDX-License-Identifier: Apache-2.0
#include "tidemark/tiles/bucket_pyramid.h"

#include <algorithm>
#include <tuple>

namespace tidemark {

void NameSums::add(std::uint32_t name, std::uint64_t busy, std::uint64_t count) {
  if (name >= sums_.size()) sums_.resize(name + 1);
  Sum& sum = sums_[name];
  if (sum.busy == 0 && sum.count == 0) names_.push_back(name);
  sum.busy += busy;
  sum.count += count;
}

void NameSums::add(const NameSums& other) {
  for (const std::uint32_t name : other.names_)
    add(name, other.sums_[name].busy, other.sums_[name].count);
}

void NameSums::clear() {
  for (const std::uint32_t name : names_) sums_[name] = {};
  names_.clear();
}

std::uint32_t NameSums::winner() const {
  std::uint32_t best = names_.empty() ? 0 : names_.front();
  for (const std::uint32_t name : names_) {
    const Sum &sum = sums_[name], &most = sums_[best];
    if (std::tuple(sum.busy, sum.count, best) > std::tuple(most.busy, most.count, name))
      best = name;
  }
  return best;
}

void SpanBucket::begin(std::uint64_t length, std::uint32_t name, std::uint16_t span_flags) {
  ++count;
  longest = std::max(longest, length);
  flags |= span_flags;
  names.add(name, 0, 1);
}

void SpanBucket::cover(std::uint64_t ticks, std::uint32_t name) {
  busy += ticks;
  names.add(name, ticks, 0);
}

void SpanBucket::merge(const SpanBucket& child) {
  count += child.count;
  busy += child.busy;
  longest = std::max(longest, child.longest);
  flags |= child.flags;
  names.add(child.names);
}

void SpanBucket::clear() {
  count = busy = longest = 0;
  flags = 0;
  names.clear();
}

TileBucket SpanBucket::row(std::uint64_t number) const {
  return {.number = number,
          .count = count,
          .busy = busy,
          .longest = longest,
          .name = names.winner(),
          .flags = flags};
}

void BucketPyramid::add(const TileSpan& span) {
  const Begin begin{span.begin, span.length, span.name, span.flags};
  if (added_ < kSparseRows) {
    ahead_.push_back(begin);
  } else {
    Begin& oldest = ahead_[added_ % kSparseRows];
    take(oldest, span.begin);
    oldest = begin;
  }
  ++added_;
}

void BucketPyramid::finish() {
  for (std::size_t i = 0; i < ahead_.size(); ++i)
    take(ahead_[(added_ + i) % ahead_.size()], kNoTime);
  tiles_.finish([this](std::uint64_t until, std::uint32_t level) { put_cover(until, level); });
}

void BucketPyramid::take(const Begin& span, std::uint64_t later) {
  tiles_.move_to(span.begin, later,
                 [this](std::uint64_t until, std::uint32_t level) { put_cover(until, level); });
  if (tiles_.has(tiles_.lowest()))
    tiles_.at(tiles_.lowest(), span.begin).begin(span.length, span.name, span.flags);
  cover(span.begin, span.begin + span.length, span.name);
}

void BucketPyramid::cover(std::uint64_t begin, std::uint64_t end, std::uint32_t name) {
  const std::uint64_t from = std::max(begin, covered_until_);
  if (end <= from) return;
  covered_until_ = end;
  if (!stretches_.empty() && stretches_.back().to == from &&
      (stretches_.back().name == name || stretches_.size() >= kStretchesMost))
    stretches_.back().to = end;
  else
    stretches_.push_back({from, end, name});
}

// What is covered before `until`. A level that is not there has no buckets: readers take the spans.
void BucketPyramid::put_cover(std::uint64_t until, std::uint32_t level) {
  while (!stretches_.empty() && stretches_.front().from < until) {
    Stretch& first = stretches_.front();
    const std::uint64_t to = std::min(first.to, until);
    if (tiles_.has(level)) put_stretch({first.from, to, first.name}, level);
    first.from = to;
    if (first.from == first.to) stretches_.pop_front();
  }
}

void BucketPyramid::put_stretch(Stretch stretch, std::uint32_t level) {
  while (stretch.from < stretch.to) {
    const std::uint64_t to = std::min(stretch.to, tiles_.end_of_bucket(level, stretch.from));
    tiles_.at(level, stretch.from).cover(to - stretch.from, stretch.name);
    stretch.from = to;
  }
}

}  // namespace tidemark
