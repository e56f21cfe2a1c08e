// SPDX-License-Identifier: Apache-2.0
// What runs on the simulated device (cuda/cuda_program.h: on a GPU): a function registered by name
// before the supervisor forks, and the context it is given. Programs see the region and their
// arguments, nothing of the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include "tidemark/device/program_table.h"
#include "tidemark/runtime/runtime_status.h"
#include "tidemark/transport/region.h"

namespace tidemark {

class DeviceContext {
 public:
  DeviceContext(RegionView region, std::span<const std::byte> args, void* memory = nullptr)
      : region_(region), args_(args), memory_(memory) {}

  [[nodiscard]] const RegionView& region() const { return region_; }

  // The device's memory outside of the region; null: the program asked for none.
  [[nodiscard]] void* memory() const { return memory_; }
  // Where the runtime says what it does.
  [[nodiscard]] RuntimeStatus* status() const {
    return static_cast<RuntimeStatus*>(region_.status());
  }

  template <class Args>
  [[nodiscard]] Args args() const {
    return args_from<Args>(args_);
  }

  // True when the run is aborted or nobody is left to read what it records.
  [[nodiscard]] bool stop_requested() const { return region_.stop_requested(); }

  // One thread per unit; returns when all have left.
  template <class Unit>
  void run_units(std::uint32_t count, const Unit& unit) {
    std::vector<std::thread> threads;
    threads.reserve(count);
    for (std::uint32_t i = 0; i < count; ++i) threads.emplace_back([&unit, i] { unit(i); });
    for (auto& thread : threads) thread.join();
  }

 private:
  RegionView region_;
  std::span<const std::byte> args_;
  void* memory_;
};

using DeviceProgram = void (*)(DeviceContext&);

inline void register_device_program(std::string_view name, DeviceProgram program) {
  ProgramTable<DeviceProgram>::add(name, program);
}
inline DeviceProgram find_device_program(std::string_view name) {
  return ProgramTable<DeviceProgram>::find(name);
}

}  // namespace tidemark
