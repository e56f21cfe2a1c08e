// SPDX-License-Identifier: Apache-2.0
#include "tidemark/run/core_lines.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "tidemark/run/function_name.h"

namespace tidemark {
namespace {

using Bytes = std::span<const unsigned char>;

constexpr std::size_t kRowsMax = 4 << 20;
constexpr std::size_t kNamesMax = 1 << 16;
constexpr std::size_t kSectionsMax = 1 << 20;
constexpr std::string_view kModuleSection = ".cudbg.relfimg";
constexpr std::uint32_t kMissing = ~0u;

// Reads on and on; beyond the end everything is 0 and `failed`.
class ByteReader {
 public:
  explicit ByteReader(Bytes bytes) : bytes_(bytes) {}

  template <class Number>
  Number number() {
    Number value{};
    if (!has(sizeof(value))) return value;
    std::memcpy(&value, bytes_.data() + at_, sizeof(value));
    at_ += sizeof(value);
    return value;
  }
  std::uint64_t uleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; has(1);) {
      const unsigned char byte = bytes_[at_++];
      if (shift < 64) value |= std::uint64_t{byte & 0x7Fu} << shift;
      shift += 7;
      if (byte < 0x80) break;
    }
    return value;
  }
  std::int64_t sleb() {
    std::uint64_t value = 0;
    unsigned shift = 0;
    unsigned char byte = 0x80;
    while (byte >= 0x80 && has(1)) {
      byte = bytes_[at_++];
      if (shift < 64) value |= std::uint64_t{byte & 0x7Fu} << shift;
      shift += 7;
    }
    if ((byte & 0x40) != 0 && shift < 64) value |= ~std::uint64_t{0} << shift;
    return static_cast<std::int64_t>(value);
  }
  std::string_view text() {
    const auto rest = bytes_.subspan(at_);
    const auto end = std::ranges::find(rest, 0);
    if (end == rest.end()) {
      failed_ = true;
      return {};
    }
    const auto size = static_cast<std::size_t>(end - rest.begin());
    at_ += size + 1;
    return {reinterpret_cast<const char*>(rest.data()), size};
  }
  void go_to(std::size_t place) {
    if (place < at_ || place > bytes_.size())
      failed_ = true;
    else
      at_ = place;
  }
  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] bool good() const { return !failed_; }
  [[nodiscard]] bool at_end() const { return failed_ || at_ == bytes_.size(); }

 private:
  bool has(std::size_t count) {
    if (count > bytes_.size() - at_) failed_ = true;
    return !failed_;
  }
  Bytes bytes_;
  std::size_t at_ = 0;
  bool failed_ = false;
};

// Nothing beyond the end.
Bytes part(Bytes bytes, std::uint64_t offset, std::uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset) return {};
  return bytes.subspan(offset, size);
}

template <class Number>
Number number_at(Bytes bytes, std::uint64_t offset) {
  return ByteReader(part(bytes, offset, sizeof(Number))).number<Number>();
}

std::string_view text_at(Bytes bytes, std::uint64_t offset) {
  if (offset >= bytes.size()) return {};
  return ByteReader(bytes.subspan(offset)).text();
}

// visit(name, bytes) for every section of an ELF file of 64 bits.
template <class Visit>
void for_each_section(Bytes elf, const Visit& visit) {
  constexpr std::uint64_t kHeaderBytes = 64;
  constexpr unsigned char kMagic[] = {0x7F, 'E', 'L', 'F', 2, 1};
  if (elf.size() < kHeaderBytes || std::memcmp(elf.data(), kMagic, sizeof(kMagic)) != 0) return;
  const auto table = number_at<std::uint64_t>(elf, 40);
  const auto header = [&](std::uint64_t index) {
    return part(elf, table + index * kHeaderBytes, kHeaderBytes);
  };
  // With more sections than the header can count, the first section has the numbers.
  std::uint64_t count = number_at<std::uint16_t>(elf, 60);
  std::uint64_t names_index = number_at<std::uint16_t>(elf, 62);
  if (count == 0) count = number_at<std::uint64_t>(header(0), 32);
  if (names_index == 0xFFFF) names_index = number_at<std::uint32_t>(header(0), 40);
  if (count > kSectionsMax || names_index >= count || table > elf.size()) return;
  const auto content = [&](Bytes of) {
    return part(elf, number_at<std::uint64_t>(of, 24), number_at<std::uint64_t>(of, 32));
  };
  const Bytes names = content(header(names_index));
  for (std::uint64_t i = 0; i < count; ++i) {
    const Bytes of = header(i);
    visit(text_at(names, number_at<std::uint32_t>(of, 0)), content(of));
  }
}

