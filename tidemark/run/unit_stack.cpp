// SPDX-License-Identifier: Apache-2.0
#include "tidemark/run/unit_stack.h"

#include <algorithm>

#include <fmt/core.h>

#include "tidemark/base/plain_text.h"

namespace tidemark {
namespace {

// Rooms whose code runs below a user's kernel.
constexpr std::string_view kBelowKernels[] = {"/tidemark/base/",      "/tidemark/schema/",
                                              "/tidemark/transport/", "/tidemark/record/",
                                              "/tidemark/runtime/",   "/tidemark/device/"};
// Of the compiler's own headers.
constexpr std::string_view kOfCompiler[] = {"/include/crt/", "/include/cccl/"};
constexpr std::string_view kOfCompilerEnds[] = {"_intrinsics.hpp", "_functions.hpp", "_rt.hpp"};

std::string_view last_part(std::string_view path) {
  const std::size_t slash = path.find_last_of('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

bool is_below_kernels(const StackFrame& frame) {
  const auto has = [&](std::string_view part) {
    return frame.file.find(part) != std::string::npos;
  };
  const auto ends = [&](std::string_view part) { return frame.file.ends_with(part); };
  return std::ranges::any_of(kBelowKernels, has) || std::ranges::any_of(kOfCompiler, has) ||
         std::ranges::any_of(kOfCompilerEnds, ends);
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
  const StackFrame* innermost = nullptr;
  for (const StackFrame& frame : stack.frames) {
    if (frame.file.empty()) continue;
    if (!is_below_kernels(frame)) return &frame;
    if (innermost == nullptr) innermost = &frame;
  }
  return innermost;
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
