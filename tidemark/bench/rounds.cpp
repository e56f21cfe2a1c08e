// SPDX-License-Identifier: Apache-2.0
#include "tidemark/bench/rounds.h"

#include <stdlib.h>

#include <filesystem>

#include "tidemark/base/monotonic_clock.h"
#include "tidemark/bench/self_process.h"

namespace tidemark::bench {

std::string decide_limit(const EndToEnd& run, const std::string& sink) {
  if (run.stall_share < 0.05) return "producer";
  if (run.drain_busy_share < 0.7) return "pages";
  return sink == "file" && run.sink_share > 0.5 ? "file" : "drain";
}

void put_options(BenchFields& v, const BenchOptions& options) {
  TM_FIELDS(v, options, platform, sink, lanes, record_bytes);
  v("drain_threads", options.recorder.drain_threads);
  v("rounds", options.rounds);
}

Expected<ScratchDirectory> ScratchDirectory::create(const std::string& parent) {
  std::string path = parent + "/tidemark-bench-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr)
    return failure(ErrorKind::kFile, "--dir {}: cannot make a directory there", parent);
  return ScratchDirectory(path);
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code code;
  if (!path_.empty()) std::filesystem::remove_all(path_, code);
}

Expected<SampleRun> sample_run(std::vector<std::string> args, const std::string& directory) {
  std::error_code code;
  std::filesystem::remove_all(directory, code);
  args.insert(args.begin(), {"tidemark", "run"});
  args.insert(args.end(), {"--json", "--output-prefix", directory});
  SampleRun run;
  const std::uint64_t begin_ns = monotonic_ns();
  TM_TRY(auto process, SelfProcess::start(args));
  const std::string text = process.read();
  const SelfProcess::End end = process.wait();
  run.wall_ns = static_cast<double>(monotonic_ns() - begin_ns);
  run.peak_bytes = end.peak_bytes;
  if (end.exit_code != 0)
    return failure(ErrorKind::kDevice, "'tidemark {} {}' did not end well", args[1], args[2]);
  TM_TRY(run.report, parse_run_report(text, "the output of 'tidemark run --json'"));
  return run;
}

}  // namespace tidemark::bench
