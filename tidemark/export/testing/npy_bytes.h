// SPDX-License-Identifier: Apache-2.0
// Test support: a .npy file taken apart by its published format, version 1.0, and by nothing of the
// product. The header must be the dictionary that Python would print, with these three keys.
#pragma once

#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <vector>

namespace tidemark::samples {

struct NpyBytes {
  std::string problem;  // not empty: it is no such file, and why
  std::string descr;
  bool fortran_order = false;
  std::vector<std::uint64_t> shape;
  std::size_t data_offset = 0;
  std::vector<unsigned char> data;
};

// Reads the header as Python does: {'key': value, ...}, a comma may be at the end.
class NpyHeader {
 public:
  explicit NpyHeader(const std::string& text) : text_(text) {}

  std::string parse(NpyBytes& into) {
    if (!take('{')) return "no dictionary";
    std::set<std::string> seen;
    while (!take('}')) {
      const std::string key = quoted();
      if (key.empty() || !take(':')) return "no key at " + rest();
      if (!seen.insert(key).second) return key + " twice";
      if (key == "descr") {
        into.descr = quoted();
      } else if (key == "fortran_order") {
        into.fortran_order = word("True");
        if (!into.fortran_order && !word("False")) return "no truth at " + rest();
      } else if (key == "shape") {
        if (const std::string wrong = tuple(into.shape); !wrong.empty()) return wrong;
      } else {
        return "an unknown key " + key;
      }
      if (!take(',') && (at_ >= text_.size() || text_[at_] != '}')) return "no comma at " + rest();
    }
    if (seen.size() != 3) return "a key is missing";
    skip();
    return at_ == text_.size() ? "" : "something behind the dictionary: " + rest();
  }

 private:
  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(char wanted) {
    skip();
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    ++at_;
    skip();
    return true;
  }
  bool word(const std::string& wanted) {
    skip();
    if (text_.compare(at_, wanted.size(), wanted) != 0) return false;
    at_ += wanted.size();
    return true;
  }
  std::string quoted() {
    if (!take('\'')) return {};
    const std::size_t end = text_.find('\'', at_);
    if (end == std::string::npos) return {};
    const std::string text = text_.substr(at_, end - at_);
    at_ = end + 1;
    return text;
  }
  // (), (3,), (3, 4): one extent alone needs its comma, or it is a number and no tuple.
  std::string tuple(std::vector<std::uint64_t>& shape) {
    if (!take('(')) return "no tuple at " + rest();
    bool comma = true;
    while (!take(')')) {
      if (!comma) return "no comma in the shape at " + rest();
      std::uint64_t extent = 0;
      const std::size_t from = at_;
      for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_)
        extent = extent * 10 + static_cast<std::uint64_t>(text_[at_] - '0');
      if (at_ == from) return "no extent at " + rest();
      shape.push_back(extent);
      comma = take(',');
    }
    return shape.size() == 1 && !comma ? "a number in brackets is no tuple" : "";
  }
  std::string rest() const { return "'" + text_.substr(at_, 40) + "'"; }

  const std::string& text_;
  std::size_t at_ = 0;
};

inline NpyBytes parse_npy(const std::vector<unsigned char>& file) {
  NpyBytes made;
  constexpr unsigned char kStart[] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
  if (file.size() < 10 || std::memcmp(file.data(), kStart, 8) != 0) {
    made.problem = "no magic and version 1.0";
    return made;
  }
  const std::size_t length = file[8] + 256u * file[9];
  made.data_offset = 10 + length;
  if (made.data_offset % 64 != 0) made.problem = "the data is not aligned to 64";
  if (length == 0 || file.size() < made.data_offset) made.problem = "it ends in its header";
  if (made.problem.empty() && file[made.data_offset - 1] != '\n')
    made.problem = "the header does not end in a line feed";
  if (!made.problem.empty()) return made;
  const std::string header(file.begin() + 10,
                           file.begin() + static_cast<std::ptrdiff_t>(made.data_offset) - 1);
  made.problem = NpyHeader(header).parse(made);
  made.data.assign(file.begin() + static_cast<std::ptrdiff_t>(made.data_offset), file.end());
  if (made.problem.empty() && made.descr.size() != 3) made.problem = "no element type";
  if (!made.problem.empty()) return made;
  std::uint64_t bytes = static_cast<std::uint64_t>(made.descr[2] - '0');
  for (const std::uint64_t extent : made.shape) bytes *= extent;
  if (bytes != made.data.size()) made.problem = "another number of bytes than the shape says";
  return made;
}

}  // namespace tidemark::samples
