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

// One table for each type of program, in the whole process.
template <class Program>
class ProgramTable {
 public:
  static void add(std::string_view name, Program program) {
    TM_CHECK(name.size() < kProgramNameBytes);
    programs()[std::string(name)] = program;
  }
  // Null: there is none.
  [[nodiscard]] static Program find(std::string_view name) {
    const auto found = programs().find(name);
    return found == programs().end() ? nullptr : found->second;
  }

 private:
  static std::map<std::string, Program, std::less<>>& programs() {
    static std::map<std::string, Program, std::less<>> table;
    return table;
  }
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
