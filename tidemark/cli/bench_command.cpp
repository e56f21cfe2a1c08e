// SPDX-License-Identifier: Apache-2.0
// tidemark bench: what the recorder and the runtime cost, and what limits them.
#include <memory>

#include "tidemark/cli/bench/bench_options.h"
#include "tidemark/cli/bench/dump_bench.h"
#include "tidemark/cli/bench/overhead_bench.h"
#include "tidemark/cli/bench/runtime_bench.h"
#include "tidemark/cli/bench/top_bench.h"
#include "tidemark/cli/command_line.h"

namespace tidemark::cli {
namespace {

void bind_bench_options(CLI::App& command, BenchOptions& options) {
  command.add_option("-p,--platform", options.platform, "See 'tidemark list'")
      ->capture_default_str();
  command.add_option("--sink", options.sink, "memory or file")->capture_default_str();
  command.add_option("--dir", options.directory, "Where --sink file writes")->capture_default_str();
  command.add_option("--lanes", options.lanes, "Producers, one lane each")->capture_default_str();
  command.add_option("--rounds", options.rounds, "Rounds of which the median is taken")
      ->capture_default_str();
  command.add_option("--drain-threads", options.drain_threads, "Threads that drain pages")
      ->capture_default_str();
  command.add_option("--page-bytes", options.page_bytes, "Bytes of one page")
      ->capture_default_str();
  command
      .add_option("--pool-bytes", options.pool_bytes,
                  "Bytes of the page pool; 0 sizes it to the lanes")
      ->capture_default_str();
  command.add_flag("--json", options.json, "Print one JSON object");
}

void add_producer_bench(CLI::App& bench, Outcome& outcome) {
  auto options = std::make_shared<BenchOptions>();
  auto* command = bench.add_subcommand(
      "producer", "Cost of a record and lossless throughput, beside a plain reference");
  bind_bench_options(*command, *options);
  command->add_option("--record-bytes", options->record_bytes, "32, 64 or 128")
      ->capture_default_str();
  command->add_option(
      "--records", options->records,
      "Records per lane and round; 0: 2 GiB in all to memory (8 GiB on CUDA), 512 MiB to a "
      "file");
  command->add_option("-d,--device", options->device, "Device number, on CUDA")
      ->capture_default_str();
  command->add_flag("--one-thread", options->one_thread,
                    "CUDA: one thread writes a lane instead of a warp");
  command->add_flag("--disabled", options->disabled,
                    "Count the instructions of a probe, and of a task's part, while recording is "
                    "off (needs valgrind)");
  command->callback([options, &outcome] {
    outcome.exit_code = options->disabled ? bench_disabled(*options) : bench_producer(*options);
  });
}

void add_drain_bench(CLI::App& bench, Outcome& outcome) {
  auto options = std::make_shared<BenchOptions>();
  auto* command =
      bench.add_subcommand("drain", "How fast full pages leave the region, beside plain copies");
  bind_bench_options(*command, *options);
  command->callback([options, &outcome] { outcome.exit_code = bench_drain(*options); });
}

void add_runtime_bench(CLI::App& bench, Outcome& outcome) {
  auto options = std::make_shared<RuntimeBenchOptions>();
  auto* command = bench.add_subcommand(
      "runtime", "Cost of an empty task by the shape of the graph, beside oneTBB");
  command->add_option("-p,--platform", options->platform, "A simulated platform")
      ->capture_default_str();
  command->add_option("--rounds", options->rounds, "Rounds of which the median is taken")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  command->add_option("--tasks", options->tasks, "Tasks of a graph")
      ->capture_default_str()
      ->check(CLI::Range(100, 1'000'000));
  command->add_flag("--json", options->json, "Print one JSON object");
  command->callback([options, &outcome] { outcome.exit_code = bench_runtime(*options); });
}

void add_overhead_bench(CLI::App& bench, Outcome& outcome) {
  auto options = std::make_shared<OverheadBenchOptions>();
  auto* command = bench.add_subcommand(
      "overhead", "What recording costs a workload: each stream off, on, all on, and the dump");
  command->add_option("workload", options->workload, "See 'tidemark list'")->capture_default_str();
  command->add_option("--case", options->case_name,
                      "Case of the workload (default: Case2 of paged_attention)");
  command->add_option("-p,--platform", options->platform, "See 'tidemark list'")
      ->capture_default_str();
  command
      ->add_option("--dir", options->directory,
                   "Where the runs leave their files (a disk adds its own cost per file)")
      ->capture_default_str();
  command->add_option("--rounds", options->rounds, "Interleaved rounds of which medians are taken")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  command->add_flag("--json", options->json, "Print one JSON object");
  command->callback([options, &outcome] {
    if (options->case_name.empty() && options->workload == "paged_attention")
      options->case_name = "Case2";
    outcome.exit_code = bench_overhead(*options);
  });
}

void add_dump_bench(CLI::App& bench, Outcome& outcome) {
  auto options = std::make_shared<DumpBenchOptions>();
  auto* command = bench.add_subcommand(
      "dump", "How fast tensors come into a capture, beside a loop that copies and writes them");
  command->add_option("--case", options->case_name, "Of wide_tensors: Small or Large (4 GiB)")
      ->check(CLI::IsMember({"Small", "Large"}))
      ->capture_default_str();
  command->add_option("-p,--platform", options->platform, "See 'tidemark list'")
      ->capture_default_str();
  command->add_option("--dir", options->directory, "The file system that is written to")
      ->capture_default_str();
  command->add_option("--pool-bytes", options->pool_bytes, "Bytes of the page pool")
      ->capture_default_str();
  command->add_option("--rounds", options->rounds, "Rounds of which medians are taken")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  command->add_flag("--verify,!--no-verify", options->verify,
                    "Compare every element in the capture (default)");
  command->add_flag("--json", options->json, "Print one JSON object");
  command->callback([options, &outcome] { outcome.exit_code = bench_dump(*options); });
}

void add_top_bench(CLI::App& bench, Outcome& outcome) {
  auto options = std::make_shared<TopBenchOptions>();
  auto* command = bench.add_subcommand("top", "Whether 'tidemark top' disturbs a run at full rate");
  command->add_option("-p,--platform", options->platform, "See 'tidemark list'")
      ->capture_default_str();
  command->add_option("--dir", options->directory, "Where the runs leave their files")
      ->capture_default_str();
  command->add_option("--records", options->records, "Per lane")->capture_default_str();
  command->add_option("--interval-ms", options->interval_ms, "Between two looks")
      ->check(CLI::Range(1, 999))
      ->capture_default_str();
  command->add_option("--rounds", options->rounds, "Interleaved rounds of which medians are taken")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  command->add_flag("--json", options->json, "Print one JSON object");
  command->callback([options, &outcome] { outcome.exit_code = bench_top(*options); });
}

// What 'bench producer --disabled' counts; hidden from the help.
void add_counted_loop(CLI::App& bench, Outcome& outcome) {
  struct Args {
    std::uint32_t loop = 0;
    std::uint64_t iterations = 1;
  };
  auto args = std::make_shared<Args>();
  auto* command = bench.add_subcommand("counted-loop", "")->group("");
  command->add_option("loop", args->loop)->check(CLI::Range(0, 3));
  command->add_option("--iterations", args->iterations);
  command->callback([args, &outcome] {
    outcome.exit_code = run_counted_loop(static_cast<CountedLoop>(args->loop), args->iterations);
  });
}

}  // namespace

void add_bench_command(CLI::App& app, Outcome& outcome) {
  auto* bench = app.add_subcommand("bench", "Measure the recorder and the runtime");
  bench->require_subcommand(1);
  add_producer_bench(*bench, outcome);
  add_drain_bench(*bench, outcome);
  add_runtime_bench(*bench, outcome);
  add_overhead_bench(*bench, outcome);
  add_dump_bench(*bench, outcome);
  add_top_bench(*bench, outcome);
  add_counted_loop(*bench, outcome);
}

}  // namespace tidemark::cli
