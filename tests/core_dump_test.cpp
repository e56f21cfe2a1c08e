// SPDX-License-Identifier: Apache-2.0
// A run that hangs on a device with a core dump, from the command line: what is kept, what is said,
// and what is not there with --no-core-dump. The dump and what the debugger prints of it are those
// of an H200; the device is the simulated one.
#include <sys/stat.h>

#include "tests/command_line_fixture.h"
#include "tidemark/run/json.h"
#include "tidemark/run/output_directory.h"

namespace tidemark {
namespace {

class CoreDump : public CommandLine {
 protected:
  static constexpr const char* kFiles = TIDEMARK_SOURCE_DIR "/tests/cuda_gdb";

  // Prints the transcript as if the block that is asked for first were the one in it.
  void write_debugger() {
    fs::create_directories(path("tools"));
    std::ofstream script(path("tools/cuda-gdb"));
    script << "#!/bin/sh\n"
              "block=$(printf '%s\\n' \"$@\" | sed -n 's/^cuda block \\([0-9]*\\) .*/\\1/p' | "
              "head -n 1)\n"
              "sed \"s/(65,0,0)/($block,0,0)/g\" '"
           << kFiles << "/probe_hang.txt'\n";
    script.close();
    fs::permissions(path("tools/cuda-gdb"), fs::perms::owner_all);
  }
  Finished hang(const std::string& more, const std::string& before = "") {
    return run(fmt::format("run hang_kernel --scheduler-timeout-ms 300 --enable-l2-swimlane "
                           "--inject core={}/probe_hang.core --output-prefix r --force {}",
                           kFiles, more),
               before);
  }
  std::string with_tools() const { return fmt::format("PATH='{}/tools':$PATH", directory_); }
};

TEST_F(CoreDump, TheLineIsInTheErrorTheTextAndTheFiles) {
  write_debugger();
  const Finished done = hang("", with_tools());
  EXPECT_EQ(done.exit_code, 3);
  EXPECT_NE(done.out.find(" s, at probe2.cu:20; 5 tasks wait for it"), std::string::npos)
      << done.out;
  const std::string text = read(path("r/hang.txt"));
  EXPECT_NE(text.find("__nanosleep (sm_70_rt.hpp:169) in wait_ns (probe2.cu:20) in CopyOrHang::run "
                      "(probe2.cu:26) in run_kernel (probe2.cu:38)\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\ncore dump  device.core, 13.0 KiB; cuda-gdb -ex 'target cudacore "
                      "r/device.core' "),
            std::string::npos)
      << text;
  struct stat info {};
  ASSERT_EQ(::stat(path("r/device.core").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  EXPECT_EQ(read(path("r/device.core")), read(std::string(kFiles) + "/probe_hang.core"));
  EXPECT_FALSE(fs::exists(path("r/device.core.part")));
  // From the capture, too.
  fs::remove(path("r/hang.txt"));
  EXPECT_EQ(run("hang r").out, text);
  rapidjson::Document json;
  json.Parse(run("hang r --json").out.c_str());
  ASSERT_FALSE(json.HasParseError());
  EXPECT_STREQ(json["device_core"]["file"].GetString(), "device.core");
  unsigned with_stacks = 0;
  for (const auto& core : json["cores"].GetArray()) {
    if (!core.HasMember("stacks")) continue;
    ++with_stacks;
    EXPECT_STREQ(core["task"].GetString(), "t12");
    const auto& stack = core["stacks"][0];
    EXPECT_EQ(stack["threads"].GetUint(), 256u);
    EXPECT_STREQ(stack["frames"][2]["function"].GetString(), "CopyOrHang::run");
    EXPECT_STREQ(stack["frames"][2]["file"].GetString(), "/source/of/probes/probe2.cu");
    EXPECT_EQ(stack["frames"][2]["line"].GetUint(), 26u);
  }
  EXPECT_EQ(with_stacks, 1u);
  EXPECT_EQ(run("check r").exit_code, 0);
}

TEST_F(CoreDump, WithoutADebuggerTheFileAndTheCommandAreThere) {
  const Finished done = hang("", "PATH=");
  EXPECT_EQ(done.exit_code, 3);
  EXPECT_EQ(done.out.find(", at "), std::string::npos) << done.out;
  EXPECT_TRUE(fs::exists(path("r/device.core")));
  const std::string text = read(path("r/hang.txt"));
  EXPECT_NE(text.find("device.core, 13.0 KiB, not read: cuda-gdb is not on this machine; cuda-gdb "
                      "-ex 'target cudacore r/device.core' -ex 'info cuda threads' -ex bt\n"),
            std::string::npos)
      << text;
}

TEST_F(CoreDump, WhereItIsNotWantedNothingIsKeptAndNobodyAsked) {
  write_debugger();
  const Finished done = hang("--no-core-dump", with_tools());
  EXPECT_EQ(done.exit_code, 3);
  EXPECT_EQ(done.out.find(", at "), std::string::npos) << done.out;
  EXPECT_FALSE(fs::exists(path("r/device.core")));
  EXPECT_EQ(read(path("r/hang.txt")).find("core dump"), std::string::npos);
}

TEST_F(CoreDump, AReplacedRunTakesItsCoreDumpWithIt) {
  hang("", "PATH=");
  ASSERT_TRUE(fs::exists(path("r/device.core")));
  EXPECT_EQ(run("run vector_example --output-prefix r --force").exit_code, 0);
  EXPECT_FALSE(fs::exists(path("r/device.core")));
}

}  // namespace
}  // namespace tidemark
