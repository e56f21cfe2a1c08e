// SPDX-License-Identifier: Apache-2.0
// The space a capture is written into: one large mapping of a file whose blocks are allocated and
// faulted in ahead of the writers by a helper thread. A full disk is an error code from the
// allocation, never a signal from a store. At the end the file is cut to length.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>

#include "tidemark/base/expected.h"
#include "tidemark/base/unique_fd.h"

namespace tidemark {

class CaptureSpace {
 public:
  struct Options {
    std::uint64_t ahead_max_bytes = 16ull << 20;  // kept ready before the writers, at most
    std::uint64_t reserve_bytes = 256ull << 10;   // kept for the closing chunks of a full disk
    std::uint64_t mapping_bytes = 1ull << 40;     // address space, not memory
    std::uint64_t direct_from_bytes = 32ull
                                      << 20;  // of file; a smaller one is never written directly
  };

  // Takes over an open file; writing begins at `begin_offset`.
  static Expected<std::unique_ptr<CaptureSpace>> create(UniqueFd fd, std::string path,
                                                        std::uint64_t begin_offset,
                                                        Options options);
  ~CaptureSpace();

  struct Claim {
    unsigned char* bytes = nullptr;  // null: no space is left, or it is direct
    std::uint64_t offset = 0;
    bool direct = false;  // nothing is mapped there yet: write_direct
  };
  // Claims bytes at the end; any thread.
  Claim claim(std::uint64_t bytes);
  // The same, but does not wait for the helper: a file that grows faster than its space is made
  // ready is written with system calls, which need no space made ready.
  Claim claim_page(std::uint64_t bytes);
  // A chunk of `bytes` into a direct claim: its two parts first, then the header. False: the disk
  // is full.
  using Bytes = std::span<const unsigned char>;
  bool write_direct(const Claim& claim, std::uint64_t bytes, Bytes header, Bytes first,
                    Bytes second);
  // For the closing chunks, when no other thread claims any more: may use the reserve.
  Claim claim_closing(std::uint64_t bytes);
  // Cuts the file after the last claim that succeeded.
  Expected<void> cut();

  // Empty while everything went well.
  [[nodiscard]] std::string error() const;

 private:
  CaptureSpace(UniqueFd fd, std::string path, std::uint64_t begin_offset, const Options& options);
  bool wait_until_ready(std::uint64_t end);
  void call_helper();
  void run_helper();
  void allocate_next(std::unique_lock<std::mutex>& lock);
  void release_written();
  void stop_helper();
  void prepare_direct();
  bool write_all(Bytes first, Bytes second, std::uint64_t offset);
  void end_direct(const Claim& claim, std::uint64_t bytes, int code);
  [[nodiscard]] std::uint64_t ahead_bytes() const;

  UniqueFd fd_;
  const std::string path_;
  const Options options_;
  const std::uint64_t begin_;
  unsigned char* base_ = nullptr;
  std::uint64_t mapped_bytes_ = 0;
  std::atomic<std::uint64_t> next_;   // where the next claim begins
  std::atomic<std::uint64_t> taken_;  // end of the last claim that succeeded
  std::atomic<std::uint64_t> ready_;  // everything below is allocated
  std::uint64_t released_;            // everything below left this process's memory; helper only

  mutable std::mutex mutex_;
  std::condition_variable wake_helper_;
  std::condition_variable wake_writer_;
  std::string error_;
  std::uint64_t wanted_ = 0;  // a writer waits for space up to here
  bool full_ = false;
  bool stopping_ = false;
  // Direct writes have no reserve in the file: as much is kept in another one, which nobody sees.
  std::once_flag direct_prepared_;
  std::mutex direct_mutex_;
  UniqueFd ballast_;
  bool has_ballast_ = false;
  std::uint64_t direct_limit_ = 0;  // the file may not grow beyond it
  std::atomic<bool> direct_{false};
  std::atomic<bool> direct_full_{false};
  std::once_flag helper_begun_;
  std::thread helper_;
};

}  // namespace tidemark
