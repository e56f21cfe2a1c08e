// SPDX-License-Identifier: Apache-2.0
#include "tidemark/serve/http_text.h"

#include <httplib.h>

#include <algorithm>
#include <cstring>

#include <fmt/core.h>

namespace tidemark {
namespace {

// A page may load what is its own, and nothing else; nobody may show it in a frame, and no other
// site may read it.
const httplib::Headers& headers_of_all() {
  static const httplib::Headers headers{
      {"Content-Security-Policy",
       "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
       "connect-src 'self'; worker-src 'self' blob:; base-uri 'none'; form-action 'none'; "
       "frame-ancestors 'none'"},
      {"X-Content-Type-Options", "nosniff"},
      {"X-Frame-Options", "DENY"},
      {"Referrer-Policy", "no-referrer"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
      {"Cross-Origin-Opener-Policy", "same-origin"},
  };
  return headers;
}

// What a header of a request may say here. The library knows many more: ranges, which it parses by
// a recursive expression and can repeat without end, encodings, uploads.
constexpr std::string_view kKnownHeaders[] = {
    "host:", "connection:", "content-length:", "transfer-encoding:", "if-none-match:"};

bool begins_with(std::string_view line, std::string_view name) {
  return line.size() >= name.size() &&
         std::equal(name.begin(), name.end(), line.begin(), [](char a, char b) {
           return a == (b >= 'A' && b <= 'Z' ? static_cast<char>(b - 'A' + 'a') : b);
         });
}

// The request line and the headers that are known.
std::string known_part(std::string_view head) {
  std::string known;
  for (bool first = true; !head.empty(); first = false) {
    const std::string_view line = head.substr(0, head.find('\n') + 1);
    const bool is_known =
        std::any_of(std::begin(kKnownHeaders), std::end(kKnownHeaders),
                    [&](std::string_view name) { return begins_with(line, name); });
    if (first || line == "\r\n" || is_known) known += line;
    head.remove_prefix(line.size());
  }
  return known;
}

// A request and its answer, both in memory.
class MemoryStream : public httplib::Stream {
 public:
  explicit MemoryStream(std::string request) : request_(std::move(request)) {}
  [[nodiscard]] bool is_readable() const override { return at_ < request_.size(); }
  [[nodiscard]] bool is_writable() const override { return true; }
  ssize_t read(char* to, std::size_t size) override {
    const std::size_t count = std::min(size, request_.size() - at_);
    std::memcpy(to, request_.data() + at_, count);
    at_ += count;
    return static_cast<ssize_t>(count);
  }
  using httplib::Stream::write;
  ssize_t write(const char* from, std::size_t size) override {
    answer.append(from, size);
    return static_cast<ssize_t>(size);
  }
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  [[nodiscard]] socket_t socket() const override { return INVALID_SOCKET; }

  std::string answer;

 private:
  std::string request_;
  std::size_t at_ = 0;
};

Request request_of(const httplib::Request& from) {
  Request request{.method = from.method, .path = from.path};
  const auto [first, last] = from.headers.equal_range("Host");
  for (auto host = first; host != last; ++host) request.hosts.push_back(host->second);
  request.if_none_match = from.get_header_value("If-None-Match");
  return request;
}

void put_reply(Reply&& reply, httplib::Response& to) {
  if (!reply.etag.empty()) to.set_header("ETag", reply.etag);
  if (!reply.location.empty()) to.set_header("Location", reply.location);
  if (reply.status == 405) to.set_header("Allow", "GET, HEAD");
  to.set_header("Cache-Control", reply.keep == Reply::Keep::kForever
                                     ? "private, max-age=31536000, immutable"
                                     : "no-store");
  to.status = reply.status;
  if (reply.type.empty()) return;
  to.set_header("Content-Type", reply.type);
  to.body = std::move(reply.body);
}

using Setup = std::function<void(httplib::Request&)>;
// Debian 12's library, and Debian 13's.
using Process = bool (httplib::Server::*)(httplib::Stream&, bool, bool&, const Setup&);
using ProcessOfPeer = bool (httplib::Server::*)(httplib::Stream&, const std::string&, int,
                                                const std::string&, int, bool, bool&, const Setup&);

}  // namespace

class HttpText::Library : public httplib::Server {
 public:
  explicit Library(Answerer answerer) : answerer_(std::move(answerer)) {
    set_default_headers(headers_of_all());
    set_keep_alive_timeout(30);
    set_keep_alive_max_count(1000);
    set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      put_reply(answered(request), response);
      return HandlerResponse::Handled;
    });
  }

  HttpAnswer answer(std::string head, bool last) {
    MemoryStream stream(std::move(head));
    bool closes = last, is_understood = false;
    const Setup look = [&](httplib::Request& request) {
      is_understood = true;
      // A body is never read, so what follows is no request.
      const bool has_body = request.has_header("Transfer-Encoding") ||
                            (request.has_header("Content-Length") &&
                             request.get_header_value("Content-Length") != "0");
      closes |= has_body || begins_with(request.get_header_value("Connection"), "close");
      if (closes) request.headers.erase("Connection");
      if (closes) request.headers.emplace("Connection", "close");
    };
    bool closed_by_library = false;
    const bool whole = call(&Library::process_request, stream, last, closed_by_library, look);
    if (stream.answer.empty()) return refusal(400);
    // Where the request was not understood, nobody knows where the next one begins.
    closes |= closed_by_library || !whole || !is_understood;
    return {std::move(stream.answer), closes};
  }

 private:
  [[nodiscard]] Reply answered(const httplib::Request& request) const {
    try {
      return answerer_(request_of(request));
    } catch (const std::exception&) {
      return {.status = 500, .type = "text/plain; charset=utf-8", .body = "out of memory\n"};
    }
  }
  bool call(Process process, MemoryStream& stream, bool last, bool& closed, const Setup& look) {
    return (this->*process)(stream, last, closed, look);
  }
  bool call(ProcessOfPeer process, MemoryStream& stream, bool last, bool& closed,
            const Setup& look) {
    return (this->*process)(stream, "127.0.0.1", 0, "127.0.0.1", 0, last, closed, look);
  }

  Answerer answerer_;
};

std::size_t end_of_head(std::string_view bytes) {
  const std::size_t end = bytes.find("\n\r\n");
  return end == std::string_view::npos ? end : end + 3;
}

HttpText::HttpText(Answerer answerer) : library_(std::make_unique<Library>(std::move(answerer))) {}
HttpText::~HttpText() = default;

HttpAnswer HttpText::answer(std::string_view head, bool last) const {
  return library_->answer(known_part(head), last);
}

HttpAnswer HttpText::refusal(int status) {
  const char* text = status == 431   ? "Request Header Fields Too Large"
                     : status == 414 ? "URI Too Long"
                     : status == 408 ? "Request Timeout"
                                     : "Bad Request";
  return {
      fmt::format("HTTP/1.1 {} {}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", status, text),
      true};
}

}  // namespace tidemark
