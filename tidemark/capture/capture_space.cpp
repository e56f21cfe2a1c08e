// SPDX-License-Identifier: Apache-2.0
#include "tidemark/capture/capture_space.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "tidemark/base/align.h"
#include "tidemark/base/check.h"

namespace tidemark {
namespace {

constexpr std::uint64_t kSmallStepBytes = 512ull << 10;
constexpr std::uint64_t kAheadMinBytes = 256ull << 10;
constexpr std::uint64_t kFaultedFromBytes = 2ull << 20;  // a small run pays for what it touches
constexpr std::uint64_t kLargeStepBytes = 4ull << 20;
constexpr std::uint64_t kReleaseLagBytes = 8ull << 20;
constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE; older kernels refuse it harmlessly

}  // namespace

CaptureSpace::CaptureSpace(UniqueFd fd, std::string path, std::uint64_t begin_offset,
                           const Options& options)
    : fd_(std::move(fd)),
      path_(std::move(path)),
      options_(options),
      begin_(begin_offset),
      next_(begin_offset),
      taken_(begin_offset),
      ready_(begin_offset / 4096 * 4096),
      released_(begin_offset / 4096 * 4096) {}

Expected<std::unique_ptr<CaptureSpace>> CaptureSpace::create(UniqueFd fd, std::string path,
                                                             std::uint64_t begin_offset,
                                                             Options options) {
  std::unique_ptr<CaptureSpace> space(
      new CaptureSpace(std::move(fd), std::move(path), begin_offset, options));
  // Less address space is only a lower limit on the size of the file.
  for (std::uint64_t bytes = begin_offset + options.mapping_bytes;; bytes /= 2) {
    void* base = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                        space->fd_.get(), 0);
    if (base != MAP_FAILED) {
      space->base_ = static_cast<unsigned char*>(base);
      space->mapped_bytes_ = bytes;
      break;
    }
    if (bytes < begin_offset + (64ull << 20)) return file_failure("map", space->path_);
  }
  // The first step is made here; a run that needs no more needs no helper.
  std::unique_lock lock(space->mutex_);
  space->allocate_next(lock);
  return space;
}

CaptureSpace::~CaptureSpace() {
  stop_helper();
  if (base_ != nullptr) ::munmap(base_, mapped_bytes_);
}

CaptureSpace::Claim CaptureSpace::claim(std::uint64_t bytes) {
  if (direct_full_.load(std::memory_order_relaxed)) return {};
  const std::uint64_t offset = next_.fetch_add(bytes, std::memory_order_relaxed);
  const std::uint64_t end = offset + bytes;
  if (end + options_.reserve_bytes > ready_.load(std::memory_order_acquire) &&
      !wait_until_ready(end + options_.reserve_bytes))
    return {};
  std::uint64_t taken = taken_.load(std::memory_order_relaxed);
  while (taken < end && !taken_.compare_exchange_weak(taken, end)) {
  }
  if (ready_.load(std::memory_order_relaxed) - end < ahead_bytes() / 2) call_helper();
  return {base_ + offset, offset};
}

CaptureSpace::Claim CaptureSpace::claim_page(std::uint64_t bytes) {
  const std::uint64_t next = next_.load(std::memory_order_relaxed);
  // Once the helper has been outrun it only costs time that the writers need.
  const bool outrun =
      direct_.load(std::memory_order_relaxed) ||
      next + bytes + options_.reserve_bytes > ready_.load(std::memory_order_acquire);
  if (next - begin_ < options_.direct_from_bytes || !outrun) return claim(bytes);
  std::call_once(direct_prepared_, [this] { prepare_direct(); });
  if (!has_ballast_) return claim(bytes);
  const std::uint64_t offset = next_.fetch_add(bytes, std::memory_order_relaxed);
  const std::uint64_t end = offset + bytes;
  if (direct_full_.load(std::memory_order_relaxed) || end > direct_limit_) {
    if (!direct_full_.load()) end_direct({nullptr, end, true}, 0, EFBIG);
    return {};
  }
  std::uint64_t taken = taken_.load(std::memory_order_relaxed);
  while (taken < end && !taken_.compare_exchange_weak(taken, end)) {
  }
  return {nullptr, offset, true};
}

