// SPDX-License-Identifier: Apache-2.0
#include "tidemark/serve/listener.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace tidemark {
namespace {

constexpr int kBacklog = 1024;  // the system has a limit of its own

sockaddr_storage loopback(int family, std::uint16_t port) {
  sockaddr_storage address{};
  if (family == AF_INET) {
    auto& v4 = reinterpret_cast<sockaddr_in&>(address);
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  } else {
    auto& v6 = reinterpret_cast<sockaddr_in6&>(address);
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    v6.sin6_addr = in6addr_loopback;
  }
  return address;
}

// Not valid, with errno, if the system refuses.
UniqueFd listen_on(int family, std::uint16_t port) {
  UniqueFd fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return fd;
  const int one = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
  if (family == AF_INET6) ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one));
  const sockaddr_storage address = loopback(family, port);
  const socklen_t bytes = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), bytes) == 0 &&
      ::listen(fd.get(), kBacklog) == 0)
    return fd;
  const int code = errno;
  fd.reset();
  errno = code;
  return fd;
}

std::uint16_t port_of(const UniqueFd& fd) {
  sockaddr_in address{};
  socklen_t bytes = sizeof(address);
  ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &bytes);
  return ntohs(address.sin_port);
}

}  // namespace

Expected<Listener> listen_on_loopback(std::uint16_t port) {
  Listener listener;
  UniqueFd v4 = listen_on(AF_INET, port);
  if (!v4.valid())
    return failure(ErrorKind::kUsage, "--port {}: cannot listen at 127.0.0.1:{}: {}", port, port,
                   std::strerror(errno));
  listener.port = port_of(v4);
  listener.sockets.push_back(std::move(v4));
  // A browser may take localhost for this one. Without it the address that is printed works still.
  if (UniqueFd v6 = listen_on(AF_INET6, listener.port); v6.valid())
    listener.sockets.push_back(std::move(v6));
  return listener;
}

}  // namespace tidemark
