// SPDX-License-Identifier: Apache-2.0
// The errors of the runtime by code and name. The host turns one into a message; the device only
// stores numbers and names.
#pragma once

#include <cstdint>
#include <string_view>

#include "tidemark/schema/enum_text.h"

namespace tidemark {

enum class ErrorCode : std::uint32_t {
  kNone = 0,
  kScopeDeadlock = 1,
  kHeapRingDeadlock = 2,
  kFlowControlDeadlock = 3,
  kDepPoolOverflow = 4,
  kInvalidArgs = 5,
  kRequestTooLarge = 6,
  kSyncStartInvalid = 7,
  kTensorWaitTimeout = 8,
  kExplicitOrchFatal = 9,
  kScopeDepthExceeded = 10,
  kTensormapOverflow = 11,
  kRingBufferBackpressure = 20,
  kAborted = 99,  // the host asked for the end, or is gone: not an error of the program
  kSchedulerTimeout = 100,
  kOpTimeout = 101,
  kDeviceFault = 102,
  kProducersStopped = 103,
};

constexpr std::string_view to_text(ErrorCode code) {
  if (code == ErrorCode::kRingBufferBackpressure) return "RING_BUFFER_BACKPRESSURE";
  if (code >= ErrorCode::kAborted)
    return enum_text(
        code, ErrorCode::kAborted,
        {"ABORTED", "SCHEDULER_TIMEOUT", "OP_TIMEOUT", "DEVICE_FAULT", "PRODUCERS_STOPPED"},
        "UNKNOWN");
  return enum_text(
      code, ErrorCode::kNone,
      {"NONE", "SCOPE_DEADLOCK", "HEAP_RING_DEADLOCK", "FLOW_CONTROL_DEADLOCK", "DEP_POOL_OVERFLOW",
       "INVALID_ARGS", "REQUEST_TOO_LARGE", "SYNC_START_INVALID", "TENSOR_WAIT_TIMEOUT",
       "EXPLICIT_ORCH_FATAL", "SCOPE_DEPTH_EXCEEDED", "TENSORMAP_OVERFLOW"},
      "UNKNOWN");
}

}  // namespace tidemark