void CaptureSpace::prepare_direct() {
  struct rlimit limit {};
  direct_limit_ = mapped_bytes_;
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    direct_limit_ = std::min<std::uint64_t>(direct_limit_, limit.rlim_cur);
  direct_limit_ -= std::min(direct_limit_, options_.reserve_bytes);
  const auto slash = path_.find_last_of('/');
  const std::string folder = slash == std::string::npos ? "." : path_.substr(0, slash);
  ballast_.reset(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  has_ballast_ =
      ballast_.valid() &&
      ::posix_fallocate(ballast_.get(), 0, static_cast<off_t>(options_.reserve_bytes)) == 0;
  direct_ = has_ballast_;
}

bool CaptureSpace::write_all(Bytes first, Bytes second, std::uint64_t offset) {
  while (!first.empty() || !second.empty()) {
    const iovec parts[] = {{const_cast<unsigned char*>(first.data()), first.size()},
                           {const_cast<unsigned char*>(second.data()), second.size()}};
    const ssize_t put = ::pwritev(fd_.get(), parts, 2, static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    const auto done = static_cast<std::size_t>(put);
    offset += done;
    const std::size_t of_first = std::min(done, first.size());
    first = first.subspan(of_first);
    second = second.subspan(done - of_first);
  }
  return true;
}

bool CaptureSpace::write_direct(const Claim& claim, std::uint64_t bytes, Bytes header, Bytes first,
                                Bytes second) {
  // The system lets one writer at a time into a file; who waits for it here sleeps.
  const std::lock_guard lock(direct_mutex_);
  if (write_all(first, second, claim.offset + header.size()) && write_all(header, {}, claim.offset))
    return true;
  end_direct(claim, bytes, errno);
  return false;
}

// What was kept back is given to the closing chunks.
void CaptureSpace::end_direct(const Claim& claim, std::uint64_t bytes, int code) {
  if (bytes > 0)
    ::fallocate(fd_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                static_cast<off_t>(claim.offset), static_cast<off_t>(bytes));
  const std::lock_guard lock(mutex_);
  direct_full_ = true;
  ballast_.reset();
  full_ = false;  // the helper may try again, for the closing chunks
  if (error_.empty())
    error_ = fmt::format("write to {} at {} bytes: {}", path_, claim.offset, std::strerror(code));
}

CaptureSpace::Claim CaptureSpace::claim_closing(std::uint64_t bytes) {
  const std::uint64_t offset = taken_.load();
  const std::uint64_t end = offset + bytes;
  if (end > ready_.load(std::memory_order_acquire)) wait_until_ready(end);
  if (end > ready_.load(std::memory_order_acquire)) return {};
  taken_.store(end);
  next_.store(end);
  return {base_ + offset, offset};
}

void CaptureSpace::call_helper() {
  std::call_once(helper_begun_, [this] { helper_ = std::thread([this] { run_helper(); }); });
  wake_helper_.notify_one();
}

bool CaptureSpace::wait_until_ready(std::uint64_t end) {
  std::unique_lock lock(mutex_);
  wanted_ = std::max(wanted_, end);
  call_helper();
  wake_writer_.wait(lock, [&] { return full_ || stopping_ || ready_.load() >= end; });
  return ready_.load() >= end;
}

// In proportion to what was written: a small run allocates little.
std::uint64_t CaptureSpace::ahead_bytes() const {
  const std::uint64_t written = next_.load(std::memory_order_relaxed) - begin_;
  return options_.reserve_bytes + std::clamp(written, kAheadMinBytes, options_.ahead_max_bytes);
}

void CaptureSpace::run_helper() {
  std::unique_lock lock(mutex_);
  for (;;) {
    const auto behind = [this] {
      return ready_.load() < std::max(wanted_, direct_ ? 0 : next_.load() + ahead_bytes());
    };
    // The writers' hint is sent without the lock and may be missed; the wait is bounded.
    wake_helper_.wait_for(lock, std::chrono::milliseconds(50),
                          [&] { return stopping_ || (!full_ && behind()); });
    if (stopping_) return;
    while (!full_ && !stopping_ && behind()) allocate_next(lock);
    lock.unlock();
    release_written();
    lock.lock();
  }
}

void CaptureSpace::allocate_next(std::unique_lock<std::mutex>& lock) {
  const std::uint64_t from = ready_.load();
  const bool large = from - begin_ / 4096 * 4096 >= kLargeStepBytes * 2;
  std::uint64_t step = large ? kLargeStepBytes : kSmallStepBytes;
  lock.unlock();
  while (from + step > mapped_bytes_ && step > 4096) step /= 2;
  int code = from + step > mapped_bytes_ ? EFBIG : 0;
  while (code == 0) {
    code = ::posix_fallocate(fd_.get(), static_cast<off_t>(from), static_cast<off_t>(step));
    if (code == EINTR)
      code = 0;
    else if ((code == ENOSPC || code == EFBIG) && step > 4096)
      step /= 2, code = 0;  // use the disk to its end
    else
      break;
  }
  // What writers have gone past needs no mapping any more.
  const std::uint64_t first = std::max(from, next_.load() / 4096 * 4096);
  if (code == 0 && from >= begin_ + kFaultedFromBytes && first < from + step)
    ::madvise(base_ + first, from + step - first, kPopulateWrite);
  release_written();  // here too: fast writers never let the helper rest
  lock.lock();
  if (code == 0) {
    ready_.store(from + step, std::memory_order_release);
  } else {
    full_ = true;
    error_ = fmt::format("allocate space for {} at {} bytes: {}", path_, from, std::strerror(code));
  }
  wake_writer_.notify_all();
}

// What is written stays in the file; only this process's view of it goes.
void CaptureSpace::release_written() {
  const std::uint64_t written = taken_.load() / 4096 * 4096;
  if (written < released_ + 2 * kReleaseLagBytes) return;
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
  if (::ftruncate(fd_.get(), static_cast<off_t>(taken_.load())) != 0)
    return file_failure("truncate", path_);
  return {};
}

std::string CaptureSpace::error() const {
  const std::lock_guard lock(mutex_);
  return error_;
}

}  // namespace tidemark
