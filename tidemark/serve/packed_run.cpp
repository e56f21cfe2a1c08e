// SPDX-License-Identifier: Apache-2.0
#include "tidemark/serve/packed_run.h"

#include <filesystem>

#include "tidemark/run/output_directory.h"
#include "tidemark/serve/bare_index.h"
#include "tidemark/serve/served_run.h"

namespace tidemark {

Expected<std::string> pack_run(const std::string& directory, const TileMaking& making,
                               TileSink& sink) {
  TM_TRY(const auto report, read_run_report(directory));
  std::error_code code;
  if (!std::filesystem::exists(directory + "/" + kCaptureFile, code)) {
    TM_TRY_DO(sink.put_text(
        "index.json", to_json(BareIndex{.report = &report, .error = "the run recorded nothing"})));
    return run_title(report);
  }
  TM_TRY(auto run,
         RunCapture::open(directory, is_going_on(report) ? CaptureReader::Open::kLive
                                                         : CaptureReader::Open::kIndexed));
  MakingProgress progress;
  TM_TRY_DO(making.whole(run, sink, progress));
  return run_title(report);
}

}  // namespace tidemark
