// SPDX-License-Identifier: Apache-2.0
// The one error of a run: the first one stays. Its details are in the status before its code
// does; every unit looks at the latch and leaves.
#pragma once

#include <cstdint>

#include "tidemark/runtime/graph/site.h"
#include "tidemark/runtime/runtime_layout.h"

namespace tidemark {

struct ErrorDetails {
  ErrorCode code = ErrorCode::kNone;
  Resource resource = Resource::kNone;
  std::uint32_t ring = 0;
  std::uint32_t arg = kNoArg;
  std::uint64_t used = 0;
  std::uint64_t capacity = 0;
  std::uint64_t requested = 0;
  std::uint64_t task_id = kNoOwner;
  Site scope;
  Site submit;
  const char* kernel = "";
  const char* text = "";
  HangClass hang = HangClass::kNone;
  std::uint32_t unit = 0;
};

class ErrorLatch {
 public:
  TM_DEVICE ErrorLatch(RuntimeControl* control, RuntimeStatus* status)
      : control_(control), status_(status) {}

  // Nothing is read because of it: whoever sees it ends.
  TM_DEVICE bool set() const { return control_->error.load_relaxed() != ErrorCode::kNone; }
  TM_DEVICE ErrorCode code() const {
    return control_->error.load_acquire();  // pairs with [error latched]
  }

  TM_DEVICE TM_NOINLINE void latch(const ErrorDetails& details) {
    ErrorCode none = ErrorCode::kNone;
    if (!control_->error.replace_acq_rel(none, details.code)) return;  // [error latched]
    LatchedError& error = status_->error;
    error.resource.store_relaxed(details.resource);
    error.ring.store_relaxed(details.ring);
    error.arg.store_relaxed(details.arg);
    error.used.store_relaxed(details.used);
    error.capacity.store_relaxed(details.capacity);
    error.requested.store_relaxed(details.requested);
    error.task_id.store_relaxed(details.task_id);
    error.scope_line.store_relaxed(details.scope.line);
    error.submit_line.store_relaxed(details.submit.line);
    error.hang_class.store_relaxed(details.hang);
    error.unit.store_relaxed(details.unit);
    copy_text(error.scope_file, details.scope.file);
    copy_text(error.submit_file, details.submit.file);
    copy_text(error.kernel, details.kernel);
    copy_text(error.text, details.text);
    error.code.store_release(details.code);  // [error latched]
  }

  TM_DEVICE TM_NOINLINE static void copy_text(char (&to)[kStatusTextBytes], const char* from) {
    std::uint32_t i = 0;
    for (; i + 1 < kStatusTextBytes && from[i] != 0; ++i) to[i] = from[i];
    to[i] = 0;
  }

 private:
  RuntimeControl* control_;
  RuntimeStatus* status_;
};

}  // namespace tidemark
