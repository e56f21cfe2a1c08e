// SPDX-License-Identifier: Apache-2.0
// Test support: runs with streams on, and reads what they left.
#pragma once

#include <cctype>
#include <map>
#include <set>

#include "tests/command_line_fixture.h"
#include "tidemark/run/json.h"

namespace tidemark {

inline constexpr const char* kAllStreams =
    "--enable-l2-swimlane --enable-dep-gen --enable-scope-stats";

class Streams : public CommandLine {
 protected:
  rapidjson::Document parse(const std::string& text) {
    rapidjson::Document document;
    document.Parse<rapidjson::kParseValidateEncodingFlag>(text.c_str());
    EXPECT_FALSE(document.HasParseError()) << text.substr(0, 200);
    return document;
  }
  rapidjson::Document json_of(const std::string& file) { return parse(read(path(file))); }
  std::vector<rapidjson::Document> lines_of(const std::string& file) {
    std::vector<rapidjson::Document> lines;
    std::stringstream text(read(path(file)));
    for (std::string line; std::getline(text, line);) lines.push_back(parse(line));
    return lines;
  }
  void run_ok(const std::string& arguments) {
    const Finished done = run(arguments);
    ASSERT_EQ(done.exit_code, 0) << arguments << "\n" << done.out << done.error;
    text_ = done.out;
  }

  // Lines of a source file that contain a text, from 1.
  static std::vector<unsigned> lines_with(const std::string& file, const std::string& text) {
    std::vector<unsigned> found;
    std::ifstream stream(std::string(TIDEMARK_SOURCE_DIR) + "/" + file);
    unsigned number = 0;
    for (std::string line; std::getline(stream, line);) {
      ++number;
      if (line.find(text) != std::string::npos) found.push_back(number);
    }
    return found;
  }

  // Every field of the list is there, with its type: i integer, f number, s text, b bool, a list, o
  // object; a capital letter may also be null.
  static void expect_fields(const rapidjson::Value& object, const std::string& fields) {
    std::stringstream list(fields);
    for (std::string field; list >> field;) {
      const std::string key = field.substr(0, field.find(':'));
      const char type = field.back();
      ASSERT_TRUE(object.HasMember(key.c_str())) << key;
      const auto& value = object[key.c_str()];
      if (std::isupper(type) != 0 && value.IsNull()) continue;
      switch (std::tolower(type)) {
        case 'i':
          EXPECT_TRUE(value.IsInt64() || value.IsUint64()) << key;
          break;
        case 'f':
          EXPECT_TRUE(value.IsNumber()) << key;
          break;
        case 's':
          EXPECT_TRUE(value.IsString()) << key;
          break;
        case 'b':
          EXPECT_TRUE(value.IsBool()) << key;
          break;
        case 'a':
          EXPECT_TRUE(value.IsArray()) << key;
          break;
        default:
          EXPECT_TRUE(value.IsObject()) << key;
      }
    }
  }

  // Rounds of the schedulers and submits: in their order, with the tasks they served.
  static void check_phases(const rapidjson::Value& json, unsigned schedulers) {
    ASSERT_EQ(json["aicpu_scheduler_phases"].Size(), schedulers);
    std::uint64_t complete = 0, dispatched = 0;
    for (const auto& thread : json["aicpu_scheduler_phases"].GetArray()) {
      double last_us = 0;
      for (const auto& phase : thread.GetArray()) {
        expect_fields(phase,
                      "start_time_us:f end_time_us:f phase:s loop_iter:i tasks_processed:i "
                      "pop_hit:i pop_miss:i");
        EXPECT_GE(phase["start_time_us"].GetDouble(), last_us);
        EXPECT_GE(phase["end_time_us"].GetDouble(), phase["start_time_us"].GetDouble());
        last_us = phase["end_time_us"].GetDouble();
        const bool is_complete = phase["phase"].GetString() == std::string("complete");
        (is_complete ? complete : dispatched) += phase["tasks_processed"].GetUint64();
      }
    }
    EXPECT_EQ(complete, 5u);
    EXPECT_EQ(dispatched, 5u);
    ASSERT_EQ(json["aicpu_orchestrator_phases"].Size(), 1u);
    const auto& submits = json["aicpu_orchestrator_phases"][0];
    ASSERT_EQ(submits.Size(), 5u);
    const std::uint64_t first = std::uint64_t{1} << 32;
    const std::uint64_t ids[] = {0, first, first + 1, first + 2, first + 3};
    for (unsigned i = 0; i < 5; ++i) {
      expect_fields(submits[i], "start_time_us:f end_time_us:f phase:s submit_idx:i task_id:i");
      EXPECT_STREQ(submits[i]["phase"].GetString(), "orch_submit");
      EXPECT_EQ(submits[i]["submit_idx"].GetUint(), i);
      EXPECT_EQ(submits[i]["task_id"].GetUint64(), ids[i]);
    }
  }

  std::string text_;
};

}  // namespace tidemark
