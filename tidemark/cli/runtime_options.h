// SPDX-License-Identifier: Apache-2.0
// The flags of the task runtime, their environment, and how they become a configuration.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tidemark/base/command.h"
#include "tidemark/base/expected.h"
#include "tidemark/device/platform_table.h"
#include "tidemark/schema/runtime_config.h"

namespace tidemark::cli {

struct RuntimeOptions {
  std::string runtime{kBuilds[0].name};
  std::string task_window;  // one value or four, comma separated; empty: the environment's
  std::string heap;
  std::string args;
  std::string dep_pool;
  std::optional<std::uint32_t> tensormap_pool;
  bool track_war = false;
  std::uint32_t scheduler_timeout_ms = 10'000;
  std::uint32_t block_threads = 1;
  std::uint32_t repeat = 1;
};

void bind_runtime_options(Command& command, RuntimeOptions& options);
// Checks and translates; the error names the flag or the variable.
Expected<RuntimeConfig> plan_runtime(const RuntimeOptions& options, const Platform& platform);

}  // namespace tidemark::cli
