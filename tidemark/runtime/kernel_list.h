// SPDX-License-Identifier: Apache-2.0
// The kernels of a workload: from types to numbers and back.
#pragma once

#include <cstdint>
#include <type_traits>

#include "tidemark/runtime/kernel_info.h"
#include "tidemark/runtime/task_args.h"

namespace tidemark {

template <class... Kernels>
struct KernelList {
  static constexpr std::uint16_t kCount = sizeof...(Kernels);

  template <class Kernel>
  TM_DEVICE static constexpr std::uint16_t number_of() {
    static_assert((std::is_same_v<Kernel, Kernels> || ...), "the workload's list lacks the kernel");
    unsigned number = 0;
    bool found = false;
    ((found = found || std::is_same_v<Kernel, Kernels>, number += found ? 0u : 1u), ...);
    return static_cast<std::uint16_t>(number);
  }

  static constexpr KernelInfo info(std::uint16_t number) {
    KernelInfo info;
    std::uint16_t at = 0;
    ((at++ == number ? static_cast<void>(info = Kernels::kInfo) : static_cast<void>(0)), ...);
    return info;
  }

  template <class Block>
  TM_DEVICE static void run(std::uint16_t number, Block& block, const TaskArgs& args) {
    std::uint16_t at = 0;
    ((at++ == number ? Kernels::run(block, args) : static_cast<void>(0)), ...);
  }
};

}  // namespace tidemark
