// The only source that reads httplib.h, which takes seconds to compile. From cpp-httplib are requests
// (request line, headers, chunked bodies) and the writing of answers; connections, their threads and their
// deadlines are ours, since those of the library wait for a slow client as long as it sends a byte now and
// then.
#include "serve/http_server.h"

#include <fmt/format.h>
#include <httplib.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>

#include "espalier/base/error.h"
#include "espalier/base/json.h"
#include "serve/connection.h"

namespace espalier::serve {
namespace {

using Clock = std::chrono::steady_clock;

// What the library reads from and writes to, and what is known of the request there.
class Client final : public httplib::Stream {
 public:
  explicit Client(Connection& connection) : connection_(connection) {}

  bool is_readable() const override { return connection_.has_more(); }
  bool is_writable() const override { return true; }
  ssize_t read(char* to, std::size_t size) override { return connection_.read(to, size); }
  ssize_t write(const char* from, std::size_t size) override { return connection_.write(from, size); }
  // Nobody asks who a client is.
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return connection_.socket(); }

  void allow_body() { connection_.allow_body(); }

  bool close_after = false;  // what the client sends next cannot be told from what it sent
  bool answered = false;     // somebody was told of this request
  Clock::time_point began = Clock::now();

 private:
  Connection& connection_;
};

thread_local Client* current = nullptr;  // whom a thread answers

const char* phrase_of(int status) {
  switch (status) {
    case 408:
      return "Request Timeout";
    case 431:
      return "Request Header Fields Too Large";
    default:
      return "Service Unavailable";
  }
}

// An answer that no library writes, after which the connection ends.
std::string last_words(int status, std::string_view message) {
  const std::string body = failure(status, message).body;
  return fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: "
      "close\r\n{}\r\n{}",
      status, phrase_of(status), body.size(), status == 503 ? "Retry-After: 1\r\n" : "", body);
}

bool same_without_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return (x | 0x20) == (y | 0x20); });
}

// In a time that does not depend on where they differ.
bool same_secret(std::string_view given, std::string_view wanted) {
  unsigned differences = given.size() == wanted.size() ? 0 : 1;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const char other = wanted.empty() ? '\0' : wanted[i % wanted.size()];
    differences |= static_cast<unsigned char>(given[i] ^ other);
  }
  return differences == 0;
}

std::string_view host_of(std::string_view host_and_port) {
  if (host_and_port.starts_with('[')) {
    const std::size_t end = host_and_port.find(']');
    return host_and_port.substr(0, end == std::string_view::npos ? end : end + 1);
  }
  return host_and_port.substr(0, host_and_port.find(':'));
}

bool is_loopback_name(std::string_view host) {
  return same_without_case(host, "localhost") || host == "[::1]" || host == "127.0.0.1";
}

}  // namespace
Response failure(int status, std::string_view message) {
  Json error = Json::object();
  error["status"] = status;
  error["message"] = message;
  Json whole = Json::object();
  whole["error"] = error;
  return {status, whole.dump() + '\n'};
}

