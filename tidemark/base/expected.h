// SPDX-License-Identifier: Apache-2.0
// What the world may refuse: a value, or an Error that says in one line what failed and on which
// file, flag or call. The kind of an error decides the exit code of the command line.
#pragma once

#include "tidemark/base/needs_cpp20.h"

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <fmt/core.h>
#include <tl/expected.hpp>

namespace tidemark {

enum class ErrorKind {
  kUsage,   // the caller asked for something that cannot be; exit 2
  kDevice,  // the device failed, hung or is absent; exit 3
  kDamage,  // a file or region does not hold what it should; exit 4
  kFile,    // the file system refused; exit 5
};

struct Error {
  ErrorKind kind = ErrorKind::kUsage;
  std::string message;
};

template <class T>
using Expected = tl::expected<T, Error>;

template <class... Args>
[[nodiscard]] tl::unexpected<Error> failure(ErrorKind kind, fmt::format_string<Args...> text,
                                            Args&&... args) {
  return tl::unexpected<Error>(Error{kind, fmt::format(text, std::forward<Args>(args)...)});
}

// Names the call and the path that failed, with what the system said about it.
[[nodiscard]] inline tl::unexpected<Error> file_failure(const char* call, const std::string& path) {
  const int code = errno;
  return failure(ErrorKind::kFile, "{} {}: {}", call, path, std::strerror(code));
}

}  // namespace tidemark

#define TM_JOIN_TEXTS(a, b) a##b
#define TM_JOIN(a, b) TM_JOIN_TEXTS(a, b)
#define TM_TRIED TM_JOIN(tm_tried_, __LINE__)

// TM_TRY(auto x, f()): x is the value of f(). Its error is what the enclosing function returns.
#define TM_TRY(variable, ...)                                        \
  auto TM_TRIED = __VA_ARGS__;                                       \
  if (!TM_TRIED) return tl::unexpected(std::move(TM_TRIED).error()); \
  variable = std::move(*TM_TRIED)
// TM_TRY_DO(f()): the same where there is no value, or none is wanted.
#define TM_TRY_DO(...) \
  if (auto TM_TRIED = __VA_ARGS__; !TM_TRIED) return tl::unexpected(std::move(TM_TRIED).error())
