// SPDX-License-Identifier: Apache-2.0
// The JSON of a run by the keys of its public contract, written out here and read with a plain JSON
// parser: a key that is renamed, retyped or swapped with another fails. Tools outside read these.
#include <map>

#include "tests/child_process.h"
#include "tests/streams_fixture.h"
#include "tidemark/base/testing/temporary_directory.h"

namespace tidemark {
namespace {

constexpr const char* kCounts =
    "produced:i delivered:i recovered:i dropped:i dropped_by:o overwritten:i incomplete:i "
    "unaccounted:i bytes:i pages:i stall_ns:i gaps:i gap_lost:i ";

class JsonKeys : public Streams {
 protected:
  static void expect_counts(const rapidjson::Value& counts) {
    expect_fields(counts, kCounts);
    expect_fields(counts["dropped_by"],
                  "no_page:i host_gone:i aborted:i file_error:i device_lost:i");
  }
  void expect_run_json(const rapidjson::Value& json) {
    expect_fields(json,
                  "schema_version:i run_id:s workload:s case:s platform:s runtime:s transport:s "
                  "seed:i status:s rank:i device:i host_id:s exit_code:i error:O tasks:o scopes:i "
                  "warnings:a result:O device_ns:i host_ns:i loss_known:b streams:o "
                  "not_exported:a recorder:o clock:o");
    expect_fields(json["tasks"], "submitted:i completed:i");
    expect_fields(json["recorder"],
                  "ns_per_record:f drain_threads:i host_cpu_ns:i pool_bytes:i min_free_pages:i "
                  "max_full_pages:i device_stall_share:f corrupt_pages:i corruption:a");
    expect_fields(json["clock"], "ticks_per_second:i uncertainty_ns:i anchors:a");
    EXPECT_EQ(json["schema_version"].GetInt(), 1);
    EXPECT_EQ(std::string(json["run_id"].GetString()).size(), 16u);
    for (const auto& stream : json["streams"].GetObject()) {
      expect_counts(stream.value);
      expect_fields(stream.value, "lanes:a");
      for (const auto& lane : stream.value["lanes"].GetArray()) {
        expect_counts(lane);
        expect_fields(lane, "lane:i producer:s state:s policy:s");
      }
    }
    for (const auto& anchor : json["clock"]["anchors"].GetArray())
      expect_fields(anchor, "device_ticks:s host_ns:s real_ns:s uncertainty_ns:i");
  }