struct HttpServer::State final : httplib::Server {
  State(Settings of, Answer answers, Observe observes)
      : settings(std::move(of)),
        answer(std::move(answers)),
        observe(std::move(observes)),
        listener(settings.host, settings.port) {
    wake = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (wake < 0) throw Error::system("eventfd", "open", errno, "expected more files that may be open");
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(settings.limits.idle).count();
    set_keep_alive_timeout(seconds);
    set_keep_alive_max_count(1'000'000);
    set_payload_max_length(settings.limits.body);
    set_default_headers({{"X-Content-Type-Options", "nosniff"},
                         {"Cross-Origin-Resource-Policy", "same-origin"},
                         {"Cache-Control", "no-store"}});
    set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      const Response refused = check(request);
      if (refused.status == 200) {
        current->allow_body();
        return HandlerResponse::Unhandled;
      }
      // Of a body that nobody reads.
      current->close_after = current->close_after || request.has_header("Content-Length") ||
                             request.has_header("Transfer-Encoding");
      give(refused, response);
      return HandlerResponse::Handled;
    });
    // Requests that the library refuses, which it does before anybody else sees them.
    set_error_handler([](const httplib::Request&, httplib::Response& response) {
      if (!response.body.empty()) return;
      current->close_after = true;
      give(failure(response.status, "not a request of HTTP/1.1 that this server understands"), response);
    });
    set_logger([this](const httplib::Request& request, const httplib::Response& response) {
      current->answered = true;
      note(route_path(request.path), response.status);
    });
    for (const Route& route : settings.routes) {
      if (route.method == "POST") {
        Post(route.path, [this](const httplib::Request& request, httplib::Response& response,
                                const httplib::ContentReader& content) {
          Request ours = ours_of(request);
          bool large = false;
          const bool whole = content([&](const char* bytes, std::size_t size) {
            large = ours.body.size() + size > settings.limits.body;
            if (!large) ours.body.append(bytes, size);
            return !large;
          });
          if (!whole) {
            current->close_after = true;
            give(failure(large ? 413 : 400, large ? too_large() : "the body is not what its headers say"),
                 response);
            return;
          }
          give(answer(ours), response);
        });
      } else {
        Get(route.path, [this](const httplib::Request& request, httplib::Response& response) {
          current->close_after = current->close_after || request.has_header("Content-Length") ||
                                 request.has_header("Transfer-Encoding");
          give(answer(ours_of(request)), response);
        });
      }
    }
  }
  ~State() override { ::close(wake); }

  static Request ours_of(const httplib::Request& request) {
    return {request.method, request.path, {}, request.get_header_value("Authorization")};
  }
  static void give(const Response& from, httplib::Response& to) {
    to.status = from.status;
    for (const auto& [name, value] : from.headers) to.set_header(name, value);
    to.set_content(from.body, from.type);
    if (current->close_after) to.set_header("Connection", "close");
  }
  std::string too_large() const { return fmt::format("a body of more than {} bytes", settings.limits.body); }
  void note(const std::string& path, int status) const {
    observe(path, status, std::chrono::duration<double>(Clock::now() - current->began).count());
  }
  std::string route_path(const std::string& path) const {
    return std::ranges::find(settings.routes, path, &Route::path) == settings.routes.end() ? "" : path;
  }

  // 200 for what may go on.
  Response check(const httplib::Request& request) const {
    const auto count = [&](const char* name) { return request.headers.count(name); };
    if (request.version != "HTTP/1.1" && request.version != "HTTP/1.0")
      return closing(failure(505, "not HTTP/1.1"));
    if (count("Host") > 1 || (count("Host") == 0 && request.version == "HTTP/1.1"))
      return closing(failure(400, "expected one header Host"));
    const std::string host = request.get_header_value("Host");
    if (listener.loopback() && !host.empty() && !is_loopback_name(host_of(host)))
      return failure(403, "the header Host names another machine; expected localhost, 127.0.0.1 or [::1]");
    // Where a request ends has to be beyond doubt.
    const std::string length = request.get_header_value("Content-Length"),
                      encoding = request.get_header_value("Transfer-Encoding");
    if (count("Content-Length") > 1 || count("Transfer-Encoding") > 1 ||
        (count("Content-Length") > 0 && count("Transfer-Encoding") > 0))
      return closing(failure(400, "expected one header Content-Length or Transfer-Encoding"));
    if (count("Content-Length") > 0 &&
        (length.empty() || length.find_first_not_of("0123456789") != std::string::npos))
      return closing(failure(400, "Content-Length: not a number"));
    if (count("Transfer-Encoding") > 0 && !same_without_case(encoding, "chunked"))
      return closing(failure(501, "Transfer-Encoding: expected chunked"));

    std::string allowed;
    bool known = false;
    for (const Route& route : settings.routes) {
      if (route.path != request.path) continue;
      known = known || route.method == request.method || (route.method == "GET" && request.method == "HEAD");
      allowed += (allowed.empty() ? "" : ", ") + route.method + (route.method == "GET" ? ", HEAD" : "");
    }
    if (allowed.empty()) return failure(404, "nothing is at this path; GET /openapi.json lists what is");
    if (!known) {
      Response response = failure(405, "expected " + allowed);
      response.headers.emplace_back("Allow", allowed);
      return response;
    }
    if (!settings.token.empty() &&
        std::ranges::find(settings.open_paths, request.path) == settings.open_paths.end()) {
      constexpr std::string_view kBearer = "Bearer ";
      const std::string given = request.get_header_value("Authorization");
      if (!same_without_case(std::string_view(given).substr(0, kBearer.size()), kBearer) ||
          !same_secret(std::string_view(given).substr(kBearer.size()), settings.token)) {
        Response response = failure(401, "expected the token of this server: 'Authorization: Bearer TOKEN'");
        response.headers.emplace_back("WWW-Authenticate", "Bearer");
        return response;
      }
    }
    if (request.method != "POST") return {};
    if (length.empty() && encoding.empty())
      return closing(failure(411, "expected a body with its Content-Length"));
    if (length.size() > 18 || (!length.empty() && std::stoull(length) > settings.limits.body))
      return failure(413, too_large());
    const std::string type = request.get_header_value("Content-Type");
    if (!same_without_case(std::string_view(type).substr(0, type.find_first_of("; ")), "application/json"))
      return failure(415, "expected 'Content-Type: application/json'");
    if (count("Content-Encoding") > 0) return failure(415, "expected a body that is not compressed");
    return {};
  }
  static Response closing(Response response) {
    current->close_after = true;
    return response;
  }

  // One connection, from its first request to its last.
  void serve(int socket) {
    const int yes = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    Connection connection(socket, wake, settings.limits);
    for (bool closed = false; !closed && connection.wait_for_request();) {
      Client client(connection);
      current = &client;
      bool handled = false;
      try {
        // Compressing small answers costs more than it gains.
        handled = process_request(client, false, closed, [](httplib::Request& request) {
          request.headers.erase("Accept-Encoding");
        });
      } catch (...) {
        client.close_after = true;
      }
      const Connection::Ending ending = connection.ending();
      if (ending == Connection::Ending::timeout || ending == Connection::Ending::too_large) {
        const bool late = ending == Connection::Ending::timeout;
        connection.replace(last_words(
            late ? 408 : 431, late ? "the request took too long to arrive" : "the headers are too long"));
        if (!client.answered) note("", late ? 408 : 431);
        client.close_after = true;
      }
      current = nullptr;
      const bool sent = connection.flush();
      if (client.close_after) connection.close_gently();
      if (!sent || !handled || ending != Connection::Ending::none || client.close_after || stopping) break;
    }
  }

  // A thread that serves one connection after the other, and ends when there is none for a while.
  void work() {
    while (true) {
      int socket = -1;
      {
        std::unique_lock lock(mutex);
        ++idle;
        const bool any =
            arrived.wait_for(lock, std::chrono::seconds(5), [&] { return !waiting.empty() || stopping; });
        --idle;
        if (!any || waiting.empty()) break;
        socket = waiting.front();
        waiting.pop_front();
      }
      serve(socket);
      open.fetch_sub(1);
    }
    std::lock_guard lock(mutex);
    if (--threads == 0) all_ended.notify_all();
  }

  void take(int socket) {
    connections.fetch_add(1);
    std::unique_lock lock(mutex);
    bool served = open.load() < settings.limits.connections;
    if (served && idle <= waiting.size()) {
      try {
        std::thread([this] { work(); }).detach();
        ++threads;
      } catch (const std::system_error&) {  // no thread is to be had
        served = threads > 0 && open.load() < threads;
      }
    }
    if (served) {
      open.fetch_add(1);
      waiting.push_back(socket);
      arrived.notify_one();
      return;
    }
    lock.unlock();
    refused.fetch_add(1);
    const std::string words = last_words(503, "too many connections");
    [[maybe_unused]] const ssize_t sent =
        ::send(socket, words.data(), words.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    ::shutdown(socket, SHUT_WR);
    std::array<char, 4096> unread;  // else the system would discard the answer
    while (::recv(socket, unread.data(), unread.size(), MSG_DONTWAIT) > 0) {
    }
    ::close(socket);
  }

  Settings settings;
  Answer answer;
  Observe observe;
  Listener listener;
  int wake = -1;
  std::atomic<bool> stopping{false};
  std::atomic<std::uint64_t> connections{0}, refused{0};
  std::atomic<std::size_t> open{0};
  std::mutex mutex;
  std::condition_variable arrived, all_ended;
  std::deque<int> waiting;
  std::size_t idle = 0, threads = 0;
};

