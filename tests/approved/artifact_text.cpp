// SPDX-License-Identifier: Apache-2.0
// artifact json|trace|chunks|texts FILE: files of a run as lines of text, for the approved scripts.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <google/protobuf/text_format.h>

#include "tests/perfetto/trace.pb.h"
#include "tidemark/capture/capture_reader.h"

namespace tidemark::approved {
namespace {

int fail(const std::string& text) {
  std::fprintf(stderr, "artifact: %s\n", text.c_str());
  return 1;
}

void print_line(const std::string& line) { std::printf("%s\n", line.c_str()); }

std::string read_whole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Objects and arrays each on a line of their own; no byte is left out or changed.
std::string broken_lines(std::string_view json) {
  std::string text;
  bool quoted = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i], next = i + 1 < json.size() ? json[i + 1] : 0;
    text += c;
    if (c == '"' && (i == 0 || json[i - 1] != '\\')) quoted = !quoted;
    if (quoted) continue;
    const bool opens = (c == '[' || c == ':') && next == '{';
    const bool goes_on = c == ',' && i > 0 && (json[i - 1] == '}' || json[i - 1] == ']');
    if ((opens && c == '[') || goes_on) text += '\n';
  }
  return text;
}

int show_trace(const std::string& path) {
  perfetto::protos::Trace trace;
  if (!trace.ParseFromString(read_whole(path))) return fail(path + " is not a trace");
  google::protobuf::TextFormat::Printer printer;
  printer.SetSingleLineMode(true);
  for (const auto& packet : trace.packet()) {
    std::string line;
    if (!printer.PrintToString(packet, &line)) return fail("a packet cannot be printed");
    while (!line.empty() && line.back() == ' ') line.pop_back();
    print_line(line);
  }
  return 0;
}

const char* type_name(std::uint16_t type) {
  constexpr const char* kNames[] = {"?",     "description", "page",    "names", "clock",   "lanes",
                                    "index", "end",         "outcome", "hang",  "snapshot"};
  return type < std::size(kNames) ? kNames[type] : "?";
}

bool is_text(std::uint16_t type) {
  const std::string_view name = type_name(type);
  return name == "description" || name == "names" || name == "clock" || name == "outcome" ||
         name == "hang";
}

// Pages by lane and number: which lane was drained first is a matter of the moment. How many chunks
// of text there are, and how long they are, depends on times, so each kind is named once.
int show_chunks(const std::string& path) {
  const auto reader = CaptureReader::open(path, CaptureReader::Open::kScan);
  if (!reader) return fail(reader.error().message);
  std::vector<std::string> lines;
  auto chunks = reader->chunks();
  std::sort(chunks.begin(), chunks.end(), [](const IndexEntry& a, const IndexEntry& b) {
    return std::tie(a.type, a.lane, a.sequence) < std::tie(b.type, b.lane, b.sequence);
  });
  for (const auto& chunk : chunks) {
    const std::string_view name = type_name(static_cast<std::uint16_t>(chunk.type));
    std::string line = std::string(name);
    if (name == "page")
      line = fmt::format("page        lane {:>2} sequence {:>3} epoch {} flags {} {:>7} bytes",
                         chunk.lane, chunk.sequence, chunk.epoch, chunk.flags, chunk.payload_bytes);
    else if (name == "lanes" || name == "snapshot" || name == "end")
      line += fmt::format(" flags {} {} bytes", chunk.flags, chunk.payload_bytes);
    if (lines.empty() || name == "page" || lines.back() != line) lines.push_back(line);
  }
  for (const auto& line : lines) print_line(line);
  for (const auto& damage : reader->damage())
    print_line(fmt::format("damage      {} bytes: {}", damage.bytes, damage.what));
  return 0;
}

// The newest chunk of every kind that is JSON.
int show_texts(const std::string& path) {
  auto reader = CaptureReader::open(path, CaptureReader::Open::kScan);
  if (!reader) return fail(reader.error().message);
  for (std::uint16_t type = 1; std::string_view(type_name(type)) != "?"; ++type) {
    if (!is_text(type)) continue;
    const IndexEntry* chunk = reader->last_of(static_cast<ChunkType>(type));
    if (chunk == nullptr) continue;
    const auto bytes = reader->read(*chunk);
    if (!bytes) return fail(bytes.error().message);
    print_line(fmt::format("-- {}", type_name(type)));
    print_line(broken_lines({reinterpret_cast<const char*>(bytes->data()), bytes->size()}));
  }
  return 0;
}

int run(const std::string& what, const std::string& path) {
  if (what == "trace") return show_trace(path);
  if (what == "chunks") return show_chunks(path);
  if (what == "texts") return show_texts(path);
  if (what != "json") return fail("json, trace, chunks or texts, not " + what);
  const std::string text = read_whole(path);
  if (text.empty()) return fail(path + " is empty or missing");
  std::fputs(broken_lines(text).c_str(), stdout);
  return 0;
}

}  // namespace
}  // namespace tidemark::approved

int main(int argc, char** argv) {
  if (argc != 3) return tidemark::approved::fail("artifact WHAT FILE");
  return tidemark::approved::run(argv[1], argv[2]);
}
