// SPDX-License-Identifier: Apache-2.0
// The kernels of a workload: from types to numbers and back.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "tidemark/runtime/kernel_info.h"
#include "tidemark/runtime/task_args.h"

namespace tidemark {

// A kernel: what it says about itself, and run(block, args), which a core calls.
template <class K>
concept Kernel = requires {
  { K::kInfo } -> std::convertible_to<KernelInfo>;
};
// … with the blocks of a device.
template <class K, class B>
concept RunsOn = requires(B& block, const TaskArgs& args) {
  K::run(block, args);
};

// One thread's part of a kernel, with the shared memory that the kernel declares.
template <Kernel K, class B>
TM_DEVICE TM_INLINE void run_kernel(B& block, const TaskArgs& args) {
  static_assert(RunsOn<K, B>, "a kernel lacks run(block, args)");
  if constexpr (RunsOn<K, B>) {
    constexpr std::uint32_t kSharedBytes = K::kInfo.shared_bytes;
    if constexpr (kSharedBytes > 0) block.open_shared(kSharedBytes);
    K::run(block, args);
    if constexpr (kSharedBytes > 0) block.close_shared();
  }
}

template <Kernel... Kernels>
struct KernelList {
  static constexpr std::uint16_t kCount = sizeof...(Kernels);
  static_assert(((Kernels::kInfo.shared_bytes <= kSharedBytesMax) && ...),
                "a kernel declares more shared_bytes than a block has: kSharedBytesMax");

  template <class K>
  TM_DEVICE static constexpr std::uint16_t number_of() {
    static_assert((std::is_same_v<K, Kernels> || ...), "the workload's list lacks the kernel");
    unsigned number = 0;
    bool found = false;
    ((found = found || std::is_same_v<K, Kernels>, number += found ? 0u : 1u), ...);
    return static_cast<std::uint16_t>(number);
  }

  static constexpr KernelInfo info(std::uint16_t number) {
    KernelInfo info;
    std::uint16_t at = 0;
    ((at++ == number ? static_cast<void>(info = Kernels::kInfo) : static_cast<void>(0)), ...);
    return info;
  }

  TM_DEVICE static const char* name(std::uint16_t number) {
    const char* found = "";
    std::uint16_t at = 0;
    ((at++ == number ? static_cast<void>(found = name_of<Kernels>()) : static_cast<void>(0)), ...);
    return found;
  }
  TM_DEVICE static std::uint32_t shared_bytes(std::uint16_t number) {
    std::uint32_t found = 0, at = 0;
    ((at++ == number ? static_cast<void>(found = shared_bytes_of<Kernels>())
                     : static_cast<void>(0)),
     ...);
    return found;
  }

  template <class B>
  TM_DEVICE static void run(std::uint16_t number, B& block, const TaskArgs& args) {
    std::uint16_t at = 0;
    ((at++ == number ? run_kernel<Kernels>(block, args) : static_cast<void>(0)), ...);
  }

 private:
  // As constants: device code reads no static member.
  template <class K>
  TM_DEVICE static constexpr const char* name_of() {
    constexpr KernelInfo kInfo = K::kInfo;
    return kInfo.name;
  }
  template <class K>
  TM_DEVICE static constexpr std::uint32_t shared_bytes_of() {
    return K::kInfo.shared_bytes;
  }
};

}  // namespace tidemark
