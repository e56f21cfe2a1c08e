// SPDX-License-Identifier: Apache-2.0
// Test support: the units of a runtime take turns, on one thread. Where one waits, the next one is
// chosen by a seed. Time is counted, not measured: it goes on by one with every
// turn and every look at the clock, and jumps ahead when all sleep. What such a test finds depends
// on its seed alone, however busy the machine is.
#pragma once

#include <ucontext.h>

#include <functional>
#include <vector>

#include "tidemark/base/mix.h"
#include "tidemark/device/sim/sim_threads.h"

namespace tidemark {

class Stepper {
 public:
  explicit Stepper(std::uint64_t seed) : random_(mix(seed)) { current = this; }
  Stepper(const Stepper&) = delete;
  Stepper& operator=(const Stepper&) = delete;

  void add(std::function<void()> run) { units_.emplace_back().run = std::move(run); }
  // All units, to their ends.
  void run() {
    for (std::uint32_t i = 0; i < units_.size(); ++i) {
      Unit& unit = units_[i];
      unit.stack.resize(kStackBytes);
      ::getcontext(&unit.context);
      unit.context.uc_stack.ss_sp = unit.stack.data();
      unit.context.uc_stack.ss_size = unit.stack.size();
      unit.context.uc_link = &main_;
      ::makecontext(&unit.context, &Stepper::enter, 0);
    }
    while ((me_ = choose()) != kNobody) ::swapcontext(&main_, &units_[me_].context);
  }

  std::uint64_t tick() {
    ++clock_;
    if (watch) watch();
    return clock_;
  }
  void step() {
    tick();
    give_away();
  }
  // Until the word is woken or the time is over. No word: nobody wakes it.
  void sleep(const void* word, std::uint64_t ticks) {
    tick();
    Unit& unit = units_[me_];
    unit.state = State::kAsleep;
    unit.word = word;
    unit.until = clock_ + ticks;
    give_away();
  }
  void wake(const void* word) {
    for (Unit& unit : units_)
      if (unit.state == State::kAsleep && unit.word == word) unit.state = State::kRunnable;
  }
  [[nodiscard]] std::uint64_t clock() const { return clock_; }

  static inline Stepper* current = nullptr;
  std::function<void()> watch;  // called in every turn, by whoever has it
  bool busy_givers = false;

 private:
  enum class State { kRunnable, kAsleep, kGone };
  struct Unit {
    std::function<void()> run;
    std::vector<unsigned char> stack;
    ucontext_t context;
    State state = State::kRunnable;
    const void* word = nullptr;
    std::uint64_t until = 0;
  };
  static constexpr std::uint32_t kNobody = ~0u;
  static constexpr std::size_t kStackBytes = 256 << 10;

  static void enter() {
    Unit& unit = current->units_[current->me_];
    unit.run();
    unit.state = State::kGone;
  }
  void give_away() {
    const std::uint32_t self = me_, next = choose();
    if (next == self) return;
    me_ = next;
    ::swapcontext(&units_[self].context, &units_[next].context);
  }
  std::uint32_t choose() {
    std::uint32_t found = kNobody, first_asleep = kNobody;
    std::uint64_t runnable = 0;
    for (std::uint32_t i = 0; i < units_.size(); ++i) {
      Unit& unit = units_[i];
      if (unit.state == State::kAsleep && unit.until <= clock_) unit.state = State::kRunnable;
      if (unit.state == State::kAsleep &&
          (first_asleep == kNobody || unit.until < units_[first_asleep].until))
        first_asleep = i;
      // Each of those that may run is as likely.
      if (unit.state == State::kRunnable && next_random() % ++runnable == 0) found = i;
    }
    if (found == kNobody && first_asleep != kNobody) {
      clock_ = units_[first_asleep].until;
      units_[first_asleep].state = State::kRunnable;
      found = first_asleep;
    }
    return found;
  }
  std::uint64_t next_random() { return random_ = mix(random_ + 0x9E3779B97F4A7C15ull); }

  std::vector<Unit> units_;
  ucontext_t main_{};
  std::uint32_t me_ = kNobody;
  std::uint64_t random_;
  std::uint64_t clock_ = 1'000'000;
};

struct SteppedEnv {
  static constexpr std::uint64_t kSleepTicks = 20'000;

  // With `busy_givers` the others run on while a scheduler gives: it always finds more to do.
  static void gives() {
    if (Stepper::current->busy_givers) return Stepper::current->step();
    Stepper::current->tick();
  }
  static std::uint64_t now_ticks() { return Stepper::current->tick(); }
  static std::uint64_t ordered_ticks() { return now_ticks(); }
  static void pause(std::uint32_t) { Stepper::current->step(); }
  static void take_turn(std::uint32_t) { Stepper::current->step(); }
  static void wait_for_space(std::uint32_t) { Stepper::current->sleep(nullptr, 30); }
  template <class Word>
  static void sleep(const Word& word, std::uint32_t heard) {
    if (word.load_acquire() == heard) Stepper::current->sleep(&word, kSleepTicks);
  }
  template <class Word>
  static void wake(const Word& word) {
    Stepper::current->wake(&word);
  }
  // For kernels.
  static void work(std::uint64_t ticks) { Stepper::current->sleep(nullptr, ticks); }
};

// Everything of one run, to its end. `memory` has its entry, `status` is cleared.
template <class Workload>
void run_stepped(const RuntimeMemory& memory, RuntimeStatus* status, Stepper& stepper) {
  const RuntimeConfig& config = memory.config();
  NoWatch watch;
  stepper.add([&] { orchestrate_here<Workload, SteppedEnv>(memory, status, watch); });
  for (std::uint32_t i = 0; i < config.scheduler_count; ++i)
    stepper.add([&memory, status, i] {
      Scheduler<SteppedEnv>(memory, status, i).run([] { return false; });
    });
  for (std::uint32_t core = 0; core < config.core_count(); ++core)
    stepper.add([&memory, status, core] {
      BasicSimBlock<SteppedEnv> block;
      Worker<typename Workload::Kernels, SteppedEnv, BasicSimBlock<SteppedEnv>>(
          memory, status, core, scheduler_of(memory.config(), core / kCoresPerCluster))
          .run(block);
    });
  stepper.run();
}

}  // namespace tidemark
