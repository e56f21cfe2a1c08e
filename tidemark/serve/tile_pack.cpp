// SPDX-License-Identifier: Apache-2.0
#include "tidemark/serve/tile_pack.h"

#include <fcntl.h>
#include <stdlib.h>

#include <cstdlib>

#include "tidemark/base/whole_io.h"

namespace tidemark {
namespace {

constexpr std::size_t kFlushBytes = 1 << 20;

// Not valid, with errno, if the system refuses.
UniqueFd file_without_a_name(const std::string& folder) {
  UniqueFd fd(
      uninterrupted([&] { return ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600); }));
  if (fd.valid() || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) return fd;
  // A file system without such files.
  std::string path = folder + "/tidemark-tiles-XXXXXX";
  fd.reset(::mkostemp(path.data(), O_CLOEXEC));
  if (fd.valid()) ::unlink(path.c_str());
  return fd;
}

}  // namespace

std::string temporary_folder() {
  const char* named = std::getenv("TMPDIR");
  return named != nullptr && *named != 0 ? named : "/tmp";
}

Expected<std::unique_ptr<TilePack>> TilePack::create(const std::string& folder) {
  UniqueFd fd = file_without_a_name(folder);
  if (!fd.valid()) return file_failure("create a temporary file in", folder);
  return std::unique_ptr<TilePack>(new TilePack(folder, std::move(fd)));
}

Expected<void> TilePack::put(std::string_view name, std::span<const unsigned char> bytes) {
  const auto [at, is_new] = places_.try_emplace(std::string(name));
  at->second = {written_ + unwritten_.size(), bytes.size()};
  unwritten_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return unwritten_.size() >= kFlushBytes ? flush() : Expected<void>();
}

Expected<void> TilePack::flush() {
  if (!write_at(fd_.get(), written_, unwritten_.data(), unwritten_.size()))
    return failure(ErrorKind::kFile, "tiles: no space for {} bytes in {}: {}",
                   written_ + unwritten_.size(), folder_, std::strerror(errno));
  written_ += unwritten_.size();
  unwritten_.clear();
  return {};
}

Expected<void> TilePack::finish() {
  TM_TRY_DO(flush());
  unwritten_.shrink_to_fit();
  return {};
}

Expected<std::optional<std::string>> TilePack::read(std::string_view name) const {
  const auto found = places_.find(name);
  if (found == places_.end()) return std::nullopt;
  std::string bytes(found->second.bytes, 0);
  if (read_at(fd_.get(), found->second.offset, bytes.data(), bytes.size()) !=
      static_cast<ssize_t>(bytes.size()))
    return failure(ErrorKind::kFile, "tiles: {} cannot be read back from {}: {}", name, folder_,
                   std::strerror(errno));
  return bytes;
}

}  // namespace tidemark
