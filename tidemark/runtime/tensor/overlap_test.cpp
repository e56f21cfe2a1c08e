// SPDX-License-Identifier: Apache-2.0
// Overlap of views, against the sets of elements they really touch.
#include "tidemark/runtime/tensor/overlap.h"

#include <algorithm>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "tidemark/base/testing/seed_range.h"
#include "tidemark/runtime/testing/random_views.h"

namespace tidemark {
namespace {

// Bytes a view touches.
std::set<std::uint64_t> bytes_of(const TensorView& view) {
  std::set<std::uint64_t> bytes;
  if (view.element_count() == 0) return bytes;
  std::uint64_t index[kRankMax] = {};
  for (;;) {
    std::uint64_t element = view.offset;
    for (std::uint32_t i = 0; i < view.shape.rank; ++i) element += index[i] * view.stride[i];
    for (std::uint32_t b = 0; b < dtype_bytes(view.dtype); ++b)
      bytes.insert(element * dtype_bytes(view.dtype) + b);
    std::uint32_t dim = view.shape.rank;
    while (dim > 0 && ++index[dim - 1] == view.shape.extent[dim - 1]) index[--dim] = 0;
    if (dim == 0) return bytes;
  }
}

TensorView random_slice(std::mt19937& random, TensorView view) {
  for (std::uint32_t dim = 0; dim < view.shape.rank; ++dim) {
    if (random() % 3 == 0) continue;
    const std::uint64_t extent = view.shape.extent[dim];
    const std::uint64_t first = random() % (extent + 1);
    view = view.slice(dim, first, random() % (extent - first + 1));
  }
  return view;
}

TensorShape random_shape(std::mt19937& random) {
  TensorShape shape{.rank = 1 + static_cast<std::uint32_t>(random() % 4), .extent = {}};
  for (std::uint32_t i = 0; i < shape.rank; ++i) shape.extent[i] = 1 + random() % 5;
  return shape;
}

struct Truth {
  bool disjoint;
  bool covered;
};
Truth truth_of(const TensorView& first, const TensorView& second) {
  const auto a = bytes_of(first), b = bytes_of(second);
  std::set<std::uint64_t> both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::inserter(both, both.begin()));
  return {both.empty(), !a.empty() && both.size() == a.size()};
}

TEST(Overlap, OfSlicesOfOneBufferIsExact) {
  std::mt19937 random(3);
  int none = 0, covered = 0, partial = 0;
  for (int round = 0; round < 20'000; ++round) {
    const auto whole = TensorView::row_major(1, DType::kInt16, random_shape(random));
    const TensorView first = random_slice(random, whole), second = random_slice(random, whole);
    const Truth truth = truth_of(first, second);
    const ViewOverlap found = overlap_of(first, second);
    ASSERT_EQ(found == ViewOverlap::kNone, truth.disjoint);
    ASSERT_EQ(found == ViewOverlap::kCovered, truth.covered);
    none += found == ViewOverlap::kNone;
    covered += found == ViewOverlap::kCovered;
    partial += found == ViewOverlap::kPartial;
  }
  EXPECT_GT(none, 1000);
  EXPECT_GT(covered, 1000);
  EXPECT_GT(partial, 1000);
}

// Whatever the views, none is never wrong and covered is never wrong.
TEST(Overlap, OfAnyViewsErrsOnlyTowardsPartial) {
  std::mt19937 random(4);
  constexpr DType kTypes[] = {DType::kInt8, DType::kInt16, DType::kFloat32};
  for (int round = 0; round < 20'000; ++round) {
    TensorView views[2];
    for (auto& view : views) {
      view = TensorView::row_major(1, kTypes[random() % 3], random_shape(random));
      view.offset = random() % 8;
      if (view.shape.rank > 1 && random() % 2 == 0)
        view = view.transpose(random() % view.shape.rank, random() % view.shape.rank);
      if (random() % 3 == 0) view.stride[random() % view.shape.rank] += 1 + random() % 3;
      view = random_slice(random, view);
    }
    const Truth truth = truth_of(views[0], views[1]);
    const ViewOverlap found = overlap_of(views[0], views[1]);
    if (found == ViewOverlap::kNone) {
      ASSERT_TRUE(truth.disjoint);
    }
    if (found == ViewOverlap::kCovered) {
      ASSERT_TRUE(truth.covered);
    }
  }
}

// Views of equal strides that begin anywhere, also such that run over the end of a row.
TEST(Overlap, OfViewsThatRunOverTheEndOfARowErrsOnlyTowardsPartial) {
  std::mt19937 random(5);
  int met = 0;
  for (int round = 0; round < 20'000; ++round) {
    auto first = TensorView::row_major(1, DType::kInt16, {.rank = 2, .extent = {4, 6}});
    auto second = first;
    for (auto* view : {&first, &second}) {
      view->offset = random() % 12;
      view->shape.extent[0] = 1 + random() % 3;
      view->shape.extent[1] = 1 + random() % 6;
    }
    const Truth truth = truth_of(first, second);
    const ViewOverlap found = overlap_of(first, second);
    met += truth.disjoint ? 0 : 1;
    if (found == ViewOverlap::kNone) {
      ASSERT_TRUE(truth.disjoint) << first.offset << " and " << second.offset;
    }
    if (found == ViewOverlap::kCovered) {
      ASSERT_TRUE(truth.covered) << first.offset << " and " << second.offset;
    }
  }
  EXPECT_GT(met, static_cast<int>(fewer_under_sanitizer(1000)));
}

// Without holes only the bytes count, not the shape and not the type.
TEST(Overlap, OfViewsWithoutHolesIsExactWhateverTheirShapes) {
  std::mt19937 random(6);
  int none = 0, covered = 0, partial = 0;
  for (int round = 0; round < 20'000; ++round) {
    constexpr TensorShape kShapes[] = {{1, {24}}, {2, {4, 6}}, {2, {12, 2}}, {3, {2, 3, 4}}};
    constexpr DType kTypes[] = {DType::kInt16, DType::kFloat32};
    TensorView views[2];
    for (auto& view : views) {
      view = TensorView::row_major(1, kTypes[random() % 2], kShapes[random() % 4]);
      const std::uint64_t extent = view.shape.extent[0], first = random() % extent;
      view = view.slice(0, first, 1 + random() % (extent - first));
    }
    const Truth truth = truth_of(views[0], views[1]);
    const ViewOverlap found = overlap_of(views[0], views[1]);
    ASSERT_EQ(found == ViewOverlap::kNone, truth.disjoint);
    ASSERT_EQ(found == ViewOverlap::kCovered, truth.covered);
    none += found == ViewOverlap::kNone;
    covered += found == ViewOverlap::kCovered;
    partial += found == ViewOverlap::kPartial;
  }
  EXPECT_GT(none, 1000);
  EXPECT_GT(covered, 1000);
  EXPECT_GT(partial, 1000);
}

// Whatever a program does with a buffer: none is never wrong and covered is never wrong.
TEST(Overlap, OfAllKindsOfViewsErrsOnlyTowardsPartial) {
  int met = 0;
  for (std::uint64_t seed = 0; seed < fewer_under_sanitizer(600); ++seed) {
    std::mt19937_64 random(seed);
    const samples::ViewSource source(1, random);
    for (int i = 0; i < 30; ++i) {
      const TensorView first = source.view(random), second = source.view(random);
      const Truth truth = truth_of(first, second);
      const ViewOverlap found = overlap_of(first, second);
      met += truth.disjoint ? 0 : 1;
      ASSERT_TRUE(found != ViewOverlap::kNone || truth.disjoint) << seed;
      ASSERT_TRUE(found != ViewOverlap::kCovered || truth.covered) << seed;
    }
  }
  EXPECT_GT(met, static_cast<int>(fewer_under_sanitizer(1000)));
}

// A range of a row meets the tiles of its columns only.
TEST(Overlap, OfARangeAndATileLooksAtTheColumns) {
  const auto whole = TensorView::row_major(1, DType::kInt16, {.rank = 2, .extent = {8, 10}});
  const auto flat = whole.reshape({.rank = 1, .extent = {80}});
  const auto tile = whole.slice(0, 1, 4).slice(1, 3, 4);
  EXPECT_EQ(overlap_of(flat.slice(0, 20, 3), tile), ViewOverlap::kNone);
  EXPECT_EQ(overlap_of(flat.slice(0, 20, 4), tile), ViewOverlap::kPartial);
  EXPECT_EQ(overlap_of(flat.slice(0, 27, 3), tile), ViewOverlap::kNone);
  EXPECT_EQ(overlap_of(tile, flat.slice(0, 13, 40)), ViewOverlap::kCovered);
}

TEST(Overlap, OtherBuffersAndEmptyViewsNeverMeet) {
  const TensorShape shape{.rank = 2, .extent = {4, 4}};
  const auto one = TensorView::row_major(1, DType::kFloat32, shape);
  EXPECT_EQ(overlap_of(one, TensorView::row_major(2, DType::kFloat32, shape)), ViewOverlap::kNone);
  EXPECT_EQ(overlap_of(one, one.slice(0, 2, 0)), ViewOverlap::kNone);
  EXPECT_EQ(overlap_of(one, one), ViewOverlap::kCovered);
  const auto scalar = TensorView::row_major(1, DType::kFloat32, {});
  EXPECT_EQ(overlap_of(scalar, scalar), ViewOverlap::kCovered);
}

TEST(TensorView, ReshapeAndTransposeKeepTheElements) {
  const auto whole = TensorView::row_major(1, DType::kFloat32, {.rank = 3, .extent = {2, 3, 4}});
  EXPECT_TRUE(whole.is_contiguous());
  const auto flat = whole.reshape({.rank = 1, .extent = {24}});
  EXPECT_EQ(bytes_of(flat), bytes_of(whole));
  const auto turned = whole.transpose(0, 2);
  EXPECT_FALSE(turned.is_contiguous());
  EXPECT_EQ(bytes_of(turned), bytes_of(whole));
  EXPECT_EQ(turned.shape.extent[0], 4u);
  const auto row = whole.slice(0, 1, 1).slice(1, 2, 1);
  EXPECT_TRUE(row.is_contiguous());
  EXPECT_EQ(row.offset, 20u);
  EXPECT_EQ(row.end_element(), 24u);
}

TEST(TensorViewDeathTest, RefusesWhatIsNoView) {
  const auto whole = TensorView::row_major(1, DType::kFloat32, {.rank = 2, .extent = {2, 3}});
  EXPECT_DEATH((void)whole.slice(2, 0, 1), "dim < shape.rank");
  EXPECT_DEATH((void)whole.slice(1, 2, 2), "count <=");
  EXPECT_DEATH((void)whole.slice(1, ~0ull, 2), "first <=");
  EXPECT_DEATH((void)whole.transpose(0, 1).reshape({.rank = 1, .extent = {6}}), "is_contiguous");
  EXPECT_DEATH((void)whole.reshape({.rank = 1, .extent = {5}}), "element_count");
}

}  // namespace
}  // namespace tidemark
