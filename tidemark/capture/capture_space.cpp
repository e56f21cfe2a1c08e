// SPDX-License-Identifier: Apache-2.0
#include "tidemark/capture/capture_space.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "tidemark/base/align.h"
#include "tidemark/base/monotonic_clock.h"
#include "tidemark/base/uninterrupted.h"

namespace tidemark {
namespace {

constexpr std::uint64_t kBlockBytes = 4096;
constexpr std::uint64_t kFaultedFromBytes = 2ull << 20;  // a small run pays for what it touches
constexpr std::uint64_t kLargeStepBytes = 4ull << 20;
constexpr std::uint64_t kReleaseLagBytes = 8ull << 20;

// File systems on which a store into allocated space never needs a new block: ext2 to ext4, XFS,
// tmpfs. One that copies on write may need one for the second store to a block, and a network may
// fail at any store; both would be a signal.
bool holds_allocated_space(int fd) {
  constexpr std::array<std::uint64_t, 3> kKnown = {0xEF53, 0x58465342, 0x01021994};
  struct statfs info {};
  if (::fstatfs(fd, &info) != 0) return false;
  return std::find(kKnown.begin(), kKnown.end(), static_cast<std::uint32_t>(info.f_type)) !=
         kKnown.end();
}

// posix_fallocate would imitate what a file system cannot do by writing zeros, beside writers that
// are at the same place.
int allocate(int fd, std::uint64_t from, std::uint64_t bytes) {
  const int result = uninterrupted(
      [&] { return ::fallocate(fd, 0, static_cast<off_t>(from), static_cast<off_t>(bytes)); });
  return result == 0 ? 0 : errno;
}

bool punch(int fd, std::uint64_t from, std::uint64_t bytes) {
  return bytes == 0 || uninterrupted([&] {
                         return ::fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                            static_cast<off_t>(from), static_cast<off_t>(bytes));
                       }) == 0;
}

}  // namespace

CaptureSpace::CaptureSpace(UniqueFd fd, std::string path, std::uint64_t begin_offset,
                           const Options& options)
    : fd_(std::move(fd)),
      fork_closed_(fd_.get()),
      path_(std::move(path)),
      options_(options),
      begin_(begin_offset),
      next_(begin_offset),
      ready_(begin_offset / kBlockBytes * kBlockBytes),
      released_(ready_) {}

Expected<std::unique_ptr<CaptureSpace>> CaptureSpace::create(UniqueFd fd, std::string path,
                                                             std::uint64_t begin_offset,
                                                             Options options) {
  std::unique_ptr<CaptureSpace> space(
      new CaptureSpace(std::move(fd), std::move(path), begin_offset, options));
  space->limit_bytes_ = begin_offset + options.mapping_bytes;
  if (options.may_map && holds_allocated_space(space->fd_.get())) TM_TRY_DO(space->map());
  // The first steps are made here; a run that needs no more needs no helper.
  std::unique_lock lock(space->mutex_);
  while (space->ready_ < begin_offset + options.reserve_bytes && space->full_ns_ == 0 &&
         !space->direct_)
    space->allocate_next(lock);
  return space;
}

// Less address space is only a lower limit on the size of the file.
Expected<void> CaptureSpace::map() {
  for (std::uint64_t bytes = limit_bytes_;; bytes /= 2) {
    MappedMemory mapping(bytes, MAP_SHARED | MAP_NORESERVE, fd_.get());
    if (mapping.valid()) {
      mapping.advise(MADV_DONTFORK);  // a mapping would keep the lock too
      mapping_ = std::move(mapping);
      base_ = mapping_.data();
      limit_bytes_ = bytes;
      return {};
    }
    if (bytes < begin_ + (64ull << 20)) return file_failure("map", path_);
  }
}

CaptureSpace::~CaptureSpace() { stop_helper(); }

// The space is there.
CaptureSpace::Claim CaptureSpace::take(std::uint64_t bytes) {
  const Claim claim{.way = base_ == nullptr || direct_ ? Way::kByCall : Way::kMapped,
                    .offset = next_,
                    .size = bytes,
                    .bytes = base_ == nullptr || direct_ ? nullptr : base_ + next_};
  next_ += bytes;
  return claim;
}

CaptureSpace::Claim CaptureSpace::refuse(std::uint64_t bytes) {
  if (error_.empty()) error_ = full_text(bytes);
  return {};
}

std::string CaptureSpace::full_text(std::uint64_t bytes) const {
  return fmt::format("no space for {} bytes of {} at {} bytes: {}", bytes, path_, next_,
                     std::strerror(full_code_));
}

