// SPDX-License-Identifier: Apache-2.0
// How a workload of tasks becomes a launch: its buffers are brought to the device, or the host
// builds the whole graph and brings that, and afterwards the results are read and checked.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "tidemark/runtime/runtime_memory.h"
#include "tidemark/runtime/runtime_status.h"
#include "tidemark/session/entry_data.h"
#include "tidemark/session/workload_entry.h"
#include "tidemark/transport/region.h"

namespace tidemark {

class DeviceMemory;

// What a workload does itself.
struct WorkloadSteps {
  void (*prepare)(const WorkloadSetup&, EntryData&);
  void (*configure)(RuntimeConfig&);  // null: nothing to change
  // Builds the graph on the host. Recorded into the region, unless that is null.
  void (*build)(const RuntimeMemory&, RuntimeStatus*, const RegionView*);
  ResultCheck (*check)(const WorkloadSetup&, const EntryData&);
};

// Makes a workload of tasks known by its name.
void add_task_workload(WorkloadEntry entry, const WorkloadSteps& steps);

// Fills the memory of the device: control block and the workload's buffers.
Expected<void> upload_entry(DeviceMemory& memory, const RuntimeLayout& layout,
                            const EntryData& data);
// Builds in memory of the host and brings it to the device. Returns the bytes of the status as
// build(memory, status) left it.
Expected<std::vector<std::byte>> build_on_host(
    DeviceMemory& device, const RuntimeLayout& layout, const EntryData& data,
    const std::function<void(const RuntimeMemory&, RuntimeStatus*)>& build);

}  // namespace tidemark
