// SPDX-License-Identifier: Apache-2.0
#include "tidemark/serve/token.h"

#include <sys/random.h>

#include "tidemark/base/uninterrupted.h"

namespace tidemark {

Expected<std::string> make_token() {
  constexpr char kDigits[] = "0123456789abcdef";
  unsigned char random[16];
  // So few bytes come whole or not at all.
  const ssize_t got = uninterrupted([&] { return ::getrandom(random, sizeof(random), 0); });
  if (got != static_cast<ssize_t>(sizeof(random)))
    return failure(ErrorKind::kFile, "getrandom: {}", std::strerror(errno));
  std::string token;
  for (const unsigned char byte : random) {
    token += kDigits[byte >> 4];
    token += kDigits[byte & 15];
  }
  return token;
}

bool is_same_secret(std::string_view given, std::string_view secret) {
  if (given.size() != secret.size()) return false;
  unsigned different = 0;
  for (std::size_t i = 0; i < secret.size(); ++i)
    different |= static_cast<unsigned char>(given[i]) ^
                 static_cast<unsigned>(static_cast<unsigned char>(secret[i]));
  return different == 0;
}

}  // namespace tidemark
