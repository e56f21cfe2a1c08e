// SPDX-License-Identifier: Apache-2.0
// How a task uses a tensor.
#pragma once

#include <cstdint>
#include <string_view>

#include "tidemark/base/host_device.h"
#include "tidemark/schema/enum_text.h"

namespace tidemark {

enum class Access : std::uint8_t {
  kInput,
  kOutput,          // the runtime allocates it
  kOutputExisting,  // written whole, memory of somebody else
  kInout,
  kNoDep,  // waits for its creator only
};

TM_DEVICE constexpr bool writes(Access access) {
  return access == Access::kOutput || access == Access::kOutputExisting || access == Access::kInout;
}

constexpr std::string_view to_text(Access access) {
  return enum_text(access, Access::kInput,
                   {"input", "output", "output_existing", "inout", "no_dep"});
}

// What it is for the kernel, whose dump shows it: input, output or inout.
constexpr std::string_view role_text(Access access) {
  if (access == Access::kNoDep) return "input";
  return access == Access::kOutputExisting ? "output" : to_text(access);
}

}  // namespace tidemark
