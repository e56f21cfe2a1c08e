// SPDX-License-Identifier: Apache-2.0
// The region file: private, whole from the start, locked while a process of the run lives.
#include "tidemark/device/region_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include <gtest/gtest.h>

#include "tidemark/base/process_identity.h"

namespace tidemark {
namespace {

class RegionFileTest : public testing::Test {
 protected:
  RegionFileTest() {
    RegionRequest request;
    request.lanes = {{.producer = "first"}, {.overflow = Overflow::kDrop, .producer = "second"}};
    request.recorder.page_bytes = 1024;
    request.run_id = std::uint64_t{this_process().pid} << 32 | 0xF11E;
    plan_ = *plan_region(request);
    plan_.run_directory = "/some/where/outputs";
    ::unlink(region_path(plan_.identity.run_id).c_str());
  }
  ~RegionFileTest() override { ::unlink(region_path(plan_.identity.run_id).c_str()); }
  RegionPlan plan_;
};

TEST_F(RegionFileTest, IsPrivateAllocatedAndOfThePlansSize) {
  const auto file = create_region_file(plan_);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->path, region_path(plan_.identity.run_id));
  EXPECT_EQ(file->bytes, plan_.layout.total_bytes);
  struct stat info {};
  ASSERT_EQ(::stat(file->path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600u);
  EXPECT_EQ(static_cast<std::uint64_t>(info.st_size), plan_.layout.total_bytes);
  EXPECT_GE(static_cast<std::uint64_t>(info.st_blocks) * 512, plan_.layout.total_bytes)
      << "a full file system is an error at creation, not a signal later";
}

TEST_F(RegionFileTest, TellsThePlanAndTheRunDirectory) {
  const auto file = create_region_file(plan_);
  ASSERT_TRUE(file);
  const auto mapping = map_region(file->fd.get(), file->path, file->bytes);
  ASSERT_TRUE(mapping);
  const RegionView view(mapping->base());
  EXPECT_TRUE(is_region(view.header().identity, file->bytes));
  EXPECT_EQ(std::memcmp(&view.header().identity, &plan_.identity, sizeof(RegionIdentity)), 0);
  EXPECT_STREQ(view.header().run_directory, "/some/where/outputs");
  EXPECT_STREQ(view.lane(0).plan.producer, "first");
  EXPECT_STREQ(view.lane(1).plan.producer, "second");
  EXPECT_EQ(view.lane(1).plan.overflow, Overflow::kDrop);
  EXPECT_EQ(view.lane(0).words.state.load_own(), LaneState::kUnopened) << "zero means empty";
  EXPECT_EQ(view.page(0).sequence.load_own(), 0u);
}

TEST_F(RegionFileTest, ASecondRunOfTheSameIdIsRefused) {
  const auto file = create_region_file(plan_);
  ASSERT_TRUE(file);
  const auto second = create_region_file(plan_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, ErrorKind::kFile);
  EXPECT_NE(second.error().message.find(file->path), std::string::npos);
}

TEST_F(RegionFileTest, TheExclusiveLockIsRefusedWhileTheRunLives) {
  auto file = create_region_file(plan_);
  ASSERT_TRUE(file);
  const auto refused = open_region_file(file->path, RegionLock::kExclusive);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kUsage);
  EXPECT_NE(refused.error().message.find("in use"), std::string::npos);
  const auto look = open_region_file(file->path, RegionLock::kNone);
  ASSERT_TRUE(look) << "a look needs no lock";
  EXPECT_EQ(look->bytes, plan_.layout.total_bytes);
  file->fd.reset();
  EXPECT_TRUE(open_region_file(region_path(plan_.identity.run_id), RegionLock::kExclusive));
}

TEST_F(RegionFileTest, AMissingFileIsAnErrorWithItsPath) {
  const auto missing = open_region_file("/dev/shm/tidemark-none.region", RegionLock::kNone);
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("/dev/shm/tidemark-none.region"), std::string::npos);
}

