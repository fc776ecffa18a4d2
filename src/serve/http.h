#pragma once

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

// {"error": {"status": 404, "message": "..."}}, what every answer but 2xx has.
Response failure(int status, std::string_view message);

}  // namespace espalier::serve
