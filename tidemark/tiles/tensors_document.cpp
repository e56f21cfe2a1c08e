// SPDX-License-Identifier: Apache-2.0
// doc/tensors, its pages, and the payload that is kept: every dumped argument with its statistics
// and the buffer that it is a view of.
#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "tidemark/analyze/dump_fields.h"
#include "tidemark/analyze/element_text.h"
#include "tidemark/base/human_text.h"
#include "tidemark/schema/access.h"
#include "tidemark/schema/task_limits.h"
#include "tidemark/tiles/analysed_run.h"

namespace tidemark {
namespace {

// What is kept of the payload: what has a NaN or an infinity first, then the smallest.
class KeptPayload {
 public:
  KeptPayload(const DumpIndex& dump, const DocumentOptions& options)
      : is_kept_(dump.entries.size()) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < dump.entries.size(); ++i) {
      const std::uint64_t bytes = dump.entries[i].header.payload_bytes;
      tensors_ += dump.entries[i].is_tensor() ? 1 : 0;
      if (bytes == 0) continue;
      ++dumped_;
      if (bytes <= options.payload_bytes_each)
        order.push_back(i);
      else
        ++too_large_;
    }
    std::ranges::stable_sort(order, {}, [&](std::size_t i) {
      const DumpEntry& entry = dump.entries[i];
      const bool finite = entry.stats.nan == 0 && entry.stats.inf == 0;
      return std::tuple(finite, entry.header.payload_bytes);
    });
    std::uint64_t left = options.payload_bytes;
    for (const std::size_t i : order) {
      const std::uint64_t bytes = dump.entries[i].header.payload_bytes;
      if (bytes > left) {
        ++no_room_;
        continue;
      }
      left -= bytes;
      is_kept_[i] = true;
    }
  }

  [[nodiscard]] bool operator[](std::size_t row) const { return is_kept_[row]; }
  void drop_unreadable(std::size_t row) {
    is_kept_[row] = false;
    ++unreadable_;
  }
  [[nodiscard]] std::uint64_t count() const {
    return static_cast<std::uint64_t>(std::ranges::count(is_kept_, true));
  }
  // Empty: all that was dumped is here.
  [[nodiscard]] std::string note(const DocumentOptions& options) const {
    std::vector<std::string> reasons;
    const auto add = [&](std::uint64_t found, const std::string& why) {
      if (found > 0) reasons.push_back(fmt::format("{} {}", with_commas(found), why));
    };
    add(too_large_, "larger than " + human_bytes(options.payload_bytes_each));
    add(no_room_, fmt::format("beyond {} in all", human_bytes(options.payload_bytes)));
    add(unreadable_, "not readable in the capture");
    if (reasons.empty())
      return dumped_ == 0 && tensors_ > 0 ? "the run dumped no bytes, only statistics" : "";
    return fmt::format("the bytes of {} of {} dumped tensors are here; not kept: {}",
                       with_commas(count()), with_commas(dumped_), joined(reasons, ", "));
  }

 private:
  std::vector<bool> is_kept_;
  std::uint64_t tensors_ = 0, dumped_ = 0, too_large_ = 0, no_room_ = 0, unreadable_ = 0;
};

// Which buffer an argument is a view of, by the graph.
class Buffers {
 public:
  explicit Buffers(const TaskGraph* graph) : graph_(graph) {
    if (graph == nullptr) return;
    for (const TaskNode& node : graph->tasks)
      for (const TaskArgument& arg : node.args)
        if (arg.said.owner == kNoOwner)
          callers_.emplace(graph->tensors[arg.tensor].first, callers_.size());
  }

  struct Buffer {
    std::optional<std::string> name;
    std::optional<std::uint64_t> elements;
    std::optional<std::uint32_t> version;  // writers before this task
  };
  [[nodiscard]] Buffer of(const DumpEntry& entry) const {
    const TaskNode* node = graph_ == nullptr ? nullptr : graph_->find(entry.header.task_id);
    const TaskArgument* arg =
        node == nullptr || !entry.is_tensor() ? nullptr : node->arg(entry.header.arg_index);
    if (arg == nullptr) return {};
    const GraphTensor& tensor = graph_->tensors[arg->tensor];
    const auto caller = callers_.find(tensor.first);
    return {.name = caller != callers_.end()
                        ? fmt::format("caller's {}", caller->second)
                        : fmt::format("{} output {}", task_text(arg->said.owner),
                                      arg->said.output_index),
            .elements = tensor.numel,
            .version = tensor.version};
  }

 private:
  const TaskGraph* graph_;                                  // null: not recorded
  std::unordered_map<std::uint32_t, std::size_t> callers_;  // memory that no task allocated
};

