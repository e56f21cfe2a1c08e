// SPDX-License-Identifier: Apache-2.0
#include "tidemark/serve/request_check.h"

#include <algorithm>

#include <fmt/core.h>

#include "tidemark/serve/token.h"

namespace tidemark {
namespace {

constexpr std::size_t kBlobNameMax = 200;
constexpr int kForbidden = 403, kNotAllowed = 405;

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-';
}

}  // namespace

bool is_own_host(std::string_view host, std::uint16_t port) {
  for (const char* name : {"127.0.0.1", "localhost", "[::1]"})
    // Browsers leave the port of HTTP out.
    if (host == fmt::format("{}:{}", name, port) || (port == 80 && host == name)) return true;
  return false;
}

int refusal_of(const Request& request, const Gate& gate, std::string_view& rest) {
  if (request.hosts.size() != 1 || !is_own_host(request.hosts.front(), gate.port))
    return kForbidden;
  if (request.method != "GET" && request.method != "HEAD") return kNotAllowed;
  const std::string_view path = request.path;
  if (!path.starts_with('/')) return kForbidden;
  const std::string_view given = path.substr(1, path.find('/', 1) - 1);
  if (!is_same_secret(given, gate.token)) return kForbidden;
  rest = path.substr(1 + given.size());
  return 0;
}

bool is_blob_name(std::string_view name) {
  if (name.empty() || name.size() > kBlobNameMax) return false;
  while (true) {
    const std::string_view part = name.substr(0, name.find('/'));
    if (part.empty() || part == "." || part == "..") return false;
    if (!std::all_of(part.begin(), part.end(), is_name_character)) return false;
    if (part.size() == name.size()) return true;
    name.remove_prefix(part.size() + 1);
  }
}

}  // namespace tidemark
