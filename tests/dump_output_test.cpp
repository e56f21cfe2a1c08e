// SPDX-License-Identifier: Apache-2.0
// What 'dump' writes, read by this test alone: arrays by the bytes of their format, csv and txt by
// their text, against values that the workloads make by arithmetic; and 'dump diff' with files that
// were changed by hand.
#include <bit>
#include <cmath>
#include <map>
#include <regex>

#include "tests/streams_fixture.h"
#include "tidemark/base/testing/temporary_directory.h"
#include "tidemark/export/testing/npy_bytes.h"

namespace tidemark {
namespace {

using samples::NpyBytes;

class DumpOutput : public Streams {
 protected:
  static constexpr std::size_t kElements = 1024;  // of nan_producer; task n adds 1 to i % 16 + n

  NpyBytes npy(const std::string& file) const {
    return samples::parse_npy(samples::read_bytes(path(file)));
  }
  static std::vector<float> floats_of(const NpyBytes& array) {
    std::vector<float> values(array.data.size() / 4);
    if (!values.empty()) std::memcpy(values.data(), array.data.data(), values.size() * 4);
    return values;
  }
  std::size_t files_in(const std::string& folder) const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(path(folder)), fs::directory_iterator()));
  }

  // Element i of a file of float32 becomes these four bytes.
  void set_element(const std::string& file, std::size_t i, float value) {
    auto bytes = samples::read_bytes(path(file));
    const std::size_t at = 10u + bytes[8] + 256u * bytes[9] + 4 * i;
    ASSERT_LE(at + 4, bytes.size());
    std::memcpy(bytes.data() + at, &value, 4);
    samples::write_bytes(path(file), bytes);
  }
  void healthy_with_golden() {
    run_ok("run nan_producer --case healthy --dump-tensor --output-prefix r");
    run_ok("dump r --export golden --format npy");
    run_ok("dump diff r golden");
    EXPECT_EQ(text_, "31 arguments compared, 0 differ\n");
  }
  Finished diff(const std::string& options, int exit_code) {
    const Finished done = run("dump diff " + options);
    EXPECT_EQ(done.exit_code, exit_code) << options << "\n" << done.out << done.error;
    return done;
  }
  static void expect_in(const std::string& text, const std::string& what) {
    EXPECT_NE(text.find(what), std::string::npos) << what << " is not in\n" << text;
  }
};

TEST_F(DumpOutput, ArraysAreTheBytesOfTheirFormat) {
  run_ok("run paged_attention --case Small1 --dump-tensor --output-prefix r");
  run_ok("dump r --export files --format npy");
  EXPECT_EQ(text_, "75 files in files\n");
  EXPECT_EQ(files_in("files"), 75u);
  const std::string bin = read(path("r/tensor_dump/tensor_dump.bin"));
  const auto manifest = json_of("r/tensor_dump/tensor_dump.json");
  std::map<std::string, int> kinds;
  for (const auto& entry : manifest["tensors"].GetArray()) {
    const std::uint64_t task = std::stoull(entry["task_id"].GetString(), nullptr, 16);
    const std::string file = fmt::format(
        "files/r{}t{}_{}_arg{}.npy", task >> 32, task & 0xFFFFFFFF,
        entry["stage"].GetString() == std::string("before_dispatch") ? "before" : "after",
        entry["arg_index"].GetInt());
    SCOPED_TRACE(file);
    const NpyBytes array = npy(file);
    ASSERT_EQ(array.problem, "");
    const std::string dtype = entry["dtype"].GetString(), kind = entry["kind"].GetString();
    ++kinds[kind + " " + dtype];
    EXPECT_EQ(array.descr, dtype == "uint64" ? "<u8" : dtype == "bool" ? "|b1" : "<f4");
    std::vector<std::uint64_t> shape;
    for (const auto& extent : entry["shape"].GetArray()) shape.push_back(extent.GetUint64());
    EXPECT_EQ(array.shape, shape);
    if (kind == "scalar") {
      const std::uint64_t bits = std::stoull(entry["scalar_value"].GetString(), nullptr, 16);
      EXPECT_EQ(std::memcmp(array.data.data(), &bits, array.data.size()), 0);
      continue;
    }
    const std::string bytes =
        bin.substr(entry["bin_offset"].GetUint64(), entry["bin_size"].GetUint64());
    const std::string data(array.data.begin(), array.data.end());
    if (dtype != "bfloat16") {
      EXPECT_EQ(data, bytes);
      continue;
    }
    std::string wide;
    for (std::size_t i = 0; i < bytes.size(); i += 2)
      wide += std::string(2, '\0') + bytes.substr(i, 2);
    EXPECT_EQ(data, wide);
  }
  EXPECT_EQ(kinds, (std::map<std::string, int>{{"scalar bool", 6},
                                               {"scalar float32", 3},
                                               {"scalar uint64", 3},
                                               {"tensor bfloat16", 15},
                                               {"tensor float32", 48}}));
}

