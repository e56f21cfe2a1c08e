// SPDX-License-Identifier: Apache-2.0
// A page that was copied out of a GPU's own memory while its kernel may still write it. Host code
// without CUDA, so that it is tested on any machine.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>

#include "tidemark/transport/open_page.h"
#include "tidemark/transport/region.h"

namespace tidemark {

// Copied in this order: the sequence, the page, the page again, the sequence again.
struct RescuedPage {
  std::uint64_t sequence_before = 0;
  const unsigned char* first = nullptr;
  unsigned char* second = nullptr;  // becomes what is put into the region
  std::uint64_t sequence_after = 0;
};

// Puts it into the region as a producer would: empty first, the sequence last. Copies that are not
// of one filling leave the page empty.
inline void put_rescued_page(const RegionView& region, PageIndex page, const RescuedPage& copies) {
  PageHeaderImage header;
  std::memcpy(&header, copies.first, sizeof(header));
  auto* words = reinterpret_cast<SharedWord<std::uint64_t>*>(region.page_base(page));
  words[0].store_release(0);  // alone: all stores below are releases, so they come after it
  const std::uint64_t sequence = copies.sequence_before;
  if (sequence == 0 || copies.sequence_after != sequence || header.sequence != sequence) return;
  const std::span payload(copies.second + kPageHeaderBytes,
                          region.layout().shape.page_bytes - kPageHeaderBytes);
  // What was sealed before the second copy is whole in it. An open page is open as of the first.
  if (header.record_count == kPageOpen)
    settle_open_page(header, copies.first + kPageHeaderBytes, payload);
  else
    std::memcpy(&header, copies.second, sizeof(header));
  header.landed = sequence;
  auto* quanta = reinterpret_cast<SharedQuantum*>(region.payload(page));
  for (std::size_t at = 0; at < payload.size(); at += kQuantumBytes) {
    std::uint64_t quantum[2];
    std::memcpy(quantum, payload.data() + at, sizeof(quantum));
    quanta[at / kQuantumBytes].store(quantum[0], quantum[1]);
  }
  std::uint64_t image[kPageHeaderBytes / 8];
  std::memcpy(image, &header, sizeof(image));
  // [page emptied]
  for (std::uint32_t i = 1; i < kPageHeaderBytes / 8; ++i) words[i].store_release(image[i]);
  words[0].store_release(sequence);  // [page reopened]
}

}  // namespace tidemark
