// SPDX-License-Identifier: Apache-2.0
#include "tidemark/serve/tile_site.h"

#include <filesystem>

#include "tidemark/base/file_mode.h"
#include "tidemark/export/part_file.h"
#include "tidemark/serve/packed_run.h"
#include "tidemark/serve/page_text.h"
#include "tidemark/tiles/folder_sink.h"

namespace tidemark {
namespace {

namespace fs = std::filesystem;

// By it a later report knows that this folder is one of its own.
constexpr const char* kMark = "tidemark-site.json";
constexpr const char* kMarkText = "{\"format\":\"tidemark-site\",\"version\":1}\n";
constexpr const char* kUnfinished = "unfinished";  // tile sets that are being made
constexpr const char* kRun = "run";
constexpr const char* kOther = "other";

Expected<void> claim(const std::string& folder) {
  std::error_code code;
  if (!fs::exists(folder, code) && !create_directories(folder))
    return file_failure("create", folder);
  if (!fs::is_directory(folder, code))
    return failure(ErrorKind::kUsage, "--tiles {}: is not a folder", folder);
  if (fs::exists(folder + "/" + kMark, code)) return {};
  if (fs::is_empty(folder, code)) return write_part_file(folder + "/" + kMark, kMarkText);
  return failure(
      ErrorKind::kUsage,
      "--tiles {}: holds other files, and is no site of 'tidemark report'; name a new or "
      "an empty folder",
      folder);
}

// In place of what has that name; nothing: it goes.
Expected<void> replace(const std::string& folder, const char* name, bool is_there) {
  std::error_code code;
  const std::string old = folder + "/" + name;
  fs::remove_all(old, code);
  if (code) return failure(ErrorKind::kFile, "remove {}: {}", old, code.message());
  if (!is_there) return {};
  fs::rename(folder + "/" + kUnfinished + "/" + name, old, code);
  if (code) return failure(ErrorKind::kFile, "create {}: {}", old, code.message());
  return {};
}

Expected<void> put_page(const TileSite& site, const PageSetup& setup) {
  const PageText page = page_text(setup);
  const auto put = [&](const char* name, std::string_view text) {
    return write_part_file(site.folder + "/" + name, text);
  };
  TM_TRY_DO(put("viewer.js", page_bundle().script));
  TM_TRY_DO(put("viewer.css", page_bundle().style));
  return put("index.html", page.before_data + page.after_data);
}

}  // namespace

Expected<TileSiteSize> write_tile_site(const TileSite& site, const TileMaking& making) {
  TM_TRY_DO(claim(site.folder));
  const std::string unfinished = site.folder + "/" + kUnfinished;
  std::error_code code;
  fs::remove_all(unfinished, code);
  TileSiteSize size{.files = 4};
  PageSetup setup{.way = PageWay::kSite, .run = std::string(kRun) + "/"};
  const auto make = [&](const std::string& run, const char* name) -> Expected<std::string> {
    TM_TRY(auto sink, FolderSink::create(unfinished + "/" + name));
    TM_TRY(auto title, pack_run(run, making, sink));
    size.files += sink.file_count();
    size.bytes += sink.byte_count();
    return title;
  };
  TM_TRY(setup.title, make(site.run, kRun));
  if (!site.other.empty()) {
    TM_TRY(const auto title, make(site.other, kOther));
    setup.title += " beside " + title;
    setup.other = std::string(kOther) + "/";
  }
  TM_TRY_DO(replace(site.folder, kRun, true));
  TM_TRY_DO(replace(site.folder, kOther, !site.other.empty()));
  fs::remove_all(unfinished, code);
  TM_TRY_DO(put_page(site, setup));
  size.bytes +=
      page_bundle().page.size() + page_bundle().script.size() + page_bundle().style.size();
  return size;
}

}  // namespace tidemark
