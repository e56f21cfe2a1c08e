// SPDX-License-Identifier: Apache-2.0
// A copy of a page that is being written may have a stamp or a commit without what was stored
// before it. Here the test decides what each copy meets: it is the system call that reads the
// region. Of two copies only what both agree on is taken, and what is taken is true.
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <functional>

#include <gtest/gtest.h>

#include "tidemark/base/process_identity.h"
#include "tidemark/collect/leftover_pages.h"
#include "tidemark/collect/testing/keeping_sink.h"
#include "tidemark/device/sim/sim_env.h"
#include "tidemark/record/frame_writer.h"
#include "tidemark/record/recorder.h"

namespace {

// Called instead of the system, if there is one. Only this executable's calls come here.
std::function<ssize_t(int, void*, size_t, off_t)> on_pread;

ssize_t pread_of_the_system(int fd, void* to, size_t size, off_t offset) {
  return ::syscall(SYS_pread64, fd, to, size, offset);
}

}  // namespace

// Its name in the C library may be declared with attributes that differ.
extern "C" ssize_t pread(int fd, void* to, size_t size, off_t offset) {
  return on_pread ? on_pread(fd, to, size, offset) : pread_of_the_system(fd, to, size, offset);
}

namespace tidemark {
namespace {

constexpr std::uint32_t kFrameBytes = 72;
unsigned char byte_of(std::uint64_t number, std::uint64_t at) {
  return static_cast<unsigned char>(number * 31 + at + 1);
}

class TornCopy : public testing::Test {
 protected:
  void begin(bool framed) {
    RegionRequest request;
    request.lanes = {{.overflow = Overflow::kDrop}};
    if (framed)
      request.lanes = {{.stream = StreamId::kDump, .overflow = Overflow::kDrop, .record_bytes = 0}};
    request.recorder.page_bytes = 1024;
    request.run_id = std::uint64_t{this_process().pid} << 32 | 0x7042;
    plan_ = *plan_region(request);
    ::unlink(region_path(request.run_id).c_str());
    file_ = std::move(*create_region_file(plan_));
    ::unlink(file_.path.c_str());
    mapping_ = std::move(*map_region(file_.fd.get(), file_.path, file_.bytes));
    view_ = RegionView(mapping_.base());
    port_ = std::move(*RegionPort::open(file_, Transport::kCopied));
    view_.free_ring(0).send(0, 0);
  }
  void TearDown() override { on_pread = nullptr; }

  bool write_frame(FrameWriter<SimEnv>& frames, std::uint64_t number) {
    unsigned char bytes[kFrameBytes];
    for (std::uint32_t at = 0; at < kFrameBytes; ++at) bytes[at] = byte_of(number, at);
    return frames.write_frame(bytes, sizeof(bytes));
  }

  // `torn(copy, bytes)` changes what the copy-th reading of the payload brought, 1 or 2.
  void collect(const std::function<void(int, unsigned char*)>& torn) {
    const auto payload_at = static_cast<off_t>(plan_.layout.page_offset(0) + kPageHeaderBytes);
    on_pread = [&, payload_at](int fd, void* to, size_t size, off_t offset) {
      const ssize_t got = pread_of_the_system(fd, to, size, offset);
      const off_t into = payload_at - offset;
      if (fd == file_.fd.get() && into >= 0 && static_cast<off_t>(size) > into)
        torn(++copies_, static_cast<unsigned char*>(to) + into);
      return got;
    };
    left_ = collect_leftovers(
        port_, plan_, [](const auto&) { return false; }, sink_, ledgers_, Producers::kMayRun);
    on_pread = nullptr;
  }

