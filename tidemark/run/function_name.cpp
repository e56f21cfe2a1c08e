// SPDX-License-Identifier: Apache-2.0
#include "tidemark/run/function_name.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace tidemark {
namespace {

constexpr std::size_t kNameMax = 16 << 10;

std::string demangled(std::string_view name) {
  const std::string whole(name);
  if (!whole.starts_with("_Z") || whole.size() > kNameMax) return whole;
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(whole.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && text != nullptr ? text.get() : whole;
}

}  // namespace

std::string plain_function_name(std::string_view name) {
  const std::string whole = demangled(name);
  std::string_view text = whole;
  if (const auto launch = text.find("<<<"); launch != std::string_view::npos)
    text = text.substr(0, launch);
  // Template arguments and arguments are left out wherever they stand; blanks outside of them
  // separate the result from the name, and the name from what comes after its arguments.
  std::string plain;
  int depth = 0;
  bool had_arguments = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char letter = text[at];
    if (text.substr(at).starts_with("(anonymous namespace)")) {
      if (depth == 0) plain += "(anonymous namespace)";
      at += sizeof("(anonymous namespace)") - 2;
      continue;
    }
    if (letter == '<' || letter == '(' || letter == '[' || letter == '{') {
      if (letter == '(' && depth == 0 && plain == "decltype") plain.clear();  // a result
      had_arguments = had_arguments || (letter == '(' && depth == 0 && !plain.empty());
      if (letter == '{' && depth == 0) plain += "{lambda}";
      ++depth;
    } else if (letter == '>' || letter == ')' || letter == ']' || letter == '}') {
      if (depth > 0 && !(letter == '>' && at > 0 && text[at - 1] == '-')) --depth;
    } else if (depth == 0) {
      const bool arguments_follow = text.substr(at + 1).starts_with('(') &&
                                    !text.substr(at + 1).starts_with("(anonymous namespace)");
      if (letter == ' ' && plain != "decltype" && (had_arguments || arguments_follow)) break;
      if (letter == ' ')
        plain.clear();
      else
        plain += letter;
    }
  }
  // Of what one source keeps to itself.
  if (plain.starts_with("_INTERNAL_"))
    if (const auto end = plain.find("::"); end != std::string::npos) plain.erase(0, end + 2);
  return plain.empty() ? whole : plain;
}

}  // namespace tidemark
