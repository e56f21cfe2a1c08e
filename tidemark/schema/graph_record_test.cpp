// SPDX-License-Identifier: Apache-2.0
// The stored form of the four kinds of graph record: every field comes back, each record says its
// kind, the stamps' bits stay free.
#include "tidemark/schema/graph_record.h"

#include <map>
#include <random>
#include <string_view>

#include <gtest/gtest.h>

#include "tidemark/schema/stream_registry.h"

namespace tidemark {
namespace {

constexpr std::size_t kWords = GraphTask::kBytes / 8;
static_assert(GraphArgument::kBytes == GraphTask::kBytes);
static_assert(GraphDimensions::kBytes == GraphTask::kBytes);
static_assert(GraphEdgeRecord::kBytes == GraphTask::kBytes);

// The words of a record as a reader finds them: with stamps in the bits left to them.
struct Stored {
  std::uint64_t words[kWords];

  template <class R>
  Stored(const R& record, std::mt19937_64& random) {
    record.pack(words);
    for (std::size_t i = 1; i < kWords; i += 2) {
      EXPECT_EQ(words[i] >> 48, 0u) << "stamp of word " << i;
      words[i] |= random() << 48;
    }
  }
};

// Any value of its bits, also one without a name.
template <class Enum>
Enum any(std::mt19937_64& random) {
  return static_cast<Enum>(random());
}
std::uint8_t byte(std::mt19937_64& random) { return static_cast<std::uint8_t>(random()); }
std::uint16_t half_word(std::mt19937_64& random) { return static_cast<std::uint16_t>(random()); }
std::uint32_t narrow(std::mt19937_64& random) { return static_cast<std::uint32_t>(random()); }

TEST(GraphTask, ComesBackAsItWasPackedWhateverTheStampsSay) {
  std::mt19937_64 random(31);
  for (int i = 0; i < 20'000 && !::testing::Test::HasFailure(); ++i) {
    const std::uint64_t near_ticks = (random() >> 2) | std::uint64_t{1} << 60;
    const std::uint64_t away = random() >> 17;
    const GraphTask task{.task_id = random(),
                         .time_ticks = random() % 2 == 0 ? near_ticks - away : near_ticks + away,
                         .block_count = narrow(random),
                         .submit_line = narrow(random),
                         .kernels = {half_word(random), half_word(random), half_word(random)},
                         .submit_file = random(),
                         .shape = any<TaskShape>(random),
                         .tensor_count = byte(random),
                         .scalar_count = byte(random),
                         .at_once = byte(random),
                         .writers_evicted = byte(random)};
    const Stored stored(task, random);
    ASSERT_EQ(graph_record_kind(stored.words), GraphRecordKind::kTask);
    const GraphTask back = GraphTask::unpack(stored.words, near_ticks);
    ASSERT_EQ(back.task_id, task.task_id);
    ASSERT_EQ(back.time_ticks, task.time_ticks);
    ASSERT_EQ(back.block_count, task.block_count);
    ASSERT_EQ(back.submit_line, task.submit_line);
    for (int k = 0; k < 3; ++k) ASSERT_EQ(back.kernels[k], task.kernels[k]) << "kernel " << k;
    ASSERT_EQ(back.submit_file, task.submit_file);
    ASSERT_EQ(back.shape, task.shape);
    ASSERT_EQ(back.tensor_count, task.tensor_count);
    ASSERT_EQ(back.scalar_count, task.scalar_count);
    ASSERT_EQ(back.at_once, task.at_once);
    ASSERT_EQ(back.writers_evicted, task.writers_evicted);
  }
}

TEST(GraphTask, RestoresTimesUpToHalfARoundOfTheClockAway) {
  std::mt19937_64 random(32);
  const std::uint64_t near_ticks = (std::uint64_t{9} << 48) + 3;
  const std::uint64_t half = std::uint64_t{1} << 47;
  for (const std::uint64_t ticks : {near_ticks - half, near_ticks, near_ticks + half - 1}) {
    const GraphTask task{.time_ticks = ticks};
    EXPECT_EQ(GraphTask::unpack(Stored(task, random).words, near_ticks).time_ticks, ticks);
  }
}

TEST(GraphArgument, ComesBackAsItWasPackedWhateverTheStampsSay) {
  std::mt19937_64 random(33);
  for (int i = 0; i < 20'000 && !::testing::Test::HasFailure(); ++i) {
    const GraphArgument argument{.task_id = random(),
                                 .start_offset = random() >> 16,
                                 .buffer = random(),
                                 .owner = random() % 4 == 0 ? ~std::uint64_t{0} : random(),
                                 .index = byte(random),
                                 .access = any<Access>(random),
                                 .dtype = any<DType>(random),
                                 .rank = byte(random),
                                 .output_index = byte(random)};
    const Stored stored(argument, random);
    ASSERT_EQ(graph_record_kind(stored.words), GraphRecordKind::kArgument);
    const GraphArgument back = GraphArgument::unpack(stored.words);
    ASSERT_EQ(back.task_id, argument.task_id);
    ASSERT_EQ(back.start_offset, argument.start_offset);
    ASSERT_EQ(back.buffer, argument.buffer);
    ASSERT_EQ(back.owner, argument.owner);
    ASSERT_EQ(back.index, argument.index);
    ASSERT_EQ(back.access, argument.access);
    ASSERT_EQ(back.dtype, argument.dtype);
    ASSERT_EQ(back.rank, argument.rank);
    ASSERT_EQ(back.output_index, argument.output_index);
  }
}

TEST(GraphDimensions, KeepsOneDimensionOfAnySize) {
  std::mt19937_64 random(34);
  for (int i = 0; i < 20'000 && !::testing::Test::HasFailure(); ++i) {
    const GraphDimensions wide{.task_id = random(),
                               .extent = {random(), 0},
                               .stride = {random(), 0},
                               .first = byte(random),
                               .count = 1};
    const Stored stored(wide, random);
    ASSERT_EQ(graph_record_kind(stored.words), GraphRecordKind::kDimensions);
    const GraphDimensions back = GraphDimensions::unpack(stored.words);
    ASSERT_EQ(back.task_id, wide.task_id);
    ASSERT_EQ(back.first, wide.first);
    ASSERT_EQ(back.count, 1);
    ASSERT_EQ(back.extent[0], wide.extent[0]);
    ASSERT_EQ(back.stride[0], wide.stride[0]);
    ASSERT_EQ(back.extent[1], 0u);
    ASSERT_EQ(back.stride[1], 0u);
  }
}

TEST(GraphDimensions, KeepsTwoDimensionsThatFitIntoHalfAWordEach) {
  std::mt19937_64 random(35);
  for (int i = 0; i < 20'000 && !::testing::Test::HasFailure(); ++i) {
    const GraphDimensions two{.task_id = random(),
                              .extent = {narrow(random), narrow(random)},
                              .stride = {narrow(random), narrow(random)},
                              .first = byte(random),
                              .count = 2};
    for (int dim = 0; dim < 2; ++dim)
      ASSERT_TRUE(GraphDimensions::fits_two(two.extent[dim], two.stride[dim]));
    const Stored stored(two, random);
    ASSERT_EQ(graph_record_kind(stored.words), GraphRecordKind::kDimensions);
    const GraphDimensions back = GraphDimensions::unpack(stored.words);
    ASSERT_EQ(back.task_id, two.task_id);
    ASSERT_EQ(back.first, two.first);
    ASSERT_EQ(back.count, 2);
    for (int dim = 0; dim < 2; ++dim) {
      ASSERT_EQ(back.extent[dim], two.extent[dim]) << "dimension " << dim;
      ASSERT_EQ(back.stride[dim], two.stride[dim]) << "dimension " << dim;
    }
  }
}

TEST(GraphDimensions, AreWideFromTheFirstNumberThatNeedsMoreThan32Bits) {
  const std::uint64_t most = 0xFFFFFFFFull;
  EXPECT_TRUE(GraphDimensions::fits_two(0, 0));
  EXPECT_TRUE(GraphDimensions::fits_two(most, most));
  EXPECT_FALSE(GraphDimensions::fits_two(most + 1, 0));
  EXPECT_FALSE(GraphDimensions::fits_two(0, most + 1));
}

TEST(GraphEdgeRecord, ComesBackAsItWasPackedWhateverTheStampsSay) {
  std::mt19937_64 random(36);
  for (int i = 0; i < 20'000 && !::testing::Test::HasFailure(); ++i) {
    const GraphEdgeRecord edge{
        .producer = random(),
        .consumer = random(),
        .arg = random() % 4 == 0 ? std::uint16_t{kNoArg} : half_word(random),
        .producer_arg = random() % 4 == 0 ? std::uint16_t{kNoArg} : half_word(random),
        .source = any<EdgeSource>(random),
        .overlap = any<ViewOverlap>(random),
        .satisfied = byte(random)};
    const Stored stored(edge, random);
    ASSERT_EQ(graph_record_kind(stored.words), GraphRecordKind::kEdge);
    const GraphEdgeRecord back = GraphEdgeRecord::unpack(stored.words);
    ASSERT_EQ(back.producer, edge.producer);
    ASSERT_EQ(back.consumer, edge.consumer);
    ASSERT_EQ(back.arg, edge.arg);
    ASSERT_EQ(back.producer_arg, edge.producer_arg);
    ASSERT_EQ(back.source, edge.source);
    ASSERT_EQ(back.overlap, edge.overlap);
    ASSERT_EQ(back.satisfied, edge.satisfied);
  }
}

using Values = std::map<std::string_view, std::uint64_t>;

// The registry finds the kind of the record, and every field where the kind says it is.
void expect_kind(std::string_view name, const Stored& stored, const Values& values) {
  const RecordKind* kind = find_stream(StreamId::kEdges)->kind_of(stored.words);
  ASSERT_NE(kind, nullptr) << name;
  EXPECT_EQ(kind->name, name);
  EXPECT_EQ(kind->fields.size(), values.size());
  for (const Field& field : kind->fields) {
    ASSERT_TRUE(values.contains(field.name)) << field.name;
    EXPECT_EQ(field.read(stored.words), values.at(field.name)) << name << "." << field.name;
  }
}

TEST(GraphRecordKinds, OfTasksArgumentsAndEdgesHaveEveryFieldInItsPlace) {
  std::mt19937_64 random(37);
  const GraphTask task{.task_id = random(),
                       .time_ticks = random() >> 16,
                       .block_count = narrow(random),
                       .submit_line = narrow(random),
                       .kernels = {half_word(random), half_word(random), half_word(random)},
                       .submit_file = random(),
                       .shape = any<TaskShape>(random),
                       .tensor_count = byte(random),
                       .scalar_count = byte(random),
                       .at_once = byte(random),
                       .writers_evicted = byte(random)};
  expect_kind("task", Stored(task, random),
              {{"task_id", task.task_id},
               {"time", task.time_ticks},
               {"block_count", task.block_count},
               {"submit_line", task.submit_line},
               {"kernel_0", task.kernels[0]},
               {"kernel_1", task.kernels[1]},
               {"kernel_2", task.kernels[2]},
               {"submit_file", task.submit_file},
               {"kind", 1},
               {"shape", stored_bits(task.shape)},
               {"tensor_count", task.tensor_count},
               {"scalar_count", task.scalar_count},
               {"at_once", task.at_once},
               {"writers_evicted", task.writers_evicted}});
  const GraphArgument argument{.task_id = random(),
                               .start_offset = random() >> 16,
                               .buffer = random(),
                               .owner = random(),
                               .index = byte(random),
                               .access = any<Access>(random),
                               .dtype = any<DType>(random),
                               .rank = byte(random),
                               .output_index = byte(random)};
  expect_kind("argument", Stored(argument, random),
              {{"task_id", argument.task_id},
               {"start_offset", argument.start_offset},
               {"buffer", argument.buffer},
               {"owner", argument.owner},
               {"index", argument.index},
               {"access", stored_bits(argument.access)},
               {"dtype", stored_bits(argument.dtype)},
               {"rank", argument.rank},
               {"output_index", argument.output_index},
               {"kind", 2}});
  const GraphEdgeRecord edge{.producer = random(),
                             .consumer = random(),
                             .arg = half_word(random),
                             .producer_arg = half_word(random),
                             .source = any<EdgeSource>(random),
                             .overlap = any<ViewOverlap>(random),
                             .satisfied = byte(random)};
  expect_kind("edge", Stored(edge, random),
              {{"producer", edge.producer},
               {"consumer", edge.consumer},
               {"arg", edge.arg},
               {"producer_arg", edge.producer_arg},
               {"source", stored_bits(edge.source)},
               {"overlap", stored_bits(edge.overlap)},
               {"satisfied", edge.satisfied},
               {"kind", 4}});
}

TEST(GraphRecordKinds, OfDimensionsDependOnHowManyThereAre) {
  std::mt19937_64 random(38);
  const GraphDimensions one{.task_id = random(),
                            .extent = {random(), 0},
                            .stride = {random(), 0},
                            .first = byte(random),
                            .count = 1};
  expect_kind("one_dimension", Stored(one, random),
              {{"task_id", one.task_id},
               {"extent_0", one.extent[0]},
               {"stride_0", one.stride[0]},
               {"kind", 3},
               {"first", one.first},
               {"count", 1}});
  const GraphDimensions two{.task_id = random(),
                            .extent = {narrow(random), narrow(random)},
                            .stride = {narrow(random), narrow(random)},
                            .first = byte(random),
                            .count = 2};
  expect_kind("two_dimensions", Stored(two, random),
              {{"task_id", two.task_id},
               {"extent_0", two.extent[0]},
               {"extent_1", two.extent[1]},
               {"stride_0", two.stride[0]},
               {"stride_1", two.stride[1]},
               {"kind", 3},
               {"first", two.first},
               {"count", 2}});
}

}  // namespace
}  // namespace tidemark
