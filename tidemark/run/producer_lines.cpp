// SPDX-License-Identifier: Apache-2.0
#include "tidemark/run/producer_lines.h"

#include <algorithm>

#include "tidemark/run/producer_text.h"

namespace tidemark {
namespace {

constexpr std::size_t kAskedMax = 12;
constexpr std::size_t kFramesShown = 3;
constexpr std::uint32_t kWarpThreads = 32;

// From the innermost frame that is not of the compiler or the recorder, and who called it.
std::string place_of(std::vector<StackFrame> frames) {
  const UnitStack stack{.frames = std::move(frames)};
  const StackFrame* telling = telling_frame(stack);
  if (telling == nullptr) return {};
  std::string text;
  std::size_t shown = 0;
  for (auto at = static_cast<std::size_t>(telling - stack.frames.data());
       at < stack.frames.size() && shown < kFramesShown; ++at) {
    const std::string place = frame_place(stack.frames[at]);
    if (!place.empty()) text += (shown++ == 0 ? "" : ", called at ") + place;
  }
  return text;
}

// The lines of the core dump itself know every inlined call, the debugger one of them.
std::string place_of(std::uint64_t pc, const CoreLines& lines, std::vector<StackFrame> otherwise) {
  std::string place = place_of(lines.frames_at(pc));
  return place.empty() ? place_of(std::move(otherwise)) : place;
}

std::string source_of(const ProducerPlace& at, const DebuggerText& text, const CoreLines& lines) {
  const std::uint32_t first = at.warp * kWarpThreads, last = first + kWarpThreads - 1;
  for (const ThreadStack& stack : text.stacks)
    if (stack.block == at.block && stack.thread >= first && stack.thread <= last)
      return place_of(stack.pc, lines, stack.frames);
  for (const ThreadsAtPlace& place : text.places)
    if (place.block == at.block && place.first_thread <= last && place.last_thread >= first)
      return place_of(place.pc, lines, {place.frame});
  return {};
}

}  // namespace

std::vector<std::string> questions_about_producers(const HangState& state) {
  std::vector<std::string> questions;
  for (const ProducerState* producer : stopped_producers(state)) {
    if (producer->place == 0) continue;
    if (questions.size() == 2 * kAskedMax) break;
    const ProducerPlace place = decode_place(producer->place);
    questions.push_back(
        fmt::format("cuda block {} thread {}", place.block, place.warp * kWarpThreads));
    questions.emplace_back("bt");
  }
  return questions;
}

void add_producer_lines(const DebuggerText& text, const CoreLines& lines, HangState& state) {
  for (ProducerState& producer : state.producers)
    if (producer.place != 0) producer.source = source_of(decode_place(producer.place), text, lines);
}

}  // namespace tidemark
