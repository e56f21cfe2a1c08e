// SPDX-License-Identifier: Apache-2.0
// The space a capture is written into. A helper thread allocates blocks of the file ahead of the
// writers, which store into a mapping of it. A file that grows faster than that, or whose file
// system cannot promise that a store into allocated space succeeds, is written by system calls.
// Either way a full disk is an error code, never a signal, and the space for the closing chunks is
// allocated in the file before any page takes its place:
//
//   ahead    | chunks … | closing reserve | allocated ahead |
//   direct   | chunks … | closing reserve | chunks by system calls …
//
// At the end the file is cut to length.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>

#include "tidemark/base/expected.h"
#include "tidemark/base/fork_closed.h"
#include "tidemark/base/mapped_memory.h"
#include "tidemark/base/unique_fd.h"

namespace tidemark {

class CaptureSpace {
 public:
  struct Options {
    std::uint64_t step_bytes = 512ull << 10;       // what a small file grows by
    std::uint64_t ahead_min_bytes = 256ull << 10;  // kept ready before the writers
    std::uint64_t ahead_max_bytes = 16ull << 20;
    std::uint64_t reserve_bytes = 256ull << 10;  // kept for the closing chunks of a full disk
    std::uint64_t mapping_bytes = 1ull << 40;    // address space, not memory
    std::uint64_t direct_from_bytes = 32ull
                                      << 20;  // of file; a smaller one is never written directly
    std::uint32_t retry_ms = 100;             // a full disk is asked again after so long
    bool may_map = true;                      // false: as on a file system where mapping is no good
  };

  // Takes over an open file; writing begins at `begin_offset`.
  static Expected<std::unique_ptr<CaptureSpace>> create(UniqueFd fd, std::string path,
                                                        std::uint64_t begin_offset,
                                                        Options options);
  ~CaptureSpace();

  enum class Way : std::uint8_t {
    kRefused,  // no space is left
    kMapped,   // store to `bytes`
    kByCall,   // write()
  };
  struct Claim {
    Way way = Way::kRefused;
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    unsigned char* bytes = nullptr;  // kMapped only
    bool closing = false;            // a refusal may have a second place
  };
  // Claims bytes at the end, or waits for the helper to make them ready; any thread.
  Claim claim(std::uint64_t bytes);
  // The same, but a file that grows faster than the helper allocates is written by system calls.
  Claim claim_page(std::uint64_t bytes);
  // For the closing chunks, when no other thread claims any more: at the end of the file while
  // there is space, else in the reserve.
  enum class Place : std::uint8_t { kEnd, kReserve };
  Claim claim_closing(std::uint64_t bytes, Place place);
  // A chunk into a kByCall claim: its two parts first, then the header. False: refused; the claim
  // is given back.
  using Bytes = std::span<const unsigned char>;
  bool write(const Claim& claim, Bytes header, Bytes first, Bytes second);
  // Cuts the file after the last claim that succeeded.
  Expected<void> cut();
  // Returns when everything is on stable storage; errors of write-back come to light here.
  Expected<void> sync();

  // Why something was refused; empty while everything went well.
  [[nodiscard]] std::string error() const;
  // What to say of a closing chunk that found no place.
  [[nodiscard]] std::string refusal_of(std::uint64_t bytes) const;

 private:
  CaptureSpace(UniqueFd fd, std::string path, std::uint64_t begin_offset, const Options& options);
  Expected<void> map();
  Claim take(std::uint64_t bytes);
  Claim refuse(std::uint64_t bytes);
  bool make_ready(std::unique_lock<std::mutex>& lock, std::uint64_t bytes, std::uint64_t reserve);
  void begin_direct();
  void call_helper();
  void run_helper();
  void allocate_next(std::unique_lock<std::mutex>& lock);
  void note_full(int code);
  void release_written(std::uint64_t written);
  [[nodiscard]] std::string full_text(std::uint64_t bytes) const;
  void stop_helper();
  int write_all(Bytes first, Bytes second, std::uint64_t offset);
  void take_back(const Claim& claim, int code);
  [[nodiscard]] bool is_full() const;
  [[nodiscard]] std::uint64_t ahead_bytes() const;

  UniqueFd fd_;
  ForkClosed fork_closed_;  // with the file's lock
  const std::string path_;
  const Options options_;
  const std::uint64_t begin_;
  MappedMemory mapping_;
  unsigned char* base_ = nullptr;  // null: not mapped
  std::uint64_t limit_bytes_ = 0;  // the file may not grow beyond it

  mutable std::mutex mutex_;
  std::condition_variable wake_helper_;
  std::condition_variable wake_writer_;
  std::uint64_t next_;         // where the next claim begins
  std::uint64_t ready_;        // everything below is allocated; not while direct
  std::uint64_t wanted_ = 0;   // a writer waits for space up to here
  std::uint64_t full_ns_ = 0;  // when the disk was found full; 0: it was not
  int full_code_ = 0;
  std::string error_;
  bool stopping_ = false;
  bool direct_ = false;             // everything is written by system calls from here on
  std::uint64_t reserve_from_ = 0;  // of the closing reserve of a direct file
  std::uint64_t reserve_to_ = 0;
  std::uint64_t released_;  // everything below left this process's memory; helper only
  std::mutex call_mutex_;   // the system lets one writer at a time into a file
  std::thread helper_;
};

}  // namespace tidemark
