// SPDX-License-Identifier: Apache-2.0
// Holds the capture of an audited run against what the run itself wrote down as it accepted it
// (audit_words.h): every record and frame of every stream, by number and content. run.json must
// agree with what is in the file, never the other way.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/audit_words.h"
#include "tidemark/run/run_report.h"

namespace tidemark {

struct RunAudit {
  std::uint64_t accepted = 0;
  std::uint64_t found = 0;
  std::uint64_t recovered = 0;    // of them, only in the region
  std::uint64_t overwritten = 0;  // older than what a keep-last lane must have
  std::uint64_t refused = 0;      // by a full disk, as run.json says
  std::uint64_t lost = 0;         // accepted, and nowhere
  std::uint64_t twice = 0;
  std::uint64_t torn = 0;        // taken with a content that was never written
  std::uint64_t incomplete = 0;  // torn by the end of the producer, seen and not taken
  std::vector<std::string> problems;
};

struct AuditTerms {
  std::uint32_t keep_pages = 8;  // of keep-last lanes
  bool disk_full = false;        // only then anything may be refused by the disk
};
RunAudit audit_run(const std::string& directory, const RunReport& report, const AuditWords& audit,
                   const AuditTerms& terms);

}  // namespace tidemark