// What was refused a moment ago is refused again, without asking the disk for every page.
bool CaptureSpace::is_full() const {
  return full_ns_ != 0 && monotonic_ns() - full_ns_ < options_.retry_ms * 1'000'000ull;
}

CaptureSpace::Claim CaptureSpace::claim(std::uint64_t bytes) {
  std::unique_lock lock(mutex_);
  const bool ready = !direct_ && next_ + bytes + options_.reserve_bytes <= ready_;
  if (!ready && is_full()) return refuse(bytes);
  if (!ready && !direct_ && !make_ready(lock, bytes, options_.reserve_bytes) && !direct_)
    return refuse(bytes);
  if (direct_ && next_ + bytes > limit_bytes_) {
    note_full(EFBIG);
    return refuse(bytes);
  }
  const Claim claim = take(bytes);
  if (!direct_ && ready_ - next_ < ahead_bytes() / 2) call_helper();
  return claim;
}

CaptureSpace::Claim CaptureSpace::claim_page(std::uint64_t bytes) {
  {
    // Once the helper has been outrun it only costs time that the writers need. A disk that was
    // found full is not asked twice.
    const std::lock_guard lock(mutex_);
    const bool outrun = next_ + bytes + options_.reserve_bytes > ready_;
    if (!direct_ && outrun && full_ns_ == 0 && next_ - begin_ >= options_.direct_from_bytes)
      begin_direct();
  }
  return claim(bytes);
}

// What is allocated after the last chunk becomes the closing reserve; the pages go on after it.
void CaptureSpace::begin_direct() {
  direct_ = true;
  if (ready_ < next_) return;
  reserve_from_ = next_;
  reserve_to_ = ready_;
  next_ = round_up(ready_, kBlockBytes);
  wake_writer_.notify_all();
}

int CaptureSpace::write_all(Bytes first, Bytes second, std::uint64_t offset) {
  while (!first.empty() || !second.empty()) {
    const iovec parts[] = {{const_cast<unsigned char*>(first.data()), first.size()},
                           {const_cast<unsigned char*>(second.data()), second.size()}};
    const ssize_t put =
        uninterrupted([&] { return ::pwritev(fd_.get(), parts, 2, static_cast<off_t>(offset)); });
    if (put <= 0) return put == 0 ? ENOSPC : errno;
    const auto done = static_cast<std::size_t>(put);
    offset += done;
    const std::size_t of_first = std::min(done, first.size());
    first = first.subspan(of_first);
    second = second.subspan(done - of_first);
  }
  return 0;
}

bool CaptureSpace::write(const Claim& claim, Bytes header, Bytes first, Bytes second) {
  int code = 0;
  {
    // Who waits for the other writer waits asleep here, not spinning in the system.
    const std::lock_guard lock(call_mutex_);
    code = write_all(first, second, claim.offset + header.size());
    if (code == 0) code = write_all(header, {}, claim.offset);
  }
  if (code == 0) return true;
  take_back(claim, code);
  return false;
}

// The part that was written goes, so that nothing but zeros is where no chunk is.
void CaptureSpace::take_back(const Claim& claim, int code) {
  const std::lock_guard lock(mutex_);
  const bool cleared = punch(fd_.get(), claim.offset, claim.size);
  if (cleared && next_ == claim.offset + claim.size) next_ = claim.offset;
  note_full(code);
  if (!claim.closing) refuse(claim.size);
}

void CaptureSpace::note_full(int code) {
  full_ns_ = monotonic_ns();
  full_code_ = code;
}

CaptureSpace::Claim CaptureSpace::claim_closing(std::uint64_t bytes, Place place) {
  std::unique_lock lock(mutex_);
  Claim claim;
  if (place == Place::kEnd) {
    full_ns_ = 0;  // space may have come back
    if (!direct_ && !make_ready(lock, bytes, 0) && !direct_) return {};
    if (next_ + bytes > limit_bytes_) {
      note_full(EFBIG);
      return {};
    }
    claim = take(bytes);
  } else if (bytes <= reserve_to_ - reserve_from_) {
    claim = {.way = base_ == nullptr ? Way::kByCall : Way::kMapped,
             .offset = reserve_from_,
             .size = bytes,
             .bytes = base_ == nullptr ? nullptr : base_ + reserve_from_};
    reserve_from_ += bytes;
  }
  claim.closing = true;
  return claim;
}

void CaptureSpace::call_helper() {
  if (!helper_.joinable() && !stopping_) helper_ = std::thread([this] { run_helper(); });
  wake_helper_.notify_one();
}

