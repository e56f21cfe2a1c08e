// SPDX-License-Identifier: Apache-2.0
// A name that is not known is answered with the nearest one that is, in the same line.
#include "tests/command_line_fixture.h"

namespace tidemark {
namespace {

class UnknownName : public CommandLine {
 protected:
  void expect_nearest(const std::string& arguments, const std::string& name) {
    expect_refused(arguments, 2, "; did you mean '" + name + "'?\n");
  }
};

TEST_F(UnknownName, OfACommandOrFlagGetsTheNearest) {
  expect_nearest("rnu", "run");
  expect_nearest("swimlan", "swimlane");
  expect_nearest("bench producr", "producer");
  expect_nearest("run vector_example --enable-l2-swimlan=2", "--enable-l2-swimlane");
  expect_nearest("run vector_example --platfrom sim", "--platform");
  expect_nearest("bench producer --lane 4", "--lanes");
  expect_nearest("--versoin", "--version");
}

TEST_F(UnknownName, OfWhatIsToRunGetsTheNearest) {
  expect_nearest("run vectr_example", "vector_example");
  expect_nearest("run paged-attention --case Smal2", "paged_attention");
  expect_nearest("run paged_attention --case Smal2", "Small2");
  expect_nearest("run vector_example -p a5sm", "a5sim");
  expect_nearest("run vector_example --runtime host_build", "host_build_graph");
  expect_nearest("run vector_example --isolation threads", "thread");
  expect_nearest("run vector_example --policy swimlan=drop", "swimlane");
  expect_nearest("run vector_example --policy keeplast", "keep-last");
  expect_nearest("run vector_example --dump-tensor --dump-select kernel=ad", "add");
}

TEST_F(UnknownName, OfATaskOrArtifactGetsTheNearest) {
  ASSERT_EQ(run("run vector_example --enable-dep-gen --dump-tensor --output-prefix r").exit_code,
            0);
  expect_nearest("deps r --why r1t33", "r1t3");
  expect_nearest("dump r --task r1t33", "r1t3");
  expect_nearest("replay r --task r1t33", "r1t3");
  expect_nearest("export r deps.jsn", "deps.json");
}

TEST_F(UnknownName, ThatIsNearToNoneGetsNoGuess) {
  for (const char* arguments : {"run no_such_workload", "nonsense", "run vector_example -p moon"}) {
    const Finished done = run(arguments);
    EXPECT_EQ(done.exit_code, 2) << arguments;
    EXPECT_EQ(done.error.find("did you mean"), std::string::npos) << done.error;
  }
}

}  // namespace
}  // namespace tidemark
