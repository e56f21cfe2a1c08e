// SPDX-License-Identifier: Apache-2.0
// when=: what an inout held before its kernel is kept until the result says whether it is wanted,
// as far as the scratch memory goes.
#include "tests/dump_fixture.h"
#include "workloads/bgemm.h"

namespace tidemark {
namespace {

class DumpScratchTest : public DumpFixture {
 protected:
  struct Counts {
    std::size_t before = 0, before_with_payload = 0, after_with_payload = 0;
  };
  // Payload, wherever there is some, is what the serial executor has.
  Counts count(const std::string& directory, const SerialExecutor& expected) {
    Counts counts;
    auto run = RunCapture::open(path(directory));
    EXPECT_TRUE(run);
    const auto index = read_dump(*run);
    EXPECT_TRUE(index);
    for (const auto& entry : index->entries) {
      const DumpHeader& header = entry.header;
      if (!entry.is_tensor() || header.access != Access::kInout) continue;
      const bool before = header.stage == DumpStage::kBeforeDispatch;
      counts.before += before ? 1 : 0;
      EXPECT_EQ(header.flags & kDumpCapturedAfter, 0) << "its bytes are those from before";
      const auto& bytes = expected.tensors.at({header.task_id, before ? 0 : 1, header.arg_index});
      TensorStats stats(header.dtype);
      stats.add(bytes.data(), bytes.size());
      EXPECT_EQ(entry.stats.hash, stats.result().hash) << "with and without payload";
      if (header.payload_bytes == 0) continue;
      (before ? counts.before_with_payload : counts.after_with_payload) += 1;
      const auto found = load_payload(*run, entry);
      EXPECT_TRUE(found);
      EXPECT_EQ(*found, bytes) << "before: " << before;
    }
    return counts;
  }
};

TEST_F(DumpScratchTest, KeepsInoutsThatTurnOutToMatterAsFarAsThereIsRoom) {
  const SerialExecutor expected = serial<Bgemm>("Small");
  for (const char* platform : {"sim", "a2a3sim", "a5sim"}) {
    SCOPED_TRACE(platform);
    const std::string run = fmt::format(
        "run bgemm --case Small -p {} --dump-tensor --output-prefix r --force ", platform);
    // Every sum of products is above a millionth: all 32 additions match.
    run_ok(run + "--dump-select 'when=absmax>1e-6'");
    const Counts all = count("r", expected);
    EXPECT_EQ(all.before, 32u);
    EXPECT_EQ(all.after_with_payload, 32u);
    EXPECT_EQ(all.before_with_payload, 32u) << "16 KiB fit into a megabyte";
    // None is above a million: entries, but no payload.
    run_ok(run + "--dump-select 'when=absmax>1e6'");
    const Counts none = count("r", expected);
    EXPECT_EQ(none.before, 32u);
    EXPECT_EQ(none.before_with_payload + none.after_with_payload, 0u);
    // No room: statistics only, of those that did not match before.
    run_ok(run + "--dump-select 'when=absmax>1e-6' --dump-scratch-bytes 0");
    const Counts small = count("r", expected);
    EXPECT_EQ(small.before, 32u);
    EXPECT_EQ(small.after_with_payload, 32u);
    EXPECT_EQ(small.before_with_payload, 24u) << "the first of each group adds to zeros";
  }
}

}  // namespace
}  // namespace tidemark
