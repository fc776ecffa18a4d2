#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace espalier::serve {

// What a program that answers requests sees of them; who speaks HTTP is http_server.cc alone.
struct Request {
  std::string method, path, body;
  std::string authorization;  // the header of that name
};

struct Response {
  int status = 200;
  std::string body{};
  std::string type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers{};
};

struct HttpLimits {
  std::size_t body = std::size_t{1} << 20;    // bytes of a request
  std::size_t connections = 1024;             // open at the same time; more are answered 503 and closed
  std::chrono::milliseconds request{10'000};  // from the first byte of a request to its last one,
                                              // and for a client to take the answer
  std::chrono::milliseconds idle{30'000};     // between two requests of a connection
};

// {"error": {"status": 404, "message": "..."}}, what every answer but 2xx has.
Response failure(int status, std::string_view message);

}  // namespace espalier::serve
