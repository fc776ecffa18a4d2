#include "serve/connection.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>

#include "espalier/base/error.h"

namespace espalier::serve {
namespace {

constexpr std::size_t kMostHeaders = std::size_t{1} << 14;  // bytes, with the request line
constexpr std::size_t kWriteAtOnce = std::size_t{1} << 16;
constexpr std::size_t kMostIgnored = std::size_t{1} << 20;
constexpr std::chrono::milliseconds kGoodbye{1000};

int milliseconds_until(std::chrono::steady_clock::time_point deadline) {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1 << 30));
}

}  // namespace

Connection::~Connection() { ::close(socket_); }

bool Connection::wait_for_request() {
  if (begin_ == end_) {
    std::array<pollfd, 2> ready{pollfd{socket_, POLLIN, 0}, pollfd{wake_, POLLIN, 0}};
    const auto deadline = Clock::now() + limits_.idle;
    int found = 0;
    do {
      found = ::poll(ready.data(), ready.size(), milliseconds_until(deadline));
    } while (found < 0 && errno == EINTR);
    if (found <= 0 || ready[0].revents == 0) return false;
    deadline_ = Clock::now() + limits_.request;
    if (!fill()) return false;
  }
  deadline_ = Clock::now() + limits_.request;
  left_ = kMostHeaders;
  ending_ = Ending::none;
  sent_ = false;
  out_.clear();
  return true;
}

void Connection::allow_body() { left_ = 2 * limits_.body + kMostHeaders; }

ssize_t Connection::read(char* to, std::size_t size) {
  if (ending_ != Ending::none) return -1;
  if (left_ == 0) {
    fail(Ending::too_large);
    return -1;
  }
  if (begin_ == end_ && !fill()) return ending_ == Ending::closed ? 0 : -1;
  const std::size_t count = std::min({size, end_ - begin_, left_});
  std::memcpy(to, in_.data() + begin_, count);
  begin_ += count;
  left_ -= count;
  return static_cast<ssize_t>(count);
}

ssize_t Connection::write(const char* from, std::size_t size) {
  out_.append(from, size);
  if (out_.size() >= kWriteAtOnce && !flush()) return -1;
  return static_cast<ssize_t>(size);
}

void Connection::replace(const std::string& answer) {
  if (!sent_) out_ = answer;
}

bool Connection::flush() {
  const auto deadline = Clock::now() + limits_.request;
  std::size_t at = 0;
  while (at < out_.size()) {
    const ssize_t sent = ::send(socket_, out_.data() + at, out_.size() - at, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      at += static_cast<std::size_t>(sent);
    } else if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      if (!wait(POLLOUT, deadline)) break;
    } else if (sent < 0 && errno != EINTR) {
      break;
    }
    if (Clock::now() > deadline) break;
  }
  const bool all = at == out_.size();
  sent_ = sent_ || at > 0;
  out_.clear();
  return all || fail(Ending::closed);
}

void Connection::close_gently() {
  ::shutdown(socket_, SHUT_WR);
  const auto deadline = Clock::now() + kGoodbye;
  for (std::size_t ignored = 0; ignored < kMostIgnored && wait(POLLIN, deadline);) {
    const ssize_t got = ::recv(socket_, in_.data(), in_.size(), MSG_DONTWAIT);
    if (got <= 0) break;
    ignored += static_cast<std::size_t>(got);
  }
}

bool Connection::wait(short events, Clock::time_point deadline) const {
  pollfd ready{socket_, events, 0};
  while (true) {
    const int found = ::poll(&ready, 1, milliseconds_until(deadline));
    if (found > 0) return true;
    if (found == 0 || errno != EINTR) return false;
  }
}

bool Connection::fill() {
  if (!out_.empty()) {  // "100 Continue", which the client waits for; the answer is still to come
    if (!flush()) return false;
    sent_ = false;
  }
  // What is there already is taken, however late it is here: only waiting is limited.
  while (true) {
    const ssize_t got = ::recv(socket_, in_.data(), in_.size(), MSG_DONTWAIT);
    if (got > 0) {
      begin_ = 0;
      end_ = static_cast<std::size_t>(got);
      return true;
    }
    if (got < 0 && errno == EINTR) continue;
    if (got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK)) return fail(Ending::closed);
    if (!wait(POLLIN, deadline_)) return fail(Ending::timeout);
  }
}

bool Connection::fail(Ending how) {
  ending_ = how;
  return false;
}

Listener::Listener(const std::string& host, int port) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int status = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (status != 0)
    throw Error::in(fmt::format("{} {}", setting("host"), host), ::gai_strerror(status),
                    "expected a name or an address of this machine");
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, ::freeaddrinfo);
  int failed = 0;
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    const int fd = ::socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, at->ai_protocol);
    if (fd < 0) {
      failed = errno;
      continue;
    }
    const int yes = 1;
    ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    if (::bind(fd, at->ai_addr, at->ai_addrlen) != 0 || ::listen(fd, SOMAXCONN) != 0) {
      failed = errno;
      ::close(fd);
      continue;
    }
    socket_ = fd;
    sockaddr_storage own{};
    socklen_t size = sizeof(own);
    ::getsockname(fd, reinterpret_cast<sockaddr*>(&own), &size);
    if (own.ss_family == AF_INET6) {
      const auto& address = reinterpret_cast<const sockaddr_in6&>(own);
      port_ = ntohs(address.sin6_port);
      loopback_ = IN6_IS_ADDR_LOOPBACK(&address.sin6_addr) != 0;
    } else {
      const auto& address = reinterpret_cast<const sockaddr_in&>(own);
      port_ = ntohs(address.sin_port);
      loopback_ = (ntohl(address.sin_addr.s_addr) >> 24) == 127;
    }
    return;
  }
  throw Error::system(fmt::format("{} {}, {} {}", setting("host"), host, setting("port"), port), "listen",
                      failed, "expected an address of this machine and a port that is free");
}

Listener::~Listener() { close(); }

void Listener::close() {
  if (socket_ >= 0) ::close(socket_);
  socket_ = -1;
}

}  // namespace espalier::serve
