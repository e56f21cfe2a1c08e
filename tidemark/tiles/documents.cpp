// SPDX-License-Identifier: Apache-2.0
#include "tidemark/tiles/documents.h"

#include "tidemark/tiles/analysed_run.h"

namespace tidemark {

Expected<DocumentList> make_documents(RunCapture& run, const TrackList& tracks,
                                      const DocumentOptions& options, TileSink& tile_sink) {
  TM_TRY(const auto analysed, analyse_run(run, tracks, options));
  DocumentSink sink(tile_sink);
  DocumentList list;
  // What a person wants first comes first: a page may show it while the rest is made.
  TM_TRY_DO(put_overview(analysed, sink));
  list.names.emplace_back("overview");
  if (analysed.hang) {
    TM_TRY_DO(put_hang(analysed, sink));
    list.names.emplace_back("hang");
  }
  if (analysed.scopes) {
    TM_TRY_DO(put_scopes(analysed, sink));
    list.names.emplace_back("scopes");
  }
  if (analysed.graph) {
    TM_TRY_DO(put_graph(analysed, sink));
    list.names.emplace_back("graph");
    list.tasks = analysed.graph->tasks.size();
  }
  if (analysed.dump) {
    TM_TRY_DO(put_tensors(analysed, sink, list));
    list.names.emplace_back("tensors");
  }
  return list;
}

}  // namespace tidemark
