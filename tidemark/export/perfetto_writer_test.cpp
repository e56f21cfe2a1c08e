// SPDX-License-Identifier: Apache-2.0
// The packets of a trace, taken apart by the wire format of protobuf and by field numbers of
// Perfetto's published schema, written out here.
#include "tidemark/export/perfetto_writer.h"

#include <map>

#include <gtest/gtest.h>

#include "tidemark/base/testing/temporary_directory.h"

namespace tidemark {
namespace {

// The fields of one message: numbers of varints and of fixed 64-bit words, texts of the rest.
struct Message {
  std::multimap<int, std::uint64_t> numbers;
  std::multimap<int, std::string> texts;
  bool sound = true;

  explicit Message(const std::string& bytes) {
    std::size_t at = 0;
    const auto varint = [&] {
      std::uint64_t value = 0;
      for (unsigned shift = 0; at < bytes.size() && shift < 64; shift += 7) {
        const auto byte = static_cast<unsigned char>(bytes[at++]);
        value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
        if (byte < 0x80) return value;
      }
      sound = false;
      return value;
    };
    while (at < bytes.size() && sound) {
      const std::uint64_t key = varint();
      const int field = static_cast<int>(key >> 3), type = static_cast<int>(key & 7);
      if (type == 0) {
        numbers.emplace(field, varint());
      } else if (type == 1 && at + 8 <= bytes.size()) {
        std::uint64_t value = 0;
        for (int i = 8; i-- > 0;)
          value = value << 8 | static_cast<unsigned char>(bytes[at + static_cast<std::size_t>(i)]);
        numbers.emplace(field, value);
        at += 8;
      } else if (type == 2) {
        const std::uint64_t size = varint();
        sound = sound && size <= bytes.size() - at;
        if (sound) texts.emplace(field, bytes.substr(at, size));
        at += size;
      } else {
        sound = false;
      }
    }
  }
  [[nodiscard]] std::uint64_t number(int field) const {
    EXPECT_EQ(numbers.count(field), 1u) << "field " << field;
    return numbers.count(field) == 0 ? ~std::uint64_t{0} : numbers.find(field)->second;
  }
  [[nodiscard]] std::string text(int field) const {
    EXPECT_EQ(texts.count(field), 1u) << "field " << field;
    return texts.count(field) == 0 ? "" : texts.find(field)->second;
  }
  [[nodiscard]] Message inside(int field) const { return Message(text(field)); }
};

class PerfettoWriterTest : public testing::Test {
 protected:
  template <class Write>
  std::vector<Message> packets(const Write& write) {
    PartFile part = PartFile::create(directory_.file("trace")).value();
    PerfettoWriter writer(part);
    write(writer);
    EXPECT_TRUE(part.finish());
    const auto bytes = samples::read_bytes(directory_.file("trace"));
    const Message trace({bytes.begin(), bytes.end()});
    EXPECT_TRUE(trace.sound);
    std::vector<Message> all;
    for (const auto& [field, text] : trace.texts) {
      EXPECT_EQ(field, 1);  // Trace.packet
      all.emplace_back(text);
      EXPECT_TRUE(all.back().sound);
      EXPECT_EQ(all.back().number(10), 1u) << "trusted_packet_sequence_id";
    }
    return all;
  }

  samples::TemporaryDirectory directory_;
};

TEST_F(PerfettoWriterTest, TracksHaveTheirProcessParentAndRank) {
  const auto all = packets([](PerfettoWriter& writer) {
    writer.put_process(1, "run");
    writer.put_track(5, 1, "core 0", 3);
    writer.put_counter_track(6, 1, "heap", "bytes");
  });
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].number(13), 1u) << "SEQ_INCREMENTAL_STATE_CLEARED";
  EXPECT_EQ(all[0].inside(60).number(1), 1u);
  EXPECT_EQ(all[0].inside(60).number(11), 3u) << "children are ordered by rank";
  EXPECT_EQ(all[0].inside(60).inside(3).text(6), "run");
  EXPECT_EQ(all[1].inside(60).number(1), 5u);
  EXPECT_EQ(all[1].inside(60).text(2), "core 0");
  EXPECT_EQ(all[1].inside(60).number(5), 1u);
  EXPECT_EQ(all[1].inside(60).number(12), 3u);
  EXPECT_EQ(all[2].inside(60).inside(8).text(6), "bytes");
}

TEST_F(PerfettoWriterTest, NamesAreInternedOnceAndMeantByTheirNumber) {
  const std::uint64_t out[] = {0x1122334455667788ull}, in[] = {9, 10};
  const SliceNote notes[] = {{.key = "task", .text = "t12"}, {.key = "block", .number = 7}};
  const auto all = packets([&](PerfettoWriter& writer) {
    writer.begin_slice(5, 1000, "add", notes, {.out = out, .in = in});
    writer.end_slice(5, 2000);
    writer.begin_slice(5, 3000, "add", notes);
    writer.put_instant(5, 4000, "mul");
    writer.put_counter(6, 5000, -3);
  });
  ASSERT_EQ(all.size(), 5u);
  const Message names = all[0].inside(12);
  const std::uint64_t add = names.inside(2).number(1);
  EXPECT_EQ(names.inside(2).text(2), "add");
  ASSERT_EQ(names.texts.count(3), 2u);
  std::map<std::uint64_t, std::string> keys;
  for (auto [at, end] = names.texts.equal_range(3); at != end; ++at)
    keys[Message(at->second).number(1)] = Message(at->second).text(2);
  const Message begin = all[0].inside(11);
  EXPECT_EQ(all[0].number(8), 1000u);
  EXPECT_EQ(all[0].number(13), 2u) << "SEQ_NEEDS_INCREMENTAL_STATE";
  EXPECT_EQ(begin.number(9), 1u) << "TYPE_SLICE_BEGIN";
  EXPECT_EQ(begin.number(11), 5u);
  EXPECT_EQ(begin.number(10), add);
  EXPECT_EQ(begin.number(47), out[0]);
  EXPECT_EQ(begin.numbers.count(48), 2u);
  std::map<std::string, std::string> said;
  for (auto [at, end] = begin.texts.equal_range(4); at != end; ++at) {
    const Message note(at->second);
    said[keys[note.number(1)]] =
        note.texts.count(6) != 0 ? note.text(6) : std::to_string(note.number(3));
  }
  EXPECT_EQ(said, (std::map<std::string, std::string>{{"task", "t12"}, {"block", "7"}}));
  EXPECT_EQ(all[1].inside(11).number(9), 2u) << "TYPE_SLICE_END";
  EXPECT_EQ(all[2].texts.count(12), 0u) << "nothing new to intern";
  EXPECT_EQ(all[2].inside(11).number(10), add);
  const Message instant = all[3].inside(11);
  EXPECT_EQ(instant.number(9), 3u) << "TYPE_INSTANT";
  EXPECT_NE(instant.number(10), add);
  EXPECT_EQ(all[3].inside(12).inside(2).number(1), instant.number(10));
  EXPECT_EQ(all[4].inside(11).number(9), 4u) << "TYPE_COUNTER";
  EXPECT_EQ(static_cast<std::int64_t>(all[4].inside(11).number(30)), -3);
}

}  // namespace
}  // namespace tidemark
