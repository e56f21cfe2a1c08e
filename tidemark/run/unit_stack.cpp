// SPDX-License-Identifier: Apache-2.0
#include "tidemark/run/unit_stack.h"

#include <algorithm>

#include <fmt/core.h>

#include "tidemark/base/plain_text.h"

namespace tidemark {
namespace {

// The runtime's rooms, below a user's kernel; and what is below all code: the leaf of a GPU and the
// compiler's own headers.
constexpr std::string_view kOfRuntime[] = {"/tidemark/schema/", "/tidemark/transport/",
                                           "/tidemark/record/", "/tidemark/runtime/"};
constexpr std::string_view kBelowAll[] = {"/tidemark/base/", "/tidemark/device/", "/include/crt/",
                                          "/include/cccl/"};
constexpr std::string_view kBelowAllEnds[] = {"_intrinsics.hpp", "_functions.hpp", "_rt.hpp"};

std::string_view last_part(std::string_view path) {
  const std::size_t slash = path.find_last_of('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// 0: the user's own.
int depth_of(const StackFrame& frame) {
  const auto has = [&](std::string_view part) {
    return frame.file.find(part) != std::string::npos;
  };
  const auto ends = [&](std::string_view part) { return frame.file.ends_with(part); };
  if (std::ranges::any_of(kBelowAll, has) || std::ranges::any_of(kBelowAllEnds, ends)) return 2;
  return std::ranges::any_of(kOfRuntime, has) ? 1 : 0;
}

std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char letter : word)
    if (letter == '\'')
      text += "'\\''";
    else
      text += letter;
  return text + "'";
}

}  // namespace

std::string frame_text(std::string_view text) {
  return plain_text(text.substr(0, std::min(text.size(), kFrameTextMax)));
}

std::string frame_place(const StackFrame& frame) {
  if (frame.file.empty()) return {};
  return fmt::format("{}:{}", last_part(frame.file), frame.line);
}

const StackFrame* telling_frame(const UnitStack& stack) {
  const StackFrame* telling = nullptr;
  for (const StackFrame& frame : stack.frames)
    if (!frame.file.empty() && (telling == nullptr || depth_of(frame) < depth_of(*telling)))
      telling = &frame;
  return telling;
}

std::string stack_text(const UnitStack& stack) {
  std::string text;
  for (const StackFrame& frame : stack.frames) {
    const std::string place = frame_place(frame);
    text += fmt::format("{}{}{}", text.empty() ? "" : " in ",
                        frame.function.empty() ? "?" : frame.function,
                        place.empty() ? place : " (" + place + ")");
  }
  return text;
}

std::string read_core_command(const std::string& directory, const KeptCore& core) {
  if (core.file.empty()) return {};
  return fmt::format("cuda-gdb -ex {} -ex 'info cuda threads' -ex bt",
                     quoted("target cudacore " + directory + "/" + core.file));
}

}  // namespace tidemark
