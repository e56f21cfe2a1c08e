// SPDX-License-Identifier: Apache-2.0
// No header of tidemark/ is included here: that is the point.
#include "tests/plain_capture.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include <rapidjson/document.h>

namespace plain {
namespace {

using Bytes = std::string;

void expect(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what);
}

Bytes read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  expect(file.good(), "cannot read " + path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::uint64_t number(const Bytes& bytes, std::uint64_t at, std::uint64_t size) {
  expect(size <= 8 && at <= bytes.size() && size <= bytes.size() - at, "a field beyond its record");
  std::uint64_t value = 0;
  for (std::uint64_t i = size; i-- > 0;)
    value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

// The rows of the first table behind a heading, cell by cell, without their backquotes.
std::vector<std::vector<std::string>> table_behind(const std::string& text,
                                                   const std::string& heading) {
  const auto begin = text.find("\n" + heading);
  expect(begin != std::string::npos, "FORMAT.md has no '" + heading + "'");
  std::stringstream lines(text.substr(begin + 1));
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] != '|') {
      if (!rows.empty()) break;
      continue;
    }
    auto& row = rows.emplace_back();
    std::stringstream cells(line.substr(1));
    for (std::string cell; std::getline(cells, cell, '|');) {
      cell.erase(std::remove(cell.begin(), cell.end(), '`'), cell.end());
      const auto first = cell.find_first_not_of(' ');
      row.push_back(first == std::string::npos
                        ? ""
                        : cell.substr(first, cell.find_last_not_of(' ') - first + 1));
    }
  }
  expect(rows.size() > 2, "no table behind '" + heading + "'");
  rows.erase(rows.begin(), rows.begin() + 2);  // the head and the line below it
  return rows;
}

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

// A struct whose table has offset, size and name.
class Layout {
 public:
  Layout(const std::string& text, const std::string& heading) {
    for (const auto& row : table_behind(text, heading))
      if (row.size() >= 3 && is_number(row[0]) && is_number(row[1]))
        fields_[row[2]] = {std::stoull(row[0]), std::stoull(row[1])};
  }
  [[nodiscard]] std::uint64_t get(const Bytes& bytes, const std::string& field,
                                  std::uint64_t base = 0) const {
    const auto found = fields_.find(field);
    expect(found != fields_.end(), "FORMAT.md has no field " + field);
    return number(bytes, base + found->second.first, found->second.second);
  }

 private:
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> fields_;
};

struct Field {
  std::string name, type;
  std::uint64_t offset = 0, bytes = 0;
};
struct Kind {
  std::string name;
  Fields when;
  std::vector<Field> fields;
};
struct Stream {
  std::string name;
  std::uint64_t record_bytes = 0;
  std::vector<Kind> kinds;
  std::vector<Field> trailer;
};

constexpr std::uint64_t kRound = std::uint64_t{1} << 48;

std::uint64_t nearest(std::uint64_t ticks48, std::uint64_t near) {
  const std::uint64_t ahead = (ticks48 - near) % kRound;
  return near + ahead - (ahead >= kRound / 2 ? kRound : 0);
}
// The latest reading with these low bits that is at most 2^32 after `end`.
std::uint64_t begin_before(std::uint64_t ticks48, std::uint64_t end) {
  const std::uint64_t latest = end + (std::uint64_t{1} << 32);
  return latest - (latest - ticks48) % kRound;
}

class Reader {
 public:
  Reader(const std::string& capture_file, const std::string& format_file)
      : file_(read_file(capture_file)),
        format_(read_file(format_file)),
        chunk_(format_, "### Chunk header"),
        page_(format_, "### Page header"),
        fragment_(format_, "### Fragments") {
    for (const auto& row : table_behind(format_, "### Chunk types"))
      if (is_number(row[0])) chunk_types_[row[1]] = std::stoull(row[0]);
    for (const auto& row : table_behind(format_, "### Field types"))
      type_bytes_[row[0]] = std::stoull(row[1]);
  }

