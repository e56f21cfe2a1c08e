// SPDX-License-Identifier: Apache-2.0
// The open scopes of the orchestration. A scope is closed when its place in the stack has another
// serial number; so closing costs nothing, however many tasks it holds.
#pragma once

#include <cstdint>

#include "tidemark/base/check.h"
#include "tidemark/runtime/graph/site.h"
#include "tidemark/runtime/graph/tensor_ref.h"
#include "tidemark/runtime/runtime_status.h"

namespace tidemark {

inline constexpr std::uint32_t kScopeDepthMax = 64;

TM_DEVICE constexpr std::uint32_t ring_of_depth(std::uint32_t depth) {
  return depth < kRingCount ? depth : kRingCount - 1;
}

struct OpenScope {
  std::uint32_t serial = 0;
  Site site;
  std::uint64_t task_count = 0;  // its own, without those of inner scopes
};

class ScopeStack {
 public:
  TM_DEVICE bool full() const { return open_count_ == kScopeDepthMax; }
  TM_DEVICE bool empty() const { return open_count_ == 0; }
  TM_DEVICE void open(const Site& site) {
    TM_CHECK(!full());
    scopes_[open_count_++] = {.serial = ++last_serial_, .site = site};
  }
  TM_DEVICE void close() {
    TM_CHECK(!empty());
    scopes_[--open_count_].serial = 0;
  }
  TM_DEVICE bool is_open(const ScopeMark& mark) const {
    return mark.serial != 0 && mark.depth < open_count_ &&
           scopes_[mark.depth].serial == mark.serial;
  }
  TM_DEVICE OpenScope& current() {
    TM_CHECK(!empty());
    return scopes_[open_count_ - 1];
  }
  // What is all nothing if none is open.
  TM_DEVICE OpenScope innermost() const { return empty() ? OpenScope{} : scopes_[open_count_ - 1]; }
  TM_DEVICE Site site() const { return empty() ? Site{} : scopes_[open_count_ - 1].site; }
  TM_DEVICE ScopeMark mark() const { return {open_count_ - 1, scopes_[open_count_ - 1].serial}; }
  TM_DEVICE std::uint32_t depth() const { return open_count_ - 1; }
  TM_DEVICE std::uint32_t ring() const { return ring_of_depth(depth()); }
  TM_DEVICE std::uint64_t total() const { return last_serial_; }

 private:
  OpenScope scopes_[kScopeDepthMax];
  std::uint32_t open_count_ = 0;
  std::uint32_t last_serial_ = 0;
};

// A scope of the orchestration, for as long as the object lives.
template <class Orch>
class Scope {
 public:
  TM_DEVICE explicit Scope(Orch& orch, Site site = Site::here()) : orch_(orch) {
    opened_ = orch_.open_scope(site);
  }
  TM_DEVICE ~Scope() {
    if (opened_) orch_.close_scope();
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  Orch& orch_;
  bool opened_;
};

}  // namespace tidemark
