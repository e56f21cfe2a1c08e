// SPDX-License-Identifier: Apache-2.0
#include "tidemark/serve/serve_runs.h"

#include <filesystem>

#include "tidemark/serve/cache_folder.h"
#include "tidemark/serve/http_text.h"
#include "tidemark/serve/run_shelf.h"
#include "tidemark/serve/site.h"
#include "tidemark/serve/token.h"

namespace tidemark {
namespace {

bool is_run(const std::string& path) {
  std::error_code code;
  return std::filesystem::exists(path + "/run.json", code);
}

std::string prefix_of(const std::string& directory) { return "run/" + run_key(directory) + "/"; }

PageSetup page_of(const ServeOptions& options) {
  PageSetup page{.way = PageWay::kServed, .title = "Tidemark"};
  if (!is_run(options.path)) {
    page.runs = "runs.json";
  } else {
    page.run = prefix_of(options.path);
    if (const auto report = read_run_report(options.path)) page.title = run_title(*report);
  }
  if (!options.other.empty()) page.other = prefix_of(options.other);
  return page;
}

RunShelf::Options shelf_of(const ServeOptions& options, const std::string& cache) {
  RunShelf::Options shelf{.cache_folder = cache, .making = options.making};
  if (is_run(options.path))
    shelf.runs.push_back(options.path);
  else
    shelf.folder = options.path;
  if (!options.other.empty()) shelf.runs.push_back(options.other);
  return shelf;
}

}  // namespace

Expected<void> serve_runs(const ServeOptions& options, int stop_fd,
                          const std::function<void(const std::string& address)>& listening) {
  TM_TRY(const auto cache, CacheFolder::make(options.cache));
  TM_TRY(const auto listener, listen_on_loopback(options.port));
  TM_TRY(const auto token, make_token());
  RunShelf shelf(shelf_of(options, cache.path()));
  Site::Options site_options{
      .gate = {.port = listener.port, .token = token},
      .page = page_of(options),
      .find = [&](const std::string& key) { return shelf.find(key); },
  };
  if (site_options.page.runs) site_options.list = [&] { return shelf.list_json(); };
  const Site site(std::move(site_options));
  const HttpText http([&](const Request& request) { return site.answer(request); });
  listening(fmt::format("http://127.0.0.1:{}/{}/", listener.port, token));
  return serve_connections(
      listener, [&](const std::string& head, bool last) { return http.answer(head, last); },
      stop_fd, options.limits);
}

}  // namespace tidemark