  RegionPlan plan_;
  RegionFile file_;
  MappedMemory mapping_;
  RegionView view_;
  RegionPort port_;
  KeepingSink sink_;
  std::vector<LaneLedger> ledgers_{LaneLedger(Overflow::kDrop)};
  Leftovers left_;
  int copies_ = 0;
};

// Its lane goes on under the copy: the beginning is of the old filling, the rest of the new one.
TEST_F(TornCopy, OfTwoFillingsIsNotTaken) {
  begin(false);
  Recorder<TaskSpan, SimEnv> recorder(&view_, 0);
  for (std::uint64_t i = 0; i < 3; ++i) ASSERT_TRUE(recorder.write(span_of(i)));
  recorder.flush();
  collect([&](int, unsigned char* payload) {
    view_.page(0).sequence.store_release(0);
    std::memset(payload + TaskSpan::kBytes, 0, 8);
  });
  EXPECT_EQ(copies_, 1) << "a sealed page is copied once";
  EXPECT_TRUE(sink_.pages().empty());
  EXPECT_EQ(left_.pages, 0u);
  EXPECT_EQ(left_.reopened_pages, 1u);
}

// The first copy was early with the words and late with the stamp of record 2.
TEST_F(TornCopy, OfARecordIsNotTakenForTheRecord) {
  begin(false);
  Recorder<TaskSpan, SimEnv> recorder(&view_, 0);
  for (std::uint64_t i = 0; i < 3; ++i) ASSERT_TRUE(recorder.write(span_of(i)));
  collect([](int copy, unsigned char* payload) {
    if (copy == 1) std::memset(payload + 2 * TaskSpan::kBytes, 0, 8);
  });
  EXPECT_EQ(copies_, 2);
  const auto found = sink_.spans_of(0);
  EXPECT_EQ(found.wrong, 0u);
  EXPECT_EQ(found.numbers, (std::set<std::uint64_t>{0, 1, 2}));
}

// Record 2 comes between the copies, and the second one tears it.
TEST_F(TornCopy, OfARecordThatCameAfterTheFirstCopyIsLeftOut) {
  begin(false);
  Recorder<TaskSpan, SimEnv> recorder(&view_, 0);
  for (std::uint64_t i = 0; i < 2; ++i) ASSERT_TRUE(recorder.write(span_of(i)));
  collect([&](int copy, unsigned char* payload) {
    if (copy == 1) {
      ASSERT_TRUE(recorder.write(span_of(2)));
    } else {
      std::memset(payload + 2 * TaskSpan::kBytes, 0, 8);
    }
  });
  EXPECT_EQ(copies_, 2);
  const auto found = sink_.spans_of(0);
  EXPECT_EQ(found.wrong, 0u);
  EXPECT_EQ(found.numbers, (std::set<std::uint64_t>{0, 1}));
}

TEST_F(TornCopy, OfAFragmentIsNotTakenForTheFragment) {
  begin(true);
  FrameWriter<SimEnv> frames(&view_, 0);
  for (std::uint64_t i = 0; i < 2; ++i) ASSERT_TRUE(write_frame(frames, i));
  collect([](int copy, unsigned char* payload) {
    if (copy == 1)
      std::memset(payload + fragment_span(kFrameBytes) + kFragmentHeaderBytes, 0, kFrameBytes);
  });
  EXPECT_EQ(copies_, 2);
  const auto found = sink_.frames_of(0, byte_of);
  EXPECT_EQ(found.wrong, 0u);
  EXPECT_EQ(found.numbers, (std::set<std::uint64_t>{0, 1}));
}

TEST_F(TornCopy, OfAFragmentThatCameAfterTheFirstCopyIsLeftOut) {
  begin(true);
  FrameWriter<SimEnv> frames(&view_, 0);
  ASSERT_TRUE(write_frame(frames, 0));
  collect([&](int copy, unsigned char* payload) {
    if (copy == 1) {
      ASSERT_TRUE(write_frame(frames, 1));
    } else {
      std::memset(payload + fragment_span(kFrameBytes) + kFragmentHeaderBytes, 0, kFrameBytes);
    }
  });
  EXPECT_EQ(copies_, 2);
  const auto found = sink_.frames_of(0, byte_of);
  EXPECT_EQ(found.wrong, 0u);
  EXPECT_EQ(found.numbers, (std::set<std::uint64_t>{0}));
}

// A signal, and a system that gives less than was asked for, change nothing.
TEST_F(TornCopy, OfCallsThatAreInterruptedOrShortIsWhole) {
  begin(false);
  Recorder<TaskSpan, SimEnv> recorder(&view_, 0);
  for (std::uint64_t i = 0; i < 20; ++i) ASSERT_TRUE(recorder.write(span_of(i)));
  std::uint64_t calls = 0;
  on_pread = [&](int fd, void* to, size_t size, off_t offset) -> ssize_t {
    if (++calls % 2 == 1) {
      errno = EINTR;
      return -1;
    }
    return pread_of_the_system(fd, to, std::min<size_t>(size, calls % 7 + 1), offset);
  };
  collect_leftovers(
      port_, plan_, [](const auto&) { return false; }, sink_, ledgers_, Producers::kMayRun);
  on_pread = nullptr;
  EXPECT_EQ(sink_.spans_of(0).numbers.size(), 20u);
  EXPECT_EQ(sink_.spans_of(0).wrong, 0u);
}

}  // namespace
}  // namespace tidemark
