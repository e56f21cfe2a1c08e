// SPDX-License-Identifier: Apache-2.0
// Shared memory is open to everybody. `recover` lists what is in it without waiting for or
// believing foreign files, removes only what is the caller's and held by nobody, and ends no
// process that somebody else's file names.
#include <signal.h>
#include <sys/stat.h>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "tests/command_line_fixture.h"
#include "tests/own_shared_memory.h"
#include "tidemark/base/process_identity.h"
#include "tidemark/device/region_file.h"

namespace tidemark {
namespace {

class ForeignRegions : public CommandLine {
 protected:
  void SetUp() override {
    CommandLine::SetUp();
    if (!shared_memory_.mounted()) GTEST_SKIP() << "no right to mount a /dev/shm of its own";
  }

  static std::string shm(const std::string& name) {
    return fmt::format("/dev/shm/tidemark-{}.region", name);
  }
  static RegionPlan plan_of(std::uint64_t run_id) {
    RegionRequest request;
    request.lanes = {{.producer = "only"}};
    request.recorder.page_bytes = 1024;
    request.run_id = run_id;
    RegionPlan plan = *plan_region(request);
    plan.run_directory = fmt::format("/of/run/{}", run_id);
    return plan;
  }
  // A region whose file is closed again: nobody holds it.
  static std::string leave_region(const RegionPlan& plan) {
    const auto file = create_region_file(plan);
    EXPECT_TRUE(file) << file.error().message;
    return file ? file->path : "";
  }
  static void write_file(const std::string& path, const std::string& bytes) {
    std::ofstream(path) << bytes;
    ::chmod(path.c_str(), 0600);
  }
  static bool is_there(const std::string& path) { return fs::exists(fs::symlink_status(path)); }
  // The state that the listing gives a path.
  static std::string line_of(const std::string& text, const std::string& path) {
    const auto at = text.find(path);
    return at == std::string::npos ? "" : text.substr(at, text.find('\n', at) - at);
  }

