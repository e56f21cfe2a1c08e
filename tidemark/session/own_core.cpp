// SPDX-License-Identifier: Apache-2.0
#include "tidemark/session/own_core.h"

#include "tidemark/base/wait_until.h"
#include "tidemark/run/producer_lines.h"
#include "tidemark/run/producer_text.h"
#include "tidemark/session/device_core.h"

namespace tidemark {
namespace {

constexpr std::uint32_t kOwnDumpMs = 3000;  // for the driver to write it
constexpr std::uint32_t kOwnLookMs = 10;

// Why there are no lines; empty: there are.
std::string read_lines(GpuCore& core, const std::string& directory, HangState& state) {
  const auto file = CoreFile::create();
  if (!file || !core.aim(file->fd())) return "no core dump: no memory for it";
  if (!core.ask()) return "no core dump: the driver does not listen";
  if (!wait_until([&] { return core.is_written(); }, kOwnDumpMs, kOwnLookMs))
    return fmt::format("no core dump: the driver had not written it after {:.1f} s",
                       kOwnDumpMs / 1000.0);
  Expected<void> kept;
  const std::string path = keep_core(*file, directory, state, kept);
  const auto answer = ask_debugger(path, questions_about_producers(state), kCoreReadMs);
  if (!answer) return answer.error().message;
  add_producer_lines(answer->text, read_core_lines(*file), state);
  return {};
}

}  // namespace

std::shared_ptr<const HangState> with_own_core(GpuCore& core, const std::string& directory,
                                               const HangState& state) {
  auto told = std::make_shared<HangState>(state);
  told->core.why_unread = read_lines(core, directory, *told);
  const std::string before = producers_sentence(state);
  const std::size_t at = before.empty() ? std::string::npos : told->message.find(before);
  if (at != std::string::npos) told->message.replace(at, before.size(), producers_sentence(*told));
  return told;
}

}  // namespace tidemark
