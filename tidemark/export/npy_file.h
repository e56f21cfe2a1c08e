// SPDX-License-Identifier: Apache-2.0
// .npy, the array file of NumPy: version 1.0, C order, little endian. bfloat16, which it does not
// know, is written as float32.
#pragma once

#include <string>
#include <vector>

#include "tidemark/base/expected.h"
#include "tidemark/schema/dtype.h"

namespace tidemark {

struct NpyArray {
  DType dtype = DType::kFloat32;
  std::vector<std::uint64_t> shape;
  std::vector<unsigned char> bytes;
};

// An array of bfloat16 as files have it: of float32.
NpyArray widened(const NpyArray& array);
Expected<void> write_npy(const std::string& path, const NpyArray& array);
Expected<NpyArray> read_npy(const std::string& path);

}  // namespace tidemark
