// SPDX-License-Identifier: Apache-2.0
// A capture, looked at before every store and every system call that makes it: what was accepted is
// there, whole, whenever its writer is killed. And with each call refused, interrupted or cut
// short: what was accepted is there, what was refused is not, and the file stays valid.
#include <sys/stat.h>

#include <cerrno>
#include <map>

#include "tests/storage/capture_script.h"
#include "tests/storage/storage_steps.h"

namespace tidemark::storage {
namespace {

class SteppedCapture : public ::testing::TestWithParam<Way> {
 protected:
  // A file system on which a capture is mapped.
  samples::TemporaryDirectory directory_{"/dev/shm"};
  const std::string path_ = directory_.file("capture.tide");
  const std::string image_path_ = directory_.file("image");
};

INSTANTIATE_TEST_SUITE_P(EveryWay, SteppedCapture,
                         ::testing::Values(Way::kMapped, Way::kByCall, Way::kTurnsDirect),
                         [](const auto& way) {
                           return std::string(way.param == Way::kMapped   ? "mapped"
                                              : way.param == Way::kByCall ? "by_call"
                                                                          : "turns_direct");
                         });

struct Image {
  Step step;
  bool exists = false;
  std::vector<unsigned char> bytes;
  Chunks chunks;
};

TEST_P(SteppedCapture, IsValidBeforeEveryStoreAndCall) {
  std::vector<Image> images;
  std::map<Call, std::uint64_t> counts;
  CaptureScript script(path_, GetParam());
  {
    const Watched watched({path_}, [&](const Step& step) {
      ++counts[step.call];
      struct stat info {};
      images.push_back({.step = step,
                        .exists = ::stat(path_.c_str(), &info) == 0,
                        .bytes = samples::read_bytes(path_),
                        .chunks = script.chunks()});
      return Answer{};
    });
    script.write();
  }
  ASSERT_TRUE(script.finished());
  ASSERT_EQ(script.refused(), 0u);
  images.push_back(Image{.step = Step{},
                         .exists = true,
                         .bytes = samples::read_bytes(path_),
                         .chunks = script.chunks()});
  for (const Image& image : images) {
    if (!image.exists) continue;
    SCOPED_TRACE(fmt::format("before step {}, a {} at {}", image.step.number,
                             to_text(image.step.call), image.step.offset));
    samples::write_bytes(image_path_, image.bytes);
    expect_valid(image_path_, image.chunks);
    if (HasFatalFailure()) return;
  }
  // That there is something to look at.
  const bool stores = GetParam() != Way::kByCall;
  const bool calls = GetParam() != Way::kMapped;
  EXPECT_EQ(script.chunks().size(), 13u);
  EXPECT_GE(counts[Call::kStore], stores ? 100u : 0u);
  EXPECT_LE(counts[Call::kStore], stores ? 100'000u : 0u);
  EXPECT_GE(counts[Call::kWrite], calls ? 10u : 0u);
  EXPECT_GE(counts[Call::kAllocate], 2u);
  EXPECT_GE(counts[Call::kTruncate], 1u);
  RecordProperty("points", std::to_string(images.size()));
  std::printf("%s: %zu points, %llu of them stores\n", to_text(GetParam()), images.size(),
              static_cast<unsigned long long>(counts[Call::kStore]));
}

bool moves_bytes(Call call) { return call == Call::kWrite || call == Call::kRead; }

TEST_P(SteppedCapture, KeepsItsPromiseWhenACallFails) {
  std::vector<Step> calls;
  {
    const Watched watched({path_}, [&](const Step& step) {
      if (step.call != Call::kStore) calls.push_back(step);
      return Answer{};
    });
    CaptureScript(path_, GetParam()).write();
  }
  ASSERT_GE(calls.size(), 5u);
  std::size_t cases = 0, refusals = 0;
  for (const Step& at : calls)
    for (const Trouble& trouble : kTroubles)
      for (const bool for_ever : {false, true}) {
        if (!moves_bytes(at.call) && trouble.answer.error == 0) continue;
        if (for_ever && trouble.answer.error == EINTR) continue;  // nothing would ever end
        SCOPED_TRACE(fmt::format("{} at step {}, a {}{}", trouble.name, at.number, to_text(at.call),
                                 for_ever ? ", and ever after" : ""));
        std::filesystem::remove(path_);
        CaptureScript script(path_, GetParam());
        bool hit = false;
        {
          const Watched watched({path_}, [&](const Step& step) {
            const bool now = step.number == at.number ||
                             (for_ever && step.number > at.number && step.call == at.call);
            // What a refused write left is cleared at once. (A header that came in two pieces is
            // seen as damage between them: decision 11.)
            if (hit && trouble.refuses && script.accepted() > 0) {
              auto reader = CaptureReader::open(path_, CaptureReader::Open::kScan);
              EXPECT_TRUE(reader.has_value()) << "before step " << step.number;
              if (reader) expect_promised(found_in(*reader), script.chunks());
            }
            hit |= now && step.call == at.call;
            return now && step.call == at.call ? trouble.answer : Answer{};
          });
          script.write();
        }
        ASSERT_TRUE(hit);
        ++cases;
        refusals += script.refused() > 0 || !script.created();
        if (!trouble.refuses) {
          EXPECT_TRUE(script.created() && script.finished() && script.synced());
          EXPECT_EQ(script.refused(), 0u) << script.error();
        }
        if (!script.created()) {
          EXPECT_FALSE(std::filesystem::exists(path_) && at.call != Call::kUnlink);
          continue;
        }
        expect_valid(path_, script.chunks());
        if (HasFatalFailure()) return;
      }
  EXPECT_GE(refusals, 5u);
  std::printf("%s: %zu answers at %zu calls\n", to_text(GetParam()), cases, calls.size());
}

}  // namespace
}  // namespace tidemark::storage