// One compilation unit of a .debug_line section, version 2 to 4 of DWARF with NVIDIA's two
// additions: an extended opcode that says who called an inlined function and what it is called, and
// four bytes at the end of the header, where these names begin in .debug_str.
class TableReader {
 public:
  TableReader(Bytes unit, Bytes names) : in_(unit), names_(names) {}

  std::optional<LineTable> read() {
    if (!read_header()) return std::nullopt;
    while (!in_.at_end() && table_.rows.size() < kRowsMax) step();
    table_.by_pc.resize(table_.rows.size());
    std::iota(table_.by_pc.begin(), table_.by_pc.end(), 0u);
    // Rows of one address stand in their order: the last one is of the instruction.
    std::ranges::stable_sort(table_.by_pc, {}, [&](std::uint32_t i) { return table_.rows[i].pc; });
    return std::move(table_);
  }

 private:
  bool read_header() {
    const auto version = in_.number<std::uint16_t>();
    const auto header_bytes = in_.number<std::uint32_t>();
    const std::uint64_t program = in_.at() + header_bytes;
    if (version < 2 || version > 4) return false;
    step_bytes_ = in_.number<std::uint8_t>();
    if (version >= 4) in_.number<std::uint8_t>();
    in_.number<std::uint8_t>();  // whether rows are statements
    line_base_ = in_.number<std::int8_t>();
    line_range_ = in_.number<std::uint8_t>();
    opcode_base_ = in_.number<std::uint8_t>();
    if (line_range_ == 0 || opcode_base_ == 0) return false;
    for (unsigned i = 1; i < opcode_base_; ++i) operands_[i] = in_.number<std::uint8_t>();
    read_files();
    if (in_.at() + 4 == program) names_begin_ = in_.number<std::uint32_t>();
    in_.go_to(program);
    return in_.good();
  }
  void read_files() {
    std::vector<std::string> folders{""};
    for (std::string_view text = in_.text(); !text.empty() && folders.size() < kNamesMax;
         text = in_.text())
      folders.emplace_back(text);
    table_.files.emplace_back();
    for (std::string_view text = in_.text(); !text.empty() && table_.files.size() < kNamesMax;
         text = in_.text()) {
      const std::uint64_t folder = in_.uleb();
      in_.uleb();
      in_.uleb();
      const bool is_in = folder > 0 && folder < folders.size() && !text.starts_with('/');
      table_.files.push_back(frame_text((is_in ? folders[folder] + "/" : "") + std::string(text)));
    }
  }

