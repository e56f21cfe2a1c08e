// SPDX-License-Identifier: Apache-2.0
// What run.json says: what ran, how it ended, the ledger, and the recorder's own cost.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tidemark/base/expected.h"
#include "tidemark/base/process_identity.h"
#include "tidemark/base/unique_fd.h"
#include "tidemark/ledger/ledger.h"
#include "tidemark/run/run_status.h"
#include "tidemark/transport/clock_sample.h"

namespace tidemark {

struct HangState;

// What ran out, where, and what would have been enough.
struct Culprit {
  std::string scope;  // site
  std::uint32_t ring = 0;
  std::string resource;
  std::uint64_t used = 0;
  std::uint64_t capacity = 0;
  std::string setting;  // flag and value
};

struct RunError {
  std::uint32_t code = 0;
  std::string name;
  std::string error_class;
  std::string message;
  std::string hint;
  std::optional<Culprit> culprit = {};
};

struct LaneReport {
  std::uint32_t lane = 0;
  std::string stream;
  std::string producer;
  std::string state;  // unknown, clean, open, closed
  std::string policy;
  LaneCounts counts;
};

struct NotExported {
  std::string file;
  std::string reason;
  std::string command;
};

struct RecorderReport {
  double ns_per_record = 0;
  std::uint32_t drain_threads = 0;
  std::uint64_t host_cpu_ns = 0;
  std::uint64_t pool_bytes = 0;
  std::uint64_t min_free_pages = 0;
  std::uint64_t max_full_pages = 0;
  double device_stall_share = 0;
  std::uint64_t corrupt_pages = 0;
  std::vector<std::string> corruption;  // one line per kind of nonsense found
};

struct TaskCounts {
  std::uint64_t submitted = 0;
  std::uint64_t completed = 0;
  std::uint64_t scopes = 0;
};

// Of a graph that was run several times in one launch.
struct IterationCounts {
  std::uint64_t asked = 0;
  std::uint64_t completed = 0;
  std::uint64_t first_ns = 0;  // the first one
  std::uint64_t next_ns = 0;   // the mean of the others
};

struct RunReport {
  std::uint64_t run_id = 0;
  std::string workload;
  std::string case_name;
  std::string platform;
  std::string runtime;
  std::string transport;
  std::uint64_t seed = 0;
  RunStatus status = RunStatus::kRunning;
  std::uint32_t rank = 0;
  std::uint32_t device = 0;
  std::string host_id;
  // Only while the region exists.
  std::string region_path;
  std::uint64_t region_bytes = 0;
  std::string boot_id;
  ProcessIdentity host;             // whose run it is, until it has its report
  std::string host_name;            // where that process is
  std::uint64_t pid_namespace = 0;  // in which its pid means something

  int exit_code = 0;
  std::optional<RunError> error;
  std::vector<RunError> warnings;
  std::optional<bool> result_ok;  // against the golden reference; unset: not compared
  std::string result;             // what was compared, or what differs
  TaskCounts tasks;
  std::optional<IterationCounts> iterations;
  std::uint64_t device_ns = 0;
  std::uint64_t host_ns = 0;
  bool loss_known = true;  // false: the region was gone, what came after the capture is unknown
  std::vector<LaneReport> lanes;
  std::vector<NotExported> not_exported;
  RecorderReport recorder;
  std::uint64_t ticks_per_second = 0;
  std::vector<ClockSample> anchors;
  std::shared_ptr<const HangState> hang;  // of a run that was stopped; not a part of run.json

  [[nodiscard]] LaneCounts total() const;
  [[nodiscard]] bool ledger_closes() const;
  [[nodiscard]] std::uint64_t ticks_to_ns(std::uint64_t ticks) const;
};

std::string to_json(const RunReport& report);
Expected<RunReport> parse_run_report(const std::string& text, const std::string& path);

Expected<RunReport> read_run_report(const std::string& directory);
// Replaces run.json by rename: readers see the old or the new one, never a part.
Expected<void> write_run_report(const std::string& directory, const RunReport& report);

// The place of a run's next run.json: a part file whose space is allocated before anything is
// recorded, so that a disk that fills up meanwhile cannot keep the run from its report.
class ReportFile {
 public:
  ReportFile() = default;
  // Of a run with so many lanes.
  static Expected<ReportFile> reserve(const std::string& directory, std::uint64_t run_id,
                                      std::size_t lanes);
  ReportFile(ReportFile&&) = default;
  ReportFile& operator=(ReportFile&& other) noexcept;
  ~ReportFile();  // without put: the part is removed

  // Puts run.json in place, the first one of a directory: kUsage if there is one already.
  Expected<void> put_first(const RunReport& report);
  // Replaces run.json. `sync`: what it says is on stable storage when readers see it.
  Expected<void> replace(const RunReport& report, bool sync);
  // Leaves the part to another process.
  void abandon() { fd_.reset(); }

 private:
  Expected<void> write(const RunReport& report);
  void discard();

  std::string directory_;
  std::string part_;
  UniqueFd fd_;
};

// As many as a run of any length needs; the first and the last one stay.
inline constexpr std::size_t kAnchorsMax = 512;
void thin_anchors(std::vector<ClockSample>& anchors);

std::string run_id_text(std::uint64_t run_id);

}  // namespace tidemark
