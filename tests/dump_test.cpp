// SPDX-License-Identifier: Apache-2.0
// The dump tells the truth: every captured tensor and scalar equals, bit for bit, what a serial
// executor computes with the same kernel functions, on every platform and runtime. Selection,
// statistics, files, diff and replay as a person uses them.
#include "tests/dump_fixture.h"
#include "tidemark/export/npy_file.h"
#include "workloads/paged_attention.h"
#include "workloads/vector_example.h"

namespace tidemark {
namespace {

class Dump : public DumpFixture {};

TEST_F(Dump, EqualsASerialExecutionBitForBit) {
  const SerialExecutor vector = serial<VectorExample>("default");
  const SerialExecutor attention = serial<PagedAttention>("Small2");
  EXPECT_EQ(vector.tasks, 5u);
  EXPECT_EQ(attention.tasks, 33u);
  for (const char* platform : {"sim", "a2a3sim", "a5sim"})
    for (const char* runtime :
         {"tensormap_and_ringbuffer", "aicpu_build_graph", "host_build_graph"}) {
      SCOPED_TRACE(fmt::format("{} {}", platform, runtime));
      run_ok(
          fmt::format("run vector_example -p {} --runtime {} --dump-tensor --output-prefix r "
                      "--force",
                      platform, runtime));
      expect_truth("r", vector);
      run_ok(
          fmt::format("run paged_attention --case Small2 -p {} --runtime {} --dump-tensor "
                      "--page-bytes 4096 --output-prefix r --force",
                      platform, runtime));
      expect_truth("r", attention);
      if (HasFailure()) return;
    }
}

// 2 + 3 = 5; 5 + 1 = 6; 5 + 2 = 7; 6 * 7 = 42; 42 + 5 = 47.
TEST_F(Dump, ManifestAndPayloadOfVectorExampleByHand) {
  run_ok("run vector_example --dump-tensor --output-prefix r");
  const auto json = json_of("r/tensor_dump/tensor_dump.json");
  expect_fields(json,
                "schema_version:i run_dir:s bin_format:o dump_level:s total_tensors:i "
                "before_dispatch:i after_completion:i input_tensors:i output_tensors:i "
                "inout_tensors:i truncated_tensors:i dropped_records:i dropped_overwrite:i "
                "bin_file:s tensors:a");
  EXPECT_STREQ(json["dump_level"].GetString(), "full");
  EXPECT_EQ(json["total_tensors"].GetInt(), 15);  // 13 tensors and 2 scalars
  EXPECT_EQ(json["before_dispatch"].GetInt(), 10);
  EXPECT_EQ(json["after_completion"].GetInt(), 5);
  const std::string bin = read(path("r/tensor_dump/tensor_dump.bin"));
  EXPECT_EQ(bin.size(), 13u * 65536u);
  const std::map<std::pair<std::string, int>, float> expected{
      {{"0x0000000000000000", 0}, 2},  {{"0x0000000000000000", 1}, 3},
      {{"0x0000000000000000", 2}, 5},  {{"0x0000000100000000", 0}, 5},
      {{"0x0000000100000000", 1}, 6},  {{"0x0000000100000001", 0}, 5},
      {{"0x0000000100000001", 1}, 7},  {{"0x0000000100000002", 0}, 6},
      {{"0x0000000100000002", 1}, 7},  {{"0x0000000100000002", 2}, 42},
      {{"0x0000000100000003", 0}, 42}, {{"0x0000000100000003", 1}, 5},
      {{"0x0000000100000003", 2}, 47}};
  std::size_t tensors = 0;
  for (const auto& entry : json["tensors"].GetArray()) {
    expect_fields(entry,
                  "task_id:s kernel:s role:s stage:s arg_index:i kind:s dtype:s shape:a strides:a "
                  "start_offset:i is_contiguous:b truncated:b overwritten:b bin_offset:i "
                  "bin_size:i");
    if (entry["kind"].GetString() == std::string("scalar")) {
      EXPECT_EQ(entry["arg_index"].GetInt(), 2);
      EXPECT_EQ(entry["bin_size"].GetInt(), 0);
      const double value = entry["value"].GetDouble();
      EXPECT_TRUE(value == 1.0 || value == 2.0);
      EXPECT_STREQ(entry["scalar_value"].GetString(),
                   value == 1.0 ? "0x000000003f800000" : "0x0000000040000000");
      continue;
    }
    ++tensors;
    const float value = expected.at({entry["task_id"].GetString(), entry["arg_index"].GetInt()});
    EXPECT_EQ(entry["stats"]["min"].GetDouble(), value);
    EXPECT_EQ(entry["stats"]["max"].GetDouble(), value);
    EXPECT_EQ(entry["stats"]["mean"].GetDouble(), value);
    EXPECT_EQ(entry["stats"]["l2"].GetDouble(), value * 128.0);
    for (std::size_t i = 0; i < 16384; ++i) {
      float element = 0;
      std::memcpy(&element, bin.data() + entry["bin_offset"].GetUint64() + i * 4, 4);
      ASSERT_EQ(element, value);
    }
  }
  EXPECT_EQ(tensors, 13u);
}

TEST_F(Dump, LevelsAndSelectionsTakeWhatTheySay) {
  const auto entries = [&](const std::string& flags) {
    run_ok("run vector_example " + flags + " --output-prefix r --force");
    return json_of("r/tensor_dump/tensor_dump.json");
  };
  const auto marked = entries("--dump-tensor=marked");
  EXPECT_EQ(marked["tensors"].Size(), 0u);
  EXPECT_TRUE(marked.HasMember("note")) << "it says why there is nothing";
  const auto stats = entries("--dump-tensor=stats");
  EXPECT_EQ(stats["tensors"].Size(), 15u);
  for (const auto& entry : stats["tensors"].GetArray()) EXPECT_EQ(entry["bin_size"].GetInt(), 0);
  EXPECT_EQ(entries("--dump-tensor --dump-select kernel=mul")["tensors"].Size(), 3u);
  EXPECT_EQ(entries("--dump-tensor --dump-select kernel=mul,stage=after")["tensors"].Size(), 1u);
  EXPECT_EQ(entries("--dump-tensor --dump-select task=r1t0..r1t1,role=input")["tensors"].Size(),
            4u);  // two inputs, two scalars
  EXPECT_EQ(entries("--dump-tensor --dump-select kernel=mul,arg=0 --dump-select "
                    "kernel=add,arg=1")["tensors"]
                .Size(),
            3u);
  const auto cut = entries("--dump-tensor --dump-max-bytes 1000 --dump-select kernel=mul");
  for (const auto& entry : cut["tensors"].GetArray()) {
    EXPECT_EQ(entry["bin_size"].GetInt(), 1000);
    EXPECT_TRUE(entry["truncated"].GetBool());
    EXPECT_EQ(entry["stats"]["zero"].GetInt(), 0) << "statistics are of everything";
    EXPECT_EQ(entry["stats"]["l2"].GetDouble(), entry["stats"]["max"].GetDouble() * 128);
  }
  expect_refused("run vector_example --dump-select kernel=mul", 2, "--dump-tensor");
  expect_refused("run vector_example --dump-tensor=nonsense", 2, "nonsense");
  expect_refused("run vector_example --dump-tensor --dump-select kernel=nope", 2, "nope");
  expect_refused("run vector_example --dump-tensor --dump-select task=x", 2, "task");
  expect_refused("run vector_example --dump-tensor --dump-select when=hot", 2, "when");
  expect_refused("run vector_example --dump-tensor --dump-select when=nan,when=hot", 2, "when");
}

TEST_F(Dump, FindsTheTaskThatMadeTheNan) {
  const Finished broken = run("run nan_producer --dump-tensor --output-prefix broken");
  EXPECT_EQ(broken.exit_code, 1);
  run_ok("run nan_producer --case healthy --dump-tensor --output-prefix healthy");
  const Finished found = run("dump broken --nan");
  EXPECT_EQ(found.exit_code, 0);
  const std::string guilty = found.out.substr(0, found.out.find(' '));
  EXPECT_NE(found.out.find("is the first task that made a NaN"), std::string::npos) << found.out;
  const Finished diff = run("dump diff healthy broken");
  EXPECT_EQ(diff.exit_code, 1);
  EXPECT_NE(diff.out.find("first divergence: " + guilty + ","), std::string::npos) << diff.out;
  const Finished again = run(fmt::format("replay broken --task {}", guilty));
  EXPECT_EQ(again.exit_code, 0) << again.out << again.error;
  EXPECT_NE(again.out.find("reproduced"), std::string::npos);
  EXPECT_NE(again.out.find("NaN"), std::string::npos) << again.out;
  // By hashes alone, and across platforms.
  EXPECT_EQ(run("run nan_producer --dump-tensor=stats -p a5sim --output-prefix hashes").exit_code,
            1);
  EXPECT_EQ(run("dump hashes --nan").out.substr(0, guilty.size()), guilty);
  const Finished by_hash = run("dump diff healthy hashes");
  EXPECT_NE(by_hash.out.find("first divergence: " + guilty + ","), std::string::npos)
      << by_hash.out;
  EXPECT_EQ(run("dump diff broken broken").exit_code, 0);
  // Payload only where the NaN is made, and what it was made of.
  EXPECT_EQ(
      run("run nan_producer --dump-tensor --dump-select when=nan --output-prefix when").exit_code,
      1);
  std::size_t kept = 0;
  const auto manifest = json_of("when/tensor_dump/tensor_dump.json");
  for (const auto& entry : manifest["tensors"].GetArray()) {
    if (entry["bin_size"].GetInt() == 0) continue;
    ++kept;
    EXPECT_STREQ(entry["task_id"].GetString(), "0x0000000000000004");
    EXPECT_EQ(entry.HasMember("captured_after"), entry["role"].GetString() == std::string("input"));
  }
  EXPECT_EQ(kept, 2u);
  EXPECT_EQ(guilty, "t4");
}

// However many blocks and kernels a task has, its arguments are captured once; inout at both ends.
TEST_F(Dump, TasksOfManyPartsAreCapturedOnce) {
  for (const char* workload : {"mixed_example", "spmd_blocks", "bgemm --case Small"})
    for (const char* platform : {"sim", "a2a3sim", "a5sim"}) {
      SCOPED_TRACE(fmt::format("{} on {}", workload, platform));
      run_ok(fmt::format("run {} -p {} --dump-tensor --enable-dep-gen --output-prefix r --force",
                         workload, platform));
      std::set<std::tuple<std::string, std::string, int>> seen;
      std::map<std::pair<std::string, int>, std::string> before;
      std::size_t changed = 0;
      const auto manifest = json_of("r/tensor_dump/tensor_dump.json");
      for (const auto& entry : manifest["tensors"].GetArray()) {
        const std::string task = entry["task_id"].GetString(), stage = entry["stage"].GetString();
        EXPECT_TRUE(seen.emplace(task, stage, entry["arg_index"].GetInt()).second);
        if (entry["role"].GetString() != std::string("inout")) continue;
        const std::string hash = entry["stats"]["hash"].GetString();
        const std::pair key{task, entry["arg_index"].GetInt()};
        if (stage == "before_dispatch")
          before[key] = hash;
        else
          changed += before.at(key) != hash;
      }
      // One entry per tensor and end, one per scalar, of every task of the graph.
      std::size_t expected = 0;
      const auto deps = json_of("r/deps.json");
      for (const auto& task : deps["tasks"].GetArray()) {
        if (task["kernel"].GetString() == std::string("allocate")) continue;
        expected += task["scalar_count"].GetUint64();
        for (const auto& arg : task["args"].GetArray())
          expected += arg["type"].GetString() == std::string("inout") ? 2 : 1;
      }
      EXPECT_EQ(seen.size(), expected);
      EXPECT_EQ(changed, before.size()) << "every inout of these workloads is changed";
    }
}

TEST_F(Dump, ReplayOfAPartialDumpSaysWhatIsMissing) {
  const auto refuses = [&](const std::string& flags, const std::string& names) {
    SCOPED_TRACE(flags);
    run_ok("run vector_example " + flags + " --output-prefix r --force");
    expect_refused("replay r --task t0", 2, names);
  };
  refuses("--dump-tensor --dump-select arg=0", "argument 1 (b), 2 (c)");
  refuses("--dump-tensor --dump-select arg=1", "argument 0 (a), 2 (c)");
  refuses("--dump-tensor --dump-select stage=before", "argument 2 (c)");
  refuses("--dump-tensor --dump-select role=output", "argument 0 (a), 1 (b)");
  refuses("--dump-tensor --dump-select kernel=mul", "nothing of it was dumped");
  refuses("--dump-tensor=stats", "without all of its bytes: argument 0 (a), 1 (b), 2 (c)");
  refuses("--dump-tensor --dump-max-bytes 1000", "without all of its bytes: argument 0 (a)");
}

TEST_F(Dump, ReplayReproducesTasksOfEveryShape) {
  for (const char* workload : {"vector_example", "mixed_example", "spmd_blocks"}) {
    SCOPED_TRACE(workload);
    run_ok(fmt::format("run {} --dump-tensor --output-prefix r --force", workload));
    std::set<std::string> tasks;
    const auto manifest = json_of("r/tensor_dump/tensor_dump.json");
    for (const auto& entry : manifest["tensors"].GetArray())
      tasks.insert(entry["task_id"].GetString());
    ASSERT_FALSE(tasks.empty());
    std::size_t tried = 0;
    for (const auto& task : tasks) {
      if (++tried > 6) break;
      const Finished again = run(fmt::format("replay r --task {}", task));
      EXPECT_EQ(again.exit_code, 0) << task << "\n" << again.out << again.error;
      EXPECT_NE(again.out.find("\nreproduced"), std::string::npos) << task << "\n" << again.out;
    }
  }
}

TEST_F(Dump, AGoldenDirectoryIsComparedByShapeAndCompleteness) {
  run_ok("run vector_example --dump-tensor --output-prefix r");
  run_ok("dump r --export golden --format npy");
  run_ok("dump diff r golden");
  const auto differs = [&](const std::string& more, const std::vector<std::string>& words) {
    const Finished done = run("dump diff r golden" + more);
    EXPECT_EQ(done.exit_code, 1) << done.out << done.error;
    for (const auto& word : words)
      EXPECT_NE(done.out.find(word), std::string::npos) << word << " is not in\n" << done.out;
  };
  const std::string file = path("golden/t0_after_arg2.npy");
  auto array = read_npy(file);
  ASSERT_TRUE(array) << array.error().message;
  const auto good = *array;
  array->shape = {8192, 2};
  ASSERT_TRUE(write_npy(file, *array));
  differs("", {"1 differ", "t0", "shape (16384) in the run and (8192, 2) in the files"});
  differs(" --subset", {"(16384)", "(8192, 2)"});
  array->shape = {16384};
  array->dtype = DType::kInt32;
  ASSERT_TRUE(write_npy(file, *array));
  differs("", {"is float32 in the run and int32 in the files"});
  ASSERT_TRUE(write_npy(file, good));
  run_ok("dump diff r golden");
  // What only one of the two has.
  fs::rename(file, path("golden/t77_after_arg0.npy"));
  differs("", {"14 arguments compared, 2 differ", "t0_after_arg2.npy is only in the run",
               "t77_after_arg0.npy is only in the files"});
  run_ok("dump diff r golden --subset");
  for (const auto& entry : fs::directory_iterator(path("golden")))
    if (!entry.path().filename().string().starts_with("r1t0_")) fs::remove(entry.path());
  differs("", {"3 arguments compared, 12 differ", "t0_before_arg0.npy is only in the run"});
  run_ok("dump diff r golden --subset");
}

// dump_output_test.cpp reads the files by the bytes of their formats.
TEST_F(Dump, ItsFilesAreAGoldenDirectoryInWhichAChangeIsFound) {
  run_ok("run paged_attention --case Small1 --dump-tensor --output-prefix r");
  run_ok("dump r --export golden --format npy");
  run_ok("dump diff r golden");
  EXPECT_NE(text_.find("0 differ"), std::string::npos) << text_;
  run_ok("run paged_attention --case Small1 -p a5sim --dump-tensor --output-prefix other");
  run_ok("dump diff other golden");
  auto changed = read_npy(path("golden/r2t1_after_arg1.npy"));
  ASSERT_TRUE(changed) << changed.error().message;
  changed->bytes[2] = static_cast<unsigned char>(changed->bytes[2] ^ 0x40);
  ASSERT_TRUE(write_npy(path("golden/r2t1_after_arg1.npy"), *changed));
  const Finished differs = run("dump diff r golden");
  EXPECT_EQ(differs.exit_code, 1);
  EXPECT_NE(differs.out.find("first divergence: r2t1"), std::string::npos) << differs.out;
  run_ok("dump r --index 0");
  EXPECT_NE(text_.find("[0,0"), std::string::npos) << text_.substr(0, 500);
  run_ok("dump r --stats --limit 3");
  EXPECT_NE(text_.find("more (--limit N shows them)"), std::string::npos) << text_;
  expect_refused("dump r --task nonsense", 2, "nonsense");
  expect_refused("dump r --export x --format pdf", 2, "pdf");
}

}  // namespace
}  // namespace tidemark