class TensorWriter {
 public:
  TensorWriter(const AnalysedRun& analysed, const KeptPayload& kept)
      : analysed_(analysed),
        dump_(*analysed.dump),
        kept_(kept),
        buffers_(analysed.graph ? &*analysed.graph : nullptr) {}

  void put_about(CompactJsonWriter& json, const std::string& note) const {
    put(json, "rows", dump_.entries.size());
    put(json, "page", kRowsPerPage);
    const auto& nans = analysed_.nans;
    const std::optional<std::size_t> first = nans.made ? nans.made : nans.seen;
    const bool is_nan = analysed_.nans_are_nan;
    put(json, "nan_first", is_nan ? first : std::nullopt);
    put(json, "infinity_first", is_nan ? std::nullopt : first);
    put(json, "first_was_made", nans.made.has_value());
    FieldWriter v(json);
    TM_FIELDS(v, dump_, dropped, overwritten, malformed, skipped_tasks, skipped_kernels, invalid);
    put(json, "stats_unknown", analysed_.stats_unknown);
    put(json, "kept_payloads", kept_.count());
    put(json, "payload_note", note);
    TaskPages index;
    for (std::size_t i = 0; i < dump_.entries.size(); ++i)
      index.add(dump_.entries[i].header.task_id, i);
    index.put(json, "index");
  }

  void put_page(CompactJsonWriter& json, std::size_t first) const {
    put_key(json, "rows");
    json.StartArray();
    const std::size_t last = std::min<std::size_t>(dump_.entries.size(), first + kRowsPerPage);
    for (std::size_t i = first; i < last; ++i) put_object(json, [&] { put_row(json, i); });
    json.EndArray();
  }

 private:
  void put_row(CompactJsonWriter& json, std::size_t i) const {
    const DumpEntry& entry = dump_.entries[i];
    const DumpHeader& header = entry.header;
    FieldWriter v(json);
    v("row", i);
    v("task", id_text(header.task_id));
    v("text", task_text(header.task_id));
    v("kernel", dump_kernel_name(analysed_.run, header));
    v("role", role_text(header.access));
    v("stage", to_text(header.stage));
    v("arg", header.arg_index);
    v("kind", entry.is_tensor() ? "tensor" : "scalar");
    view_fields(v, header);
    const Buffers::Buffer buffer = buffers_.of(entry);
    v("buffer", buffer.name);
    v("buffer_elements", buffer.elements);
    v("version", buffer.version);
    v("time", analysed_.time_of(header.time_ticks));
    v("core", header.core);
    v("track", analysed_.track_of_core(header.core));
    if (entry.is_tensor() && entry.has_stats())
      v.object("stats", [&](auto& of) { stats_fields(of, entry.stats); });
    else
      v("stats", nullptr);
    if (!entry.is_tensor()) v("value", element_text(header.dtype, &header.scalar));
    v("payload", kept_[i]);
    v("bytes", header.payload_bytes);
    if ((header.flags & kDumpTruncated) != 0) v("truncated", true);
    if ((header.flags & kDumpCapturedAfter) != 0) v("captured_after", true);
    if ((header.flags & kDumpTorn) != 0) v("torn", true);
  }

  const AnalysedRun& analysed_;
  const DumpIndex& dump_;
  const KeptPayload& kept_;
  Buffers buffers_;
};

Expected<void> put_payload(const AnalysedRun& analysed, KeptPayload& kept, DocumentSink& sink) {
  for (std::size_t i = 0; i < analysed.dump->entries.size(); ++i) {
    if (!kept[i]) continue;
    const auto bytes = load_payload(analysed.run, analysed.dump->entries[i]);
    if (!bytes)
      kept.drop_unreadable(i);
    else
      TM_TRY_DO(sink.put_bytes(fmt::format("payload/{}", i), *bytes));
  }
  return {};
}

}  // namespace

Expected<void> put_tensors(const AnalysedRun& analysed, DocumentSink& sink, DocumentList& list) {
  const std::size_t rows = analysed.dump->entries.size();
  KeptPayload kept(*analysed.dump, analysed.options);
  TM_TRY_DO(put_payload(analysed, kept, sink));
  list.tensors = rows;
  list.kept_payloads = kept.count();
  list.payload_note = kept.note(analysed.options);
  const TensorWriter writer(analysed, kept);
  for (std::size_t first = 0; first < rows; first += kRowsPerPage)
    TM_TRY_DO(sink.put_object(fmt::format("tensors/{}", first / kRowsPerPage), kAllDecimals,
                              [&](CompactJsonWriter& json) { writer.put_page(json, first); }));
  return sink.put_object("doc/tensors", kAllDecimals, [&](CompactJsonWriter& json) {
    writer.put_about(json, list.payload_note);
  });
}

}  // namespace tidemark
