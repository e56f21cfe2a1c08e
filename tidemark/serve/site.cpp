// SPDX-License-Identifier: Apache-2.0
#include "tidemark/serve/site.h"

#include "tidemark/tiles/folder_sink.h"

namespace tidemark {
namespace {

constexpr std::string_view kRunAddress = "/run/";

Reply text_reply(const char* type, std::string_view text) {
  return {.type = type, .body = std::string(text)};
}

}  // namespace

Site::Site(Options options) : options_(std::move(options)) {
  const PageText text = page_text(options_.page);
  page_ = text.before_data + text.after_data;
}

Reply Site::answer(const Request& request) const {
  std::string_view path;
  if (const int refused = refusal_of(request, options_.gate, path); refused != 0)
    return refusal_reply(refused);
  return answer_path(path, request);
}

Reply Site::answer_path(std::string_view path, const Request& request) const {
  if (path.empty()) return {.status = 308, .location = "/" + options_.gate.token + "/"};
  if (path == "/") return text_reply("text/html; charset=utf-8", page_);
  if (path == "/viewer.js")
    return text_reply("text/javascript; charset=utf-8", page_bundle().script);
  if (path == "/viewer.css") return text_reply("text/css; charset=utf-8", page_bundle().style);
  if (path == "/runs.json" && options_.list) return json_reply(options_.list());
  if (!path.starts_with(kRunAddress)) return refusal_reply(404);
  path.remove_prefix(kRunAddress.size());
  const std::string_view key = path.substr(0, path.find('/'));
  if (key.size() == path.size()) return refusal_reply(404);
  path.remove_prefix(key.size() + 1);
  if (!is_tile_name(path)) return refusal_reply(404);
  const auto store = options_.find(std::string(key));
  return store == nullptr ? refusal_reply(404) : store->answer(path, request.if_none_match);
}

}  // namespace tidemark
