// SPDX-License-Identifier: Apache-2.0
// What a kernel says about itself: its name, the type of core it runs on, and its arguments. A
// submit is checked against it when it is made.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "tidemark/base/check.h"
#include "tidemark/schema/access.h"
#include "tidemark/schema/core_type.h"
#include "tidemark/schema/dtype.h"
#include "tidemark/schema/task_limits.h"

namespace tidemark {

enum class ArgRole : std::uint8_t { kIn, kOut, kInout, kScalar };

TM_DEVICE constexpr bool role_takes(ArgRole role, Access access) {
  switch (access) {
    case Access::kInput:
    case Access::kNoDep:
      return role == ArgRole::kIn;
    case Access::kOutput:
    case Access::kOutputExisting:
      return role == ArgRole::kOut;
    case Access::kInout:
      return role == ArgRole::kInout;
  }
  return false;
}

struct ArgInfo {
  const char* name = "";
  ArgRole role = ArgRole::kIn;
  bool any_dtype = true;
  DType dtype = DType::kFloat32;
};

TM_DEVICE constexpr ArgInfo in(const char* name) { return {name, ArgRole::kIn, true, {}}; }
TM_DEVICE constexpr ArgInfo in(const char* name, DType dtype) {
  return {name, ArgRole::kIn, false, dtype};
}
TM_DEVICE constexpr ArgInfo out(const char* name) { return {name, ArgRole::kOut, true, {}}; }
TM_DEVICE constexpr ArgInfo out(const char* name, DType dtype) {
  return {name, ArgRole::kOut, false, dtype};
}
TM_DEVICE constexpr ArgInfo inout(const char* name) { return {name, ArgRole::kInout, true, {}}; }
TM_DEVICE constexpr ArgInfo inout(const char* name, DType dtype) {
  return {name, ArgRole::kInout, false, dtype};
}
TM_DEVICE constexpr ArgInfo scalar(const char* name) { return {name, ArgRole::kScalar, true, {}}; }
TM_DEVICE constexpr ArgInfo scalar(const char* name, DType dtype) {
  return {name, ArgRole::kScalar, false, dtype};
}

// Tensors first, then scalars.
struct ArgInfos {
  std::uint32_t count = 0;
  std::uint32_t tensor_count = 0;
  ArgInfo items[kTensorsMax + kScalarsMax] = {};

  constexpr ArgInfos() = default;
  TM_DEVICE constexpr ArgInfos(std::initializer_list<ArgInfo> infos) {
    for (const ArgInfo& info : infos) {
      TM_CHECK(count < kTensorsMax + kScalarsMax);
      const bool is_tensor = info.role != ArgRole::kScalar;
      TM_CHECK(!is_tensor || tensor_count == count);  // no tensor after a scalar
      tensor_count += is_tensor ? 1 : 0;
      items[count++] = info;
    }
    TM_CHECK(tensor_count <= kTensorsMax);
    TM_CHECK(count - tensor_count <= kScalarsMax);
  }
};

// The most that a block can share: what a GPU of compute capability 9.0 gives to one CTA.
inline constexpr std::uint32_t kSharedBytesMax = 227 * 1024;

struct KernelInfo {
  const char* name = "";
  CoreType core = CoreType::kAiv;
  ArgInfos args;
  std::uint32_t shared_bytes = 0;  // of all that it asks its block for with shared<T>(count)
};

}  // namespace tidemark
