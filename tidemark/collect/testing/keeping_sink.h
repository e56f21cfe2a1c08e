// SPDX-License-Identifier: Apache-2.0
// Test support: a sink that keeps every page in memory, can fail on request, and says afterwards
// which numbers it holds. A page that comes twice is counted, not hidden.
#pragma once

#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <tuple>
#include <vector>

#include "tidemark/ledger/page_content.h"
#include "tidemark/ledger/page_sink.h"
#include "tidemark/record/testing/stamped_spans.h"

namespace tidemark {

struct KeptPage {
  PageHeaderImage header{};
  std::vector<unsigned char> payload;
  bool recovered = false;
};

class KeepingSink : public PageSink {
 public:
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>;  // lane, epoch, sequence
  static Key key_of(const PageHeaderImage& header) {
    return {header.lane, header.epoch, header.sequence};
  }

  std::uint64_t fail_after = ~std::uint64_t{0};  // pages accepted before every append fails
  std::function<void()> on_append;

  bool append(const PageDelivery& page) override {
    if (on_append) on_append();
    const std::lock_guard lock(mutex_);
    if (pages_.size() >= fail_after) return false;
    KeptPage kept{.header = page.header, .payload = {}, .recovered = page.recovered};
    kept.payload.resize(page.payload_bytes);
    if (page.payload != nullptr)
      kept.payload.assign(page.payload, page.payload + page.payload_bytes);
    else
      page.port->read(page.payload_offset, kept.payload.data(), page.payload_bytes);
    const Key key = key_of(page.header);
    twice_ += !pages_.emplace(key, std::move(kept)).second;
    return true;
  }

  void clear() { pages_.clear(); }
  [[nodiscard]] bool holds(const PageHeaderImage& header) const {
    return pages_.contains(key_of(header));
  }
  [[nodiscard]] const std::map<Key, KeptPage>& pages() const { return pages_; }
  [[nodiscard]] std::uint64_t twice() const { return twice_; }

  struct Found {
    std::set<std::uint64_t> numbers;
    std::uint64_t wrong = 0;  // content that is not what its number says, or a number found twice
  };
  // The whole records of a lane whose record n is span_of(n).
  [[nodiscard]] Found spans_of(LaneIndex lane) const {
    Found found;
    for (const auto& [key, page] : pages_) {
      if (page.header.lane != lane) continue;
      for_each_record(page.header, page.payload, [&](std::uint64_t number, const auto* bytes) {
        std::uint64_t words[TaskSpan::kBytes / 8];
        std::memcpy(words, bytes, sizeof(words));
        found.wrong += !same_span(TaskSpan::unpack(words, 0), span_of(number));
        found.wrong += !found.numbers.insert(number).second;
      });
    }
    return found;
  }
  // The whole frames of a lane; byte_of(number, at) says what must be there.
  template <class ByteOf>
  [[nodiscard]] Found frames_of(LaneIndex lane, const ByteOf& byte_of) const {
    Found found;
    std::map<std::uint64_t, std::uint64_t> reached;  // bytes of each frame, in order
    for (const auto& [key, page] : pages_) {
      if (page.header.lane != lane) continue;
      for_each_fragment(page.header, page.payload, [&](const Fragment& part) {
        if (part.first) reached[part.frame_number] = 0;
        const auto at = reached.find(part.frame_number);
        if (at == reached.end() || at->second != part.offset) return;  // its beginning is gone
        for (std::uint64_t i = 0; i < part.bytes.size(); ++i)
          found.wrong += part.bytes[i] != byte_of(part.frame_number, part.offset + i);
        at->second += part.bytes.size();
        if (part.last) found.wrong += !found.numbers.insert(part.frame_number).second;
      });
    }
    return found;
  }

 private:
  std::mutex mutex_;
  std::map<Key, KeptPage> pages_;
  std::uint64_t twice_ = 0;
};

}  // namespace tidemark
