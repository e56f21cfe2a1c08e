// SPDX-License-Identifier: Apache-2.0
// Programs whose orchestration asks for something that is refused when it is asked.
#pragma once

#include <new>

#include "workloads/fault_kernels.h"

namespace tidemark {

struct RequestTooLarge : WithoutData {
  static constexpr const char* kName = "request_too_large";
  static constexpr const char* kDescription =
      "fault: a task wants an output of 3 GiB, the heap has 256 MiB";
  using Kernels = KernelList<Touch>;
  template <class Orch>
  TM_DEVICE static void orchestrate(Orch& orch, const EntryArgs&) {
    Scope root(orch);
    orch.template submit<Touch>(Args().out({2, {3, 1u << 30}}, DType::kUint8));
  }
};

// The kernel declares an output; it is given an input.
struct InvalidArgs : WithoutData {
  static constexpr const char* kName = "invalid_args";
  static constexpr const char* kDescription =
      "fault: a submit whose argument has another access than the kernel declares";
  using Kernels = KernelList<Touch>;
  template <class Orch>
  TM_DEVICE static void orchestrate(Orch& orch, const EntryArgs&) {
    Scope root(orch);
    const auto made = orch.template submit<Touch>(Args().out({1, {16}}, DType::kFloat32));
    orch.template submit<Touch>(Args().in(made.output(0)));
  }
};

struct ExplicitFatal : WithoutData {
  static constexpr const char* kName = "explicit_fatal";
  static constexpr const char* kDescription = "fault: the orchestration itself gives up";
  using Kernels = KernelList<Nothing>;
  template <class Orch>
  TM_DEVICE static void orchestrate(Orch& orch, const EntryArgs&) {
    Scope root(orch);
    orch.template submit<Nothing>(Args());
    orch.fatal("the program found its input unusable");
    orch.template submit<Nothing>(Args());  // does nothing any more
  }
};

struct SyncStartInvalid : WithoutData {
  static constexpr const char* kName = "sync_start_invalid";
  static constexpr const char* kDescription =
      "fault: one block more than there are AIV cores is to start together";
  using Kernels = KernelList<Nothing>;
  template <class Orch>
  TM_DEVICE static void orchestrate(Orch& orch, const EntryArgs&) {
    Scope root(orch);
    orch.template submit<Nothing>(
        Args().blocks(orch.core_count(CoreType::kAiv) + 1).start_together());
  }
};

struct ScopeDepthExceeded : WithoutData {
  static constexpr const char* kName = "scope_depth_exceeded";
  static constexpr const char* kDescription = "fault: a 65th scope is opened inside 64 others";
  using Kernels = KernelList<Nothing>;
  template <class Orch>
  TM_DEVICE static void orchestrate(Orch& orch, const EntryArgs&) {
    // Without recursion: a GPU must know before how deep its stack gets.
    using Level = Scope<Orch>;
    alignas(Level) unsigned char places[kLevels * sizeof(Level)];
    Level* const levels = reinterpret_cast<Level*>(places);
    for (int level = 0; level < kLevels; ++level) {
      new (levels + level) Level(orch);
      orch.template submit<Nothing>(Args());
    }
    for (int level = kLevels; level-- > 0;) levels[level].~Level();
  }
  static constexpr int kLevels = 65;
};

}  // namespace tidemark
