// SPDX-License-Identifier: Apache-2.0
#include "tidemark/run/debugger_text.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "tidemark/run/function_name.h"

namespace tidemark {
namespace {

constexpr std::size_t kPlacesMax = 4096;
constexpr std::size_t kLineMax = 64 << 10;
constexpr std::string_view kFocus = "focus set to CUDA kernel ";
constexpr std::string_view kSwitched = "Switching focus to CUDA kernel ";
constexpr std::string_view kException = "CUDA Exception: ";
constexpr std::string_view kTriggered = "The exception was triggered at PC 0x";
constexpr std::string_view kInlined = " inlined from ";

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

template <class Number>
std::optional<Number> number_at(std::string_view text, int base = 10) {
  Number value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (code != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

// The number behind the first `word`, as in "sm 3": "block (4,0,0)" gives 4.
std::optional<std::uint32_t> number_behind(std::string_view text, std::string_view word) {
  const std::size_t at = text.find(word);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + word.size());
  if (text.starts_with('(')) text.remove_prefix(1);
  return number_at<std::uint32_t>(text);
}

// "file.cu:31" as a place; nothing: it is none.
bool read_place(std::string_view text, StackFrame& frame) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  const auto line = number_at<std::uint32_t>(text.substr(colon + 1));
  if (!line) return false;
  frame.file = frame_text(text.substr(0, colon));
  frame.line = *line;
  return true;
}

class Reader {
 public:
  void take(std::string_view line) {
    if (line.size() > kLineMax) return;
    if (line.find(kFocus) != std::string_view::npos ||
        line.find(kSwitched) != std::string_view::npos) {
      take_focus(line);
    } else if (line.starts_with(kException)) {
      if (focus_) focus_->exception = frame_text(trimmed(line.substr(kException.size())));
    } else if (line.starts_with(kTriggered)) {
      take_trigger(line.substr(kTriggered.size()));
    } else if (line.starts_with('#')) {
      take_frame(line);
    } else if (line.find(" 0x") != std::string_view::npos &&
               line.find('(') != std::string_view::npos) {
      take_threads(line);
    } else if (result_.complaint.empty() && is_complaint(line)) {
      result_.complaint = frame_text(trimmed(line));
    }
  }
  DebuggerText finish() {
    std::erase_if(result_.stacks, [](const ThreadStack& stack) { return stack.frames.empty(); });
    return std::move(result_);
  }

 private:
  static bool is_complaint(std::string_view line) {
    if (line.starts_with("warning:")) return false;  // of a source that is not at hand
    return line.find("Failed to ") != std::string_view::npos ||
           line.find("No such file") != std::string_view::npos ||
           line.find("internal-error") != std::string_view::npos;
  }

  // "[Current focus set to CUDA kernel 0, grid 1, block (54,0,0), thread (224,0,0), device 0, sm
  // 20, warp 7, lane 0]"
  void take_focus(std::string_view line) {
    const auto block = number_behind(line, "block "), thread = number_behind(line, "thread ");
    focus_.reset();
    if (!block || !thread) return;
    focus_ = ThreadStack{
        .block = *block, .thread = *thread, .sm = number_behind(line, ", sm ").value_or(0)};
  }

  // "0x7f37256e3710  function  (a.h:37 in inlined function inlined from b.h:21)"
  void take_trigger(std::string_view line) {
    if (!focus_ || focus_->exception.empty()) return;
    focus_->pc = number_at<std::uint64_t>(line, 16).value_or(0);
    line.remove_prefix(std::min(line.find(' '), line.size()));
    const std::size_t place = line.rfind("  (");
    const std::string_view function = trimmed(line.substr(0, place));
    std::string_view where;
    if (place != std::string_view::npos && line.ends_with(')'))
      where = line.substr(place + 3, line.size() - place - 4);
    add_frame(function, where, focus_->frames);
    focus_->own_frames = focus_->frames.size();
  }

