// SPDX-License-Identifier: Apache-2.0
// What a request must be before anything looks at what it asks for: of our own host and port, with
// the token, and one that only reads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark {

struct Request {
  std::string method;
  std::string path;                // decoded, without the query
  std::vector<std::string> hosts;  // every Host header
  std::string if_none_match;
};

struct Reply {
  int status = 200;
  std::string type;  // empty: no body
  std::string body;
  enum class Keep {
    kNot,      // another answer may come at any time
    kForever,  // what has this address never changes
  };
  Keep keep = Keep::kNot;
  std::string etag;
  std::string location;
};

struct Gate {
  std::uint16_t port = 0;
  std::string token;
};

// A page of another site may send a browser here under a name of its own (DNS rebinding): then the
// Host header has that name.
bool is_own_host(std::string_view host, std::uint16_t port);

// The status of the refusal, or 0 and what comes behind "/TOKEN" in `rest`.
int refusal_of(const Request& request, const Gate& gate, std::string_view& rest);

}  // namespace tidemark
