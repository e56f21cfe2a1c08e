// SPDX-License-Identifier: Apache-2.0
// In place of libFuzzer, where there is only g++: replays every file of a corpus, and a few changes
// of each that are the same every time.
//   <fuzzer> CORPUS FILES CHANGES
// FILES is how many there have to be.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "fuzz/byte_source.h"
#include "tidemark/base/testing/temporary_directory.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" __attribute__((weak)) std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data,
                                                                     std::size_t size,
                                                                     std::size_t max_size,
                                                                     unsigned int seed);

namespace {

tidemark::fuzz::SeededBits bits(1);

std::vector<std::string> files_of(const char* corpus) {
  std::vector<std::string> paths;
  for (const auto& file : std::filesystem::directory_iterator(corpus))
    paths.push_back(file.path().string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace

// One byte becomes another, or some are doubled or taken away.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size,
                                        std::size_t max_size) {
  const std::size_t at = size == 0 ? 0 : bits.below(size);
  const std::size_t some = std::min<std::size_t>(1 + bits.below(64), size - at);
  switch (size == 0 ? 3 : bits.below(3)) {
    case 0:
      std::memmove(data + at, data + at + some, size - at - some);
      return size - some;
    case 1:
      if (size + some > max_size) break;
      std::memmove(data + at + some, data + at, size - at);
      return size + some;
    case 3:
      return 0;
  }
  data[at] = static_cast<std::uint8_t>(bits.next());
  return size;
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const auto number = [](const char* text) { return std::stoull(text); };
  std::uint64_t inputs = 0, changed = 0;
  for (const std::string& path : files_of(argv[1])) {
    const auto original = tidemark::samples::read_bytes(path);
    (void)LLVMFuzzerTestOneInput(original.data(), original.size());
    ++inputs;
    for (std::uint64_t i = 0; i < number(argv[3]); ++i, ++changed) {
      auto bytes = original;
      bytes.resize(original.size() + 4096);
      const auto seed = static_cast<unsigned int>(bits.next());
      const std::size_t size =
          LLVMFuzzerCustomMutator != nullptr
              ? LLVMFuzzerCustomMutator(bytes.data(), original.size(), bytes.size(), seed)
              : LLVMFuzzerMutate(bytes.data(), original.size(), bytes.size());
      bytes.resize(size);
      bytes.shrink_to_fit();
      (void)LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
    }
  }
  std::printf("%llu files and %llu changes of them replayed\n",
              static_cast<unsigned long long>(inputs), static_cast<unsigned long long>(changed));
  return inputs == number(argv[2]) && inputs > 0 ? 0 : 1;
}