  // Payloads of the chunks of one type, by the offsets that FORMAT.md gives.
  std::vector<std::string> chunks_of(const std::string& run, unsigned type) {
    const auto bytes = samples::read_bytes(path(run + "/capture.tide"));
    const auto number = [&](std::size_t at, std::size_t size) {
      std::uint64_t value = 0;
      for (std::size_t i = size; i-- > 0;) value = value << 8 | bytes[at + i];
      return value;
    };
    std::vector<std::string> found;
    for (std::size_t at = 0; at + 64 <= bytes.size() && number(at, 4) == 0x45444954;) {
      const std::uint64_t payload = number(at + 32, 8);
      EXPECT_EQ(number(at + 40, 8), at);
      if (number(at + 4, 2) == type)
        found.emplace_back(reinterpret_cast<const char*>(bytes.data()) + at + 64, payload);
      at += (64 + payload + 63) / 64 * 64;
    }
    return found;
  }
};

TEST_F(JsonKeys, OfRunJsonOfATaskRuntime) {
  run_ok(fmt::format("run vector_example {} --seed 11 --export-limit 9 --output-prefix r",
                     kAllStreams));
  const auto json = json_of("r/run.json");
  expect_run_json(json);
  EXPECT_STREQ(json["workload"].GetString(), "vector_example");
  EXPECT_STREQ(json["case"].GetString(), "default");
  EXPECT_STREQ(json["platform"].GetString(), "sim");
  EXPECT_STREQ(json["runtime"].GetString(), "tensormap_and_ringbuffer");
  EXPECT_STREQ(json["transport"].GetString(), "mapped");
  EXPECT_EQ(json["seed"].GetInt(), 11);
  EXPECT_STREQ(json["status"].GetString(), "ok");
  EXPECT_EQ(json["exit_code"].GetInt(), 0);
  EXPECT_TRUE(json["error"].IsNull());
  EXPECT_EQ(json["tasks"]["submitted"].GetInt(), 5);
  EXPECT_EQ(json["tasks"]["completed"].GetInt(), 5);
  EXPECT_EQ(json["scopes"].GetInt(), 2);
  expect_fields(json["result"], "passed:b text:s");
  EXPECT_FALSE(json.HasMember("region")) << "only while it is running";
  for (const char* stream : {"swimlane", "edges", "scopes", "events"})
    EXPECT_TRUE(json["streams"].HasMember(stream)) << stream;
  EXPECT_EQ(json["streams"]["scopes"]["produced"].GetInt(), 4);
  EXPECT_STREQ(json["streams"]["scopes"]["lanes"][0]["producer"].GetString(), "orchestrator");
  EXPECT_STREQ(json["streams"]["scopes"]["lanes"][0]["policy"].GetString(), "wait");
  // Ten spans of tasks are more than nine; four boundaries of scopes are not.
  ASSERT_GT(json["not_exported"].Size(), 0u);
  std::map<std::string, std::string> commands;
  for (const auto& file : json["not_exported"].GetArray()) {
    expect_fields(file, "file:s reason:s command:s");
    commands[file["file"].GetString()] = file["command"].GetString();
    EXPECT_NE(std::string(file["reason"].GetString()).find("more than --export-limit 9"),
              std::string::npos);
  }
  EXPECT_EQ(commands.at("l2_swimlane_records.json"), "tidemark export r l2_swimlane_records.json");
  EXPECT_FALSE(fs::exists(path("r/l2_swimlane_records.json")));
  EXPECT_TRUE(fs::exists(path("r/scope_stats.json")));
  run_ok(commands.at("l2_swimlane_records.json").substr(std::strlen("tidemark ")));
  EXPECT_EQ(json_of("r/l2_swimlane_records.json")["tasks"].Size(), 5u);
}

// Every count has another value, so that no two keys can change places.
TEST_F(JsonKeys, OfCountsSayWhatTheyCount) {
  run_ok(
      "run synthetic_producer --lanes 2 --writing-lanes 1 --records 4000 --policy drop "
      "--page-bytes 4096 --pool-bytes 131072 --inject drain_slow=5000 --output-prefix d");
  const auto dropped = json_of("d/run.json");
  expect_run_json(dropped);
  const auto& drop = dropped["streams"]["swimlane"];
  ASSERT_EQ(drop["lanes"].Size(), 2u);
  EXPECT_EQ(drop["produced"].GetUint64(), 4000u);
  EXPECT_GT(drop["dropped"].GetUint64(), 0u);
  EXPECT_GT(drop["delivered"].GetUint64(), 0u);
  EXPECT_EQ(drop["delivered"].GetUint64() + drop["dropped"].GetUint64(), 4000u);
  EXPECT_EQ(drop["dropped_by"]["no_page"].GetUint64(), drop["dropped"].GetUint64());
  EXPECT_EQ(drop["bytes"].GetUint64(), drop["delivered"].GetUint64() * 32);
  EXPECT_EQ(drop["gap_lost"].GetUint64(), drop["dropped"].GetUint64());
  EXPECT_GT(drop["gaps"].GetUint64(), 0u);
  EXPECT_EQ(drop["lanes"][1]["produced"].GetUint64(), 0u) << "--writing-lanes 1";
  EXPECT_STREQ(drop["lanes"][0]["policy"].GetString(), "drop");
  EXPECT_EQ(dropped["streams"]["events"]["produced"].GetUint64(), 2u);
  run_ok(
      "run synthetic_producer --lanes 1 --records 9000 --policy keep-last --keep-pages 3 "
      "--page-bytes 4096 --output-prefix k");
  const auto kept = json_of("k/run.json");
  const auto& keep = kept["streams"]["swimlane"];
  EXPECT_EQ(keep["produced"].GetUint64(), 9000u);
  EXPECT_EQ(keep["overwritten"].GetUint64() + keep["delivered"].GetUint64(), 9000u);
  EXPECT_GT(keep["overwritten"].GetUint64(), 8000u) << "three pages hold 124 each";
}

TEST_F(JsonKeys, OfARegionWhileTheRunIsRunning) {
  const pid_t pid = start_program(
      {"/bin/sh", "-c",
       fmt::format("cd '{}' && exec '{}' run synthetic_producer --rate 1000 --seconds 600 "
                   "--output-prefix r",
                   directory_, TIDEMARK_EXECUTABLE)},
      path("log"));
  // Its lanes write: it is under way.
  for (int tries = 0; tries < 300; ++tries)
    if (const Finished look = run("top r --json"); look.exit_code == 0)
      if (parse(look.out)["streams"][0]["attempted"].GetUint64() > 0) break;
  const std::string text = read(path("r/run.json"));
  ::kill(pid, SIGTERM);
  const auto end = wait_for(pid, 60'000);
  ASSERT_TRUE(end && end->exit_code == 143) << read(path("log"));
  const auto json = parse(text);
  EXPECT_STREQ(json["status"].GetString(), "running");
  expect_fields(json["region"],
                "path:s bytes:i boot_id:s pid_namespace:i host_pid:i host_start_time:i "
                "host_name:s");
  EXPECT_EQ(json["region"]["host_pid"].GetInt(), pid);
  EXPECT_TRUE(std::string(json["region"]["path"].GetString()).starts_with("/dev/shm/tidemark-"));
  std::string boot = read("/proc/sys/kernel/random/boot_id");
  boot.resize(boot.find('\n'));
  EXPECT_EQ(json["region"]["boot_id"].GetString(), boot);
  const auto after = json_of("r/run.json");
  EXPECT_STREQ(after["status"].GetString(), "interrupted");
  EXPECT_EQ(after["exit_code"].GetInt(), 143);
}

TEST_F(JsonKeys, OfAnErrorAndOfTheScopeThatMadeIt) {
  EXPECT_EQ(run("run scope_deadlock --enable-scope-stats --output-prefix r").exit_code, 3);
  const auto json = json_of("r/run.json");
  expect_run_json(json);
  expect_fields(json["error"],
                "code:i name:s class:s message:s hint:s scope:s ring:i resource:s used:i "
                "capacity:i setting:s");
  EXPECT_EQ(json["error"]["code"].GetInt(), 1);
  EXPECT_STREQ(json["error"]["name"].GetString(), "SCOPE_DEADLOCK");
  EXPECT_STREQ(json["status"].GetString(), "fatal");
  EXPECT_EQ(json["exit_code"].GetInt(), 3);
  const auto scopes = json_of("r/scope_stats.json");
  expect_fields(scopes,
                "schema_version:i fatal:b dropped:i scopes_unfinished:i culprit:o "
                "smallest_settings:s sites:a resources:a events:a");
  EXPECT_TRUE(scopes["fatal"].GetBool());
  expect_fields(scopes["culprit"], "scope:s ring:i resource:s used:i capacity:i setting:s");
  EXPECT_EQ(scopes["culprit"]["used"].GetInt(), 16383);
  EXPECT_EQ(scopes["culprit"]["capacity"].GetInt(), 16384);
  ASSERT_EQ(scopes["sites"].Size(), 1u);
  expect_fields(
      scopes["sites"][0],
      "site:s depth:i ring:i count:i total_ns:i longest_ns:i percent:f closest:s "
      "task_window_peak:a heap_peak:a dep_pool_peak:a fanin_peak:a args_peak:a tensormap_peak:i");
  EXPECT_EQ(scopes["sites"][0]["count"].GetInt(), 1);
  EXPECT_EQ(scopes["sites"][0]["task_window_peak"][0].GetInt(), 16383);
  EXPECT_NEAR(scopes["sites"][0]["percent"].GetDouble(), 100.0 * 16383 / 16384, 1e-3);
  ASSERT_EQ(scopes["resources"].Size(), 21u);
  for (const auto& use : scopes["resources"].GetArray())
    expect_fields(use, "resource:s peak:i capacity:i percent:f site:s suggested_setting:s");
  EXPECT_EQ(scopes["resources"][0]["peak"].GetInt(), 16383);
  EXPECT_EQ(scopes["resources"][0]["ring"].GetInt(), 0);
}

TEST_F(JsonKeys, OfAnAutopsy) {
  EXPECT_EQ(run("run hang_kernel --enable-l2-swimlane --scheduler-timeout-ms 200 "
                "--output-prefix r")
                .exit_code,
            3);
  const auto json = json_of("r/hang.json");
  expect_fields(json,
                "schema_version:i class:s code:i name:s message:s sentence:s detected_ns:i "
                "submitted:i completed:i stuck:a chain:a orchestrator:o cores:a schedulers:a "
                "rings:a recorder:o tensormap:i tensormap_capacity:i incomplete_tasks:i "
                "incomplete_tasks_cut:b");
  ASSERT_EQ(json["stuck"].Size(), 1u);
  expect_fields(json["stuck"][0],
                "task_id:s task:s kernel:s core:I since_ns:i for_ns:i site:s waits_for:a "
                "waiters:a");
  EXPECT_STREQ(json["stuck"][0]["task_id"].GetString(), "0x000000000000000c");
  EXPECT_EQ(json["stuck"][0]["waiters"].Size(), 5u);
  expect_fields(json["orchestrator"],
                "state:s left:b since_ns:i for_ns:i recorder_waiting:b last_submitted:s "
                "last_site:s done:b blocked:s");
  std::size_t records = 0;
  for (const auto& core : json["cores"].GetArray()) {
    expect_fields(core,
                  "core:i core_type:s state:s left:b since_ns:i for_ns:i recorder_waiting:b "
                  "parts_run:i task:S kernel:S block:i last_records:a");
    for (const auto& record : core["last_records"].GetArray()) {
      expect_fields(record, "task:s kernel:s block:i start_ns:i end_ns:i");
      EXPECT_LE(record["start_ns"].GetInt64(), record["end_ns"].GetInt64());
      ++records;
    }
  }
  EXPECT_GT(records, 0u);
  for (const auto& scheduler : json["schedulers"].GetArray()) {
    expect_fields(scheduler,
                  "scheduler:i state:s left:b since_ns:i for_ns:i recorder_waiting:b loops:i "
                  "completed:i ready:i running:i waiting:i");
    EXPECT_EQ(scheduler["running"].GetInt(), 1);
    EXPECT_EQ(scheduler["waiting"].GetInt(), 5);
    EXPECT_EQ(scheduler["ready"].GetInt(), 0);
  }
  ASSERT_EQ(json["rings"].Size(), 4u);
  for (const auto& ring : json["rings"].GetArray())
    expect_fields(ring,
                  "ring:i head:i tail:i tasks:i task_window:i heap:i heap_bytes:i "
                  "dep_pool_used:i fanin_used:i dep_pool:i");
  expect_fields(json["recorder"], "waiting_lanes:i unit_wait_ns:i");
  EXPECT_EQ(json["incomplete_tasks"].GetInt(), 6);
  run_ok("hang r --json");
  EXPECT_EQ(text_, read(path("r/hang.json")));
}

// What another reader of the capture finds, as FORMAT.md says it.
TEST_F(JsonKeys, OfTheChunksOfACapture) {
  run_ok(fmt::format("run vector_example {} --dump-tensor --output-prefix r", kAllStreams));
  const auto descriptions = chunks_of("r", 1), names = chunks_of("r", 3);
  const auto clocks = chunks_of("r", 4), outcomes = chunks_of("r", 8);
  ASSERT_FALSE(descriptions.empty() || names.empty() || clocks.empty() || outcomes.empty());
  const auto description = parse(descriptions.front());
  expect_fields(
      description,
      "format:s format_minor:i run_id:s workload:s case:s platform:s runtime:s transport:s seed:i "
      "rank:i device:i host_id:s ticks_per_second:i page_bytes:i kernels:a streams:a "
      "lanes:a task_runtime:o");
  EXPECT_STREQ(description["format"].GetString(), "tidemark capture");
  EXPECT_EQ(description["run_id"], json_of("r/run.json")["run_id"]);
  for (const auto& stream : description["streams"].GetArray()) {
    expect_fields(stream, "id:i name:s record_bytes:i kinds:a");
    for (const auto& kind : stream["kinds"].GetArray()) {
      expect_fields(kind, "name:s when:o fields:a");
      for (const auto& field : kind["fields"].GetArray())
        expect_fields(field, "name:s type:s offset:i");
    }
  }
  ASSERT_GT(description["lanes"].Size(), 0u);
  for (const auto& lane : description["lanes"].GetArray())
    expect_fields(lane, "lane:i stream:i policy:i record_bytes:i unit:i producer:s");
  expect_fields(description["task_runtime"], "clusters:i schedulers:i rings:a tensormap_pool:i");
  for (const auto& ring : description["task_runtime"]["rings"].GetArray())
    expect_fields(ring, "task_window:i heap:i dep_pool:i");
  const auto clock = parse(clocks.back());
  expect_fields(clock, "launch_ticks:s finish_ticks:s ticks_per_second:i anchors:a");
  EXPECT_LT(std::stoull(clock["launch_ticks"].GetString()),
            std::stoull(clock["finish_ticks"].GetString()));
  const auto outcome = parse(outcomes.back());
  expect_fields(outcome, "status:s error:O tasks:o scopes:i");
  EXPECT_STREQ(outcome["status"].GetString(), "ok");
  EXPECT_EQ(outcome["tasks"]["completed"].GetInt(), 5);
  std::size_t texts = 0;
  for (const auto& chunk : names) {
    const auto table = parse(chunk);
    for (const auto& name : table.GetObject()) {
      EXPECT_EQ(name.name.GetStringLength(), 16u);
      EXPECT_TRUE(name.value.IsString());
      ++texts;
    }
  }
  EXPECT_GT(texts, 0u);
}

}  // namespace
}  // namespace tidemark
