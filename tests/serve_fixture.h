// SPDX-License-Identifier: Apache-2.0
// Test support: `tidemark serve` as a process of its own, asked over sockets of the test.
#pragma once

#include <signal.h>
#include <sys/stat.h>

#include <map>
#include <optional>

#include <rapidjson/document.h>

#include "tests/child_process.h"
#include "tests/command_line_fixture.h"
#include "tidemark/serve/testing/raw_client.h"

namespace tidemark {

class ServeFixture : public CommandLine {
 protected:
  static constexpr std::uint32_t kPatienceMs = 60'000;

  void TearDown() override {
    if (server_ > 0) stop(SIGKILL);
    CommandLine::TearDown();
  }

  void run_ok(const std::string& arguments) {
    const Finished done = run(arguments);
    ASSERT_EQ(done.exit_code, 0) << arguments << "\n" << done.out << done.error;
  }

  // `before` runs in a shell in front of it.
  pid_t start(const std::string& arguments, const std::string& log,
              const std::string& before = "true") {
    return start_program({"/bin/sh", "-c",
                          fmt::format("cd '{}' && {} && TMPDIR='{}' exec '{}' {}", directory_,
                                      before, path("tmp"), TIDEMARK_EXECUTABLE, arguments)},
                         path(log));
  }

  // Its port and token, from the address it prints.
  void serve(const std::string& arguments, const std::string& before = "true") {
    fs::create_directories(path("tmp"));
    fs::remove(path("serve.log"));
    server_ = start("serve " + arguments, "serve.log", before);
    const std::uint64_t end_us = now_us() + kPatienceMs * 1000ull;
    std::string text;
    while (text.find("Ctrl-C") == std::string::npos && now_us() < end_us) {
      sleep_us(2'000);
      text = read(path("serve.log"));
      ASSERT_EQ(text.find("tidemark: "), std::string::npos) << text;
    }
    const std::size_t at = text.find("http://127.0.0.1:");
    ASSERT_NE(at, std::string::npos) << text;
    port_ = static_cast<std::uint16_t>(std::stoul(text.substr(at + 17)));
    token_ = text.substr(text.find('/', at + 17), 33);
    ASSERT_EQ(token_.size(), 33u) << text;
  }
  ProgramEnd stop(int signal) {
    ::kill(server_, signal);
    const auto end = wait_for(server_, kPatienceMs);
    if (!end) ::kill(server_, SIGKILL), (void)wait_for(server_, kPatienceMs);
    server_ = 0;
    EXPECT_TRUE(end) << "it does not end";
    return end.value_or(ProgramEnd{});
  }

  // `name` is behind the token: "/viewer.js".
  std::string ask(const std::string& name, const std::string& more = "") const {
    return samples::ask(port_, token_ + name, more);
  }
  std::string body(const std::string& name) const {
    const std::string answer = ask(name);
    EXPECT_EQ(samples::status_of(answer), 200) << name << "\n" << answer.substr(0, 600);
    return samples::body_of(answer);
  }
  static rapidjson::Document parse(const std::string& text) {
    rapidjson::Document json;
    json.Parse(text.c_str(), text.size());
    EXPECT_FALSE(json.HasParseError()) << text.substr(0, 400);
    return json;
  }
  // What the page was told, from the page itself.
  static rapidjson::Document setup_of(const std::string& html) {
    const std::string begin = "<script type=\"application/json\" id=\"setup\">";
    const std::size_t at = html.find(begin);
    EXPECT_NE(at, std::string::npos);
    const std::size_t from = at + begin.size();
    return parse(html.substr(from, html.find("</script>", from) - from));
  }
  // The prefix of the run's names, with a slash in front.
  std::string run_prefix(const char* which = "run") {
    const auto setup = setup_of(body("/"));
    EXPECT_TRUE(setup[which].IsString());
    return std::string("/") + setup[which].GetString();
  }
  // index.json once `done` says so.
  template <class Done>
  rapidjson::Document index_when(const std::string& prefix, const Done& done) {
    const std::uint64_t end_us = now_us() + kPatienceMs * 1000ull;
    for (;;) {
      auto index = parse(body(prefix + "index.json"));
      if (done(index)) return index;
      if (HasFailure() || now_us() > end_us) {
        ADD_FAILURE() << "it does not come to that";
        return index;
      }
      sleep_us(20'000);
    }
  }
  static bool is_complete(const rapidjson::Document& index) {
    return index.HasMember("progress") && index["progress"]["complete"].GetBool();
  }

  // Names, sizes, times and bytes of all that is in a folder, and of the folder.
  std::map<std::string, std::string> everything_in(const std::string& folder) const {
    std::map<std::string, std::string> all;
    const auto look = [&](const fs::path& file) {
      struct stat info {};
      EXPECT_EQ(::lstat(file.c_str(), &info), 0);
      all[file.string()] =
          fmt::format("{} {:o} {} {}.{} {}.{} {}", info.st_ino, info.st_mode, info.st_size,
                      info.st_mtim.tv_sec, info.st_mtim.tv_nsec, info.st_ctim.tv_sec,
                      info.st_ctim.tv_nsec, S_ISREG(info.st_mode) ? read(file.string()) : "");
    };
    look(path(folder));
    for (const auto& entry : fs::recursive_directory_iterator(path(folder))) look(entry.path());
    return all;
  }

  pid_t server_ = 0;
  std::uint16_t port_ = 0;
  std::string token_;  // with the slash in front
};

}  // namespace tidemark
