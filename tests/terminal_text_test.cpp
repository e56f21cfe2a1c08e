// SPDX-License-Identifier: Apache-2.0
// Names, sites, kernels and messages with orders to a terminal in them, in a capture, a run.json
// and a region: every command prints plain lines and ends with a documented exit code.
#include <signal.h>

#include <cstring>

#include <gtest/gtest.h>

#include "tests/command_line_fixture.h"
#include "tests/poisoned_run.h"
#include "tidemark/base/process_identity.h"
#include "tidemark/base/testing/plain_output.h"
#include "tidemark/base/testing/temporary_directory.h"
#include "tidemark/device/region_file.h"
#include "tidemark/run/json.h"
#include "tidemark/runtime/runtime_status.h"

namespace tidemark {
namespace {

// A new title, colours, a forged line, C1 as a byte and as a character, half a character, DEL, and
// writing from right to left.
constexpr std::string_view kOrders =
    "\x1b]0;owned\x07\x1b[31m\nsound\r\t\x9b[2J\xc2\x9b[2J\xff\xe2\x82\x7f\u202egnp.exe\u2066";

class TerminalText : public CommandLine {
 protected:
  ~TerminalText() override {
    if (run_id_ != 0) ::unlink(region_path(run_id_).c_str());
  }

  void expect_plain(const std::string& arguments) {
    SCOPED_TRACE(arguments);
    // A command that does not end is stopped, which is no documented exit code.
    const Finished done = run(arguments, "timeout 60");
    EXPECT_GE(done.exit_code, 0) << done.error;
    EXPECT_LE(done.exit_code, 5) << done.error;
    EXPECT_EQ(first_order_in(done.out), "");
    EXPECT_EQ(first_order_in(done.error), "");
    printed_ += done.out + done.error;
    // As a line of its own it would be our verdict; only `check` may say so.
    if (!arguments.starts_with("check") && !arguments.starts_with("hang by-hand")) {
      EXPECT_EQ((done.out + done.error).find("\nsound"), std::string::npos) << done.out;
    }
  }

  void expect_every_reader_plain(const std::string& name) {
    for (const char* command : {"check",
                                "export",
                                "swimlane",
                                "swimlane --perfetto t.pftrace",
                                "scopes",
                                "deps",
                                "deps --list",
                                "deps --reduce",
                                "deps --dot -",
                                "deps --dot d.dot",
                                "deps --why r1t3",
                                "deps --path t0 r1t3",
                                "dump",
                                "dump --stats",
                                "dump --nan",
                                "dump --index 0",
                                "dump --index 3",
                                "dump --export txt --format txt",
                                "dump --export npy --format npy",
                                "dump --export csv --format csv",
                                "replay --task t0",
                                "hang",
                                "hang --json",
                                "top --once",
                                "top --once --json",
                                "recover"}) {
      const std::string words = command;
      const auto space = words.find(' ');
      expect_plain(words.substr(0, space) + " " + name +
                   (space == std::string::npos ? "" : words.substr(space)));
    }
    expect_plain(fmt::format("dump diff {} {}", name, name));
    expect_plain(fmt::format("dump diff {} npy", name));
    expect_plain(fmt::format("dump diff {} clean", name));
  }

