// SPDX-License-Identifier: Apache-2.0
// doc/hang: the autopsy, as hang.json and hang.txt have it.
#include "tidemark/analyze/hang_fields.h"
#include "tidemark/tiles/analysed_run.h"

namespace tidemark {

Expected<void> put_hang(const AnalysedRun& analysed, DocumentSink& sink) {
  return sink.put_object("doc/hang", kNsDecimals, [&](CompactJsonWriter& json) {
    put_hang_report(json, *analysed.hang);
    put(json, "text", hang_summary(*analysed.hang, analysed.run.directory()));
  });
}

}  // namespace tidemark
