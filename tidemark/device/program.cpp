// SPDX-License-Identifier: Apache-2.0
#include "tidemark/device/program.h"

#include <map>
#include <string>

namespace tidemark {
namespace {

std::map<std::string, DeviceProgram, std::less<>>& programs() {
  static std::map<std::string, DeviceProgram, std::less<>> table;
  return table;
}

}  // namespace

void register_device_program(std::string_view name, DeviceProgram program) {
  TM_CHECK(name.size() < kProgramNameBytes);
  programs()[std::string(name)] = program;
}

DeviceProgram find_device_program(std::string_view name) {
  const auto found = programs().find(name);
  return found == programs().end() ? nullptr : found->second;
}

}  // namespace tidemark
