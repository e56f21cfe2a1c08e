// SPDX-License-Identifier: Apache-2.0
// The registry finds a stream by number and by name, and knows nothing else.
#include "tidemark/schema/stream_registry.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

namespace tidemark {
namespace {

TEST(StreamRegistry, FindsEveryStreamByNumberAndByName) {
  for (const StreamInfo& stream : kStreams) {
    EXPECT_EQ(find_stream(stream.id), &stream);
    EXPECT_EQ(find_stream(stream.name), &stream);
  }
}

TEST(StreamRegistry, KnowsNoStreamThatIsNotListed) {
  EXPECT_EQ(find_stream(StreamId{0}), nullptr);
  EXPECT_EQ(find_stream(StreamId{0xFFFF}), nullptr);
  EXPECT_EQ(find_stream(""), nullptr);
  EXPECT_EQ(find_stream("Swimlane"), nullptr);
  EXPECT_EQ(find_stream("swimlane "), nullptr);
}

TEST(StreamRegistry, NumbersAndNamesAreUnique) {
  std::set<StreamId> ids;
  std::set<std::string_view> names;
  for (const StreamInfo& stream : kStreams) {
    EXPECT_TRUE(ids.insert(stream.id).second) << stream.name;
    EXPECT_TRUE(names.insert(stream.name).second) << stream.name;
  }
}

TEST(StreamRegistry, FieldsOfAStreamDoNotOverlapOrReachAStamp) {
  for (const StreamInfo& stream : kStreams) {
    std::set<std::uint32_t> taken;
    for (const Field& field : stream.fields) {
      std::uint32_t bytes = 8;
      if (field.type == FieldType::kU8) bytes = 1;
      if (field.type == FieldType::kU16) bytes = 2;
      if (field.type == FieldType::kU32) bytes = 4;
      if (field.type == FieldType::kTicks48 || field.type == FieldType::kU48) bytes = 6;
      for (std::uint32_t at = field.offset; at < field.offset + bytes; ++at) {
        EXPECT_TRUE(taken.insert(at).second) << stream.name << "." << field.name;
        EXPECT_LT(at % kQuantumBytes, kStampOffset) << stream.name << "." << field.name;
        EXPECT_LT(at, stream.record_bytes) << stream.name << "." << field.name;
      }
    }
  }
}

TEST(StreamRegistry, OnlyTheDumpIsFramed) {
  for (const StreamInfo& stream : kStreams)
    EXPECT_EQ(stream.record_bytes == 0, stream.id == StreamId::kDump) << stream.name;
}

}  // namespace
}  // namespace tidemark