  std::map<std::uint64_t, Lane> read() {
    std::map<std::pair<std::uint64_t, std::uint64_t>, Bytes> pages;  // by lane and sequence
    for (std::uint64_t at = 0; at + 64 <= file_.size();) {
      expect(file_.compare(at, 4, "TIDE") == 0, "no chunk where one should be");
      expect(chunk_.get(file_, "file_offset", at) == at, "a chunk of another place");
      const std::uint64_t bytes = chunk_.get(file_, "payload_bytes", at);
      const std::uint64_t type = chunk_.get(file_, "type", at);
      const Bytes payload = file_.substr(at + 64, bytes);
      if (type == chunk_types_.at("description") && lanes_.empty()) read_description(payload);
      if (type == chunk_types_.at("page"))
        pages[{chunk_.get(file_, "lane", at), chunk_.get(file_, "sequence", at)}] = payload;
      at += (64 + bytes + 63) / 64 * 64;
    }
    for (const auto& [key, payload] : pages) {
      const auto lane = lanes_.find(key.first);
      expect(lane != lanes_.end(), "a page of a lane that is not described");
      if (page_.get(payload, "record_bytes") == 0)
        read_fragments(payload, lane->second);
      else
        read_records(payload, lane->second);
    }
    return lanes_;
  }

 private:
  static std::string text_of(const rapidjson::Value& object, const char* key) {
    expect(object.IsObject() && object.HasMember(key) && object[key].IsString(), key);
    return object[key].GetString();
  }
  static std::uint64_t number_of(const rapidjson::Value& object, const char* key) {
    expect(object.IsObject() && object.HasMember(key) && object[key].IsUint64(), key);
    return object[key].GetUint64();
  }
  std::vector<Field> fields_of(const rapidjson::Value& list) {
    std::vector<Field> fields;
    for (const auto& field : list.GetArray()) {
      const std::string type = text_of(field, "type");
      expect(type_bytes_.contains(type), "FORMAT.md has no type " + type);
      fields.push_back(
          {text_of(field, "name"), type, number_of(field, "offset"), type_bytes_.at(type)});
    }
    return fields;
  }

  void read_description(const Bytes& json) {
    rapidjson::Document document;
    document.Parse(json.data(), json.size());
    expect(!document.HasParseError(), "the description is not JSON");
    expect(number_of(document, "format_minor") >= 1, "format_minor");
    for (const auto& one : document["streams"].GetArray()) {
      Stream& stream = streams_[number_of(one, "id")];
      stream.name = text_of(one, "name");
      stream.record_bytes = number_of(one, "record_bytes");
      for (const auto& kind : one["kinds"].GetArray()) {
        Kind& made = stream.kinds.emplace_back();
        made.name = text_of(kind, "name");
        made.fields = fields_of(kind["fields"]);
        for (const auto& is : kind["when"].GetObject())
          made.when[is.name.GetString()] = is.value.GetUint64();
      }
      if (one.HasMember("trailer")) stream.trailer = fields_of(one["trailer"]);
    }
    for (const auto& one : document["lanes"].GetArray()) {
      const std::uint64_t number = number_of(one, "lane");
      lane_streams_[number] = number_of(one, "stream");
      lanes_[number].stream = streams_.at(lane_streams_[number]).name;
    }
  }

  static Fields decode(const std::vector<Field>& fields, const Bytes& bytes,
                       std::uint64_t base = 0) {
    Fields values;
    for (const Field& field : fields)
      values[field.name] = number(bytes, base + field.offset, field.bytes);
    return values;
  }
  static const Kind* kind_of(const Stream& stream, const Bytes& bytes) {
    for (const Kind& kind : stream.kinds) {
      const Fields values = decode(kind.fields, bytes);
      if (std::all_of(kind.when.begin(), kind.when.end(),
                      [&](const auto& is) { return values.at(is.first) == is.second; }))
        return &kind;
    }
    return nullptr;
  }
  const Stream& stream_of(const Bytes& page) {
    return streams_.at(lane_streams_.at(page_.get(page, "lane")));
  }

