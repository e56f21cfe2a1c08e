// SPDX-License-Identifier: Apache-2.0
// The supervisor: a small single-threaded process that main forks before any thread exists. It
// forks one device process per run from a clean image, so that a crashing kernel cannot take the
// host down and a reset is a real SIGKILL.
//
//   host ──socket pair──▶ supervisor ──fork──▶ device process
//     ▲ started, exited ◀────┘                    │ end of file on the same socket: the host died
//     └───────────── region ──────────────────────┘
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "tidemark/base/expected.h"
#include "tidemark/base/unique_fd.h"
#include "tidemark/device/device.h"
#include "tidemark/device/program.h"

namespace tidemark {

enum class SupervisorWord : std::uint32_t {
  kLaunch = 1,
  kOpen,  // a device process that says what it holds and waits for its launch, on its own socket
  kKill,
  kStarted,
  kRefused,
  kExited
};

struct SupervisorMessage {
  SupervisorWord word = SupervisorWord::kKill;
  std::int32_t status = 0;  // wait status, or errno
  ProcessIdentity device;
  std::uint64_t region_bytes = 0;
  std::uint64_t memory_bytes = 0;  // 0: no second file comes with it
  DeviceKind kind = DeviceKind::kSimulated;
  std::uint32_t device_number = 0;
  std::uint32_t args_bytes = 0;
  std::uint32_t wants_core = 0;   // with kOpen: 1: the device is to be able to dump its core
  std::uint32_t passes_core = 0;  // with kLaunch: 1: a file for it comes last
  char program[kProgramNameBytes] = {};
  std::byte args[kProgramArgsBytes] = {};
};

inline constexpr std::size_t kPassedMax = 3;  // files with a message
bool send_message(int socket, const SupervisorMessage& message, std::span<const int> passed = {});
// False at end of file: the other side is gone.
bool receive_message(int socket, SupervisorMessage& message,
                     std::array<UniqueFd, kPassedMax>& passed);

class Supervisor {
 public:
  // Called once, in main before any thread exists, after the programs are registered.
  static Expected<void> start();
  // Lets the supervisor go and waits until it is gone.
  ~Supervisor();
  // Null if start was not called.
  static Supervisor* current();

  [[nodiscard]] int socket() const { return socket_.get(); }
  // Passes the files of a launch along: the region, and the device's memory if there is some.
  Expected<void> send(const SupervisorMessage& message, std::span<const int> passed_fds = {});
  // Nothing if no message came within timeout_ms; kExited with status -1 if the supervisor died.
  std::optional<SupervisorMessage> receive(std::uint32_t timeout_ms);

 private:
  Supervisor(UniqueFd socket, int pid) : socket_(std::move(socket)), pid_(pid) {}
  UniqueFd socket_;
  int pid_;
};

}  // namespace tidemark
