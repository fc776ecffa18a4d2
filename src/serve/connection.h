#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <string>

#include "serve/http.h"

namespace espalier::serve {

// A connection that was accepted, read and written up to deadlines: those of the limits, which a byte now and
// then does not put off. What is written stays here until flush().
class Connection {
 public:
  // What ended a request before its end.
  enum class Ending { none, closed, timeout, too_large };

  // Owns the socket. `wake` is readable once the server is about to end.
  Connection(int socket, int wake, const HttpLimits& limits)
      : socket_(socket), wake_(wake), limits_(limits) {}
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Waits for the first byte of the next request; false if the client is gone, idle for too long, or the
  // server is about to end. What may follow then are headers.
  bool wait_for_request();
  // The headers were fine; what may follow is a body, in chunks perhaps, which have headers of their own.
  void allow_body();

  // At most so many bytes; 0 at the end, -1 where a deadline or a limit is reached.
  ssize_t read(char* to, std::size_t size);
  // Whether something was read ahead.
  bool has_more() const { return begin_ != end_; }
  // -1 where the client does not take it.
  ssize_t write(const char* from, std::size_t size);
  bool flush();
  // In place of what was written and has not been sent, if nothing was.
  void replace(const std::string& answer);
  // Where the client still sends what nobody reads, closing at once would make the system discard the answer.
  void close_gently();

  int socket() const { return socket_; }
  Ending ending() const { return ending_; }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kReadAtOnce = std::size_t{1} << 14;

  bool wait(short events, Clock::time_point deadline) const;
  bool fill();
  bool fail(Ending how);

  int socket_, wake_;
  const HttpLimits& limits_;
  Ending ending_ = Ending::none;
  std::array<char, kReadAtOnce> in_;
  std::size_t begin_ = 0, end_ = 0;  // of what is read ahead
  std::size_t left_ = 0;             // bytes that this request may still have
  std::string out_;
  bool sent_ = false;
  Clock::time_point deadline_;
};

// A socket that clients connect to.
class Listener {
 public:
  // Throws Error where the address is none of this machine, or the port is taken. Port 0: any that is free.
  Listener(const std::string& host, int port);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  int socket() const { return socket_; }
  void close();
  int port() const { return port_; }
  // Whether programs of this machine alone can connect.
  bool loopback() const { return loopback_; }

 private:
  int socket_ = -1, port_ = 0;
  bool loopback_ = false;
};

}  // namespace espalier::serve
