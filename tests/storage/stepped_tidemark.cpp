// SPDX-License-Identifier: Apache-2.0
// The tidemark executable, killed before a chosen store or system call on its files:
// TIDEMARK_STEP_FILES is the prefix of their paths, TIDEMARK_STEP_KILL the number of the step.
// Reads are no steps here, and of the stores every TIDEMARK_STEP_STORES-th is one. Children of the
// process, the device among them, go on.
#include <signal.h>
#include <unistd.h>

#include <cstdlib>

#include "tests/storage/storage_steps.h"
#include "tidemark/base/check.h"
#include "tidemark/cli/command_line.h"

namespace {

std::uint64_t number_of(const char* name) {
  const char* text = std::getenv(name);
  TM_CHECK(text != nullptr);
  return std::strtoull(text, nullptr, 10);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace tidemark;
  const char* files = std::getenv("TIDEMARK_STEP_FILES");
  TM_CHECK(files != nullptr);
  const std::uint64_t kill_at = number_of("TIDEMARK_STEP_KILL");
  const std::uint64_t stores_apart = number_of("TIDEMARK_STEP_STORES");
  std::uint64_t stores = 0, steps = 0;
  const storage::Watched watched({files, "/dev/shm/tidemark-"}, [&](const storage::Step& step) {
    if (step.call == storage::Call::kRead) return storage::Answer{};
    if (step.call == storage::Call::kStore && stores++ % stores_apart != 0)
      return storage::Answer{};
    if (steps++ == kill_at) ::kill(::getpid(), SIGKILL);
    return storage::Answer{};
  });
  return cli::run_command_line(argc, argv);
}
