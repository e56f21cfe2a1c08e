// SPDX-License-Identifier: Apache-2.0
// A run under way: the region, the capture, the drainer and the device, and the steps a run goes
// through. run_session.cpp calls the steps in their order; the embedding API uses the same ones
// without a device.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "tidemark/base/fork_closed.h"
#include "tidemark/capture/capture_writer.h"
#include "tidemark/collect/drainer.h"
#include "tidemark/collect/leftover_pages.h"
#include "tidemark/run/description.h"
#include "tidemark/run/output_directory.h"
#include "tidemark/session/run_request.h"

namespace tidemark {

class ActiveRun {
 public:
  // The directory and run.json come before the region, so that a killed run can be found. The rate
  // of the clock is asked for as late as possible: to measure it takes some milliseconds, in which
  // the rest is made ready.
  static Expected<std::unique_ptr<ActiveRun>> prepare(
      const RunRequest& request, const std::function<std::uint64_t()>& ticks_per_second,
      std::uint32_t spare_lanes = 0);
  ~ActiveRun();

  // False: no stream is on, so there is neither a capture nor a drainer.
  [[nodiscard]] bool records() const { return records_; }
  void start_drainer();
  // What the host says in the runtime's place, before launch.
  void write_status(std::span<const std::byte> bytes);
  // Writes to the capture what can only be known while the run goes on.
  void note_clock(const ClockSample& sample);
  void note_device_anchors();
  void note_names();
  void note_hang(const HangState& state);
  void note_snapshot(std::span<const unsigned char> frame);
  void set_abort();

  // The device runs: an old run that is replaced can go.
  void started() { claim_.remove_replaced(); }

  // Takes everything that is published, then what is left in the region, and closes the ledger.
  // What a device that died took along with its own memory is counted as lost with it.
  void collect(bool device_died = false, Producers producers = Producers::kGone);
  // Lanes, names, clock, index; the capture is complete afterwards.
  void close_capture();
  // Puts the report in place and then, and only then, removes the region: what the region alone
  // holds stays there until a recovery has brought it to a disk with space.
  void end();
  // Of records that are only in the region because the file system refused them. Not 0: the run
  // keeps its region and its status `running`.
  [[nodiscard]] std::uint64_t kept_bytes() const { return kept_bytes_; }
  [[nodiscard]] bool keeps_region() const { return keeps_region_; }
  [[nodiscard]] bool region_unread() const { return port_.read_error() != 0; }
  // False in a child of a fork.
  [[nodiscard]] bool is_owner() const;

  // When the state was read, by the device's clock, and where that clock began.
  void place_in_time(HangState& state);

  [[nodiscard]] RunReport& report() { return report_; }
  [[nodiscard]] const RegionFile& region() const { return region_; }
  [[nodiscard]] RegionPort& port() { return port_; }
  [[nodiscard]] const RegionPlan& plan() const { return plan_; }
  [[nodiscard]] std::uint64_t drained_records() const;
  [[nodiscard]] std::uint64_t drained_pages() const;
  [[nodiscard]] const std::string& directory() const { return claim_.path(); }
  // What the device process says went wrong; empty: nothing.
  [[nodiscard]] std::string fault_text() const;
  [[nodiscard]] const std::string& file_error() const { return file_error_; }
  void note_file_error(const Error& error);

 private:
  ActiveRun() = default;
  void describe_runtime(const RuntimeConfig& config, const std::vector<std::string>& kernels);
  Expected<void> make_region(const RunRequest& request,
                             const std::function<std::uint64_t()>& ticks_per_second);
  Expected<void> make_capture(const RunRequest& request);
  void note_closing(const Expected<void>& put);
  void read_device_words();
  void settle_clock();
  void settle_shares();
  [[nodiscard]] double ns_per_record() const;

  DirectoryClaim claim_;
  ReportFile report_file_;
  RunReport report_;
  RegionPlan plan_;
  RegionFile region_;
  ForkClosed region_closed_;  // in children of this process
  RegionPort port_;
  std::unique_ptr<CaptureWriter> capture_;
  std::unique_ptr<Drainer> drainer_;
  Leftovers leftovers_;
  RunClock clock_;
  NameTexts names_;
  std::string file_error_;
  std::uint64_t begin_ns_ = 0;
  std::uint32_t device_anchors_ = 0;  // noted so far
  bool on_simulated_device_ = true;
  bool records_ = false;
  bool syncs_ = true;
  bool made_region_ = false;
  bool made_capture_ = false;
  bool ended_ = false;         // run.json says how, or the region is kept
  bool keeps_region_ = false;  // something is in the region and not in the capture
  std::uint64_t kept_bytes_ = 0;
  int owner_pid_ = 0;  // a child of a fork has none of the threads and owns none of the files
};

// How much a disk must have free to take so many bytes that it refused: "3.9 MiB".
std::string space_text(std::uint64_t missing_bytes);
// What to say of a run that keeps its region: what is missing, where it is, and what to do.
std::string kept_region_text(const ActiveRun& run);

// Random, never 0.
std::uint64_t make_run_id();

}  // namespace tidemark
