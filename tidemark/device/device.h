// SPDX-License-Identifier: Apache-2.0
// A device as the session sees it: launch a program on a region, wait, reset.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "tidemark/base/expected.h"
#include "tidemark/base/process_identity.h"
#include "tidemark/device/core_file.h"
#include "tidemark/device/device_memory.h"
#include "tidemark/device/device_shape.h"
#include "tidemark/device/platform_table.h"
#include "tidemark/device/region_file.h"
#include "tidemark/transport/clock_sample.h"

namespace tidemark {

struct LaunchRequest {
  std::string program;
  std::span<const std::byte> args;
  const RegionFile* region = nullptr;
  const DeviceMemory* memory = nullptr;  // null: the program needs none
  const CoreFile* core = nullptr;        // where a core dump goes; null: none is wanted
};

struct DeviceExit {
  enum class Kind {
    kFinished,   // the program returned
    kSignalled,  // a signal ended the device process
    kLost,       // nobody is left who could say what happened
  };
  Kind kind = Kind::kFinished;
  int code = 0;  // signal number for kSignalled; kExitDeviceFault: the region says what failed

  [[nodiscard]] bool is_well() const { return kind == Kind::kFinished && code == 0; }
};

inline constexpr int kExitDeviceFault = 71;

class Device {
 public:
  virtual ~Device() = default;
  // What the device holds of a program of tasks, where only it can know; nothing: the platform's
  // table says it. Called before the launch of that program, or not at all.
  // `wants_core`: it is to be able to dump its core.
  virtual Expected<std::optional<DeviceShape>> open(const std::string& program,
                                                    bool wants_core) = 0;
  virtual Expected<void> launch(const LaunchRequest& request) = 0;
  // Readable when wait() may have something to say.
  [[nodiscard]] virtual int wait_fd() const = 0;
  // The exit of the launched program, once; nothing if it is still running after timeout_ms.
  virtual std::optional<DeviceExit> wait(std::uint32_t timeout_ms) = 0;
  // Holds the program still until reset, so that what it left can be read. False where that is
  // impossible (thread mode) or not wanted (a GPU's process is needed while its kernel is read).
  virtual bool hold() = 0;
  // True while somebody else holds it: a signal, a debugger.
  [[nodiscard]] virtual bool is_held() const = 0;
  // Ends the program by force. False where that is impossible (thread mode).
  virtual bool reset() = 0;
  [[nodiscard]] virtual ProcessIdentity process() const = 0;
  // Nothing on devices whose clock only they can read: their anchors are in the region.
  virtual std::optional<ClockSample> sample_clock() = 0;
  virtual std::uint64_t ticks_per_second() = 0;
};

enum class Isolation {
  kProcess,  // the device is a process of its own; reset is a SIGKILL
  kThread,   // the device is threads of this process: sanitizers, debuggers, embedding
};

// Device `number` of a platform. kProcess needs the supervisor, which main starts first
// (Supervisor::start).
Expected<std::unique_ptr<Device>> open_device(const Platform& platform, std::uint32_t number,
                                              Isolation isolation);

}  // namespace tidemark
