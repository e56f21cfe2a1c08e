// SPDX-License-Identifier: Apache-2.0
// A recorder of a lane that is not as it expects ends its device, and says why where that outlives
// it.
#include "tidemark/record/lane_check.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include <gtest/gtest.h>

#include "tidemark/record/recorder.h"
#include "tidemark/record/testing/manual_env.h"
#include "tidemark/record/testing/region_in_memory.h"
#include "tidemark/schema/task_span.h"

namespace tidemark {
namespace {

struct EnvThatLooksLate : ManualEnv {
  static constexpr bool kLooksLate = true;
};

// What a child says in a region that both see; it must not come to its end.
template <class Env>
std::string said_by(std::uint32_t record_bytes, LaneIndex lane) {
  const RegionInMemory region(
      {.lanes = {RegionInMemory::lane_of(StreamId::kSwimlane, Overflow::kDrop, record_bytes)}});
  const std::uint64_t bytes = region.view().layout().total_bytes;
  void* shared = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  std::memcpy(shared, &region.header(), bytes);
  const RegionView view(shared);
  const pid_t child = ::fork();
  if (child == 0) {
    static_cast<void>(::freopen("/dev/null", "w", stderr));
    const Recorder<TaskSpan, Env> recorder(&view, lane);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status)) << "it went on";
  const std::string said(view.header().fault_text,
                         view.header().device.fault_bytes.load_acquire());  // [fault written]
  ::munmap(shared, bytes);
  return said;
}

TEST(LaneCheck, WhatIsWrongIsInTheRegionWhenTheDeviceIsEnded) {
  EXPECT_EQ(said_by<ManualEnv>(48, 0), "a lane of other records");
  EXPECT_EQ(said_by<EnvThatLooksLate>(48, 0), "a lane of other records");
  EXPECT_EQ(said_by<EnvThatLooksLate>(32, 1), "no such lane");
}

}  // namespace
}  // namespace tidemark
