// SPDX-License-Identifier: Apache-2.0
#include "tidemark/serve/request_check.h"

#include <fmt/core.h>

#include "tidemark/serve/token.h"

namespace tidemark {
namespace {

constexpr int kForbidden = 403, kNotAllowed = 405;

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

}  // namespace tidemark
