// SPDX-License-Identifier: Apache-2.0
// Runs for the tests of the page (viewer/test), written by hand:
//   random FIRST LAST FOLDER   FOLDER/SEED/tiles, and in FOLDER/SEED/naive.json what each track has
//   to
//                              show, straight from the records
//   kernels COUNT FOLDER       a run of so many kernels
//   poison FOLDER              markup, quotes and control characters behind every text of that run
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iostream>

#include <fmt/format.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include "tests/poisoned_run.h"
#include "tidemark/session/testing/sample_run.h"
#include "tidemark/tiles/folder_sink.h"
#include "tidemark/tiles/testing/naive_tracks.h"
#include "tidemark/tiles/testing/random_capture.h"
#include "tidemark/tiles/tile_set.h"

namespace tidemark {
namespace {

namespace fs = std::filesystem;
using samples::HandCapture;
using samples::kLaunchTicks;
using samples::NaiveTracks;
using samples::Random;
using samples::TemporaryDirectory;
using Json = rapidjson::Writer<rapidjson::StringBuffer>;

void put_spans(Json& json, const std::vector<samples::NamedSpan>& spans) {
  json.Key("spans");
  json.StartArray();
  for (const auto& [span, name] : spans) {
    json.StartArray();
    json.Uint64(span.begin);
    json.Uint64(span.length);
    json.Uint(span.row);
    json.Uint64(span.aux);
    json.String(name.data(), static_cast<rapidjson::SizeType>(name.size()));
    json.EndArray();
  }
  json.EndArray();
}

void put_samples(Json& json, const std::vector<TileSample>& samples) {
  json.Key("samples");
  json.StartArray();
  for (const TileSample& sample : samples) {
    json.StartArray();
    json.Uint64(sample.begin);
    json.Int64(sample.value);
    json.EndArray();
  }
  json.EndArray();
}

void write_naive(RunCapture& run, const std::string& path) {
  const TrackList list = list_tracks(run).value();
  NaiveTracks naive(run, list);
  rapidjson::StringBuffer text;
  Json json(text);
  json.StartArray();
  for (std::size_t number = 0; number < list.tracks.size(); ++number) {
    const Track& track = list.tracks[number];
    json.StartObject();
    json.Key("id");
    json.Uint64(number);
    if (track.has_samples())
      put_samples(json, naive.samples(track));
    else
      put_spans(json, naive.spans(track));
    json.EndObject();
  }
  json.EndArray();
  std::ofstream(path) << text.GetString();
}

// Lanes that wait, drop and keep the last; every second one is killed in the middle, so that the
// pages that were left are recovered.
void write_sample(const TemporaryDirectory& directory, Random& random) {
  (void)samples::write_sample_run(directory.path(),
                                  {.page_bytes = random.one_in(2) ? 1024u : 4096u,
                                   .spans = static_cast<std::uint32_t>(random.below(5000)),
                                   .frames = static_cast<std::uint32_t>(random.below(20)),
                                   .closed = random.one_in(2),
                                   .late_lanes = random.one_in(4)});
}

// The host was killed: the file ends anywhere in its last two thirds.
void cut_off(const std::string& path, Random& random) {
  const std::uint64_t bytes = fs::file_size(path);
  fs::resize_file(path, bytes / 3 + random.below(bytes - bytes / 3));
}

// False: nothing of the run is left.
bool make_random(std::uint64_t seed, const std::string& folder) {
  Random random(seed + 5000);
  const TemporaryDirectory directory;
  if (seed % 2 == 0) {
    HandCapture capture(samples::every_stream(1, static_cast<std::uint32_t>(1 + random.below(2))));
    samples::write_random(capture, random);
    capture.finish_at(kLaunchTicks + random.size(50));
    (void)capture.open(directory);
  } else {
    write_sample(directory, random);
  }
  if (random.one_in(4)) cut_off(directory.file("capture.tide"), random);
  auto run = RunCapture::open(directory.path());
  if (!run) return false;
  auto sink = FolderSink::create(folder + "/tiles").value();
  TM_CHECK(make_tile_set(*run, {}, sink));
  write_naive(*run, folder + "/naive.json");
  return true;
}

// Each kernel runs once or twice, one after the other on three cores.
void make_kernels(std::uint64_t count, const std::string& folder) {
  samples::CaptureEnd end;
  end.kernels.clear();
  for (std::uint64_t i = 0; i < count; ++i)
    end.kernels.push_back(fmt::format("kernel_{:05}<b>\"{}\"</b>", i, i));
  HandCapture capture(samples::every_stream(1, 1));
  const std::uint64_t spans = count + count / 2;
  for (std::uint64_t i = 0; i < spans; ++i) {
    const auto core = static_cast<std::uint32_t>(i % capture.config().core_count());
    const std::uint64_t begin = kLaunchTicks + 1000 * i;
    capture.write(capture.lanes().spans(core),
                  TaskSpan{.task_id = i,
                           .begin_ticks = begin,
                           .end_ticks = begin + 500 + i % 400,
                           .kernel = static_cast<std::uint16_t>(i % count),
                           .core = static_cast<std::uint16_t>(core)});
  }
  capture.finish_at(kLaunchTicks + 1000 * spans + 1000);
  const TemporaryDirectory directory;
  (void)capture.open(directory, end);
  fs::create_directories(folder);
  fs::copy_file(directory.file("capture.tide"), folder + "/capture.tide");
  RunReport report = samples::sample_report();
  report.workload = "kernels";
  TM_CHECK(write_run_report(folder, report));
}

constexpr std::string_view kHarm =
    "<img src=x onerror=alert(1)>\"'`&amp;\x1b[31m\t\r\n\u202e{{data}}</script>"
    "<script>alert(2)</script><!--";

std::uint64_t number(const std::string& text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  TM_CHECK(error == std::errc{} && end == text.data() + text.size());
  return value;
}

int make(const std::vector<std::string>& words) {
  if (words.size() == 4 && words[0] == "random") {
    for (std::uint64_t seed = number(words[1]); seed <= number(words[2]); ++seed) {
      const std::string folder = fmt::format("{}/{}", words[3], seed);
      fs::create_directories(folder);
      if (!make_random(seed, folder)) fs::remove_all(folder);
    }
    return 0;
  }
  if (words.size() == 3 && words[0] == "kernels") {
    make_kernels(number(words[1]), words[2]);
    return 0;
  }
  if (words.size() == 2 && words[0] == "poison") {
    poison_run(words[1], kHarm, {"run_id", "status", "stream", "policy", "state"});
    return 0;
  }
  std::cerr << "usage: page_runs random FIRST LAST FOLDER | kernels COUNT FOLDER | poison FOLDER\n";
  return 2;
}

}  // namespace
}  // namespace tidemark

int main(int argc, char** argv) { return tidemark::make({argv + 1, argv + argc}); }
