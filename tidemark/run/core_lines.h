// SPDX-License-Identifier: Apache-2.0
// Source lines of instructions of a GPU, from the line tables in a core dump. A line table of
// NVIDIA says for each row of an inlined call which row called it; `cuda-gdb` shows one step of
// that, and the line of the user is often three steps away.
//
// A dump is an ELF file with the code that ran as ELF files in sections of it. Foreign bytes: every
// number is checked, and what makes no sense is passed over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tidemark/run/unit_stack.h"

namespace tidemark {

struct LineRow {
  std::uint64_t pc = 0;
  std::uint32_t file = 0, line = 0;
  std::uint32_t caller = 0;    // its row + 1; 0: not inlined
  std::uint32_t function = 0;  // + 1
  bool ends = false;           // no instruction is here
};

// Of one compilation unit.
struct LineTable {
  std::vector<LineRow> rows;
  std::vector<std::uint32_t> by_pc;  // rows in the order of their addresses
  std::vector<std::string> files, functions;
};

class CoreLines {
 public:
  // Keeps no bytes.
  explicit CoreLines(std::span<const unsigned char> core);

  // Where an instruction is: the innermost inlined call first, without the name of the function
  // that they were inlined into. Empty: not known.
  [[nodiscard]] std::vector<StackFrame> frames_at(std::uint64_t pc) const;

 private:
  void read_module(std::span<const unsigned char> module);

  std::vector<LineTable> tables_;
};

}  // namespace tidemark
