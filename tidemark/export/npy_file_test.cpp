// SPDX-License-Identifier: Apache-2.0
// .npy files by the bytes of the published format ("A Simple File Format for NumPy Arrays"): magic,
// version, length of the header, a header that is a dictionary in Python's notation, data from a
// multiple of 64 on. Nothing of the product reads them here.
#include "tidemark/export/npy_file.h"

#include <cmath>
#include <cstring>
#include <random>

#include <gtest/gtest.h>

#include "tidemark/base/testing/temporary_directory.h"
#include "tidemark/export/testing/npy_bytes.h"

namespace tidemark {
namespace {

using samples::NpyBytes;
using samples::parse_npy;
using samples::TemporaryDirectory;

class NpyFile : public testing::Test {
 protected:
  NpyBytes written(const NpyArray& array) {
    const std::string path = directory_.file("a.npy");
    const auto done = write_npy(path, array);
    EXPECT_TRUE(done) << done.error().message;
    return parse_npy(samples::read_bytes(path));
  }

  TemporaryDirectory directory_;
};

std::vector<unsigned char> random_bytes(std::size_t count) {
  std::mt19937_64 random(count);
  std::vector<unsigned char> bytes(count);
  for (auto& byte : bytes) byte = static_cast<unsigned char>(random());
  return bytes;
}

TEST_F(NpyFile, HasTheTypeCodeAndTheBytesOfEveryType) {
  const std::pair<DType, const char*> codes[] = {
      {DType::kFloat32, "<f4"}, {DType::kFloat16, "<f2"}, {DType::kFloat64, "<f8"},
      {DType::kInt8, "|i1"},    {DType::kInt16, "<i2"},   {DType::kInt32, "<i4"},
      {DType::kInt64, "<i8"},   {DType::kUint8, "|u1"},   {DType::kUint16, "<u2"},
      {DType::kUint32, "<u4"},  {DType::kUint64, "<u8"},  {DType::kBool, "|b1"}};
  EXPECT_EQ(std::size(codes) + 1, kDTypeCount) << "the one that is missing is bfloat16";
  for (const auto& [dtype, code] : codes) {
    SCOPED_TRACE(code);
    const auto bytes = random_bytes(12 * dtype_bytes(dtype));
    const NpyBytes got = written({.dtype = dtype, .shape = {3, 4}, .bytes = bytes});
    ASSERT_EQ(got.problem, "");
    EXPECT_EQ(got.descr, code);
    EXPECT_FALSE(got.fortran_order);
    EXPECT_EQ(got.shape, (std::vector<std::uint64_t>{3, 4}));
    EXPECT_EQ(got.data, bytes);
  }
}

// Headers of every length: the data begins at a multiple of 64 all the same.
TEST_F(NpyFile, IsAlignedForShapesOfEveryRankAndWidth) {
  std::vector<std::vector<std::uint64_t>> shapes = {{}, {1}, {7}, {0}, {2, 0, 3}, {1, 1, 1, 1, 1}};
  for (std::uint64_t width = 1; width <= 100'000'000'000'000; width *= 10)
    shapes.push_back({0, width, width, width, width});
  std::set<std::size_t> headers;
  for (const auto& shape : shapes) {
    std::size_t elements = 1;
    for (const std::uint64_t extent : shape) elements *= extent;
    const auto bytes = random_bytes(elements * 2);
    const NpyBytes got = written({.dtype = DType::kInt16, .shape = shape, .bytes = bytes});
    ASSERT_EQ(got.problem, "");
    EXPECT_EQ(got.shape, shape);
    EXPECT_EQ(got.data, bytes);
    headers.insert(got.data_offset);
  }
  EXPECT_EQ(headers, (std::set<std::size_t>{128, 192})) << "shapes that need a longer header too";
}

TEST_F(NpyFile, KeepsBfloat16AsTheSameNumbersInFloat32) {
  std::vector<unsigned char> bytes(2 * 65536);
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    bytes[2 * bits] = static_cast<unsigned char>(bits & 0xFF);
    bytes[2 * bits + 1] = static_cast<unsigned char>(bits >> 8);
  }
  const NpyBytes got = written({.dtype = DType::kBfloat16, .shape = {65536}, .bytes = bytes});
  ASSERT_EQ(got.problem, "");
  EXPECT_EQ(got.descr, "<f4");
  EXPECT_EQ(got.shape, std::vector<std::uint64_t>{65536});
  ASSERT_EQ(got.data.size(), 4u * 65536);
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const unsigned char* word = got.data.data() + 4 * bits;
    ASSERT_EQ(word[0] | word[1], 0) << bits;
    ASSERT_EQ(static_cast<std::uint32_t>(word[2] | word[3] << 8), bits);
  }
}

// As NumPy itself writes them: other spaces, other order of the keys, no comma at the end.
TEST_F(NpyFile, ReadsHeadersAsOtherToolsWriteThem) {
  const auto file_of = [&](const std::string& header, std::size_t data_bytes, char version = 1) {
    std::vector<unsigned char> bytes = {0x93, 'N', 'U', 'M', 'P', 'Y'};
    bytes.push_back(static_cast<unsigned char>(version));
    bytes.push_back(0);
    bytes.push_back(static_cast<unsigned char>(header.size() & 0xFF));
    bytes.push_back(static_cast<unsigned char>(header.size() >> 8));
    bytes.insert(bytes.end(), header.begin(), header.end());
    for (std::size_t i = 0; i < data_bytes; ++i) bytes.push_back(static_cast<unsigned char>(i));
    samples::write_bytes(directory_.file("b.npy"), bytes);
    return read_npy(directory_.file("b.npy"));
  };
  const auto numpy =
      file_of("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }          \n", 24);
  ASSERT_TRUE(numpy) << numpy.error().message;
  EXPECT_EQ(numpy->dtype, DType::kFloat32);
  EXPECT_EQ(numpy->shape, (std::vector<std::uint64_t>{2, 3}));
  ASSERT_EQ(numpy->bytes.size(), 24u);
  EXPECT_EQ(numpy->bytes[23], 23);
  const auto scalar = file_of("{'descr': '<i8', 'fortran_order': False, 'shape': (), }\n", 8);
  ASSERT_TRUE(scalar) << scalar.error().message;
  EXPECT_TRUE(scalar->shape.empty());
  EXPECT_EQ(scalar->dtype, DType::kInt64);
  EXPECT_FALSE(file_of("{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }\n", 8));
  EXPECT_FALSE(file_of("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 1), }\n", 8));
  EXPECT_FALSE(file_of("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }\n", 8));
  EXPECT_FALSE(file_of("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }\n", 8));
  EXPECT_FALSE(file_of("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n", 8, 2));
  EXPECT_FALSE(read_npy(directory_.file("nothing.npy")));
}

}  // namespace
}  // namespace tidemark
