// SPDX-License-Identifier: Apache-2.0
// The approved scripts, *.approved beside this file: commands of a shell, and the text they print.
//
//   $ COMMAND    run by sh in an empty directory, in which the commands before it have run
//   | TEXT       a line on standard output
//   ! TEXT       a line on standard error
//   ? N          the exit code, where it is not 0
//   # TEXT       a remark; like empty lines, it stays as it is
//
// `tidemark` is the product with a fixed clock (fixed_time.cpp), `artifact` shows files as text
// (artifact_text.cpp), and filter.cpp says what is replaced. `./dev approve` writes what was
// printed into the scripts; git diff then shows the change.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "tests/approved/filter.h"
#include "tests/child_process.h"
#include "tests/own_shared_memory.h"
#include "tidemark/base/testing/temporary_directory.h"

namespace tidemark::approved {
namespace {

constexpr std::uint32_t kCommandMs = 120'000;
const std::string kFolder = TIDEMARK_SOURCE_DIR "/tests/approved/";

std::string read_whole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void write_whole(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

// Every line behind its mark. A last line without an end says so.
std::string marked(char mark, const std::string& text) {
  std::string lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines += mark;
    if (end > at) lines += " " + text.substr(at, end - at);
    if (end == text.size()) lines += "<no end of line>";
    lines += "\n";
    at = end + 1;
  }
  return lines;
}

// A script, run again: the same commands and remarks, with what is printed now.
class Script {
 public:
  std::string run(const std::string& text) {
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      const std::string line = text.substr(at, end - at);
      at = end + 1;
      const char mark = line.empty() ? 0 : line[0];
      if (mark == '|' || mark == '!' || mark == '?') continue;
      result += line + "\n";
      if (mark == '$') result += run_command(line.substr(1));
    }
    return result;
  }

 private:
  std::string run_command(const std::string& command) {
    const std::string out = files_.file("out"), error = files_.file("error");
    const std::string code = "cd '" + place_.path() +
                             "' && export PATH='" TIDEMARK_APPROVED_BIN
                             "':\"$PATH\" LC_ALL=C TZ=UTC && umask 022 && { " +
                             command + "\n} >'" + out + "' 2>'" + error + "'";
    const ProgramEnd end = run_program({"/bin/sh", "-c", code}, files_.file("log"), kCommandMs);
    std::string text =
        filtered(marked('|', read_whole(out)) + marked('!', read_whole(error)), place_.path());
    if (end.signal != 0) text += "? signal " + std::to_string(end.signal) + "\n";
    if (end.signal == 0 && end.exit_code != 0) text += "? " + std::to_string(end.exit_code) + "\n";
    return text;
  }

  samples::TemporaryDirectory place_, files_;
};

std::string difference(const std::string& path, const std::string& actual) {
  const samples::TemporaryDirectory files;
  write_whole(files.file("actual"), actual);
  const std::string code = "diff -u --label approved --label actual '" + path + "' '" +
                           files.file("actual") + "' >'" + files.file("diff") + "'";
  run_program({"/bin/sh", "-c", code}, files.file("log"), kCommandMs);
  return read_whole(files.file("diff"));
}

class Approved : public testing::TestWithParam<std::string> {};

TEST_P(Approved, TheTextIsAsApproved) {
  const std::string path = kFolder + GetParam() + ".approved";
  const OwnSharedMemory own;
  if (GetParam() == "regions" && !own.mounted())
    GTEST_SKIP() << "no right to mount: 'recover --list' would show regions of others";
  become_reaper();
  const std::string approved = read_whole(path);
  const std::string actual = Script().run(approved);
  EXPECT_EQ(reap_all(10'000).left, "") << "processes are left";
  if (actual == approved) return;
  if (std::getenv("TIDEMARK_APPROVE") != nullptr) {
    write_whole(path, actual);
    return;
  }
  ADD_FAILURE() << path << " has other text than is printed now:\n"
                << difference(path, actual) << "If the new text is right: ./dev approve";
}

std::vector<std::string> scripts() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder))
    if (entry.path().extension() == ".approved") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Scripts, Approved, testing::ValuesIn(scripts()),
                         [](const auto& script) { return script.param; });

}  // namespace
}  // namespace tidemark::approved