TEST_F(DumpOutput, NamesAndValuesAreThoseOfTheProgram) {
  run_ok("run nan_producer --case healthy --dump-tensor --output-prefix r");
  run_ok("dump r --role output --export out --format npy");
  EXPECT_EQ(files_in("out"), 8u);
  for (int task = 0; task < 7; ++task) {
    const NpyBytes array = npy(fmt::format("out/t{}_after_arg1.npy", task));
    ASSERT_EQ(array.problem, "");
    const auto values = floats_of(array);
    ASSERT_EQ(values.size(), kElements);
    for (std::size_t i = 0; i < kElements; ++i)
      ASSERT_EQ(values[i], static_cast<float>(i % 16) + static_cast<float>(task + 1));
  }
  run_ok("dump r --arg 2 --task t3 --export scalar --format npy");
  EXPECT_EQ(files_in("scalar"), 1u);
  const NpyBytes scalar = npy("scalar/t3_before_arg2.npy");
  ASSERT_EQ(scalar.problem, "");
  EXPECT_TRUE(scalar.shape.empty());
  EXPECT_EQ(floats_of(scalar), std::vector<float>{1});
  // Each filter by what it leaves: inputs count scalars too.
  const std::map<std::string, std::size_t> left = {
      {"--role input", 23},   {"--role output", 8}, {"--role inout", 0},    {"--arg 0", 8},
      {"--arg 1", 8},         {"--arg 3", 7},       {"--stage before", 23}, {"--stage after", 8},
      {"--stage at_hang", 0}, {"--kernel add", 3},  {"--task t7", 3}};
  for (const auto& [filter, count] : left) {
    run_ok("dump r --limit 1000 " + filter);
    expect_in(text_, fmt::format("31 arguments, 68.0 KiB of payload; {} match\n", count));
    EXPECT_EQ(static_cast<std::size_t>(std::count(text_.begin(), text_.end(), '\n')), count + 3);
  }
}

TEST_F(DumpOutput, CsvHasARowForEveryRowOfTheTensor) {
  run_ok("run paged_attention --case Small1 --dump-tensor --output-prefix r");
  run_ok("dump r --task r2t1 --export csv --format csv");
  run_ok("dump r --task r2t1 --export npy --format npy");
  std::size_t compared = 0;
  for (const auto& [file, rows] : std::map<std::string, std::size_t>{{"r2t1_before_arg0", 16},
                                                                     {"r2t1_after_arg1", 16},
                                                                     {"r2t1_after_arg2", 1},
                                                                     {"r2t1_before_arg4", 1}}) {
    const auto values = floats_of(npy("npy/" + file + ".npy"));
    std::stringstream text(read(path("csv/" + file + ".csv")));
    std::size_t seen = 0, lines = 0;
    for (std::string line; std::getline(text, line); ++lines) {
      std::stringstream cells(line);
      for (std::string cell; std::getline(cells, cell, ',');) {
        char* end = nullptr;
        const float value = std::strtof(cell.c_str(), &end);
        ASSERT_EQ(*end, '\0') << cell;
        ASSERT_LT(seen, values.size());
        ASSERT_EQ(value, values[seen++]) << "reads back as the same number";
      }
    }
    EXPECT_EQ(lines, rows) << file;
    EXPECT_EQ(seen, values.size()) << file;
    compared += seen;
  }
  EXPECT_EQ(compared, 16u * 16 * 2 + 16 + 1);
  EXPECT_EQ(read(path("csv/r2t1_before_arg5.csv")), "16\n") << "an integer has no fraction";
}

