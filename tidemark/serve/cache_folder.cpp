// SPDX-License-Identifier: Apache-2.0
#include "tidemark/serve/cache_folder.h"

#include <stdlib.h>

#include <filesystem>

#include "tidemark/serve/tile_pack.h"

namespace tidemark {
namespace {

namespace fs = std::filesystem;

// The run that a folder is in, or is; empty: none.
std::string run_around(const std::string& folder) {
  std::error_code code;
  for (fs::path at = fs::canonical(folder, code); !code; at = at.parent_path()) {
    if (fs::exists(at / "run.json", code)) return at.string();
    if (at == at.root_path()) break;
  }
  return {};
}

}  // namespace

Expected<CacheFolder> CacheFolder::make(const std::string& where) {
  const std::string folder = where.empty() ? temporary_folder() : where;
  std::error_code code;
  if (!fs::is_directory(folder, code))
    return failure(ErrorKind::kUsage, "{} is not a folder; name one for the tiles with --cache DIR",
                   folder);
  if (const std::string run = run_around(folder); !run.empty())
    return failure(ErrorKind::kUsage,
                   "{} is in the run {}, and a run is not written to; name another folder with "
                   "--cache DIR",
                   folder, run);
  std::string path = folder + "/tidemark-serve-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) return file_failure("create a folder in", folder);
  return CacheFolder(std::move(path));
}

CacheFolder::~CacheFolder() {
  std::error_code code;
  if (!path_.empty()) fs::remove_all(path_, code);
}

}  // namespace tidemark
