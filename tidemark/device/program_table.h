// SPDX-License-Identifier: Apache-2.0
// Programs of one kind of device by name, and their arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "tidemark/base/check.h"

namespace tidemark {

inline constexpr std::uint32_t kProgramNameBytes = 64;
inline constexpr std::uint32_t kProgramArgsBytes = 1024;

template <class Program>
class ProgramTable {
 public:
  void add(std::string_view name, Program program) {
    TM_CHECK(name.size() < kProgramNameBytes);
    programs_[std::string(name)] = program;
  }
  // Null: there is none.
  [[nodiscard]] Program find(std::string_view name) const {
    const auto found = programs_.find(name);
    return found == programs_.end() ? nullptr : found->second;
  }

 private:
  std::map<std::string, Program, std::less<>> programs_;
};

template <class Args>
Args args_from(std::span<const std::byte> bytes) {
  static_assert(std::is_trivially_copyable_v<Args>);
  TM_CHECK(bytes.size() == sizeof(Args));
  Args args;
  std::memcpy(&args, bytes.data(), sizeof(Args));
  return args;
}

}  // namespace tidemark
