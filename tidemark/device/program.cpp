// SPDX-License-Identifier: Apache-2.0
#include "tidemark/device/program.h"

#include "tidemark/device/program_table.h"

namespace tidemark {

static ProgramTable<DeviceProgram>& device_programs() {
  static ProgramTable<DeviceProgram> table;
  return table;
}

void register_device_program(std::string_view name, DeviceProgram program) {
  device_programs().add(name, program);
}

DeviceProgram find_device_program(std::string_view name) { return device_programs().find(name); }

}  // namespace tidemark
