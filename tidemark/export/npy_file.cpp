// SPDX-License-Identifier: Apache-2.0
#include "tidemark/export/npy_file.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>

#include "tidemark/export/part_file.h"
#include "tidemark/schema/half.h"

namespace tidemark {
namespace {

constexpr char kMagic[] = "\x93NUMPY\x01\x00";
constexpr std::size_t kMagicBytes = 8;
constexpr std::size_t kAlign = 64;

struct TypeCode {
  DType dtype;
  const char* code;
};
constexpr TypeCode kTypes[] = {
    {DType::kFloat32, "<f4"}, {DType::kFloat16, "<f2"}, {DType::kFloat64, "<f8"},
    {DType::kInt8, "|i1"},    {DType::kInt16, "<i2"},   {DType::kInt32, "<i4"},
    {DType::kInt64, "<i8"},   {DType::kUint8, "|u1"},   {DType::kUint16, "<u2"},
    {DType::kUint32, "<u4"},  {DType::kUint64, "<u8"},  {DType::kBool, "|b1"}};

// The text after 'key': in the header, up to one of the ends.
std::string field_of(const std::string& header, const std::string& key, char end) {
  const auto at = header.find("'" + key + "':");
  if (at == std::string::npos) return {};
  const auto begin = at + key.size() + 3;
  const auto stop = header.find(end, begin);
  return stop == std::string::npos ? std::string() : header.substr(begin, stop - begin);
}

}  // namespace

NpyArray widened(const NpyArray& array) {
  NpyArray wide{.dtype = DType::kFloat32, .shape = array.shape, .bytes = {}};
  wide.bytes.resize(array.bytes.size() * 2);
  for (std::size_t i = 0; i + 2 <= array.bytes.size(); i += 2) {
    Bfloat16 half;
    std::memcpy(&half, array.bytes.data() + i, 2);
    const float value = half.to_float();
    std::memcpy(wide.bytes.data() + i * 2, &value, 4);
  }
  return wide;
}

Expected<void> write_npy(const std::string& path, const NpyArray& array) {
  if (array.dtype == DType::kBfloat16) return write_npy(path, widened(array));
  const char* code = std::ranges::find(kTypes, array.dtype, &TypeCode::dtype)->code;
  std::string shape;
  for (const std::uint64_t extent : array.shape) shape += fmt::format("{},", extent);
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", code, shape);
  const std::size_t whole = (kMagicBytes + 2 + header.size() + 1 + kAlign - 1) / kAlign * kAlign;
  header.resize(whole - kMagicBytes - 2 - 1, ' ');
  header.push_back('\n');
  TM_TRY(auto file, PartFile::create(path));
  file.write({kMagic, kMagicBytes});
  const char length[2] = {static_cast<char>(header.size() & 0xFF),
                          static_cast<char>(header.size() >> 8)};
  file.write({length, 2});
  file.write(header);
  file.write({reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size()});
  return file.finish();
}

Expected<NpyArray> read_npy(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return failure(ErrorKind::kUsage, "{} cannot be read", path);
  const std::string all((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  const auto bad = [&](const char* why) {
    return failure(ErrorKind::kDamage, "{}: not an array file: {}", path, why);
  };
  if (all.size() < kMagicBytes + 2 || std::memcmp(all.data(), kMagic, 6) != 0)
    return bad("no magic");
  if (all[6] != 1) return bad("a version other than 1.0");
  const std::size_t length = static_cast<unsigned char>(all[8]) |
                             static_cast<std::size_t>(static_cast<unsigned char>(all[9])) << 8;
  if (all.size() < kMagicBytes + 2 + length) return bad("it ends in its header");
  const std::string header = all.substr(kMagicBytes + 2, length);
  const auto* type = std::ranges::find_if(kTypes, [&](const TypeCode& one) {
    return header.find(fmt::format("'descr': '{}'", one.code)) != std::string::npos;
  });
  if (type == std::end(kTypes)) return bad("an element type we do not know");
  NpyArray array{.dtype = type->dtype, .shape = {}, .bytes = {}};
  if (header.find("'fortran_order': False") == std::string::npos) return bad("not in C order");
  std::string shape = field_of(header, "shape", ')');
  std::uint64_t bytes = dtype_bytes(array.dtype);
  for (std::size_t at = 0; at < shape.size();) {
    if (shape[at] < '0' || shape[at] > '9') {
      ++at;
      continue;
    }
    std::uint64_t extent = 0;
    const auto parsed = std::from_chars(shape.data() + at, shape.data() + shape.size(), extent);
    at = static_cast<std::size_t>(parsed.ptr - shape.data());
    array.shape.push_back(extent);
    if (parsed.ec != std::errc() || __builtin_mul_overflow(bytes, extent, &bytes))
      return bad("an impossible shape");
  }
  const std::size_t begin = kMagicBytes + 2 + length;
  if (all.size() - begin != bytes) return bad("another number of elements than its shape says");
  array.bytes.assign(all.begin() + static_cast<std::ptrdiff_t>(begin), all.end());
  return array;
}

}  // namespace tidemark
