// SPDX-License-Identifier: Apache-2.0
// Between the bytes of HTTP and Request and Reply. Its source is the only one that knows the
// library; that never sees a socket: connections are the affair of connection_loop.h.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "tidemark/serve/request_check.h"

namespace tidemark {

// The head of a request: its line and its headers, with the empty line. The position behind it;
// npos: it is not whole.
std::size_t end_of_head(std::string_view bytes);

struct HttpAnswer {
  std::string bytes;
  bool closes = false;  // the connection is not used again
};

class HttpText {
 public:
  using Answerer = std::function<Reply(const Request&)>;

  // `answerer` is called by any thread. An exception of it is a 500.
  explicit HttpText(Answerer answerer);
  ~HttpText();

  // `last`: no further request is wanted on this connection.
  [[nodiscard]] HttpAnswer answer(std::string_view head, bool last) const;
  // Where there is no head that could be answered; the connection closes.
  static HttpAnswer refusal(int status);

 private:
  class Library;
  std::unique_ptr<Library> library_;
};

}  // namespace tidemark
