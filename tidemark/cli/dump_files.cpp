// SPDX-License-Identifier: Apache-2.0
#include "tidemark/cli/dump_files.h"

#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "tidemark/analyze/element_text.h"
#include "tidemark/export/npy_file.h"
#include "tidemark/export/part_file.h"

namespace tidemark::cli {
namespace {

constexpr std::uint64_t kGridColumnsMax = 16;
constexpr std::uint64_t kTextElementsMax = 1u << 20;

// i as [a,b,c] in the entry's shape.
std::string index_text(const DumpHeader& header, std::uint64_t i) {
  std::uint64_t indices[kRankMax] = {};
  for (std::uint32_t dim = header.rank; dim-- > 0;) {
    indices[dim] = i % header.extent[dim];
    i /= header.extent[dim];
  }
  return fmt::format("[{}]", fmt::join(indices, indices + header.rank, ","));
}

std::string head_text(const RunCapture& run, const DumpEntry& entry) {
  const DumpHeader& header = entry.header;
  std::string text =
      fmt::format("task      {}\nkernel    {}\nargument  {} ({}, {})\ndtype     {}\n",
                  task_text(header.task_id), dump_kernel_name(run, header), header.arg_index,
                  role_text(header.access), to_text(header.stage), to_text(header.dtype));
  const auto list = [&](const char* name, const std::uint64_t* values) {
    const auto all = fmt::format("[{}]", fmt::join(values, values + header.rank, ", "));
    text += fmt::format("{:<10}{}\n", name, header.rank == 0 ? "-" : all);
  };
  list("shape", header.extent);
  list("strides", header.stride);
  text += fmt::format("offset    {}\n", header.start_offset);
  if (entry.has_stats())
    text +=
        fmt::format("stats     min {} max {} mean {} l2 {} nan {} inf {} zero {} hash {:016x}\n",
                    entry.stats.min, entry.stats.max, entry.stats.mean, entry.stats.l2,
                    entry.stats.nan, entry.stats.inf, entry.stats.zero, entry.stats.hash);
  if (header.payload_bytes < header.logical_bytes)
    text += fmt::format("payload   {} of {} bytes\n", header.payload_bytes, header.logical_bytes);
  return text;
}

std::string csv_text(const DumpHeader& header, const std::vector<unsigned char>& bytes) {
  const auto dtype = header.dtype;
  const std::uint64_t size = dtype_bytes(dtype);
  const std::uint64_t columns = header.rank == 0 ? 1 : header.extent[header.rank - 1];
  std::string text;
  for (std::uint64_t i = 0; i * size + size <= bytes.size(); ++i)
    text += element_text(dtype, bytes.data() + i * size) + ((i + 1) % columns == 0 ? "\n" : ",");
  return text;
}

std::string file_of(const DumpHeader& header, const std::string& directory,
                    const std::string& format) {
  return fmt::format("{}/{}_{}_arg{}.{}", directory, task_text(header.task_id),
                     header.stage == DumpStage::kBeforeDispatch    ? "before"
                     : header.stage == DumpStage::kAfterCompletion ? "after"
                                                                   : "at_hang",
                     header.arg_index, format);
}

// The bytes of an entry; a scalar is an array of no dimension.
Expected<NpyArray> array_of(RunCapture& run, const DumpEntry& entry) {
  const DumpHeader& header = entry.header;
  NpyArray array{.dtype = header.dtype, .shape = {}, .bytes = {}};
  if (!entry.is_tensor()) {
    const auto* value = reinterpret_cast<const unsigned char*>(&header.scalar);
    array.bytes.assign(value, value + dtype_bytes(array.dtype));
    return array;
  }
  TM_TRY(array.bytes, load_payload(run, entry));
  array.shape.assign(header.extent, header.extent + header.rank);
  return array;
}

std::set<std::string> arrays_in(const std::string& directory) {
  std::set<std::string> names;
  std::error_code code;
  for (std::filesystem::directory_iterator entry(directory, code), end; !code && entry != end;
       entry.increment(code))
    if (entry->path().extension() == ".npy") names.insert(entry->path().filename().string());
  return names;
}

std::string shape_text(const std::vector<std::uint64_t>& shape) {
  return fmt::format("({})", fmt::join(shape, ", "));
}

// Why two arrays cannot be compared element by element; empty: they can.
std::string unlike_text(const NpyArray& here, const NpyArray& there) {
  if (here.dtype != there.dtype)
    return fmt::format("is {} in the run and {} in the files", to_text(here.dtype),
                       to_text(there.dtype));
  if (here.shape != there.shape)
    return fmt::format("has the shape {} in the run and {} in the files", shape_text(here.shape),
                       shape_text(there.shape));
  return {};
}

// From one bfloat16 to the next there are so many values of float32.
constexpr std::uint64_t kUlpsInWide = 1u << 16;

std::uint64_t widened_ulps(std::uint64_t ulps) {
  return ulps <= ~std::uint64_t{0} / kUlpsInWide ? ulps * kUlpsInWide : ~std::uint64_t{0};
}
// Rounded up: a file may hold what is between two values.
std::uint64_t narrowed_ulps(std::uint64_t ulps) {
  return ulps / kUlpsInWide + (ulps % kUlpsInWide == 0 ? 0 : 1);
}

}  // namespace

Expected<DumpDiff> diff_with_files(RunCapture& run, const std::string& directory,
                                   const FileDiffOptions& options) {
  TM_TRY(const auto index, read_dump(run));
  DumpDiff result;
  std::vector<ArgumentDiff> found;
  std::set<std::string> files = arrays_in(directory);
  for (const auto& entry : index.entries) {
    const std::string path = file_of(entry.header, directory, "npy");
    const std::string name = std::filesystem::path(path).filename().string();
    if (files.erase(name) == 0) {
      if (entry.is_whole()) result.only_in_run.push_back(name);
      continue;
    }
    ++result.compared;
    TM_TRY(const auto golden, read_npy(path));
    TM_TRY(auto array, array_of(run, entry));
    const bool is_widened = array.dtype == DType::kBfloat16;  // files have it as float32
    DiffTolerance tolerance =
        entry.is_tensor() ? options.tolerances.of_tensors(array.dtype) : options.tolerances.others;
    if (is_widened) {
      array = widened(array);
      tolerance.ulps = widened_ulps(tolerance.ulps);
    }
    ArgumentDiff diff = diff_of(run, entry.header);
    diff.unlike = entry.is_whole() ? unlike_text(array, golden) : "was dumped without all bytes";
    if (diff.unlike.empty())
      compare_elements(array.dtype, array.bytes, golden.bytes, tolerance, diff);
    if (is_widened) diff.max_ulp = narrowed_ulps(diff.max_ulp);
    if (!diff.unlike.empty() || diff.differing > 0) found.push_back(diff);
  }
  if (result.compared == 0)
    return failure(ErrorKind::kUsage,
                   "{}: neither a run nor a directory with arrays of this one "
                   "(r1t2_after_arg0.npy)",
                   directory);
  result.only_in_files.assign(files.begin(), files.end());
  if (options.subset) {
    result.only_in_run.clear();
    result.only_in_files.clear();
  }
  put_in_order(run, index, std::move(found), result);
  return result;
}

Expected<std::string> dump_text(RunCapture& run, const DumpEntry& entry) {
  const DumpHeader& header = entry.header;
  const auto dtype = header.dtype;
  std::string text = head_text(run, entry);
  if (!entry.is_tensor())
    return text + fmt::format("value     {}\n", element_text(dtype, &header.scalar));
  TM_TRY(const auto bytes, load_payload(run, entry));
  const std::uint64_t size = dtype_bytes(dtype);
  const std::uint64_t count = std::min(bytes.size() / size, kTextElementsMax);
  const std::uint64_t columns =
      header.rank == 0 ? 1 : std::min(header.extent[header.rank - 1], kGridColumnsMax);
  text += "\n";
  for (std::uint64_t i = 0; i < count; ++i)
    text += fmt::format("{:>14}{}", element_text(dtype, bytes.data() + i * size),
                        (i + 1) % columns == 0 || i + 1 == count ? "\n" : " ");
  text += "\n";
  for (std::uint64_t i = 0; i < count; ++i)
    text += fmt::format("{} = {}\n", index_text(header, i),
                        element_text(dtype, bytes.data() + i * size));
  return text;
}

Expected<std::size_t> write_dump_files(RunCapture& run, const DumpIndex& index,
                                       const std::vector<std::size_t>& chosen,
                                       const std::string& directory, const std::string& format) {
  std::size_t written = 0;
  for (const std::size_t i : chosen) {
    const DumpEntry& entry = index.entries[i];
    const DumpHeader& header = entry.header;
    if (format != "txt" && !entry.is_whole())
      continue;  // there is nothing to write, or not all of it
    const std::string path = file_of(header, directory, format);
    if (format == "txt") {
      TM_TRY(const auto text, dump_text(run, entry));
      TM_TRY_DO(write_part_file(path, text));
    } else {
      TM_TRY(const auto array, array_of(run, entry));
      TM_TRY_DO(format == "npy" ? write_npy(path, array)
                                : write_part_file(path, csv_text(header, array.bytes)));
    }
    ++written;
  }
  return written;
}

}  // namespace tidemark::cli
