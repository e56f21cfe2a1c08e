// SPDX-License-Identifier: Apache-2.0
// tidemark bench: what the recorder and the runtime cost, and what limits them.
#include <unistd.h>

#include <memory>

#include "tidemark/bench/bench_options.h"
#include "tidemark/bench/cuda_bench.h"
#include "tidemark/bench/cuda_runtime_bench.h"
#include "tidemark/bench/kernel_graph.h"
#include "tidemark/cli/command_line.h"
#include "tidemark/cli/terminal.h"

namespace tidemark::cli {
namespace {

const FlagRules kRounds{.shows_default = true, .range = {{1, 1000}}};

bench::BenchOutput terminal_output() {
  const bool live = ::isatty(STDERR_FILENO) == 1;
  return {.text =
              [](const std::string& text) {
                print_text(text);
                flush();
              },
          .progress =
              [live](const std::string& line) {
                if (!live) return;
                print_raw("\r\x1b[K", Stream::kError);
                print_error("{}", line);
              }};
}

// A bench: its flags are declared by `bind`; `measure` gives the exit code.
template <class Options>
void add_bench(Command& all, const char* name, const char* text, void (*bind)(Command&, Options&),
               Expected<int> (*measure)(const Options&, const bench::BenchOutput&)) {
  auto options = std::make_shared<Options>();
  Command& command = all.command(name, text);
  bind(command, *options);
  command.run = [options, measure] { return measure(*options, terminal_output()); };
}

const FlagRules kSinks{.shows_default = true, .one_of = {"memory", "file"}};

void bind_drain(Command& command, bench::BenchOptions& options) {
  command.option("-p,--platform", &options.platform, "See 'tidemark list'", kShowsDefault);
  command.option("--sink", &options.sink, "memory or file", kSinks);
  command.option("--dir", &options.directory, "Where --sink file writes", kShowsDefault);
  command.option("--lanes", &options.lanes, "Producers, one lane each", kShowsDefault);
  command.option("--rounds", &options.rounds, "Rounds of which the median is taken", kShowsDefault);
  command.option("--drain-threads", &options.recorder.drain_threads, "Threads that drain pages",
                 kShowsDefault);
  command.option("--page-bytes", &options.recorder.page_bytes, "Bytes of one page", kShowsDefault);
  command.option("--pool-bytes", &options.recorder.pool_bytes,
                 "Bytes of the page pool; 0 sizes it to the lanes", kShowsDefault);
  command.flag("--json", &options.json, "Print one JSON object");
}

void bind_producer(Command& command, bench::BenchOptions& options) {
  bind_drain(command, options);
  command.option("--record-bytes", &options.record_bytes, "32, 64 or 128", kShowsDefault);
  command.option(
      "--records", &options.records,
      "Records per lane and round; 0: 2 GiB in all to memory (8 GiB on CUDA), 512 MiB to a "
      "file");
  command.option("-d,--device", &options.device, "Device number, on CUDA", kShowsDefault);
  command.flag("--one-thread", &options.one_thread,
               "CUDA: one thread writes a lane instead of a warp");
  command.flag("--disabled", &options.disabled,
               "Count the instructions of a probe, and of a task's part, while recording is "
               "off (needs valgrind)");
}

void bind_runtime(Command& command, bench::RuntimeBenchOptions& options) {
  command.option("-p,--platform", &options.platform, "A simulated platform, or cuda",
                 kShowsDefault);
  command.option("-d,--device", &options.device, "Device number, on CUDA", kShowsDefault);
  command.option(
      "--graph", &options.graph,
      "all: by the shape of the graph, or one shape; tiles: by live writers of a buffer; cores: "
      "as many slow tasks as cores. On CUDA: independent, chain, blocks (128 behind 128), "
      "live_writers; same_kernels: --repeat 100 beside a CUDA graph of the same kernels",
      {.shows_default = true,
       .one_of = {"all", "independent", "chain", "fan_out_fan_in", "random_dag", "tiles", "cores",
                  "blocks", "live_writers", bench::kSameKernels}});
  command.option(
      "--runtime", &options.runtime, "On CUDA: which of the two, or both",
      {.shows_default = true, .one_of = {"all", "host_build_graph", "tensormap_and_ringbuffer"}});
  command.option("--rounds", &options.rounds, "Rounds of which the median is taken", kRounds);
  command.option("--tasks", &options.tasks, "Tasks of a graph",
                 {.shows_default = true, .range = {{100, 1'000'000}}});
  command.flag("--json", &options.json, "Print one JSON object");
}

void bind_overhead(Command& command, bench::OverheadBenchOptions& options) {
  command.option("workload", &options.workload, "See 'tidemark list'", kShowsDefault);
  command.option("--case", &options.case_name,
                 "Case of the workload (default: Case2 of paged_attention)");
  command.option("-p,--platform", &options.platform, "See 'tidemark list'", kShowsDefault);
  command.option("--dir", &options.directory,
                 "Where the runs leave their files (a disk adds its own cost per file)",
                 kShowsDefault);
  command.option("--rounds", &options.rounds, "Interleaved rounds of which medians are taken",
                 kRounds);
  command.flag("--json", &options.json, "Print one JSON object");
}

void bind_dump(Command& command, bench::DumpBenchOptions& options) {
  command.option("--case", &options.case_name, "Of wide_tensors: Small or Large (4 GiB)",
                 {.shows_default = true, .one_of = {"Small", "Large"}});
  command.option("-p,--platform", &options.platform, "See 'tidemark list'", kShowsDefault);
  command.option("--dir", &options.directory, "The file system that is written to", kShowsDefault);
  command.option("--pool-bytes", &options.pool_bytes, "Bytes of the page pool", kShowsDefault);
  command.option("--page-bytes", &options.page_bytes, "Bytes of one page", kShowsDefault);
  command.option("--drain-threads", &options.drain_threads, "Threads that drain pages",
                 kShowsDefault);
  command.option("--rounds", &options.rounds, "Rounds of which medians are taken", kRounds);
  command.flag("--verify,!--no-verify", &options.verify,
               "Compare every element in the capture (default)");
  command.flag("--json", &options.json, "Print one JSON object");
}

void bind_top(Command& command, bench::TopBenchOptions& options) {
  command.option("-p,--platform", &options.platform, "See 'tidemark list'", kShowsDefault);
  command.option("--dir", &options.directory, "Where the runs leave their files", kShowsDefault);
  command.option("--records", &options.records, "Per lane", kShowsDefault);
  command.option("--interval-ms", &options.interval_ms, "Between two looks",
                 {.shows_default = true, .range = {{1, 999}}});
  command.option("--rounds", &options.rounds, "Interleaved rounds of which medians are taken",
                 kRounds);
  command.flag("--json", &options.json, "Print one JSON object");
}

void bind_watched(Command& command, bench::WatchedBenchOptions& options) {
  command.option("-p,--platform", &options.platform, "A simulated platform", kShowsDefault);
  command.option("--dir", &options.directory, "Where the runs leave their files", kShowsDefault);
  command.option("--rate", &options.rate, "Records per second of all lanes together",
                 {.shows_default = true, .range = {{1, 1'000'000'000}}});
  command.option("--lanes", &options.lanes, "Producers, one lane each",
                 {.shows_default = true, .range = {{1, 4096}}});
  command.option("--seconds", &options.seconds, "How long each run is", kShowsDefault);
  command.option("--clients", &options.clients, "Pages that follow the run",
                 {.shows_default = true, .range = {{1, 1000}}});
  command.option("--poll-ms", &options.poll_ms, "Between two looks of a page",
                 {.shows_default = true, .range = {{1, 10'000}}});
  command.option("--rounds", &options.rounds, "Interleaved rounds of which medians are taken",
                 kRounds);
  command.flag("--json", &options.json, "Print one JSON object");
}

// What 'bench producer --disabled' counts; hidden from the help.
void add_counted_loop(Command& all) {
  struct Args {
    std::uint32_t loop = 0;
    std::uint64_t iterations = 1;
  };
  auto args = std::make_shared<Args>();
  Command& command = all.command("counted-loop", "");
  command.hidden = true;
  command.option("loop", &args->loop, "", {.range = {{0, 3}}});
  command.option("--iterations", &args->iterations, "");
  command.run = [args] {
    return bench::run_counted_loop(static_cast<bench::CountedLoop>(args->loop), args->iterations);
  };
}

}  // namespace

void add_bench_command(Command& program) {
  bench::register_cuda_bench();
  bench::register_cuda_runtime_bench();
  bench::register_kernel_graph_bench();
  bench::register_device_graph();
  Command& all = program.command("bench", "Measure the recorder and the runtime");
  add_bench(all, "producer", "Cost of a record and lossless throughput, beside a plain reference",
            &bind_producer, &bench::bench_producer);
  add_bench(all, "drain", "How fast full pages leave the region, beside plain copies", &bind_drain,
            &bench::bench_drain);
  add_bench(
      all, "runtime",
      "Cost of an empty task by the shape of the graph, beside oneTBB; on a GPU beside mailboxes "
      "and a CUDA graph",
      &bind_runtime, &bench::bench_runtime);
  add_bench(all, "overhead",
            "What recording costs a workload: each stream off, on, all on, and the dump",
            &bind_overhead, &bench::bench_overhead);
  add_bench(all, "dump",
            "How fast tensors come into a capture, beside a loop that copies and writes them",
            &bind_dump, &bench::bench_dump);
  add_bench(all, "top", "Whether 'tidemark top' disturbs a run at full rate", &bind_top,
            &bench::bench_top);
  add_bench(all, "watched", "Whether pages that follow a run through 'tidemark serve' disturb it",
            &bind_watched, &bench::bench_watched);
  add_counted_loop(all);
}

}  // namespace tidemark::cli
