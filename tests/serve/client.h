#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace espalier::testing {

// A client that may misbehave: bytes to 127.0.0.1 and what comes back.
class Client {
 public:
  explicit Client(int port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(port));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0;
  }
  ~Client() { ::close(socket_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  bool connected() const { return connected_; }
  void send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  void end_sending() const { ::shutdown(socket_, SHUT_WR); }
  // Headers and body of the next answer; what came, where the connection ends or nothing comes for five
  // seconds.
  std::string answer() {
    while (true) {
      const std::size_t head = read_.find("\r\n\r\n");
      if (head != std::string::npos) {
        const std::size_t at = read_.find("Content-Length: ");
        const std::size_t size = at < head ? std::stoul(read_.substr(at + 16, 18)) : 0;
        if (read_.size() >= head + 4 + size) {
          std::string whole = read_.substr(0, head + 4 + size);
          read_.erase(0, head + 4 + size);
          return whole;
        }
      }
      pollfd ready{socket_, POLLIN, 0};
      char bytes[4096];
      const ssize_t got = ::poll(&ready, 1, 5000) > 0 ? ::recv(socket_, bytes, sizeof(bytes), 0) : -1;
      if (got <= 0) return std::exchange(read_, {});
      read_.append(bytes, static_cast<std::size_t>(got));
    }
  }
  // 200; 0 where no answer came.
  int status() {
    const std::string whole = answer();
    return whole.starts_with("HTTP/1.1 ") ? std::stoi(whole.substr(9, 3)) : 0;
  }

 private:
  int socket_;
  bool connected_ = false;
  std::string read_;
};

inline std::string post(std::string_view body, std::string_view more = {}) {
  std::string request = "POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
  request += more;
  request += "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n";
  request += body;
  return request;
}
inline std::string get(std::string_view path, std::string_view more = {}) {
  std::string request = "GET ";
  request += path;
  request += " HTTP/1.1\r\nHost: localhost\r\n";
  request += more;
  return request + "\r\n";
}

}  // namespace espalier::testing
