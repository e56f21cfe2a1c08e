// SPDX-License-Identifier: Apache-2.0
// The sizes of a runtime, fixed before launch.
#pragma once

#include <cstdint>

#include "tidemark/schema/build_kind.h"
#include "tidemark/schema/core_type.h"
#include "tidemark/schema/dump_selection.h"
#include "tidemark/schema/stream_lanes.h"
#include "tidemark/schema/task_limits.h"
#include "tidemark/schema/unit_counts.h"

namespace tidemark {

struct RingSizes {
  std::uint32_t task_window = 16384;  // slots, power of two
  std::uint32_t dep_pool = 16384;     // entries; as many fanin entries
  std::uint64_t heap_bytes = 256ull << 20;
  std::uint64_t args_bytes = 0;  // for the arguments of live tasks; 0: as args_bytes_of says
};
inline constexpr std::uint64_t kArgsBytesPerSlot = 1024;
inline constexpr std::uint64_t kArgsBytesDefault = 16ull << 20;
inline constexpr std::uint64_t kArgsBytesMin = 16 * 1024;
inline constexpr std::uint64_t kArgsBytesMost = 1ull << 40;
TM_DEVICE constexpr std::uint64_t args_bytes_of(const RingSizes& ring) {
  if (ring.args_bytes != 0) return ring.args_bytes;
  const std::uint64_t bytes = ring.task_window * kArgsBytesPerSlot;
  if (bytes >= kArgsBytesDefault) return bytes;
  // All slots with as much as a task can have, infos included; one more for the end of the ring.
  const std::uint64_t most = (std::uint64_t{ring.task_window} + 1) * 2 * kTaskArgsBytesMax;
  return most < kArgsBytesDefault ? most : kArgsBytesDefault;
}

struct RuntimeConfig {
  BuildKind build = BuildKind::kTensorMap;
  std::uint32_t cluster_count = 1;
  std::uint32_t scheduler_count = 1;
  std::uint32_t mailbox_depth = 64;  // power of two; 1: as hardware has it
  std::uint32_t tensormap_entries = 65536;
  std::uint32_t track_war = 0;
  // A graph that was built on the host runs so often, one iteration after the other.
  std::uint32_t repeat = 1;
  std::uint32_t block_threads = 1;  // that run one kernel; the simulated device can have several
  // Any core runs a task of one kernel, whatever type that names: they are all taken from one
  // queue, that of AIV. A mix has the places of its cluster as ever.
  std::uint32_t uniform_cores = 0;
  // A fault: the first scheduler stops polling when it has completed so many; 0: never.
  std::uint32_t stall_scheduler_after = 0;
  std::uint64_t task_timeout_ms = 0;     // of a kernel, and of a wait for an element; 0: no limit
  std::uint64_t task_timeout_ticks = 0;  // the same, once the rate of the clock is known
  std::uint64_t entry_bytes = 0;         // buffers of the workload itself
  RingSizes rings[kRingCount];
  StreamSelection streams;
  DumpSelection dump;

  TM_DEVICE constexpr std::uint32_t core_count() const { return cluster_count * kCoresPerCluster; }
  TM_DEVICE constexpr std::uint32_t core_count(CoreType type) const {
    return uniform_cores != 0 ? core_count() : cluster_count * cores_in_cluster(type);
  }
  // From which queue a core takes tasks of one kernel, and in which one they are (TaskShape).
  TM_DEVICE constexpr CoreType type_of(std::uint32_t core) const {
    return uniform_cores != 0 ? CoreType::kAiv : core_type(core);
  }
  template <class Shape>
  TM_DEVICE constexpr Shape queue_of(Shape shape) const {
    return uniform_cores != 0 && shape == Shape::kAic ? Shape::kAiv : shape;
  }
  // Bit per core of a cluster that takes tasks of this type.
  TM_DEVICE constexpr std::uint32_t parts_of(CoreType type) const {
    if (uniform_cores != 0) return type == CoreType::kAiv ? 7 : 0;
    return tidemark::parts_of(type);
  }
  // A graph that is built on the host is whole before anything runs, so nothing is given back.
  TM_DEVICE constexpr bool reclaims() const { return build != BuildKind::kHostBuild; }
  TM_DEVICE constexpr bool repeats() const { return repeat > 1; }
  // Access tags make edges; otherwise they say only what memory is used.
  TM_DEVICE constexpr bool automatic_edges() const { return build != BuildKind::kExplicit; }
  TM_DEVICE constexpr UnitCounts units() const { return {scheduler_count, core_count()}; }
  TM_DEVICE constexpr StreamLanes lanes() const { return {streams, units()}; }
};

inline constexpr std::uint32_t kBlockThreadsMax = 16;
inline constexpr std::uint32_t kRepeatMax = 100'000;
inline constexpr std::uint32_t kTaskWindowMin = 4;
inline constexpr std::uint32_t kTaskWindowMax = 1u << 24;
inline constexpr std::uint64_t kHeapBytesMin = 1024;
inline constexpr std::uint64_t kHeapBytesMax = 1ull << 40;
inline constexpr std::uint32_t kDepPoolMin = 4;
inline constexpr std::uint32_t kDepPoolMax = 1u << 26;
inline constexpr std::uint32_t kTensormapMin = 1;
inline constexpr std::uint32_t kTensormapMax = 1u << 24;

}  // namespace tidemark