TEST_F(DumpOutput, TextHasTheHeadTheGridAndEveryElement) {
  run_ok("run nan_producer --dump-tensor --output-prefix r --no-check");
  run_ok("dump r --task t4 --export txt --format txt");
  std::string grid, list;
  for (std::size_t i = 0; i < kElements; ++i) {
    const std::string value = i == 7 ? "nan" : std::to_string(i % 16 + 5);
    grid += fmt::format("{:>14}{}", value, i % 16 == 15 ? "\n" : " ");
    list += fmt::format("[{}] = {}\n", i, value);
  }
  std::string text = read(path("txt/t4_after_arg1.txt"));
  text = std::regex_replace(text, std::regex("    -nan"), "     nan");  // its sign says nothing
  text = std::regex_replace(text, std::regex("= -nan"), "= nan");
  text = std::regex_replace(text, std::regex("l2 [0-9.]+ (.*)hash [0-9a-f]{16}"), "l2 L $1hash H");
  EXPECT_EQ(text,
            "task      t4\nkernel    add_maybe_nan\nargument  1 (output, after_completion)\n"
            "dtype     float32\nshape     [1024]\nstrides   [1]\noffset    0\n"
            "stats     min 5 max 20 mean 12.500488758553274 l2 L nan 1 inf 0 zero 0 hash H\n\n" +
                grid + "\n" + list);
  EXPECT_EQ(read(path("txt/t4_before_arg3.txt")),
            "task      t4\nkernel    add_maybe_nan\nargument  3 (input, before_dispatch)\n"
            "dtype     int32\nshape     -\nstrides   -\noffset    0\nvalue     1\n");
  run_ok("dump r --index 19");
  EXPECT_EQ(text_, read(path("txt/t4_after_arg1.txt")));
}

TEST_F(DumpOutput, DiffHasTheTolerancesItIsGiven) {
  healthy_with_golden();
  set_element("golden/t2_after_arg1.npy", 3, 6.5f);  // 6 in the run
  const std::string line = diff("r golden", 1).out;
  expect_in(line, "31 arguments compared, 1 differ\n");
  expect_in(line, "first divergence: t2, whose inputs agree and whose outputs differ\n");
  expect_in(line, "1 of 1,024 elements, first [3], max abs 0.5 rel 0.0769231 ulp 1,048,576\n");
  diff("r golden --atol 0.49", 1);
  diff("r golden --atol 0.5", 0);
  diff("r golden --rtol 0.076", 1);
  diff("r golden --rtol 0.077", 0);
  diff("r golden --atol 0.25 --rtol 0.039", 0);
  diff("r golden --atol 0.25 --rtol 0.038", 1);
  // Nothing is close to what is no number, and an infinity is close to nothing.
  set_element("golden/t2_after_arg1.npy", 3, NAN);
  expect_in(diff("r golden --atol 1e30 --rtol 1", 1).out, "max abs inf rel inf");
  set_element("golden/t2_after_arg1.npy", 3, INFINITY);
  diff("r golden --atol 1e30 --rtol 1", 1);
  set_element("golden/t2_after_arg1.npy", 3, 6);
  diff("r golden", 0);
  set_element("golden/t0_before_arg0.npy", 0, -0.0f);
  diff("r golden", 0);
}

TEST_F(DumpOutput, DiffHasATolerancePerDtype) {
  healthy_with_golden();
  set_element("golden/t2_after_arg1.npy", 3, std::nextafter(6.0f, 7.0f));
  diff("r golden --tolerance float32=1ulp", 0);
  diff("r golden --tolerance float32=1e-6,int32=5", 0);
  diff("r golden --tolerance 1e-6", 0);
  diff("r golden --tolerance bfloat16=1,float64=1", 1);
  diff("r golden --tolerance 1,float32=0ulp", 1);
  diff("r golden --atol 1 --tolerance float32=0ulp", 1);
  // Scalars come from the program itself: a tolerance of tensors is none of theirs.
  set_element("golden/t5_before_arg2.npy", 0, std::nextafter(1.0f, 2.0f));
  expect_in(diff("r golden --tolerance float32=1ulp", 1).out, "31 arguments compared, 1 differ\n");
  diff("r golden --atol 1e-6", 0);
  for (const char* other : {"r", "golden"}) {
    const Finished refused = run("dump diff r " + std::string(other) + " --tolerance flaot32=1ulp");
    EXPECT_EQ(refused.exit_code, 2);
    expect_in(refused.error, "--tolerance flaot32=1ulp: no dtype 'flaot32'; there are float32, ");
    expect_in(refused.error, "; did you mean 'float32'?\n");
  }
}

