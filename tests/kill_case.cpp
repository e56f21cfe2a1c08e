// SPDX-License-Identifier: Apache-2.0
#include "tests/kill_case.h"

#include <initializer_list>

#include <fmt/format.h>

#include "tidemark/base/mix.h"

namespace tidemark {
namespace {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(mix(seed * 0x9E3779B97F4A7C15ull + 1)) {}

  // 0 .. count - 1
  std::uint64_t below(std::uint64_t count) {
    state_ += 0x9E3779B97F4A7C15ull;
    return mix(state_) % count;
  }
  template <class T>
  T one_of(std::initializer_list<T> choices) {
    return choices.begin()[below(choices.size())];
  }

 private:
  std::uint64_t state_;
};

constexpr auto kPolicies = {Overflow::kWait, Overflow::kDrop, Overflow::kKeepLast};

const char* policy_text(Overflow overflow) {
  switch (overflow) {
    case Overflow::kWait:
      return "wait";
    case Overflow::kDrop:
      return "drop";
    case Overflow::kKeepLast:
      return "keep-last";
  }
  return "unknown";
}

void choose_moment(KillCase& the_case, Dice& dice) {
  the_case.moment = dice.one_of({KillMoment::kRunning, KillMoment::kRunning, KillMoment::kRunning,
                                 KillMoment::kSetUp, KillMoment::kTearDown});
  if (the_case.mode != KillMode::kDevice && dice.below(4) == 0) the_case.moment = KillMoment::kCall;
  switch (the_case.moment) {
    case KillMoment::kSetUp:
      the_case.delay_us = dice.below(the_case.mode == KillMode::kDevice ? 5'000 : 16'000);
      break;
    case KillMoment::kRunning:
      the_case.delay_us = dice.below(150'000);
      break;
    case KillMoment::kTearDown:
      the_case.delay_us = dice.below(the_case.mode == KillMode::kDevice ? 4'000 : 12'000);
      the_case.records = 1 + dice.below(dice.one_of({100, 3'000, 20'000}));
      the_case.rate = 0;
      break;
    case KillMoment::kCall:
      the_case.part = dice.below(1000);
      the_case.records = 1 + dice.below(5'000);
      the_case.rate = 0;
      break;
  }
}

// Many writers of long records that never wait: a kill finds some of them inside of one.
void write_without_a_pause(KillCase& the_case, Dice& dice) {
  the_case.lanes = 8;
  the_case.record_bytes = 128;
  the_case.rate = 0;
  the_case.frame_bytes = 0;
  the_case.record_policy = dice.one_of({Overflow::kDrop, Overflow::kKeepLast, Overflow::kKeepLast});
  the_case.frame_policy = the_case.record_policy;
}

// One way for all kills of a case: a traced recovery takes longer than one that is not.
void choose_recover_kills(KillCase& the_case, Dice& dice) {
  const bool by_call = !the_case.recover_at_once && dice.below(2) == 0;
  const std::uint64_t count = 1 + dice.below(3);
  for (std::uint64_t i = 0; i < count; ++i) {
    RecoverKill kill{.where = RecoverKill::Where::kTime, .amount = dice.below(1100)};
    if (by_call && dice.below(2) == 0)
      kill = {.where = RecoverKill::Where::kCall, .amount = dice.below(1000)};
    else if (by_call)
      kill = {.where = RecoverKill::Where::kLastCalls, .amount = dice.below(80)};
    the_case.recover_kills.push_back(kill);
  }
}

}  // namespace

std::string_view to_text(KillMode mode) {
  switch (mode) {
    case KillMode::kDevice:
      return "device";
    case KillMode::kHost:
      return "host";
    case KillMode::kRecover:
      return "recover";
  }
  return "unknown";
}

std::string_view to_text(KillMoment moment) {
  switch (moment) {
    case KillMoment::kSetUp:
      return "set-up";
    case KillMoment::kRunning:
      return "running";
    case KillMoment::kTearDown:
      return "tear-down";
    case KillMoment::kCall:
      return "system call";
  }
  return "unknown";
}

KillCase make_case(KillMode mode, std::uint64_t seed) {
  Dice dice(seed * 4 + static_cast<std::uint64_t>(mode));
  KillCase the_case{.mode = mode, .seed = seed};
  the_case.platform = dice.one_of({"sim", "a2a3sim", "a5sim", "a5sim"});
  the_case.record_policy = kPolicies.begin()[dice.below(kPolicies.size())];
  the_case.frame_policy = the_case.record_policy;
  if (dice.below(4) == 0) the_case.frame_policy = kPolicies.begin()[dice.below(kPolicies.size())];
  the_case.lanes = static_cast<std::uint32_t>(1 + dice.below(8));
  the_case.record_bytes = dice.one_of({32u, 64u, 128u});
  the_case.page_bytes = dice.one_of({1024u, 4096u, 16384u, 65536u});
  the_case.pool_pages_per_lane = dice.one_of({1u, 1u, 2u, 4u, 16u, 0u});
  the_case.keep_pages = dice.one_of({2u, 3u, 8u, 20u});
  the_case.drain_threads = static_cast<std::uint32_t>(1 + dice.below(2));
  if (dice.below(2) == 0)
    the_case.frame_bytes = 1 + dice.below(dice.one_of({100, 5'000, 60'000, 200'000}));
  the_case.rate = dice.one_of({0, 0, 0, 1'000, 50'000, 500'000});
  choose_moment(the_case, dice);
  if (mode == KillMode::kDevice && the_case.moment == KillMoment::kRunning && dice.below(2) == 0)
    write_without_a_pause(the_case, dice);
  the_case.recover_at_once = dice.below(4) == 0;
  if (mode == KillMode::kRecover) choose_recover_kills(the_case, dice);
  return the_case;
}

std::vector<std::string> run_arguments(const KillCase& the_case, const std::string& tidemark,
                                       const std::string& directory, const std::string& counts) {
  std::vector<std::string> arguments = {tidemark, "run", "synthetic_producer"};
  const auto add = [&](const char* flag, const std::string& value) {
    arguments.insert(arguments.end(), {flag, value});
  };
  const std::string records = policy_text(the_case.record_policy);
  const std::string frames = policy_text(the_case.frame_policy);
  add("--platform", the_case.platform);
  add("--policy", records);
  if (frames != records) add("--policy", "dump=" + frames);
  add("--lanes", std::to_string(the_case.lanes));
  add("--record-bytes", std::to_string(the_case.record_bytes));
  add("--page-bytes", std::to_string(the_case.page_bytes));
  std::uint64_t pool_lanes = 0;
  if (the_case.record_policy != Overflow::kKeepLast) pool_lanes += the_case.lanes;
  if (the_case.frame_bytes > 0 && the_case.frame_policy != Overflow::kKeepLast)
    pool_lanes += the_case.lanes;
  if (the_case.pool_pages_per_lane > 0 && pool_lanes > 0)
    add("--pool-bytes",
        std::to_string(pool_lanes * the_case.pool_pages_per_lane * the_case.page_bytes));
  add("--keep-pages", std::to_string(the_case.keep_pages));
  add("--drain-threads", std::to_string(the_case.drain_threads));
  if (the_case.frame_bytes > 0) add("--frame-bytes", std::to_string(the_case.frame_bytes));
  add("--rate", the_case.rate == 0 ? "max" : std::to_string(the_case.rate));
  if (the_case.records > 0)
    add("--records", std::to_string(the_case.records));
  else
    add("--seconds", "60");
  add("--accepted-counts", counts);
  add("--output-prefix", directory);
  return arguments;
}

}  // namespace tidemark
