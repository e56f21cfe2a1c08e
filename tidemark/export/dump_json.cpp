// SPDX-License-Identifier: Apache-2.0
// tensor_dump/tensor_dump.json and tensor_dump.bin: what every task read and wrote.
#include <cmath>

#include "tidemark/analyze/dump_index.h"
#include "tidemark/analyze/element_text.h"
#include "tidemark/export/artifact.h"
#include "tidemark/export/json_file.h"
#include "tidemark/schema/dump_selection.h"

namespace tidemark {
namespace {

template <class Writer>
void put_number(Writer& json, std::string_view key, double value) {
  put_key(json, key);
  if (std::isnan(value))
    json.String("nan");
  else if (std::isinf(value))
    json.String(value > 0 ? "inf" : "-inf");
  else
    json.Double(value);
}

class ManifestWriter {
 public:
  ManifestWriter(RunCapture& run, const DumpIndex& index, JsonFile& file)
      : run_(run), index_(index), file_(file), json_(file.json()) {
    json_.SetMaxDecimalPlaces(324);  // statistics are exact, whatever their size
  }

  void write() {
    json_.StartObject();
    put(json_, "schema_version", 1);
    put(json_, "run_dir", std::string_view("tensor_dump"));
    put_key(json_, "bin_format");
    json_.StartObject();
    put(json_, "type", std::string_view("logical_contiguous"));
    put(json_, "byte_order", std::string_view("little_endian"));
    json_.EndObject();
    const DumpLevel level = run_.runtime() ? run_.runtime()->dump.level : DumpLevel::kOff;
    put(json_, "dump_level", to_text(level == DumpLevel::kOff ? DumpLevel::kFull : level));
    put_totals();
    put(json_, "bin_file", std::string_view("tensor_dump.bin"));
    if (index_.skipped_tasks > 0) put_skipped();
    if (!index_.invalid.empty()) put_invalid();
    if (index_.entries.empty()) put(json_, "note", std::string_view(why_empty()));
    put_key(json_, "tensors");
    json_.StartArray();
    for (const auto& entry : index_.entries) put_entry(entry);
    json_.EndArray();
    json_.EndObject();
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
    std::uint64_t before = 0, after = 0, inputs = 0, outputs = 0, inouts = 0, truncated = 0;
    for (const auto& entry : index_.entries) {
      const DumpHeader& header = entry.header;
      before += header.stage == DumpStage::kBeforeDispatch;
      after += header.stage == DumpStage::kAfterCompletion;
      const std::string_view role = role_text(header.access);
      inputs += role == "input";
      outputs += role == "output";
      inouts += role == "inout";
      truncated += (header.flags & kDumpTruncated) != 0;
    }
    put(json_, "total_tensors", static_cast<std::uint64_t>(index_.entries.size()));
    put(json_, "before_dispatch", before);
    put(json_, "after_completion", after);
    put(json_, "input_tensors", inputs);
    put(json_, "output_tensors", outputs);
    put(json_, "inout_tensors", inouts);
    put(json_, "truncated_tensors", truncated);
    put(json_, "dropped_records", index_.dropped);
    put(json_, "dropped_overwrite", index_.overwritten);
  }
  void put_invalid() {
    put_key(json_, "invalid");
    json_.StartArray();
    for (const auto& argument : index_.invalid) put_text(json_, argument);
    json_.EndArray();
  }
  void put_skipped() {
    put(json_, "skipped_tasks", index_.skipped_tasks);
    put_key(json_, "skipped_kernels");
    json_.StartArray();
    for (const auto& kernel : index_.skipped_kernels) put_text(json_, kernel);
    json_.EndArray();
  }

  void put_entry(const DumpEntry& entry) {
    const DumpHeader& header = entry.header;
    file_.line_break();
    json_.StartObject();
    put(json_, "task_id", fmt::format("0x{:016x}", header.task_id));
    put(json_, "kernel", dump_kernel_name(run_, header));
    put(json_, "role", role_text(header.access));
    put(json_, "stage", to_text(header.stage));
    put(json_, "arg_index", static_cast<std::uint32_t>(header.arg_index));
    put(json_, "kind", std::string_view(entry.is_tensor() ? "tensor" : "scalar"));
    put(json_, "dtype", to_text(header.dtype));
    put_numbers("shape", header.extent, header.rank);
    put_numbers("strides", header.stride, header.rank);
    put(json_, "start_offset", header.start_offset);
    put(json_, "is_contiguous", is_contiguous(header));
    put(json_, "truncated", (header.flags & kDumpTruncated) != 0);
    put(json_, "overwritten", false);
    put(json_, "bin_offset", next_offset_);
    put(json_, "bin_size", header.payload_bytes);
    next_offset_ += header.payload_bytes;
    if (entry.is_tensor()) {
      if (entry.has_stats()) put_stats(entry.stats);
    } else {
      put_element(json_, "value", header.dtype, &header.scalar);
      put(json_, "scalar_value", fmt::format("0x{:016x}", header.scalar));
    }
    put(json_, "time_ns", run_.clock().to_ns(header.time_ticks));
    put(json_, "core", static_cast<std::uint32_t>(header.core));
    if ((header.flags & kDumpCapturedAfter) != 0) put(json_, "captured_after", true);
    if ((header.flags & kDumpTorn) != 0) put(json_, "torn", true);
    json_.EndObject();
  }
  void put_numbers(const char* key, const std::uint64_t* values, std::uint32_t count) {
    put_key(json_, key);
    json_.StartArray();
    for (std::uint32_t i = 0; i < count; ++i) json_.Uint64(values[i]);
    json_.EndArray();
  }
  static bool is_contiguous(const DumpHeader& header) {
    std::uint64_t dense = 1;
    for (std::uint32_t i = header.rank; i-- > 0;) {
      if (header.extent[i] > 1 && header.stride[i] != dense) return false;
      dense *= header.extent[i];
    }
    return true;
  }
  void put_stats(const DumpStats& stats) {
    put_key(json_, "stats");
    json_.StartObject();
    put_number(json_, "min", stats.min);
    put_number(json_, "max", stats.max);
    put_number(json_, "mean", stats.mean);
    put_number(json_, "l2", stats.l2);
    put(json_, "nan", stats.nan);
    put(json_, "inf", stats.inf);
    put(json_, "zero", stats.zero);
    put(json_, "hash", fmt::format("0x{:016x}", stats.hash));
    json_.EndObject();
  }

  RunCapture& run_;
  const DumpIndex& index_;
  JsonFile& file_;
  JsonFile::Writer& json_;
  std::uint64_t next_offset_ = 0;
};

}  // namespace

Expected<void> write_dump_manifest(RunCapture& run, const std::string& path) {
  const auto index = read_dump(run);
  if (!index) return tl::unexpected(index.error());
  auto file = JsonFile::create(path);
  if (!file) return tl::unexpected(file.error());
  ManifestWriter(run, *index, **file).write();
  return (*file)->finish();
}

Expected<void> write_dump_payload(RunCapture& run, const std::string& path) {
  const auto index = read_dump(run);
  if (!index) return tl::unexpected(index.error());
  auto file = PartFile::create(path);
  if (!file) return tl::unexpected(file.error());
  for (const auto& entry : index->entries) {
    auto read = read_payload(run, entry, [&](std::span<const unsigned char> bytes) {
      file->write({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    });
    if (!read) return read;
  }
  return file->finish();
}

}  // namespace tidemark
