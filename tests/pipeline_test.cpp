// SPDX-License-Identifier: Apache-2.0
// The program of examples/pipeline on threads, hung on request: hang and top name the producer, its
// stage and its round while it hangs, after finish() with a limit, and after a kill.
#include <signal.h>

#include <gtest/gtest.h>

#include "tests/child_process.h"
#include "tests/command_line_fixture.h"
#include "tidemark/base/testing/seed_range.h"
#include "tidemark/run/json.h"

namespace tidemark {
namespace {

constexpr std::uint32_t kPatienceMs = 120'000;  // never reached by a program that is well
constexpr const char* kStages[] = {"load", "compute", "store"};

class Pipeline : public CommandLine {
 protected:
  void TearDown() override {
    if (program_ > 0) {
      ::kill(program_, SIGKILL);
      (void)wait_for(program_, kPatienceMs);
    }
    CommandLine::TearDown();
  }
  int run_pipeline(const std::string& arguments) {
    const auto end =
        run_program({"/bin/sh", "-c", command_of(arguments)}, path("log.txt"), kPatienceMs);
    EXPECT_EQ(end.signal, 0) << read(path("log.txt"));
    return end.exit_code;
  }
  void start_pipeline(const std::string& arguments) {
    program_ = start_program({"/bin/sh", "-c", command_of(arguments)}, path("log.txt"));
  }
  void kill_pipeline() {
    ::kill(program_, SIGKILL);
    const auto end = wait_for(program_, kPatienceMs);
    ASSERT_TRUE(end);
    EXPECT_EQ(end->signal, SIGKILL) << "it was over before: " << read(path("log.txt"));
    program_ = 0;
  }
  static std::string sentence_of(const std::string& text) {
    const std::size_t at = text.find("what       ");
    if (at == std::string::npos) return {};
    return text.substr(at + 11, text.find('\n', at) - at - 11);
  }
  // Looks from outside until somebody has stopped.
  std::string wait_until_stopped(const std::string& run) {
    const std::uint64_t end_us = now_us() + kPatienceMs * 1000ull;
    while (now_us() < end_us) {
      const Finished look = this->run("hang " + run);
      if (look.exit_code == 0 && look.out.find("\nstopped ") != std::string::npos) return look.out;
      sleep_us(50'000);
    }
    return {};
  }
  // Without its times, which go on.
  static std::string without_times(std::string text) {
    for (std::size_t at = 0; (at = text.find(" for ", at)) != std::string::npos;) {
      std::size_t end = at + 5;
      while (end < text.size() && text[end] != ';' && text[end] != ',') ++end;
      if (text[at + 5] >= '0' && text[at + 5] <= '9')
        text.erase(at, end - at);
      else
        at = end;
    }
    return text;
  }

 private:
  [[nodiscard]] std::string command_of(const std::string& arguments) const {
    return fmt::format("cd '{}' && exec '{}' {}", directory_, TIDEMARK_PIPELINE, arguments);
  }
  pid_t program_ = 0;
};

TEST_F(Pipeline, ComesToItsEndWithRightResults) {
  EXPECT_EQ(run_pipeline("r --ctas 3 --rounds 300"), 0) << read(path("log.txt"));
  EXPECT_EQ(run("check r").exit_code, 0);
  const Finished hang = run("hang r");
  EXPECT_EQ(hang.exit_code, 2) << hang.out;
  EXPECT_NE(hang.error.find("nothing hung"), std::string::npos) << hang.error;
}

TEST_F(Pipeline, FinishNamesTheStageThatHangs) {
  for (std::uint32_t i = 0; i < 3; ++i) {
    SCOPED_TRACE(i);
    const std::uint32_t cta = (i + 1) % 3, round = 40 + 7 * i;
    // The program itself compares what is said with what it was asked to do.
    EXPECT_EQ(run_pipeline(fmt::format("r --ctas 3 --rounds 100 --hang {},{},{} --limit 1500", cta,
                                       kStages[i], round)),
              3)
        << read(path("log.txt"));
    const Finished hang = run("hang r");
    EXPECT_EQ(hang.exit_code, 0) << hang.error;
    const std::string expected =
        fmt::format("CTA {} {} has been at `{}` {} for ", cta, kStages[i], kStages[i], round);
    EXPECT_EQ(sentence_of(hang.out).find(expected), 0u) << hang.out;
    EXPECT_NE(hang.out.find("103 PRODUCERS_STOPPED"), std::string::npos) << hang.out;
    const Finished check = run("check r");
    EXPECT_EQ(check.exit_code, 0) << check.out << check.error;
    rapidjson::Document json;
    json.Parse(read(path("r/hang.json")).c_str());
    ASSERT_FALSE(json.HasParseError());
    const auto& first = json["producers"][0];
    EXPECT_EQ(first["producer"].GetString(), fmt::format("CTA {} {}", cta, kStages[i]));
    EXPECT_EQ(first["number"].GetUint64(), round);
    EXPECT_EQ(first["records"].GetUint64(), round) << "every tile before it";
    EXPECT_TRUE(first["stopped"].GetBool());
    EXPECT_EQ(json["producers"].Size() + json["producers_ended"].GetUint64(), 9u);
  }
}

TEST_F(Pipeline, LiveAndAfterAKillHangSaysTheSame) {
  start_pipeline("r --ctas 2 --rounds 100 --hang 1,compute,33 --limit 0");
  const std::string live = wait_until_stopped("r");
  const std::string expected = "CTA 1 compute has been at `compute` 33 for ";
  EXPECT_EQ(sentence_of(live).find(expected), 0u) << live;
  const Finished top = run("top r --once");
  EXPECT_EQ(top.exit_code, 0) << top.error;
  EXPECT_NE(top.out.find("CTA 1 compute: at `compute` 33 for"), std::string::npos) << top.out;
  const Finished top_json = run("top r --once --json");
  rapidjson::Document json;
  json.Parse(top_json.out.c_str());
  ASSERT_FALSE(json.HasParseError()) << top_json.out;
  EXPECT_EQ(json["producers"][0]["producer"].GetString(), std::string("CTA 1 compute"));
  kill_pipeline();
  EXPECT_EQ(run("recover r").exit_code, 0);
  const Finished dead = run("hang r");
  EXPECT_EQ(dead.exit_code, 0) << dead.error;
  EXPECT_EQ(without_times(sentence_of(dead.out)), without_times(sentence_of(live))) << dead.out;
  EXPECT_NE(dead.out.find("RECOVERED: host gone"), std::string::npos) << dead.out;
  EXPECT_EQ(run("check r").exit_code, 0);
}

}  // namespace
}  // namespace tidemark
