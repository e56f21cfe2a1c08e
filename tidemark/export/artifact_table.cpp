// SPDX-License-Identifier: Apache-2.0
#include "tidemark/export/artifact.h"

namespace tidemark {
namespace {

constexpr Artifact kArtifacts[] = {
    {"l2_swimlane_records.json", StreamId::kSwimlane, "task spans, user events and gaps",
     &write_swimlane_json},
    {"name_map.json", StreamId::kSwimlane, "kernel names", &write_name_map},
};

}  // namespace

std::span<const Artifact> artifacts() { return kArtifacts; }

}  // namespace tidemark