  std::string printed_;
  std::uint64_t run_id_ = 0;
};

TEST_F(TerminalText, OfACaptureAndItsRunJsonHasNoOrders) {
  const std::string streams =
      "--enable-l2-swimlane=4 --enable-dep-gen --enable-scope-stats --dump-tensor";
  ASSERT_EQ(run("run vector_example " + streams + " --output-prefix clean").exit_code, 0);
  ASSERT_EQ(run("run hang_kernel --scheduler-timeout-ms 700 " + streams + " --output-prefix hung")
                .exit_code,
            3);
  const std::vector<std::string> names = {"run_id", "workload", "case",     "platform",
                                          "status", "runtime",  "transport"};
  for (const char* of : {"clean", "hung"})
    for (const auto& kept : {std::vector<std::string>{"run_id"}, names}) {
      fs::remove_all(path("r"));
      fs::copy(path(of), path("r"), fs::copy_options::recursive);
      poison_run(path("r"), kOrders, kept);
      expect_every_reader_plain("r");
      // A file of the run that a command shows line by line as it is.
      fs::create_directories(path("by-hand"));
      fs::copy(path("r/run.json"), path("by-hand/run.json"), fs::copy_options::overwrite_existing);
      std::ofstream(path("by-hand/hang.txt")) << kOrders;
      expect_plain("hang by-hand");
    }
  EXPECT_NE(printed_.find("?]0;owned??[31m?sound"), std::string::npos)
      << "the orders never came to a command";
}

TEST_F(TerminalText, OfARegionHasNoOrders) {
  ASSERT_EQ(run("run vector_example --enable-l2-swimlane --output-prefix r").exit_code, 0);
  std::string report = read(path("r/run.json"));
  const auto replace = [&](const std::string& from, const std::string& to) {
    ASSERT_NE(report.find(from), std::string::npos) << from;
    report.replace(report.find(from), from.size(), to);
  };
  replace("\"status\": \"ok\"", "\"status\": \"running\"");
  run_id_ = std::stoull(report.substr(report.find("\"run_id\": \"") + 11, 16), nullptr, 16);
  report.insert(report.find('\n') + 1,
                fmt::format("\"region\": {{\"path\": \"{}\", \"bytes\": 1, \"boot_id\": \"{}\", "
                            "\"host_pid\": 0, \"host_start_time\": 0}},\n",
                            region_path(run_id_), boot_id()));
  std::ofstream(path("r/run.json")) << report;
  {
    const UnitCounts units{.schedulers = 1, .cores = 3};
    RegionRequest request;
    request.lanes = {{.producer = std::string(kOrders)}};
    request.recorder.page_bytes = 1024;
    request.run_id = run_id_;
    request.status_bytes = status_bytes(units);
    RegionPlan plan = *plan_region(request);
    plan.run_directory = "/tmp/" + std::string(kOrders);
    plan.identity.host_pid = 0;
    const auto file = create_region_file(plan);
    ASSERT_TRUE(file) << file.error().message;
    const auto mapping = map_region(file->fd.get(), file->path, file->bytes);
    ASSERT_TRUE(mapping);
    auto* base = static_cast<unsigned char*>(mapping->base());
    auto& status = *reinterpret_cast<RuntimeStatus*>(base + plan.layout.status_offset);
    const auto put = [](auto& text) { std::memcpy(text, kOrders.data(), kOrders.size()); };
    put(status.error.text);
    put(status.error.kernel);
    put(status.error.scope_file);
    put(status.error.submit_file);
    put(status.backpressure.scope_file);
    for (auto& site : status.site_files) put(site);
    for (auto& kernel : status.shape.kernels)
      std::memcpy(kernel, kOrders.data(), std::min(sizeof(kernel), kOrders.size()));
    status.shape.kernel_count.store_relaxed(4);
    status.shape.scheduler_count.store_relaxed(units.schedulers);
    status.shape.core_count.store_relaxed(units.cores);
    auto* lines =
        reinterpret_cast<UnitProgress*>(base + plan.layout.status_offset + kUnitLinesOffset);
    for (std::uint32_t unit = 0; unit < units.total(); ++unit)
      lines[unit].state.store_relaxed(UnitState::kBusy);
    RegionView view(mapping->base());
    view.names().intern(7, kOrders.data(), static_cast<std::uint32_t>(kOrders.size()));
    auto& header = *static_cast<RegionHeader*>(mapping->base());
    std::memcpy(header.fault_text, kOrders.data(), kOrders.size());
    header.device.fault_bytes.store_release(static_cast<std::uint32_t>(kOrders.size()));
    status.error.code.store_release(ErrorCode::kHeapRingDeadlock);
  }
  // A name is foreign text, too.
  const std::string odd = fmt::format("/dev/shm/tidemark-{}\x1b[31m\nsound.region", ::getpid());
  ASSERT_EQ(::symlink("/dev/null", odd.c_str()), 0);
  expect_plain("recover --list");
  ::unlink(odd.c_str());
  EXPECT_NE(printed_.find("?[31m?sound.region is not yours: it is a link"), std::string::npos)
      << printed_;
  EXPECT_NE(printed_.find("tidemark recover '/tmp/?]0;owned"), std::string::npos) << printed_;
  printed_.clear();
  expect_plain("top r --once");
  EXPECT_NE(printed_.find("?]0;owned"), std::string::npos) << "kernels of the status: " << printed_;
  expect_plain("top r --once --json");
  expect_plain("recover r");
  for (const char* command : {"check r", "export r", "swimlane r", "hang r", "recover r"})
    expect_plain(command);
}

TEST_F(TerminalText, OfWrongArgumentsHasNoOrders) {
  for (const char* arguments :
       {"$(printf 'a\\033[31m')", "run $(printf 'a\\033[31m\\nsound')",
        "check $(printf 'a\\2332J')", "run vector_example --$(printf 'a\\033[31m')",
        "run vector_example --ring-heap $(printf '\\033[31m')", "--$(printf '\\033')", "list"})
    expect_plain(arguments);
}

}  // namespace
}  // namespace tidemark
