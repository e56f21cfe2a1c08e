// SPDX-License-Identifier: Apache-2.0
// The registry finds a stream by number and by name, and knows nothing else.
#include "tidemark/schema/stream_registry.h"

#include <algorithm>
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

TEST(StreamRegistry, FieldsOfAKindDoNotOverlapOrReachAStamp) {
  for (const StreamInfo& stream : kStreams)
    for (const RecordKind& kind : stream.kinds) {
      std::set<std::uint32_t> taken;
      std::set<std::string_view> names;
      for (const Field& field : kind.fields) {
        SCOPED_TRACE(std::string(stream.name) + "." + kind.name + "." + field.name);
        EXPECT_TRUE(names.insert(field.name).second);
        const std::uint32_t end = field.offset + info_of(field.type).bytes;
        for (std::uint32_t at = field.offset; at < end; ++at) {
          EXPECT_TRUE(taken.insert(at).second);
          if (stream.record_bytes == 0) continue;
          EXPECT_LT(at % kQuantumBytes, kStampOffset);
          EXPECT_LT(at, stream.record_bytes);
        }
      }
    }
}

// A reader that has only the description finds the kind of every record by its fields.
TEST(StreamRegistry, KindsOfAStreamAreToldApartByFieldsThatTheyHave) {
  for (const StreamInfo& stream : kStreams) {
    ASSERT_FALSE(stream.kinds.empty()) << stream.name;
    std::set<std::string> conditions;
    for (const RecordKind& kind : stream.kinds) {
      std::string condition;
      for (const FieldIs& is : kind.when) {
        if (is.field.name == nullptr) continue;
        condition += is.field.name + std::to_string(is.value);
        EXPECT_TRUE(std::any_of(kind.fields.begin(), kind.fields.end(),
                                [&](const Field& field) {
                                  return field.name == is.field.name &&
                                         field.offset == is.field.offset;
                                }))
            << stream.name << "." << kind.name;
      }
      EXPECT_TRUE(conditions.insert(condition).second) << stream.name << "." << kind.name;
    }
    EXPECT_TRUE(stream.kinds.size() == 1 || !conditions.contains("")) << stream.name;
  }
}

TEST(StreamRegistry, OnlyTheDumpIsFramed) {
  for (const StreamInfo& stream : kStreams)
    EXPECT_EQ(stream.record_bytes == 0, stream.id == StreamId::kDump) << stream.name;
}

}  // namespace
}  // namespace tidemark