  // "#1  0x00007f... in name (arguments) at file:line", or without an address, or without a place.
  void take_frame(std::string_view line) {
    const auto number = number_at<std::uint32_t>(line.substr(1));
    if (!number || !focus_) return;
    if (*number == 0 && !begin_stack()) return;
    if (result_.stacks.empty()) return;
    ThreadStack& stack = result_.stacks.back();
    // Where a thread stopped that raised an exception is somewhere behind it.
    if (!stack.exception.empty() && !stack.frames.empty()) return;
    if (stack.frames.size() >= kFramesMax) return;
    line.remove_prefix(std::min(line.find(' '), line.size()));
    line = trimmed(line);
    if (line.starts_with("0x")) {
      const std::size_t in = line.find(" in ");
      if (in == std::string_view::npos) return;
      if (*number == 0) stack.pc = number_at<std::uint64_t>(line.substr(2), 16).value_or(0);
      line.remove_prefix(in + 4);
    }
    std::string_view place;
    if (const std::size_t at = line.rfind(") at "); at != std::string_view::npos) {
      place = line.substr(at + 5);
      line = line.substr(0, at + 1);
    }
    if (!line.starts_with("??")) add_frame(line, place, stack.frames);
    if (*number == 0) stack.own_frames = stack.frames.size();
  }
  // Of what is in focus; a second backtrace of one thread replaces the first.
  bool begin_stack() {
    const bool again = !result_.stacks.empty() && result_.stacks.back().block == focus_->block &&
                       result_.stacks.back().thread == focus_->thread;
    if (again) result_.stacks.pop_back();
    if (result_.stacks.size() < kStacksMax) {
      result_.stacks.push_back(*focus_);
      return true;
    }
    focus_.reset();
    return false;
  }

  // `place`: "b.h:21", or "a.h:37 in inlined function inlined from b.h:21".
  static void add_frame(std::string_view function, std::string_view place,
                        std::vector<StackFrame>& frames) {
    const std::size_t inlined = place.find(kInlined);
    if (inlined != std::string_view::npos) {
      std::string_view inner = place.substr(0, inlined);
      StackFrame frame;
      if (const std::size_t in = inner.find(" in "); in != std::string_view::npos) {
        frame.function = frame_text(plain_function_name(inner.substr(in + 4)));
        inner = inner.substr(0, in);
      }
      if (read_place(inner, frame)) frames.push_back(std::move(frame));
      place = place.substr(inlined + kInlined.size());
    }
    StackFrame outer{.function = frame_text(plain_function_name(function))};
    read_place(place, outer);
    frames.push_back(std::move(outer));
  }

  // "* (3,0,0) (0,0,0) (3,0,0) (31,0,0) 32 0x000000000088f88c acos.cu 376"
  void take_threads(std::string_view line) {
    std::uint32_t tuples[4] = {};
    std::size_t count = 0;
    const std::size_t pc = line.find(" 0x");
    std::string_view before = line.substr(0, pc);
    for (std::size_t at = 0; count < 4;) {
      at = before.find('(', at);
      if (at == std::string_view::npos) break;
      const auto value = number_at<std::uint32_t>(before.substr(++at));
      if (!value) return;
      tuples[count++] = *value;
    }
    if (count != 4 || result_.places.size() >= kPlacesMax) return;
    std::string_view rest = line.substr(pc + 3);
    ThreadsAtPlace place{.block = tuples[0], .first_thread = tuples[1], .last_thread = tuples[3]};
    const auto address = number_at<std::uint64_t>(rest, 16);
    if (!address || tuples[2] != tuples[0]) return;  // over several blocks: none of them is stuck
    place.pc = *address;
    rest = trimmed(rest.substr(std::min(rest.find(' '), rest.size())));
    const std::size_t space = rest.find_last_of(' ');
    if (space != std::string_view::npos)
      if (const auto number = number_at<std::uint32_t>(rest.substr(space + 1))) {
        place.frame.file = frame_text(trimmed(rest.substr(0, space)));
        place.frame.line = *number;
      }
    result_.places.push_back(std::move(place));
  }

  DebuggerText result_;
  std::optional<ThreadStack> focus_;  // without frames
};

}  // namespace

DebuggerText parse_debugger_text(std::string_view text) {
  Reader reader;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    reader.take(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return reader.finish();
}

}  // namespace tidemark
