// SPDX-License-Identifier: Apache-2.0
// Fuzzes everything that reads a capture. Most mutations are laid out again with right checksums,
// so that the layers behind the reader are reached.
#include "fuzz/capture_bytes.h"
#include "fuzz/capture_input.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  (void)tidemark::fuzz::run_capture_input({data, size});
  return 0;
}

namespace {

// The fuzzer's own mutations, on one chunk's payload.
void mutate_payload(tidemark::fuzz::ChunkBytes& chunk, std::size_t room) {
  const std::size_t size = chunk.payload.size();
  chunk.payload.resize(size + std::min<std::size_t>(room, 256));
  if (chunk.payload.empty()) return;
  chunk.payload.resize(LLVMFuzzerMutate(chunk.payload.data(), size, chunk.payload.size()));
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned int seed) {
  using namespace tidemark::fuzz;
  SeededBits bits(seed);
  if (bits.below(8) == 0) return LLVMFuzzerMutate(data, size, max_size);
  CaptureBytes capture = parse_capture({data, size});
  if (capture.chunks.empty()) return LLVMFuzzerMutate(data, size, max_size);
  for (std::uint64_t changes = 1 + bits.below(4); changes > 0; --changes) {
    if (bits.below(2) == 0)
      mutate_payload(capture.chunks[bits.below(capture.chunks.size())],
                     max_size > size ? max_size - size : 0);
    else
      change_capture(capture, bits);
  }
  const auto file = lay_out_capture(capture);
  if (file.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::memcpy(data, file.data(), file.size());
  return file.size();
}