// Both ways to open refuse it as somebody else's, and say why.
void expect_not_yours(const std::string& path, const char* why) {
  for (const RegionLock lock : {RegionLock::kNone, RegionLock::kExclusive}) {
    const auto refused = open_region_file(path, lock);
    ASSERT_FALSE(refused) << why;
    EXPECT_EQ(refused.error().kind, ErrorKind::kUsage);
    EXPECT_NE(refused.error().message.find("is not yours"), std::string::npos)
        << refused.error().message;
    EXPECT_NE(refused.error().message.find(why), std::string::npos) << refused.error().message;
  }
}

TEST_F(RegionFileTest, FollowsNoLinkAndWaitsForNoFifo) {
  const std::string path = region_path(plan_.identity.run_id);
  const std::string target = path + ".target";
  ASSERT_GE(UniqueFd(::open(target.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600)).get(), 0);
  ASSERT_EQ(::symlink(target.c_str(), path.c_str()), 0);
  expect_not_yours(path, "it is a link");
  ::unlink(target.c_str());
  expect_not_yours(path, "it is a link");
  ::unlink(path.c_str());
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  expect_not_yours(path, "it is not a regular file");
  ::unlink(path.c_str());
  ASSERT_EQ(::mkdir(path.c_str(), 0700), 0);
  expect_not_yours(path, "it is not a regular file");
  ::rmdir(path.c_str());
}

TEST_F(RegionFileTest, BelievesOnlyPrivateFilesOfTheCaller) {
  const auto file = create_region_file(plan_);
  ASSERT_TRUE(file);
  for (const mode_t mode : {0640u, 0604u, 0620u, 0602u, 0666u}) {
    ASSERT_EQ(::chmod(file->path.c_str(), mode), 0);
    expect_not_yours(file->path, "others may open it");
  }
  ASSERT_EQ(::chmod(file->path.c_str(), 0600), 0);
  EXPECT_TRUE(open_region_file(file->path, RegionLock::kNone));
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file to another user";
  ASSERT_EQ(::chown(file->path.c_str(), 65534, 65534), 0);
  expect_not_yours(file->path, "it belongs to another user");
}

TEST_F(RegionFileTest, OutlivesItsNameWhileItIsOpen) {
  const auto file = create_region_file(plan_);
  ASSERT_TRUE(file);
  ASSERT_EQ(::unlink(file->path.c_str()), 0);
  const auto mapping = map_region(file->fd.get(), file->path, file->bytes);
  ASSERT_TRUE(mapping);
  EXPECT_EQ(RegionView(mapping->base()).header().identity.run_id, plan_.identity.run_id);
}

TEST_F(RegionFileTest, ADamagedIdentityIsNoRegion) {
  const std::uint64_t bytes = plan_.layout.total_bytes;
  ASSERT_TRUE(is_region(plan_.identity, bytes));
  EXPECT_FALSE(is_region(plan_.identity, bytes - 1)) << "a file cut short";
  const auto changed = [&](auto change) {
    RegionIdentity identity = plan_.identity;
    change(identity);
    return is_region(identity, bytes);
  };
  EXPECT_FALSE(changed([](auto& id) { id.magic ^= 1; }));
  EXPECT_FALSE(changed([](auto& id) { ++id.abi_version; }));
  EXPECT_FALSE(changed([](auto& id) { id.total_bytes += 4096; }));
  EXPECT_FALSE(changed([](auto& id) { id.shape.page_count = ~0u; }));
  EXPECT_FALSE(changed([](auto& id) { id.shape.ring_slots = 3; }));
  EXPECT_FALSE(changed([](auto& id) { id.lane_count = 3; }));
  EXPECT_FALSE(changed([](auto& id) { id.pool_page_count = id.shape.page_count + 1; }));
  EXPECT_FALSE(changed([](auto& id) { id.drain_threads = kDrainThreadsMax + 1; }));
  EXPECT_FALSE(changed([](auto& id) { id.ticks_per_second = 0; }));
}

}  // namespace
}  // namespace tidemark