  OwnSharedMemory shared_memory_;
};

TEST_F(ForeignRegions, AreListedAsNotYoursAndCleanTakesOnlyWhatIsYoursAndFree) {
  ASSERT_EQ(::mkfifo(shm("fifo").c_str(), 0600), 0);
  write_file("/dev/shm/target", "mine");
  ASSERT_EQ(::symlink("/dev/shm/target", shm("link").c_str()), 0);
  ASSERT_EQ(::mkdir(shm("directory").c_str(), 0700), 0);
  write_file(shm("random"), std::string(5000, '\x9B'));
  write_file(shm("empty"), "");
  RegionPlan other_version = plan_of(1);
  ++other_version.identity.abi_version;
  const std::string newer = leave_region(other_version);
  const std::string dead = leave_region(plan_of(2));
  const std::string open_to_all = leave_region(plan_of(3));
  ASSERT_EQ(::chmod(open_to_all.c_str(), 0666), 0);
  const std::string of_nobody = leave_region(plan_of(4));
  ASSERT_EQ(::chown(of_nobody.c_str(), 65534, 65534), 0);
  const auto live = create_region_file(plan_of(5));
  RegionPlan unseen_plan = plan_of(6);
  unseen_plan.identity.host_pid = 0;
  const auto unseen = create_region_file(unseen_plan);
  RegionPlan newer_live_plan = plan_of(7);
  ++newer_live_plan.identity.abi_version;
  const auto newer_live = create_region_file(newer_live_plan);
  ASSERT_TRUE(live && unseen && newer_live);

  const Finished listed = run("recover --list");
  EXPECT_EQ(listed.exit_code, 0) << listed.error;
  const auto expect_line = [&](const std::string& path, const std::string& state) {
    const std::string line = line_of(listed.out, path);
    EXPECT_NE(line.find(state), std::string::npos) << path << ": " << line;
  };
  expect_line(shm("fifo"), "is not yours: it is not a regular file");
  expect_line(shm("link"), "is not yours: it is a link");
  expect_line(shm("directory"), "is not yours: it is not a regular file");
  expect_line(open_to_all, "is not yours: others may open it");
  expect_line(of_nobody, "is not yours: it belongs to another user");
  expect_line(shm("random"), "not readable by this version");
  expect_line(shm("empty"), "not readable by this version");
  expect_line(newer, "not readable by this version");
  expect_line(newer_live->path, "not readable by this version, in use");
  expect_line(dead, "left behind");
  expect_line(live->path, "running");
  expect_line(unseen->path, "running, in a place that is not seen from here");
  EXPECT_NE(listed.out.find("tidemark recover '/of/run/2'"), std::string::npos) << listed.out;
  EXPECT_EQ(listed.out.find("/of/run/4"), std::string::npos) << "nothing of it is read";

  const Finished asked = run("recover --clean", "true </dev/null;");
  EXPECT_EQ(asked.exit_code, 2);
  EXPECT_NE(asked.error.find("--yes to remove 4 regions"), std::string::npos) << asked.error;
  EXPECT_TRUE(is_there(dead));

  // One that cannot be removed: something is mounted on it.
  write_file("/dev/shm/other", "");
  ASSERT_EQ(::mount("/dev/shm/other", shm("empty").c_str(), nullptr, MS_BIND, nullptr), 0);
  const Finished cleaned = run("recover --clean --yes");
  EXPECT_EQ(cleaned.exit_code, 5) << cleaned.out;
  EXPECT_NE(cleaned.error.find(shm("empty")), std::string::npos) << cleaned.error;
  for (const auto& path : {shm("random"), newer, dead}) {
    EXPECT_FALSE(is_there(path)) << path;
    EXPECT_NE(cleaned.out.find("removed " + path), std::string::npos) << cleaned.out;
  }
  for (const auto& path : {shm("fifo"), shm("link"), shm("directory"), open_to_all, of_nobody,
                           live->path, unseen->path, newer_live->path}) {
    EXPECT_TRUE(is_there(path)) << path;
    EXPECT_NE(cleaned.out.find("left: " + path), std::string::npos) << path << cleaned.out;
  }
  EXPECT_TRUE(is_there("/dev/shm/target"));
}

TEST_F(ForeignRegions, RecoverEndsNoProcessThatAForeignFileNames) {
  const pid_t bystander = ::fork();
  if (bystander == 0) {
    ::pause();
    ::_exit(0);
  }
  const ProcessIdentity named = identify_process(static_cast<std::uint32_t>(bystander));
  ASSERT_EQ(run("run synthetic_producer --records 100 --output-prefix a").exit_code, 0);
  std::string report = read(path("a/run.json"));
  const auto status = report.find("\"status\": \"ok\"");
  ASSERT_NE(status, std::string::npos) << report;
  report.replace(status, 14, "\"status\": \"running\"");
  const std::string key = "\"run_id\": \"";
  const auto at = report.find(key);
  ASSERT_NE(at, std::string::npos);
  const std::uint64_t run_id = std::stoull(report.substr(at + key.size(), 16), nullptr, 16);
  // As it is while the run has a region, of a host that is gone.
  report.insert(report.find('\n') + 1,
                fmt::format("\"region\": {{\"path\": \"{}\", \"bytes\": 1, \"boot_id\": \"{}\", "
                            "\"host_pid\": 0, \"host_start_time\": 0}},\n",
                            region_path(run_id), boot_id()));
  std::ofstream(path("a/run.json")) << report;
  RegionPlan plan = plan_of(run_id);
  plan.identity.host_pid = 0;
  {
    const auto file = create_region_file(plan);
    ASSERT_TRUE(file);
    const auto mapping = map_region(file->fd.get(), file->path, file->bytes);
    ASSERT_TRUE(mapping);
    auto& device = static_cast<RegionHeader*>(mapping->base())->device;
    device.device_pid.store_relaxed(named.pid);
    device.device_start_time.store_relaxed(named.start_time);
  }
  ASSERT_EQ(::chmod(region_path(run_id).c_str(), 0666), 0);
  ASSERT_EQ(::chown(region_path(run_id).c_str(), 65534, 65534), 0);
  const Finished done = run("recover a");
  EXPECT_EQ(done.exit_code, 2) << done.out << done.error;
  EXPECT_NE(done.error.find("is not yours: it belongs to another user"), std::string::npos)
      << done.error;
  EXPECT_TRUE(is_alive(named)) << "somebody else's file had a process killed";
  EXPECT_TRUE(is_there(region_path(run_id)));
  ::kill(bystander, SIGKILL);
  ::waitpid(bystander, nullptr, 0);
}

}  // namespace
}  // namespace tidemark
