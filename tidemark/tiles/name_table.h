// SPDX-License-Identifier: Apache-2.0
// The names of a tile set, by number: kernels, phases, marks, sites of scopes, reasons of losses.
// Numbers are given in the order in which names are met; kernels that the run describes come first.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tidemark/run/run_capture.h"

namespace tidemark {

class NameTable {
 public:
  struct Entry {
    std::string text;
    std::string_view kind;
  };
  explicit NameTable(const RunCapture& run);

  std::uint32_t kernel(std::uint16_t kernel);
  std::uint32_t phase(std::string_view text) { return plain("phase", text); }
  std::uint32_t loss(std::string_view text) { return plain("loss", text); }
  std::uint32_t mark(std::uint64_t hash);
  std::uint32_t site(std::uint64_t file, std::uint32_t line);

  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }

  // A damaged capture may have as many names as records: further ones share a name that says so.
  static constexpr std::size_t kMarksMost = 65536;
  static constexpr std::size_t kSitesMost = 65536;

 private:
  static constexpr std::uint32_t kNone = ~0u;
  std::uint32_t add(std::string text, std::string_view kind);
  std::uint32_t plain(std::string_view kind, std::string_view text);

  const RunCapture& run_;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> kernels_;  // by kernel
  std::map<std::string, std::uint32_t, std::less<>> plain_;
  std::map<std::uint64_t, std::uint32_t> marks_;
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint32_t> sites_;
};

}  // namespace tidemark
