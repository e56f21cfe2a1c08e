// SPDX-License-Identifier: Apache-2.0
#include "tidemark/serve/page_text.h"

#include <charconv>

#include <fmt/format.h>

#include "tidemark/run/json_fields.h"

namespace tidemark {
namespace {

constexpr std::string_view kPlaces[] = {"title", "policy", "style", "script", "setup", "data"};

std::string bytes_of_hex(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    unsigned value = 0;
    std::from_chars(hex.data() + i, hex.data() + i + 2, value, 16);
    bytes += static_cast<char>(value);
  }
  return bytes;
}

// Nothing but what is in the page itself; the same as the header of a server says.
std::string policy_of(const PageSetup& setup, const PageBundle& bundle) {
  const bool embedded = setup.way == PageWay::kEmbedded;
  const auto hash = [](std::string_view sha256) {
    return fmt::format("'sha256-{}'", base64(bytes_of_hex(sha256)));
  };
  return fmt::format(
      "default-src 'none'; script-src {}; style-src {}; img-src data: blob:{}; connect-src {}; "
      "worker-src blob:{}; base-uri 'none'; form-action 'none'",
      embedded ? hash(bundle.script_sha256) : "'self'",
      embedded ? hash(bundle.style_sha256) : "'self'", embedded ? "" : " 'self'",
      embedded ? "'none'" : "'self'", embedded ? "" : " 'self'");
}

std::string setup_json(const PageSetup& setup) {
  constexpr const char* kWays[] = {"embedded", "site", "served"};
  return json_text([&](CompactJsonWriter& json) {
    put(json, "way", kWays[static_cast<std::size_t>(setup.way)]);
    put(json, "run", setup.run);
    put(json, "other", setup.other);
    put(json, "runs", setup.runs);
  });
}

std::string what_is_at(std::string_view place, const PageSetup& setup, const PageBundle& bundle) {
  const bool embedded = setup.way == PageWay::kEmbedded;
  if (place == "title") return html_text(setup.title);
  if (place == "policy") return html_text(policy_of(setup, bundle));
  if (place == "setup") return json_in_html(setup_json(setup));
  if (place == "style")
    return embedded ? fmt::format("<style>{}</style>", bundle.style)
                    : R"(<link rel="stylesheet" href="viewer.css">)";
  if (place == "script")
    return embedded ? fmt::format("<script>{}</script>", bundle.script)
                    : R"(<script src="viewer.js" defer></script>)";
  return {};
}

}  // namespace

PageText page_text(const PageSetup& setup, const PageBundle& bundle) {
  PageText text;
  std::string* to = &text.before_data;
  std::string_view left = bundle.page;
  while (!left.empty()) {
    const std::size_t at = left.find("{{");
    *to += left.substr(0, at);
    if (at == std::string_view::npos) break;
    left.remove_prefix(at + 2);
    const std::string_view place = left.substr(0, left.find("}}"));
    if (std::ranges::find(kPlaces, place) == std::end(kPlaces)) {
      *to += "{{";  // of the page's own
      continue;
    }
    left.remove_prefix(place.size() + 2);
    if (place == "data")
      to = &text.after_data;
    else
      *to += what_is_at(place, setup, bundle);
  }
  return text;
}

std::string html_text(std::string_view text) {
  std::string html;
  for (const char c : text) {
    switch (c) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '"':
        html += "&quot;";
        break;
      default:
        html += c;
    }
  }
  return html;
}

std::string json_in_html(std::string_view json) {
  std::string text;
  for (const char c : json)
    if (c == '<')
      text += "\\u003c";
    else
      text += c;
  return text;
}

std::string base64(std::string_view bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const auto byte = [&](std::size_t at) {
    return at < bytes.size() ? static_cast<unsigned char>(bytes[at]) : 0u;
  };
  std::string text;
  text.reserve(base64_bytes(bytes.size()));
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const unsigned three = byte(at) << 16 | byte(at + 1) << 8 | byte(at + 2);
    text += kDigits[three >> 18];
    text += kDigits[three >> 12 & 63];
    text += at + 1 < bytes.size() ? kDigits[three >> 6 & 63] : '=';
    text += at + 2 < bytes.size() ? kDigits[three & 63] : '=';
  }
  return text;
}

}  // namespace tidemark
