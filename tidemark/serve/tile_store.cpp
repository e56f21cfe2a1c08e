// SPDX-License-Identifier: Apache-2.0
#include "tidemark/serve/tile_store.h"

namespace tidemark {
namespace {

const char* refusal_text(int status) {
  switch (status) {
    case 403:
      return "Not for you: open the whole address that 'tidemark serve' printed.\n";
    case 405:
      return "Nothing can be changed here.\n";
    case 410:
      return "The run has grown since: read index.json again.\n";
    default:
      return "There is no such thing.\n";
  }
}

}  // namespace

Reply json_reply(std::string text) {
  return {.type = "application/json; charset=utf-8", .body = std::move(text)};
}

Reply refusal_reply(int status) {
  return {.status = status, .type = "text/plain; charset=utf-8", .body = refusal_text(status)};
}

}  // namespace tidemark
