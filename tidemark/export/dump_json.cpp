// SPDX-License-Identifier: Apache-2.0
// tensor_dump/tensor_dump.json and tensor_dump.bin: what every task read and wrote.
#include <map>

#include "tidemark/analyze/dump_fields.h"
#include "tidemark/analyze/dump_index.h"
#include "tidemark/analyze/element_text.h"
#include "tidemark/export/artifact.h"
#include "tidemark/export/json_file.h"
#include "tidemark/schema/dump_selection.h"
#include "tidemark/schema/task_id.h"

namespace tidemark {
namespace {

class ManifestWriter {
 public:
  ManifestWriter(RunCapture& run, const DumpIndex& index, JsonFile& file)
      : run_(run), index_(index), file_(file), json_(file.json()) {
    json_.SetMaxDecimalPlaces(324);  // statistics are exact, whatever their size
  }

  void write() {
    put(json_, "schema_version", 1);
    put(json_, "run_dir", "tensor_dump");
    put_object(json_, "bin_format", [&] {
      put(json_, "type", "logical_contiguous");
      put(json_, "byte_order", "little_endian");
    });
    const DumpLevel level = run_.runtime() ? run_.runtime()->dump.level : DumpLevel::kOff;
    put(json_, "dump_level", to_text(level == DumpLevel::kOff ? DumpLevel::kFull : level));
    put_totals();
    put(json_, "bin_file", "tensor_dump.bin");
    if (index_.skipped_tasks > 0) put(json_, "skipped_tasks", index_.skipped_tasks);
    if (index_.skipped_tasks > 0) put(json_, "skipped_kernels", index_.skipped_kernels);
    if (!index_.invalid.empty()) put(json_, "invalid", index_.invalid);
    if (index_.entries.empty()) put(json_, "note", why_empty());
    put_lines(file_, "tensors", index_.entries, [&](const DumpEntry& entry) { put_entry(entry); });
  }

 private:
  const char* why_empty() const {
    if (index_.skipped_tasks > 0) return "no task described its arguments: see skipped_kernels";
    if (index_.dropped + index_.overwritten + index_.malformed > 0)
      return "nothing that was dumped is whole: see run.json for what was lost";
    if (run_.fatal()) return "the run ended before anything was dumped";
    return "no argument was selected: see the level, the marks in the orchestration and "
           "--dump-select";
  }
  void put_totals() {
    std::map<std::string_view, std::uint64_t> count;  // by stage and by role
    std::uint64_t truncated = 0;
    for (const auto& entry : index_.entries) {
      ++count[to_text(entry.header.stage)];
      ++count[role_text(entry.header.access)];
      truncated += (entry.header.flags & kDumpTruncated) != 0;
    }
    put(json_, "total_tensors", index_.entries.size());
    put(json_, "before_dispatch", count["before_dispatch"]);
    put(json_, "after_completion", count["after_completion"]);
    put(json_, "input_tensors", count["input"]);
    put(json_, "output_tensors", count["output"]);
    put(json_, "inout_tensors", count["inout"]);
    put(json_, "truncated_tensors", truncated);
    put(json_, "dropped_records", index_.dropped);
    put(json_, "dropped_overwrite", index_.overwritten);
  }
  void put_entry(const DumpEntry& entry) {
    const DumpHeader& header = entry.header;
    put(json_, "task_id", fmt::format("0x{:016x}", header.task_id));
    if (run_.runtime() && run_.runtime()->repeats())
      put(json_, "iteration", TaskId{header.task_id}.lap());
    put(json_, "kernel", dump_kernel_name(run_, header));
    put(json_, "role", role_text(header.access));
    put(json_, "stage", to_text(header.stage));
    put(json_, "arg_index", header.arg_index);
    put(json_, "kind", entry.is_tensor() ? "tensor" : "scalar");
    FieldWriter v(json_);
    view_fields(v, header);
    put(json_, "is_contiguous", is_contiguous(header));
    put(json_, "truncated", (header.flags & kDumpTruncated) != 0);
    put(json_, "overwritten", false);
    put(json_, "bin_offset", next_offset_);
    put(json_, "bin_size", header.payload_bytes);
    next_offset_ += header.payload_bytes;
    if (entry.is_tensor()) {
      if (entry.has_stats()) v.object("stats", [&](auto& of) { stats_fields(of, entry.stats); });
    } else {
      with_element(header.dtype, &header.scalar, [&](auto value) { put(json_, "value", value); });
      put(json_, "scalar_value", fmt::format("0x{:016x}", header.scalar));
    }
    put(json_, "time_ns", run_.clock().to_ns(header.time_ticks));
    put(json_, "core", header.core);
    if ((header.flags & kDumpCapturedAfter) != 0) put(json_, "captured_after", true);
    if ((header.flags & kDumpTorn) != 0) put(json_, "torn", true);
  }
  static bool is_contiguous(const DumpHeader& header) {
    std::uint64_t dense = 1;
    for (std::uint32_t i = header.rank; i-- > 0;) {
      if (header.extent[i] > 1 && header.stride[i] != dense) return false;
      dense *= header.extent[i];
    }
    return true;
  }

  RunCapture& run_;
  const DumpIndex& index_;
  JsonFile& file_;
  JsonFile::Writer& json_;
  std::uint64_t next_offset_ = 0;
};

}  // namespace

Expected<void> write_dump_manifest(RunCapture& run, const std::string& path) {
  TM_TRY(const auto index, read_dump(run));
  return write_json(path, [&](JsonFile& file) { ManifestWriter(run, index, file).write(); });
}

Expected<void> write_dump_payload(RunCapture& run, const std::string& path) {
  TM_TRY(const auto index, read_dump(run));
  TM_TRY(auto file, PartFile::create(path));
  for (const auto& entry : index.entries) {
    TM_TRY_DO(read_payload(run, entry, [&](std::span<const unsigned char> bytes) {
      file.write({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    }));
  }
  return file.finish();
}

}  // namespace tidemark
