// SPDX-License-Identifier: Apache-2.0
// Test support: a reader of captures that knows nothing of this project but the tables of
// FORMAT.md, which it reads as text, and the description in the capture itself.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace plain {

// A value by the name of its field. Times are full readings of the device's clock.
using Fields = std::map<std::string, std::uint64_t>;

struct Record {
  std::string kind;
  Fields fields;
};

struct Lane {
  std::string stream;
  std::vector<Record> records;  // of a framed lane: headers, with the trailer's fields
  std::uint64_t unknown = 0;    // of no kind that the description lists
};

// By number. Throws std::runtime_error where a file is not as FORMAT.md says.
std::map<std::uint64_t, Lane> read_capture(const std::string& capture_file,
                                           const std::string& format_file);

}  // namespace plain
