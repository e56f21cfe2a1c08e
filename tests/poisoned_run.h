// SPDX-License-Identifier: Apache-2.0
// A run whose every text has something behind it that means harm: in its capture, under checksums
// that are right, and in its run.json.
#pragma once

#include <algorithm>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include "fuzz/capture_bytes.h"
#include "tidemark/base/check.h"

namespace tidemark {

inline std::string json_of(const rapidjson::Document& document) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  document.Accept(writer);
  return {buffer.GetString(), buffer.GetSize()};
}

// `harm` behind every text, but for those under a key that is kept.
inline void poison(rapidjson::Value& value, std::string_view harm,
                   const std::vector<std::string>& kept,
                   rapidjson::Document::AllocatorType& memory) {
  if (value.IsString()) {
    const std::string text = value.GetString() + std::string(harm);
    value.SetString(text.data(), static_cast<rapidjson::SizeType>(text.size()), memory);
  } else if (value.IsArray()) {
    for (auto& item : value.GetArray()) poison(item, harm, kept, memory);
  } else if (value.IsObject()) {
    for (auto& member : value.GetObject())
      if (std::find(kept.begin(), kept.end(), member.name.GetString()) == kept.end())
        poison(member.value, harm, kept, memory);
  }
}

inline std::string poisoned(const std::string& json, std::string_view harm,
                            const std::vector<std::string>& kept) {
  rapidjson::Document document;
  document.Parse(json.data(), json.size());
  TM_CHECK(document.IsObject());
  poison(document, harm, kept, document.GetAllocator());
  return json_of(document);
}

inline std::string file_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void poison_run(const std::string& directory, std::string_view harm,
                       const std::vector<std::string>& kept) {
  const std::string before = file_text(directory + "/capture.tide");
  auto capture =
      fuzz::parse_capture({reinterpret_cast<const unsigned char*>(before.data()), before.size()});
  for (auto& chunk : capture.chunks) {
    auto& payload = chunk.payload;
    switch (chunk.header.type) {
      case ChunkType::kDescription:
      case ChunkType::kNames:
      case ChunkType::kOutcome:
      case ChunkType::kHang: {
        const std::string text = poisoned({payload.begin(), payload.end()}, harm, kept);
        payload.assign(text.begin(), text.end());
        break;
      }
      case ChunkType::kLanes:
        for (std::size_t at = 0; at + sizeof(LaneRecord) <= payload.size();
             at += sizeof(LaneRecord))
          std::memcpy(payload.data() + at + offsetof(LanePlan, producer), harm.data(),
                      std::min<std::size_t>(harm.size(), kProducerTextBytes));
        break;
      default:
        break;
    }
  }
  const auto bytes = fuzz::lay_out_capture(capture);
  std::ofstream(directory + "/capture.tide", std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  const std::string report = poisoned(file_text(directory + "/run.json"), harm, kept);
  std::ofstream(directory + "/run.json") << report;
}

}  // namespace tidemark
