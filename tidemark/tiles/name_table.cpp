// SPDX-License-Identifier: Apache-2.0
#include "tidemark/tiles/name_table.h"

namespace tidemark {

NameTable::NameTable(const RunCapture& run) : run_(run), kernels_(65536, kNone) {
  const std::size_t described = run.description().kernels.size();
  for (std::size_t i = 0; i < described && i < kernels_.size(); ++i)
    kernel(static_cast<std::uint16_t>(i));
}

std::uint32_t NameTable::add(std::string text, std::string_view kind) {
  entries_.push_back({std::move(text), kind});
  return static_cast<std::uint32_t>(entries_.size() - 1);
}

std::uint32_t NameTable::kernel(std::uint16_t kernel) {
  std::uint32_t& known = kernels_[kernel];
  if (known == kNone) known = add(run_.kernel_name(kernel), "kernel");
  return known;
}

std::uint32_t NameTable::plain(std::string_view kind, std::string_view text) {
  const auto found = plain_.find(text);
  if (found != plain_.end()) return found->second;
  return plain_[std::string(text)] = add(std::string(text), kind);
}

std::uint32_t NameTable::mark(std::uint64_t hash) {
  const auto found = marks_.find(hash);
  if (found != marks_.end()) return found->second;
  if (marks_.size() >= kMarksMost) return plain("mark", "(a further mark)");
  return marks_[hash] = add(run_.name_of(hash), "mark");
}

std::uint32_t NameTable::site(std::uint64_t file, std::uint32_t line) {
  const auto found = sites_.find({file, line});
  if (found != sites_.end()) return found->second;
  if (sites_.size() >= kSitesMost) return plain("scope", "(a further scope)");
  return sites_[{file, line}] = add(run_.site_of(file, line), "scope");
}

}  // namespace tidemark
