// SPDX-License-Identifier: Apache-2.0
// What the device process leaves in the region beside its pages: who it is, names of events,
// readings of its clock. Nothing of it is trusted.
#pragma once

#include <vector>

#include "tidemark/collect/region_port.h"
#include "tidemark/run/description.h"

namespace tidemark {

ProcessIdentity device_of(const RegionPort& port);

// What the device process wrote of its own clock; nothing on simulated devices.
std::vector<ClockSample> read_device_anchors(const RegionPort& port);

NameTexts read_names(const RegionPort& port, const RegionLayout& layout);

}  // namespace tidemark
