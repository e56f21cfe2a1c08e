// SPDX-License-Identifier: Apache-2.0
// The page, for each of the three ways to it. The files of the page (viewer/dist) are in this
// program; its template has places for the title, the policy, the style, the script, what the page
// must know, and the data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tidemark {

struct PageBundle {
  std::string_view page;  // the template
  std::string_view script;
  std::string_view style;
  std::string_view script_sha256;  // in hexadecimal
  std::string_view style_sha256;
};
const PageBundle& page_bundle();

enum class PageWay { kEmbedded, kSite, kServed };

struct PageSetup {
  PageWay way = PageWay::kServed;
  std::string title;
  std::string run;                        // what the names of its blobs begin with
  std::optional<std::string> other = {};  // of the run to compare with
  std::optional<std::string> runs = {};   // name of the list of runs
};

// In two parts, with the embedded data between them.
struct PageText {
  std::string before_data;
  std::string after_data;
};
PageText page_text(const PageSetup& setup, const PageBundle& bundle = page_bundle());

// For text and for values of attributes.
std::string html_text(std::string_view text);
// JSON for the inside of a script element: it cannot end that.
std::string json_in_html(std::string_view json);
std::string base64(std::string_view bytes);
// How long it is.
constexpr std::uint64_t base64_bytes(std::uint64_t bytes) { return (bytes + 2) / 3 * 4; }

}  // namespace tidemark
