// SPDX-License-Identifier: Apache-2.0
// The errors of the runtime by code and name. The host turns one into a message; the device only
// stores numbers and names.
#pragma once

#include <cstdint>
#include <string_view>

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
};

constexpr std::string_view to_text(ErrorCode code) {
  switch (code) {
    case ErrorCode::kNone:
      return "NONE";
    case ErrorCode::kScopeDeadlock:
      return "SCOPE_DEADLOCK";
    case ErrorCode::kHeapRingDeadlock:
      return "HEAP_RING_DEADLOCK";
    case ErrorCode::kFlowControlDeadlock:
      return "FLOW_CONTROL_DEADLOCK";
    case ErrorCode::kDepPoolOverflow:
      return "DEP_POOL_OVERFLOW";
    case ErrorCode::kInvalidArgs:
      return "INVALID_ARGS";
    case ErrorCode::kRequestTooLarge:
      return "REQUEST_TOO_LARGE";
    case ErrorCode::kSyncStartInvalid:
      return "SYNC_START_INVALID";
    case ErrorCode::kTensorWaitTimeout:
      return "TENSOR_WAIT_TIMEOUT";
    case ErrorCode::kExplicitOrchFatal:
      return "EXPLICIT_ORCH_FATAL";
    case ErrorCode::kScopeDepthExceeded:
      return "SCOPE_DEPTH_EXCEEDED";
    case ErrorCode::kTensormapOverflow:
      return "TENSORMAP_OVERFLOW";
    case ErrorCode::kRingBufferBackpressure:
      return "RING_BUFFER_BACKPRESSURE";
    case ErrorCode::kAborted:
      return "ABORTED";
    case ErrorCode::kSchedulerTimeout:
      return "SCHEDULER_TIMEOUT";
    case ErrorCode::kOpTimeout:
      return "OP_TIMEOUT";
    case ErrorCode::kDeviceFault:
      return "DEVICE_FAULT";
  }
  return "UNKNOWN";
}

}  // namespace tidemark
