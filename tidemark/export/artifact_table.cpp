// SPDX-License-Identifier: Apache-2.0
#include "tidemark/export/artifact.h"

namespace tidemark {
namespace {

constexpr Artifact kArtifacts[] = {
    {"l2_swimlane_records.json", StreamId::kSwimlane, false,
     "task spans, phases, submits, user events and gaps", &write_swimlane_json},
    {"name_map.json", StreamId::kSwimlane, false, "kernel names", &write_name_map},
    {"deps.json", StreamId::kEdges, false, "tasks, tensors, dependencies", &write_deps_json},
    {"scope_stats/scope_stats.jsonl", StreamId::kScopes, false, "one line per scope boundary",
     &write_scope_lines},
    {"scope_stats.json", StreamId::kScopes, false, "peaks per scope site and per resource",
     &write_scope_summary},
    {"tensor_dump/tensor_dump.json", StreamId::kDump, false, "every dumped argument",
     &write_dump_manifest},
    {"tensor_dump/tensor_dump.bin", StreamId::kDump, false, "the bytes of dumped tensors",
     &write_dump_payload},
    {"trace.pftrace", StreamId::kSwimlane, true, "everything as a Perfetto trace",
     &write_perfetto_trace},
};

}  // namespace

std::span<const Artifact> artifacts() { return kArtifacts; }

}  // namespace tidemark