  void read_records(const Bytes& page, Lane& lane) {
    const Stream& stream = stream_of(page);
    const std::uint64_t bytes = page_.get(page, "record_bytes");
    const std::uint64_t generation = page_.get(page, "generation");
    std::uint64_t near = page_.get(page, "open_ticks");
    for (std::uint64_t at = 128; at + bytes <= page.size(); at += bytes) {
      const Bytes record = page.substr(at, bytes);
      bool whole = true;
      for (std::uint64_t stamp = 14; stamp < bytes; stamp += 16)
        whole = whole && number(record, stamp, 2) == generation;
      if (!whole) continue;
      const Kind* kind = kind_of(stream, record);
      if (kind == nullptr) {
        ++lane.unknown;
        continue;
      }
      Fields values = decode(kind->fields, record);
      std::vector<std::string> times;
      for (const Field& field : kind->fields)
        if (field.type == "ticks48") times.push_back(field.name);
      if (!times.empty()) values[times.back()] = near = nearest(values[times.back()], near);
      for (std::size_t i = 0; i + 1 < times.size(); ++i)
        values[times[i]] = begin_before(values[times[i]], near);
      lane.records.push_back({kind->name, values});
    }
  }

  void read_fragments(const Bytes& page, Lane& lane) {
    const std::uint64_t number_of_lane = page_.get(page, "lane");
    const std::uint64_t generation = page_.get(page, "generation");
    Bytes& frame = frames_[number_of_lane];
    for (std::uint64_t at = 128; at + 32 <= page.size();) {
      const std::uint64_t commit = fragment_.get(page, "commit", at);
      if (commit >> 48 != generation) break;
      const std::uint64_t length = commit & 0xFFFFFFFFu;
      if ((commit >> 32 & 1) != 0) frame.clear();
      expect(fragment_.get(page, "offset", at) == frame.size(), "a fragment is missing");
      frame += page.substr(at + 32, length);
      if ((commit >> 33 & 1) != 0) {
        expect(frame.size() == fragment_.get(page, "total_bytes", at), "a frame of another size");
        take_frame(stream_of(page), frame, lane);
      }
      at += (32 + length + 15) / 16 * 16;
    }
  }
  static void take_frame(const Stream& stream, const Bytes& frame, Lane& lane) {
    const Kind* kind = kind_of(stream, frame);
    if (kind == nullptr) {
      ++lane.unknown;
      return;
    }
    Fields values = decode(kind->fields, frame);
    std::uint64_t header = 0, trailer = 0;
    for (const Field& field : kind->fields) header = std::max(header, field.offset + field.bytes);
    for (const Field& field : stream.trailer)
      trailer = std::max(trailer, field.offset + field.bytes);
    const bool has_trailer = (values.at("flags") >> 3 & 1) != 0;
    const std::uint64_t payload_end = header + values.at("payload_bytes");
    expect(frame.size() == payload_end + (has_trailer ? trailer : 0), "a frame of another size");
    if (has_trailer) values.merge(decode(stream.trailer, frame, payload_end));
    lane.records.push_back({kind->name, values});
  }

  Bytes file_, format_;
  Layout chunk_, page_, fragment_;
  std::map<std::string, std::uint64_t> chunk_types_, type_bytes_;
  std::map<std::uint64_t, Stream> streams_;
  std::map<std::uint64_t, std::uint64_t> lane_streams_;
  std::map<std::uint64_t, Lane> lanes_;
  std::map<std::uint64_t, Bytes> frames_;  // of which more may come, by lane
};

}  // namespace

std::map<std::uint64_t, Lane> read_capture(const std::string& capture_file,
                                           const std::string& format_file) {
  return Reader(capture_file, format_file).read();
}

}  // namespace plain
