// SPDX-License-Identifier: Apache-2.0
#include "tidemark/run/unit_stack.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "tidemark/base/plain_text.h"

namespace tidemark {
namespace {

// From a user's kernel down: what units do, the runtime's other rooms, and what is below all code:
// the leaf of a GPU and the compiler's own headers.
constexpr std::string_view kOfUnits[] = {"/tidemark/runtime/units/", "/tidemark/runtime/graph/"};
constexpr std::string_view kOfRuntime[] = {"/tidemark/schema/", "/tidemark/transport/",
                                           "/tidemark/record/", "/tidemark/runtime/"};
constexpr std::string_view kOfLeaf[] = {"/tidemark/base/", "/tidemark/device/"};
constexpr std::string_view kOfCompiler[] = {"/include/crt/", "/include/cccl/"};
constexpr std::string_view kOfCompilerEnds[] = {"_intrinsics.hpp", "_functions.hpp", "_rt.hpp"};

std::string_view last_part(std::string_view path) {
  const std::size_t slash = path.find_last_of('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

constexpr int kCompiler = 4;
// 0: the user's own.
int depth_of(const StackFrame& frame) {
  const auto has = [&](std::string_view part) {
    return frame.file.find(part) != std::string::npos;
  };
  const auto ends = [&](std::string_view part) { return frame.file.ends_with(part); };
  if (std::ranges::any_of(kOfCompiler, has) || std::ranges::any_of(kOfCompilerEnds, ends))
    return kCompiler;
  if (std::ranges::any_of(kOfLeaf, has)) return 3;
  if (std::ranges::any_of(kOfUnits, has)) return 1;
  return std::ranges::any_of(kOfRuntime, has) ? 2 : 0;
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
  int below = -1;
  for (const StackFrame& frame : stack.frames) {
    // Of what the compiler's headers call among themselves the first one is enough.
    const int depth = depth_of(frame);
    if (std::exchange(below, depth) == kCompiler && depth == kCompiler) continue;
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
