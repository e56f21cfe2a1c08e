// SPDX-License-Identifier: Apache-2.0
// Test support for promises that need a whole machine around a run: small file systems, other
// processes, other namespaces, stopped processes. With TIDEMARK_CAMPAIGN set in the environment the
// tests repeat as often as a campaign does; TIDEMARK_ROUNDS says how often, and TIDEMARK_SEED from
// which seed on, so that a campaign can be spread over several processes.
#pragma once

#include <sched.h>
#include <signal.h>
#include <sys/mount.h>

#include <map>
#include <optional>
#include <vector>

#include "tests/child_process.h"
#include "tests/command_line_fixture.h"
#include "tidemark/capture/capture_reader.h"
#include "tidemark/device/region_file.h"
#include "tidemark/run/output_directory.h"
#include "tidemark/run/run_report.h"

namespace tidemark {

inline std::uint32_t rounds(std::uint32_t usual, std::uint32_t campaign) {
  if (const char* asked = std::getenv("TIDEMARK_ROUNDS"))
    return static_cast<std::uint32_t>(std::strtoul(asked, nullptr, 10));
  return std::getenv("TIDEMARK_CAMPAIGN") != nullptr ? campaign : usual;
}
inline std::uint64_t first_seed() {
  const char* asked = std::getenv("TIDEMARK_SEED");
  return asked == nullptr ? 0 : std::strtoull(asked, nullptr, 10);
}

class Promise : public CommandLine {
 protected:
  static constexpr std::uint32_t kEndMs = 120'000;

  void TearDown() override {
    for (const auto& place : mounted_) ::umount2(place.c_str(), MNT_DETACH);
    CommandLine::TearDown();
  }

  // A file system of its own at path(name), seen by this process and its children alone. False:
  // this process may not mount.
  bool mount_small(const std::string& name, std::uint64_t mib) {
    fs::create_directories(path(name));
    return mount_at(path(name), fmt::format("size={}m", mib));
  }
  // The same for /dev/shm: no region of another test is there.
  bool mount_own_shm() { return mount_at("/dev/shm", "size=512m"); }

  // A command in the background, in the test's directory; what it prints goes to `log`.
  pid_t start(const std::string& arguments, const std::string& log,
              const std::string& before = "") {
    const std::string command =
        fmt::format("cd '{}'; {} exec '{}' {}", directory_, before, TIDEMARK_EXECUTABLE, arguments);
    return start_program({"/bin/sh", "-c", command}, path(log));
  }
  // Its exit code; 128 + the signal that ended it; killed and failed if it does not end.
  static int finish(pid_t pid, std::uint32_t timeout_ms = kEndMs) {
    const auto end = wait_for(pid, timeout_ms);
    if (!end) {
      ADD_FAILURE() << "process " << pid << " does not end";
      ::kill(pid, SIGKILL);
      return wait_for(pid, kEndMs)->signal + 128;
    }
    return end->signal != 0 ? 128 + end->signal : end->exit_code;
  }

  template <class Condition>
  static bool wait_until(const Condition& holds, std::uint32_t timeout_ms = 30'000) {
    const std::uint64_t until_us = now_us() + timeout_ms * 1000ull;
    while (!holds())
      if (now_us() > until_us)
        return false;
      else
        sleep_us(1000);
    return true;
  }

  std::optional<RunReport> report_of(const std::string& name) const {
    auto report = read_run_report(path(name));
    return report ? std::optional<RunReport>(std::move(*report)) : std::nullopt;
  }
  bool has_region(const RunReport& report) const { return fs::exists(region_path(report.run_id)); }

  // The pages of a capture by lane and sequence, each with its bytes.
  using Pages = std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<unsigned char>>;
  Pages pages_of(const std::string& name) const {
    Pages pages;
    auto reader = CaptureReader::open(path(name) + "/" + kCaptureFile, CaptureReader::Open::kScan);
    EXPECT_TRUE(reader.has_value());
    if (!reader) return pages;
    for (const auto& chunk : reader->chunks()) {
      if (chunk.type != ChunkType::kPage) continue;
      const auto bytes = reader->read(chunk);
      EXPECT_TRUE(bytes.has_value());
      const bool fresh = pages
                             .emplace(std::pair(chunk.lane, chunk.sequence),
                                      std::vector<unsigned char>(bytes->begin(), bytes->end()))
                             .second;
      EXPECT_TRUE(fresh) << "lane " << chunk.lane << " page " << chunk.sequence << " twice";
    }
    return pages;
  }

 private:
  bool mount_at(const std::string& place, const std::string& options) {
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", place.c_str(), "tmpfs", 0, options.c_str()) != 0)
      return false;
    mounted_.push_back(place);
    return true;
  }

  std::vector<std::string> mounted_;
};

}  // namespace tidemark
