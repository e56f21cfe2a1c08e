// SPDX-License-Identifier: Apache-2.0
// The process between host and device is killed: the run says what is gone, and everything that the
// lanes counted as accepted is kept.
#include "tests/promise_fixture.h"
#include "tests/streams_fixture.h"
#include "tidemark/base/testing/temporary_directory.h"

namespace tidemark {
namespace {

class LostSupervisor : public Promise {};

TEST_F(LostSupervisor, IsNamedAndWhatWasAcceptedIsKept) {
  for (const char* platform : {"sim", "a5sim"}) {
    SCOPED_TRACE(platform);
    samples::write_bytes(path("counts"), std::vector<unsigned char>(2 * 16));
    const auto accepted = [&](std::size_t lane) {
      std::uint64_t count = 0;
      std::memcpy(&count, samples::read_bytes(path("counts")).data() + lane * 16, 8);
      return count;
    };
    const pid_t host =
        start(fmt::format("run synthetic_producer -p {} --lanes 2 --rate 50000 --seconds 600 "
                          "--page-bytes 4096 --accepted-counts {} --output-prefix r --force",
                          platform, path("counts")),
              "log");
    ASSERT_TRUE(wait_until([&] { return accepted(0) > 2000 && accepted(1) > 2000; }))
        << read(path("log"));
    const auto children = children_of(host);
    ASSERT_EQ(children.size(), 1u) << "its supervisor";
    ASSERT_EQ(children_of(children[0]).size(), 1u) << "the device";
    ::kill(children[0], SIGKILL);
    EXPECT_EQ(finish(host), 3) << read(path("log"));
    rapidjson::Document json;
    json.Parse(read(path("r/run.json")).c_str());
    ASSERT_TRUE(json.IsObject());
    EXPECT_STREQ(json["status"].GetString(), "device_fault");
    EXPECT_STREQ(json["error"]["class"].GetString(), "supervisor");
    EXPECT_STREQ(json["error"]["message"].GetString(),
                 "the supervisor process is gone, and the device with it");
    const auto& lanes = json["streams"]["swimlane"]["lanes"];
    ASSERT_EQ(lanes.Size(), 2u);
    for (unsigned lane = 0; lane < 2; ++lane) {
      // One may be stored that its lane did not come to count.
      const std::uint64_t kept =
          lanes[lane]["delivered"].GetUint64() + lanes[lane]["recovered"].GetUint64();
      EXPECT_GE(kept, accepted(lane));
      EXPECT_LE(kept, accepted(lane) + 1);
    }
    const Finished checked = run("check r");
    EXPECT_EQ(checked.exit_code, 0) << checked.out;
    const auto report = report_of("r");
    EXPECT_TRUE(report && !has_region(*report)) << "nothing is left to recover";
  }
}

}  // namespace
}  // namespace tidemark
