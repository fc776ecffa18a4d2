#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "serve/http.h"

namespace espalier::serve {

// What happens besides requests that are answered.
struct HttpCounts {
  std::uint64_t connections = 0, refused = 0;  // so far
  std::size_t open = 0;                        // now
};

// HTTP/1.1 with a thread for each open connection, each of which a slow client may keep no longer than the
// limits say. Requests are checked before anybody looks at them: their framing, their size, the host that
// they name (a page of another site that makes its name resolve to this machine cannot ask), the type of what
// they bring (JSON, which a form of another site cannot send).
class HttpServer {
 public:
  struct Route {
    std::string method, path;
  };
  struct Settings {
    std::string host;   // an address or name of this machine
    int port = 0;       // 0: any that is free
    std::string token;  // that requests have to bring ("Authorization: Bearer TOKEN"); empty: none
    HttpLimits limits;
    std::vector<Route> routes;            // what there is; anything else is 404 or 405
    std::vector<std::string> open_paths;  // that need no token
  };
  // Called by many threads at the same time.
  using Answer = std::function<Response(const Request&)>;
  // Told each request once it is answered: its path (empty: no route), status and seconds.
  using Observe = std::function<void(const std::string& path, int status, double seconds)>;

  // Takes the port. Throws Error if that is not to be had.
  HttpServer(Settings settings, Answer answer, Observe observe);
  ~HttpServer();

  int port() const;
  // Whether programs of this machine alone can ask.
  bool is_local() const;
  // As in http://HOST:PORT/, with brackets where HOST is an address of IPv6.
  std::string address() const;
  HttpCounts counts() const;
  // Serves until stop(). Then nobody new is let in; requests that began are answered, and it returns.
  void run();
  // Async-signal-safe.
  void stop() noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace espalier::serve