// Files have bfloat16 as float32; what is counted are values of bfloat16.
TEST_F(DumpOutput, DiffCountsValuesOfBfloat16InFiles) {
  run_ok("run paged_attention --case Small1 --dump-tensor --output-prefix r");
  run_ok("dump r --export golden --format npy");
  const std::string file = "golden/r2t0_before_arg0.npy";
  const float value = floats_of(npy(file)).at(5);
  const auto bits = std::bit_cast<std::uint32_t>(value);
  ASSERT_EQ(bits & 0xFFFF, 0u) << "a bfloat16";
  set_element(file, 5, std::bit_cast<float>(bits + (2u << 16)));
  expect_in(diff("r golden --tolerance bfloat16=1ulp,float32=1", 1).out, " ulp 2\n");
  diff("r golden --tolerance bfloat16=2ulp", 0);
  set_element(file, 5, std::bit_cast<float>(bits + (2u << 16) + 1));  // between two of them
  expect_in(diff("r golden --tolerance bfloat16=2ulp", 1).out, " ulp 3\n");
  diff("r golden --tolerance bfloat16=3ulp", 0);
}

TEST_F(DumpOutput, DiffTellsScalarsAndWhatOnlyOneHas) {
  healthy_with_golden();
  set_element("golden/t5_before_arg2.npy", 0, 3);
  const std::string scalar = diff("r golden", 1).out;
  expect_in(scalar, "first divergence: t5, ");
  expect_in(scalar, "1 of 1 elements, first [0], max abs 2 rel 0.666667 ulp 12,582,912\n");
  // Another run: one scalar says which case it is, and behind it all is poisoned.
  ASSERT_EQ(run("run nan_producer --dump-tensor --output-prefix broken").exit_code, 1);
  const std::string broken = diff("r broken", 1).out;
  expect_in(broken, "31 arguments compared, 8 differ\nfirst divergence: t4, ");
  expect_in(broken, "before arg 3   1 of 1 elements, first [0], max abs 1 rel 1 ulp 1\n");
  expect_in(broken, "1 of 1,024 elements, first [7], max abs inf rel inf ulp 0\n");
  const std::string few = diff("r broken --limit 2", 1).out;
  expect_in(few, "  ... 6 more (--limit N shows them)\n");
  EXPECT_EQ(std::count(few.begin(), few.end(), '\n'), 5);
  // NaN in both, with other bits: the sign of it says nothing.
  run_ok("dump broken --export poisoned --format npy");
  const auto values = floats_of(npy("poisoned/t4_after_arg1.npy"));
  ASSERT_TRUE(std::isnan(values[7]));
  set_element("poisoned/t4_after_arg1.npy", 7, -values[7]);
  diff("broken poisoned", 0);
  // What one of the two did not dump.
  run_ok(
      "run nan_producer --case healthy --dump-tensor --dump-select kernel=add "
      "--output-prefix part");
  for (const char* both : {"r part", "part r"}) {
    const std::string only = diff(std::string(both) + " --limit 100", 1).out;
    expect_in(only, "3 arguments compared, 28 differ\n");
    std::size_t lines = 0;
    for (std::size_t at = 0; (at = only.find("is in one of the two only", at)) != only.npos; ++at)
      ++lines;
    EXPECT_EQ(lines, 28u);
  }
}

// The outputs of a kernel that was stopped have a stage of their own, in names and in the diff.
TEST_F(DumpOutput, OfAHungTaskIsComparedWithItsOwnFile) {
  const Finished hung =
      run("run hang_kernel --dump-tensor --scheduler-timeout-ms 200 --output-prefix r");
  ASSERT_EQ(hung.exit_code, 3) << hung.error;
  run_ok("dump r --stage at_hang --export hang --format npy");
  EXPECT_EQ(files_in("hang"), 1u);
  run_ok("dump r --export golden --format npy");
  diff("r golden", 0);
  const auto values = floats_of(npy("golden/t12_at_hang_arg1.npy"));
  ASSERT_EQ(values.size(), 4096u);
  set_element("golden/t12_at_hang_arg1.npy", 100, values[100] + 1);
  const std::string text = diff("r golden", 1).out;
  expect_in(text, "t12          copy_or_hang     hang   arg 1   1 of 4,096 elements, first [100]");
}

}  // namespace
}  // namespace tidemark
