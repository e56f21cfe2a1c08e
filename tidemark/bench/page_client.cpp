// SPDX-License-Identifier: Apache-2.0
#include "tidemark/bench/page_client.h"

#include <httplib.h>

#include <algorithm>

#include <fmt/core.h>

#include "tidemark/base/monotonic_clock.h"
#include "tidemark/run/json.h"

namespace tidemark::bench {
namespace {

constexpr std::uint64_t kRowsInLeaf = 4096;
constexpr int kOk = 200, kNone = 404, kOlder = 410;

std::uint64_t number_in(const rapidjson::Value& object, std::string_view key) {
  const auto& value = member_of(object, key);
  return value.IsUint64() ? value.GetUint64() : 0;
}
bool flag_in(const rapidjson::Value& object, std::string_view key) {
  const auto& value = member_of(object, key);
  return value.IsBool() && value.GetBool();
}

class PageClient {
 public:
  // "http://127.0.0.1:PORT/TOKEN/" in two.
  explicit PageClient(const std::string& address)
      : base_(address.substr(address.find('/', 7))),
        http_(address.substr(0, address.find('/', 7))) {
    http_.set_keep_alive(true);
    http_.set_read_timeout(30);
    // The page says where its run is.
    const std::string page = get("");
    const std::string_view key = R"("run":")";
    const std::size_t at = page.find(key) + key.size();
    if (at >= key.size()) base_ += page.substr(at, page.find('"', at) - at);
  }

  void look() {
    ++seen.polls;
    const std::string text = get("index.json");
    rapidjson::Document index;
    index.Parse(text.data(), text.size());
    if (index.HasParseError()) return;
    const std::uint64_t generation = number_in(index, "generation");
    if (generation != generation_ && generation > 0) {
      generation_ = generation;
      ++seen.generations;
      show(index);
    }
    seen.saw_end = generation > 0 && !flag_in(index, "live") &&
                   flag_in(member_of(index, "progress"), "complete");
  }

  PageSeen seen;

 private:
  std::string get(const std::string& name) {
    const auto answer = http_.Get(base_ + name);
    if (answer && answer->status == kOk) return answer->body;
    if (!answer || (answer->status != kNone && answer->status != kOlder)) ++seen.failed;
    return {};
  }

  void get_blob(const std::string& name) {
    const std::string blob = get(name);
    seen.blobs += !blob.empty();
    seen.blob_bytes += blob.size();
  }

  void show(const rapidjson::Value& index) {
    const auto& tracks = member_of(index, "tracks");
    const std::string blobs = text_of(member_of(index, "blobs"));
    if (!tracks.IsArray()) return;
    seen.records = 0;
    for (const auto& track : tracks.GetArray()) {
      const std::uint64_t id = number_in(track, "id"), count = number_in(track, "count");
      if (text_of(member_of(track, "kind")) == "lane") seen.records += count;
      get_blob(fmt::format("{}dir/{}", blobs, id));
      if (count > 0) get_blob(fmt::format("{}t/{}/0/{}", blobs, id, (count - 1) / kRowsInLeaf));
      get_blob(fmt::format("{}t/{}/{}/0", blobs, id, number_in(index, "level_count")));
    }
  }

  std::string base_;
  httplib::Client http_;
  std::uint64_t generation_ = 0;
};

}  // namespace

PageSeen follow_run(const std::string& address, std::uint32_t poll_ms,
                    const std::atomic<bool>& gives_up) {
  PageClient page(address);
  while (!page.seen.saw_end && !gives_up) {
    page.look();
    sleep_ms(poll_ms);
  }
  return page.seen;
}

}  // namespace tidemark::bench
