// SPDX-License-Identifier: Apache-2.0
// Fuzzes everything the host reads from a region while a hostile device writes it.
#include "fuzz/region_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  (void)tidemark::fuzz::run_region_input({data, size});
  return 0;
}
