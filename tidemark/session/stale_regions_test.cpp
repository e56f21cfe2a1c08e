// SPDX-License-Identifier: Apache-2.0
// Regions in shared memory: whose they are, whether a process holds them, and what may be removed.
#include "tidemark/session/stale_regions.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include <gtest/gtest.h>

#include "tidemark/base/process_identity.h"
#include "tidemark/device/region_file.h"

namespace tidemark {
namespace {

class StaleRegionsTest : public testing::Test {
 protected:
  StaleRegionsTest() {
    RegionRequest request;
    request.lanes = {{.producer = "only"}};
    request.recorder.page_bytes = 1024;
    request.run_id = std::uint64_t{this_process().pid} << 32 | 0x57A1E;
    plan_ = *plan_region(request);
    plan_.run_directory = "/some/where";
    path_ = region_path(plan_.identity.run_id);
    ::unlink(path_.c_str());
  }
  ~StaleRegionsTest() override { ::unlink(path_.c_str()); }

  [[nodiscard]] std::optional<StaleRegion> listed() const {
    const auto regions = list_regions();
    const auto found = std::find_if(regions.begin(), regions.end(), [&](const StaleRegion& region) {
      return region.path == path_;
    });
    return found == regions.end() ? std::nullopt : std::optional(*found);
  }
  [[nodiscard]] bool is_there() const {
    std::error_code code;
    return std::filesystem::exists(std::filesystem::symlink_status(path_, code));
  }
  RegionPlan plan_;
  std::string path_;
};

TEST_F(StaleRegionsTest, ItsLockSaysWhetherARunGoesOn) {
  plan_.identity.host_pid = 0;  // as seen from another pid namespace: nobody
  auto file = create_region_file(plan_);
  ASSERT_TRUE(file) << file.error().message;
  auto region = listed();
  ASSERT_TRUE(region);
  EXPECT_TRUE(region->in_use && !region->host_alive && region->not_yours.empty());
  EXPECT_EQ(region->run_id, plan_.identity.run_id);
  EXPECT_EQ(region->run_directory, "/some/where");
  const auto refused = remove_region_if_dead(path_);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("in use"), std::string::npos) << refused.error().message;
  EXPECT_TRUE(is_there());
  file->fd.reset();
  region = listed();
  ASSERT_TRUE(region);
  EXPECT_FALSE(region->in_use);
  EXPECT_TRUE(remove_region_if_dead(path_));
  EXPECT_FALSE(is_there());
  EXPECT_FALSE(listed());
}

TEST_F(StaleRegionsTest, LookingLeavesTheLockFree) {
  auto file = create_region_file(plan_);
  ASSERT_TRUE(file);
  file->fd.reset();
  ASSERT_TRUE(listed());
  EXPECT_TRUE(open_region_file(path_, RegionLock::kExclusive));
}

TEST_F(StaleRegionsTest, WhatCannotBeReadIsStillTheCallersAndMayGo) {
  auto file = create_region_file(plan_);
  ASSERT_TRUE(file);
  ++plan_.identity.abi_version;
  ASSERT_EQ(::pwrite(file->fd.get(), &plan_.identity, sizeof(plan_.identity), 0),
            static_cast<ssize_t>(sizeof(plan_.identity)));
  auto region = listed();
  ASSERT_TRUE(region);
  EXPECT_EQ(region->run_id, 0u);
  EXPECT_TRUE(region->in_use && region->not_yours.empty());
  EXPECT_FALSE(remove_region_if_dead(path_)) << "another version's run may be going on";
  file->fd.reset();
  EXPECT_FALSE(listed()->in_use);
  EXPECT_TRUE(remove_region_if_dead(path_));
}

TEST_F(StaleRegionsTest, WhatIsNotTheCallersIsListedAndNeverRemoved) {
  const auto expect_left = [&](const char* why) {
    const auto region = listed();
    ASSERT_TRUE(region) << why;
    EXPECT_NE(region->not_yours.find(why), std::string::npos) << region->not_yours;
    EXPECT_EQ(region->run_id, 0u);
    const auto refused = remove_region_if_dead(path_);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find(why), std::string::npos) << refused.error().message;
    EXPECT_TRUE(is_there());
  };
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  expect_left("not a regular file");
  ::unlink(path_.c_str());
  ASSERT_EQ(::symlink("/dev/null", path_.c_str()), 0);
  expect_left("a link");
  ::unlink(path_.c_str());
  ASSERT_EQ(::mkdir(path_.c_str(), 0700), 0);
  expect_left("not a regular file");
  ::rmdir(path_.c_str());
  auto file = create_region_file(plan_);
  ASSERT_TRUE(file);
  file->fd.reset();
  ASSERT_EQ(::chmod(path_.c_str(), 0644), 0);
  expect_left("others may open it");
  ASSERT_EQ(::chmod(path_.c_str(), 0600), 0);
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file to another user";
  ASSERT_EQ(::chown(path_.c_str(), 65534, 65534), 0);
  expect_left("another user");
}

}  // namespace
}  // namespace tidemark
