// SPDX-License-Identifier: Apache-2.0
#include "tidemark/serve/single_file.h"

#include "tidemark/base/human_text.h"
#include "tidemark/export/part_file.h"
#include "tidemark/serve/packed_run.h"
#include "tidemark/serve/page_text.h"
#include "tidemark/serve/tile_pack.h"

namespace tidemark {
namespace {

constexpr std::string_view kRunPrefix = "run/", kOtherPrefix = "other/";
constexpr std::string_view kBegin = R"(<script type="application/octet-stream" data-name=")";
constexpr std::string_view kMiddle = "\">";
constexpr std::string_view kEnd = "</script>\n";

std::uint64_t embedded_bytes(std::string_view prefix, std::string_view name, std::uint64_t bytes) {
  return kBegin.size() + prefix.size() + name.size() + kMiddle.size() + base64_bytes(bytes) +
         kEnd.size();
}

std::uint64_t embedded_bytes(std::string_view prefix, const TilePack& pack) {
  std::uint64_t sum = 0;
  for (const auto& [name, place] : pack.places()) sum += embedded_bytes(prefix, name, place.bytes);
  return sum;
}

tl::unexpected<Error> too_large(const SingleFile& file) {
  return failure(ErrorKind::kUsage,
                 "{} would be larger than {} (--max-bytes {}): raise that, or use 'tidemark report "
                 "{} --tiles DIR' (a folder for any web server) or 'tidemark serve {}', which have "
                 "no limit",
                 file.path, human_bytes(file.max_bytes), file.max_bytes, file.run, file.run);
}

// Stops the making as soon as the file is sure to be too large: of a capture of many gigabytes
// nobody wants to wait for the rest.
class LimitedSink : public TileSink {
 public:
  LimitedSink(TilePack& pack, std::string_view prefix, std::uint64_t most, const SingleFile& file)
      : pack_(pack), prefix_(prefix), most_(most), file_(file) {}

  Expected<void> put(std::string_view name, std::span<const unsigned char> bytes) override {
    if (const auto before = pack_.places().find(name); before != pack_.places().end())
      bytes_ -= embedded_bytes(prefix_, name, before->second.bytes);
    bytes_ += embedded_bytes(prefix_, name, bytes.size());
    if (bytes_ > most_) return too_large(file_);
    return pack_.put(name, bytes);
  }

 private:
  TilePack& pack_;
  std::string_view prefix_;
  std::uint64_t most_;
  std::uint64_t bytes_ = 0;
  const SingleFile& file_;
};

struct Packed {
  std::string_view prefix;
  std::string title;
  std::unique_ptr<TilePack> tiles;
  std::uint64_t bytes = 0;  // in the file
};

Expected<Packed> pack(const SingleFile& file, const std::string& directory, std::string_view prefix,
                      const TileMaking& making, std::uint64_t most) {
  TM_TRY(auto tiles, TilePack::create(temporary_folder()));
  LimitedSink sink(*tiles, prefix, most, file);
  TM_TRY(auto title, pack_run(directory, making, sink));
  TM_TRY_DO(tiles->finish());
  const std::uint64_t bytes = embedded_bytes(prefix, *tiles);
  return Packed{prefix, std::move(title), std::move(tiles), bytes};
}

Expected<void> write_blobs(PartFile& to, const Packed& run) {
  for (const auto& [name, place] : run.tiles->places()) {
    TM_TRY(const auto bytes, run.tiles->read(name));
    for (const std::string_view part : {kBegin, run.prefix, std::string_view(name), kMiddle})
      to.text() += part;
    to.text() += base64(*bytes);
    to.text() += kEnd;
    to.flush_if_full();
  }
  return {};
}

PageText page_of(const std::vector<Packed>& runs) {
  PageSetup setup{
      .way = PageWay::kEmbedded, .title = runs[0].title, .run = std::string(kRunPrefix)};
  if (runs.size() > 1) {
    setup.title += " beside " + runs[1].title;
    setup.other = kOtherPrefix;
  }
  return page_text(setup);
}

}  // namespace

Expected<void> write_single_file(const SingleFile& file, const TileMaking& making,
                                 const std::function<void(const SingleFileSize&)>& before_writing) {
  // At least; what the template's places get comes later.
  SingleFileSize size{.page_bytes = page_bundle().script.size() + page_bundle().style.size()};
  const auto left = [&](std::uint64_t used) {
    return file.max_bytes > used ? file.max_bytes - used : 0;
  };
  std::vector<Packed> runs;
  TM_TRY(runs.emplace_back(), pack(file, file.run, kRunPrefix, making, left(size.page_bytes)));
  if (!file.other.empty()) {
    TM_TRY(runs.emplace_back(),
           pack(file, file.other, kOtherPrefix, making, left(size.page_bytes + runs[0].bytes)));
  }
  const PageText page = page_of(runs);
  size.page_bytes = page.before_data.size() + page.after_data.size();
  size.bytes = size.page_bytes;
  for (const Packed& run : runs) {
    size.bytes += run.bytes;
    size.blobs += run.tiles->places().size();
  }
  if (size.bytes > file.max_bytes) return too_large(file);
  before_writing(size);
  TM_TRY(auto to, PartFile::create(file.path));
  to.text() += page.before_data;
  for (const Packed& run : runs) TM_TRY_DO(write_blobs(to, run));
  to.text() += page.after_data;
  return to.finish();
}

}  // namespace tidemark