HttpServer::HttpServer(Settings settings, Answer answer, Observe observe)
    : state_(std::make_unique<State>(std::move(settings), std::move(answer), std::move(observe))) {}
HttpServer::~HttpServer() = default;

int HttpServer::port() const { return state_->listener.port(); }
bool HttpServer::is_local() const { return state_->listener.loopback(); }
std::string HttpServer::address() const {
  const std::string& host = state_->settings.host;
  return host.find(':') == std::string::npos ? fmt::format("http://{}:{}/", host, port())
                                             : fmt::format("http://[{}]:{}/", host, port());
}
HttpCounts HttpServer::counts() const {
  return {state_->connections.load(), state_->refused.load(), state_->open.load()};
}

void HttpServer::run() {
  State& state = *state_;
  while (!state.stopping) {
    std::array<pollfd, 2> ready{pollfd{state.listener.socket(), POLLIN, 0}, pollfd{state.wake, POLLIN, 0}};
    if (::poll(ready.data(), ready.size(), -1) < 0 && errno != EINTR) break;
    if (ready[1].revents != 0) break;
    const int socket = ::accept4(state.listener.socket(), nullptr, nullptr, SOCK_CLOEXEC);
    if (socket >= 0) {
      state.take(socket);
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  state.listener.close();
  std::unique_lock lock(state.mutex);
  state.stopping = true;
  state.arrived.notify_all();
  state.all_ended.wait(lock, [&] { return state.threads == 0; });
}

void HttpServer::stop() noexcept {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(state_->wake, &one, sizeof(one));
}

}  // namespace espalier::serve