// Waits until `bytes` and the reserve after them are allocated. False: they are not, because the
// disk is full or because the file is written directly meanwhile.
bool CaptureSpace::make_ready(std::unique_lock<std::mutex>& lock, std::uint64_t bytes,
                              std::uint64_t reserve) {
  if (next_ + bytes + reserve <= ready_) return true;
  full_ns_ = 0;
  do {
    wanted_ = std::max(wanted_, next_ + bytes + reserve);
    call_helper();
    wake_writer_.wait(lock, [&] {
      return full_ns_ != 0 || stopping_ || direct_ || next_ + bytes + reserve <= ready_ ||
             wanted_ < next_ + bytes + reserve;
    });
    if (direct_) return false;
    if (next_ + bytes + reserve <= ready_) return true;
  } while (full_ns_ == 0 && !stopping_);
  return false;
}

// In proportion to what was written: a small run allocates little.
std::uint64_t CaptureSpace::ahead_bytes() const {
  return options_.reserve_bytes +
         std::clamp(next_ - begin_, options_.ahead_min_bytes, options_.ahead_max_bytes);
}

void CaptureSpace::run_helper() {
  std::unique_lock lock(mutex_);
  for (;;) {
    const auto behind = [this] {
      return !direct_ && full_ns_ == 0 && ready_ < std::max(wanted_, next_ + ahead_bytes());
    };
    wake_helper_.wait_for(lock, std::chrono::milliseconds(50),
                          [&] { return stopping_ || direct_ || behind(); });
    if (stopping_ || direct_) return;
    while (!stopping_ && behind()) allocate_next(lock);
    const std::uint64_t written = next_;
    lock.unlock();
    release_written(written);
    lock.lock();
  }
}

void CaptureSpace::allocate_next(std::unique_lock<std::mutex>& lock) {
  const std::uint64_t from = ready_;
  const bool large = from - begin_ / kBlockBytes * kBlockBytes >= kLargeStepBytes * 2;
  std::uint64_t step = large ? kLargeStepBytes : options_.step_bytes;
  const std::uint64_t written = next_;
  lock.unlock();
  while (from + step > limit_bytes_ && step > kBlockBytes) step /= 2;
  int code = from + step > limit_bytes_ ? EFBIG : allocate(fd_.get(), from, step);
  for (; (code == ENOSPC || code == EFBIG || code == EDQUOT) && step > kBlockBytes;
       code = from + step > limit_bytes_ ? EFBIG : allocate(fd_.get(), from, step))
    step /= 2;  // use the disk to its end
  // What writers have gone past needs no mapping any more.
  const std::uint64_t first = std::max(from, written / kBlockBytes * kBlockBytes);
  if (code == 0 && base_ != nullptr && from >= begin_ + kFaultedFromBytes && first < from + step)
    ::madvise(base_ + first, from + step - first, MADV_POPULATE_WRITE);
  release_written(written);  // here too: fast writers never let the helper rest
  lock.lock();
  if (direct_) return;  // the writers went on without it
  if (code == 0)
    ready_ = from + step;
  else if (code == EOPNOTSUPP || code == ENOSYS)
    begin_direct();  // nothing can be allocated ahead here
  else
    note_full(code);
  wake_writer_.notify_all();
}

// What is written stays in the file; only this process's view of it goes.
void CaptureSpace::release_written(std::uint64_t written) {
  written = written / kBlockBytes * kBlockBytes;
  if (base_ == nullptr || written < released_ + 2 * kReleaseLagBytes) return;
  const std::uint64_t until = written - kReleaseLagBytes;
  ::madvise(base_ + released_, until - released_, MADV_DONTNEED);
  released_ = until;
}

void CaptureSpace::stop_helper() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_helper_.notify_all();
  wake_writer_.notify_all();
  if (helper_.joinable()) helper_.join();
}

Expected<void> CaptureSpace::cut() {
  stop_helper();
  if (uninterrupted([&] { return ::ftruncate(fd_.get(), static_cast<off_t>(next_)); }) != 0)
    return file_failure("truncate", path_);
  punch(fd_.get(), reserve_from_, reserve_to_ - reserve_from_);
  return {};
}

Expected<void> CaptureSpace::sync() {
  if (uninterrupted([&] { return ::fdatasync(fd_.get()); }) != 0)
    return file_failure("sync", path_);
  return {};
}

std::string CaptureSpace::error() const {
  const std::lock_guard lock(mutex_);
  return error_;
}

std::string CaptureSpace::refusal_of(std::uint64_t bytes) const {
  const std::lock_guard lock(mutex_);
  return full_text(bytes);
}

}  // namespace tidemark
