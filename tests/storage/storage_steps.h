// SPDX-License-Identifier: Apache-2.0
// Test support: every store into a capture's mapping and every system call on the files of a run,
// one by one. A test looks at the files before each of them (that is what a kill at this moment
// would leave), ends the process there, or answers a call in the system's place: an error, fewer
// bytes than asked for. Nothing in the product knows of it: calls are caught by the linker
// (--wrap), stores by a mapping that may only be read.
#pragma once

#include <cerrno>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tidemark::storage {

enum class Call : std::uint8_t {
  kStore,  // one instruction that writes into the mapping
  kOpen,
  kWrite,
  kRead,
  kAllocate,
  kPunch,
  kTruncate,
  kSync,
  kLink,
  kRename,
  kUnlink,
  kMakeDirectory,
  kMap,
};
const char* to_text(Call call);

struct Step {
  std::uint64_t number = 0;  // from 0
  Call call = Call::kStore;
  std::string path;          // of the file it is about
  std::uint64_t offset = 0;  // of a store, write, read
  std::uint64_t bytes = 0;   // of a write or read
};

struct Answer {
  int error = 0;                              // not 0: the call is not made, and fails with it
  std::uint64_t at_most = ~std::uint64_t{0};  // a write or read moves no more than this
};

// What a system may answer. EINTR and fewer bytes are no refusal: nobody may notice them.
struct Trouble {
  const char* name;
  Answer answer;
  bool refuses;
};
inline constexpr Trouble kTroubles[] = {{"EINTR", {.error = EINTR}, false},
                                        {"one byte", {.at_most = 1}, false},
                                        {"EIO", {.error = EIO}, true},
                                        {"ENOSPC", {.error = ENOSPC}, true}};

// Asked before every step. It may look at every file; what it does itself is not a step.
using Watch = std::function<Answer(const Step&)>;

// From construction to destruction the process's steps on files whose path begins with one of
// `prefixes` go through `watch`; stores only into files named capture.tide. One at a time.
class Watched {
 public:
  Watched(std::vector<std::string> prefixes, Watch watch);
  ~Watched();
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

  [[nodiscard]] std::uint64_t steps() const;
};

}  // namespace tidemark::storage