  void step() {
    const auto opcode = in_.number<std::uint8_t>();
    if (opcode >= opcode_base_) {
      const unsigned more = opcode - opcode_base_;
      advance(more / line_range_);
      row_.line += static_cast<std::uint32_t>(line_base_ + static_cast<int>(more % line_range_));
      put_row();
    } else if (opcode == 0) {
      step_extended();
    } else {
      step_standard(opcode);
    }
  }
  void step_standard(unsigned opcode) {
    switch (opcode) {
      case 1:
        return put_row();
      case 2:
        return advance(in_.uleb());
      case 3:
        row_.line += static_cast<std::uint32_t>(in_.sleb());
        return;
      case 4:
        row_.file = static_cast<std::uint32_t>(in_.uleb());
        return;
      case 8:
        return advance((255u - opcode_base_) / line_range_);
      case 9:
        row_.pc += in_.number<std::uint16_t>();
        return;
      default:
        for (unsigned i = 0; i < operands_[opcode]; ++i) in_.uleb();
    }
  }
  void step_extended() {
    const std::uint64_t size = in_.uleb();
    const std::uint64_t end = in_.at() + size;
    if (size == 0) return;
    switch (in_.number<std::uint8_t>()) {
      case 1:
        row_.ends = true;
        put_row();
        row_ = first_row();
        sequence_ = table_.rows.size();
        break;
      case 2:
        row_.pc = in_.number<std::uint64_t>();
        break;
      case 0x90:  // inlined call: by which row, and of what
        row_.caller = row_of(in_.uleb());
        row_.function = function(in_.uleb());
        break;
      case 0x91:
        row_.function = function(in_.uleb());
        break;
      default:
        break;
    }
    in_.go_to(end);
  }
  // A caller is said by its number within the sequence of rows, from 1; it stands before the call.
  [[nodiscard]] std::uint32_t row_of(std::uint64_t number) const {
    const bool is_there = number != 0 && number <= table_.rows.size() - sequence_;
    return is_there ? static_cast<std::uint32_t>(sequence_ + number) : 0;
  }
  static LineRow first_row() { return {.file = 1, .line = 1}; }
  void advance(std::uint64_t steps) { row_.pc += steps * step_bytes_; }
  void put_row() {
    if (in_.good()) table_.rows.push_back(row_);
  }
  // Of the name there, + 1.
  std::uint32_t function(std::uint64_t offset) {
    if (functions_.size() >= kNamesMax) return 0;
    const auto [entry, is_new] = functions_.emplace(offset, table_.functions.size() + 1);
    if (is_new)
      table_.functions.push_back(
          frame_text(plain_function_name(text_at(names_, names_begin_ + offset))));
    return entry->second;
  }

  ByteReader in_;
  Bytes names_;
  LineTable table_;
  LineRow row_ = first_row();
  std::size_t sequence_ = 0;                          // its first row
  std::map<std::uint64_t, std::uint32_t> functions_;  // numbers by their place
  std::uint64_t names_begin_ = 0;
  std::uint64_t step_bytes_ = 1;
  int line_base_ = 0;
  unsigned line_range_ = 1, opcode_base_ = 1;
  std::uint8_t operands_[256] = {};
};

}  // namespace

CoreLines::CoreLines(Bytes core) {
  for_each_section(core, [&](std::string_view name, Bytes content) {
    if (name.starts_with(kModuleSection)) read_module(content);
  });
}

void CoreLines::read_module(Bytes module) {
  Bytes lines, names;
  for_each_section(module, [&](std::string_view name, Bytes content) {
    if (name == ".debug_line") lines = content;
    if (name == ".debug_str") names = content;
  });
  for (std::size_t at = 0; at + 4 <= lines.size();) {
    const auto bytes = number_at<std::uint32_t>(lines, at);
    const Bytes unit = part(lines, at + 4, bytes);
    if (unit.empty()) return;
    if (auto table = TableReader(unit, names).read()) tables_.push_back(std::move(*table));
    at += 4 + std::size_t{bytes};
  }
}

std::vector<StackFrame> CoreLines::frames_at(std::uint64_t pc) const {
  for (const LineTable& table : tables_) {
    const auto after = std::ranges::upper_bound(table.by_pc, pc, {},
                                                [&](std::uint32_t i) { return table.rows[i].pc; });
    if (after == table.by_pc.begin()) continue;
    auto found = std::prev(after);
    // Where one function ends another one may begin.
    while (table.rows[*found].ends && found != table.by_pc.begin() &&
           table.rows[*std::prev(found)].pc == table.rows[*found].pc)
      --found;
    std::uint32_t at = *found;
    if (table.rows[at].ends) continue;
    std::vector<StackFrame> frames;
    while (at < table.rows.size() && frames.size() < kFramesMax) {
      const LineRow& row = table.rows[at];
      StackFrame& frame = frames.emplace_back();
      if (row.file < table.files.size()) frame.file = table.files[row.file];
      frame.line = row.line;
      const bool is_inlined = row.caller != 0;
      if (is_inlined && row.function != 0) frame.function = table.functions[row.function - 1];
      at = is_inlined ? row.caller - 1 : kMissing;
    }
    return frames;
  }
  return {};
}

}  // namespace tidemark
