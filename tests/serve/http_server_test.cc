// The server by itself: what it refuses, and whom it does not wait for.

#include "serve/http_server.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory>
#include <thread>
#include <vector>

#include "base/random.h"
#include "serve/client.h"

namespace espalier::testing::http_server_test {
namespace {

using serve::HttpServer;
using namespace std::chrono_literals;

// Answers with what it was sent.
class Echo {
 public:
  explicit Echo(const serve::HttpLimits& limits = {}, const std::string& token = {})
      : server_(
            {"127.0.0.1",
             0,
             token,
             limits,
             {{"GET", "/"}, {"GET", "/v1/model"}, {"POST", "/v1/predict"}},
             {"/"}},
            [this](const serve::Request& request) {
              if (request.body == "wait") std::this_thread::sleep_for(200ms);
              ++answers_;
              return serve::Response{200, request.body.empty() ? request.path : request.body, "text/plain"};
            },
            [this](const std::string&, int, double) { ++observed_; }),
        thread_([this] { server_.run(); }) {}
  ~Echo() { stop(); }
  void stop() {
    server_.stop();
    if (thread_.joinable()) thread_.join();
  }
  int port() const { return server_.port(); }
  serve::HttpCounts counts() const { return server_.counts(); }
  int answers() const { return answers_; }
  int observed() const { return observed_; }
  // Once all have gone.
  bool empties() const {
    for (int i = 0; i < 500 && counts().open > 0; ++i) std::this_thread::sleep_for(10ms);
    return counts().open == 0;
  }

 private:
  std::atomic<int> answers_{0}, observed_{0};
  HttpServer server_;
  std::thread thread_;
};

int status_of(const Echo& server, std::string_view request) {
  Client client(server.port());
  client.send(request);
  return client.status();
}

TEST(HttpServer, OneConnectionManyRequests) {
  Echo server;
  Client client(server.port());
  for (int i = 0; i < 3; ++i) {
    client.send(get("/"));
    EXPECT_TRUE(client.answer().ends_with("\r\n\r\n/"));
    client.send(post("{}"));
    EXPECT_TRUE(client.answer().ends_with("\r\n\r\n{}"));
  }
  client.send(get("/") + post("[1]") + get("/v1/model"));  // without waiting
  EXPECT_TRUE(client.answer().ends_with("\r\n\r\n/"));
  EXPECT_TRUE(client.answer().ends_with("\r\n\r\n[1]"));
  EXPECT_TRUE(client.answer().ends_with("\r\n\r\n/v1/model"));
  client.send(
      "POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json; charset=utf-8\r\n"
      "Transfer-Encoding: chunked\r\n\r\n2\r\n[1\r\n1\r\n]\r\n0\r\n\r\n");
  EXPECT_TRUE(client.answer().ends_with("\r\n\r\n[1]"));
  client.send("HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n" + get("/v1/model"));
  const std::string head = client.answer();  // which takes the next answer's first byte for its body
  EXPECT_TRUE(head.starts_with("HTTP/1.1 200 OK\r\n"));
  EXPECT_TRUE(client.answer().ends_with("/v1/model"));
  client.send(
      "POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "
      "3\r\n"
      "Expect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.status(), 100);
  client.send("[2]");
  EXPECT_TRUE(client.answer().ends_with("\r\n\r\n[2]"));
  client.send(get("/", "Connection: close\r\n"));
  EXPECT_EQ(client.status(), 200);
  EXPECT_EQ(client.answer(), "");
  EXPECT_EQ(server.counts().connections, 1u);
  EXPECT_EQ(server.observed(), 14);
}

TEST(HttpServer, RightStatus) {
  Echo server({.body = 100});
  const auto post_with = [](const std::string& headers, const std::string& body = "") {
    return "POST /v1/predict HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n" + body;
  };
  const std::string json = "Content-Type: application/json\r\n";
  EXPECT_EQ(status_of(server, get("/nowhere")), 404);
  EXPECT_EQ(status_of(server, get("/v1/predict")), 405);
  EXPECT_EQ(status_of(server, "DELETE / HTTP/1.1\r\nHost: localhost\r\n\r\n"), 405);
  EXPECT_EQ(status_of(server, "GET / HTTP/1.1\r\n\r\n"), 400);
  EXPECT_EQ(status_of(server, "GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n"), 400);
  EXPECT_EQ(status_of(server, "GET / HTTP/1.1\r\nHost: example.org\r\n\r\n"), 403);
  EXPECT_EQ(status_of(server, "GET / HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n"), 200);
  EXPECT_EQ(status_of(server, "GET / HTTP/1.0\r\n\r\n"), 200);
  EXPECT_EQ(status_of(server, "GET / HTTP/9.9\r\nHost: localhost\r\n\r\n"), 400);
  EXPECT_EQ(status_of(server, "nonsense\r\n\r\n"), 400);
  EXPECT_EQ(status_of(server, post_with(json)), 411);
  EXPECT_EQ(status_of(server, post_with(json + "Content-Length: 101\r\n")), 413);
  EXPECT_EQ(status_of(server, post_with(json + "Content-Length: 99999999999999999999\r\n")), 413);
  EXPECT_EQ(status_of(server, post_with(json + "Content-Length: -1\r\n")), 400);
  EXPECT_EQ(status_of(server, post_with(json + "Content-Length: 1\r\nContent-Length: 2\r\n")), 400);
  EXPECT_EQ(status_of(server, post_with(json + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n")), 400);
  EXPECT_EQ(status_of(server, post_with(json + "Transfer-Encoding: gzip\r\n")), 501);
  EXPECT_EQ(status_of(server, post_with("Content-Length: 1\r\n", "x")), 415);
  EXPECT_EQ(status_of(server, post_with("Content-Type: text/plain\r\nContent-Length: 1\r\n", "x")), 415);
  EXPECT_EQ(
      status_of(server,
                post_with("Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 1\r\n", "x")),
      415);
  EXPECT_EQ(status_of(server, post_with(json + "Content-Encoding: gzip\r\nContent-Length: 1\r\n", "x")), 415);
  EXPECT_EQ(status_of(server, post_with(json + "Transfer-Encoding: chunked\r\n",
                                        "80\r\n" + std::string(128, 'x') + "\r\n0\r\n\r\n")),
            413);
  EXPECT_EQ(status_of(server, get("/", "X: " + std::string(20'000, 'x') + "\r\n")), 431);
  std::string many;
  for (int i = 0; i < 3000; ++i) many += "A: b\r\n";
  EXPECT_EQ(status_of(server, get("/", many)), 431);
  std::string ranges = "Range: bytes=0-1";
  while (ranges.size() < 8000) ranges += ",0-1";
  EXPECT_NE(status_of(server, get("/", ranges + "\r\n")), 0);
  EXPECT_EQ(server.answers(), 3 + (status_of(server, get("/")) == 200));
  EXPECT_TRUE(server.empties());
}

TEST(HttpServer, Token) {
  Echo server({}, "a secret of some length");
  EXPECT_EQ(status_of(server, get("/")), 200);
  EXPECT_EQ(status_of(server, get("/v1/model")), 401);
  EXPECT_EQ(status_of(server, get("/v1/model", "Authorization: Bearer a secret of some lengtH\r\n")), 401);
  EXPECT_EQ(status_of(server, get("/v1/model", "Authorization: Bearer \r\n")), 401);
  EXPECT_EQ(status_of(server, get("/v1/model", "Authorization: Bearer a secret of some length\r\n")), 200);
}

// A byte now and then does not keep a connection.
TEST(HttpServer, SlowClients) {
  Echo server({.request = 150ms, .idle = 150ms});
  Client idle(server.port()), slow_head(server.port()), slow_body(server.port());
  slow_body.send(
      "POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "
      "9\r\n\r\n");
  for (const char c : std::string("GET /")) {
    slow_head.send({&c, 1});
    slow_body.send({&c, 1});
    EXPECT_EQ(status_of(server, get("/")), 200);
    std::this_thread::sleep_for(40ms);
  }
  EXPECT_EQ(slow_head.status(), 408);
  EXPECT_EQ(slow_body.status(), 408);
  EXPECT_EQ(idle.answer(), "");
  EXPECT_TRUE(server.empties());
}

TEST(HttpServer, HalfClosedConnections) {
  Echo server;
  Client whole(server.port()), half(server.port()), nothing(server.port());
  whole.send(post("{}"));
  half.send(
      "POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "
      "9\r\n\r\n{");
  for (Client* client : {&whole, &half, &nothing}) client->end_sending();
  EXPECT_EQ(whole.status(), 200);
  EXPECT_EQ(half.status(), 400);
  EXPECT_EQ(nothing.answer(), "");
  EXPECT_TRUE(server.empties());
}

TEST(HttpServer, ManyAtOnce) {
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 2400);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  const std::size_t most = std::min<std::size_t>(1000, (limit.rlim_cur - 100) / 2);
  Echo server({.connections = most});
  std::vector<std::unique_ptr<Client>> clients;
  for (std::size_t i = 0; i < most; ++i) clients.push_back(std::make_unique<Client>(server.port()));
  for (const auto& client : clients) client->send(get("/"));
  for (const auto& client : clients) EXPECT_EQ(client->status(), 200);
  EXPECT_EQ(server.counts().open, most);
  Client one_more(server.port());
  EXPECT_EQ(one_more.status(), 503);
  EXPECT_EQ(server.counts().refused, 1u);
  clients.clear();
  EXPECT_TRUE(server.empties());
  EXPECT_EQ(status_of(server, get("/")), 200);
}

std::size_t open_files() {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

// Requests with some bytes changed, left out, doubled or cut off: an answer of HTTP, or none, and nothing is
// left behind. bench/serve/abuse.py sends more of them to the program.
TEST(HttpServer, MalformedRequests) {
  const std::size_t before = open_files();
  {
    Echo server({.body = 1000, .request = 300ms});
    Random random(1);
    const std::vector<std::string> seeds{
        get("/"), post("{\"text\":\"Anna\"}", "Connection: keep-alive\r\nAccept: */*\r\n"),
        "POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
        "application/json\r\nTransfer-Encoding: "
        "chunked\r\n\r\n2\r\n[1\r\n1\r\n]\r\n0\r\n\r\n"};
    for (int i = 0; i < 600; ++i) {
      std::string request = seeds[random.below(seeds.size())];
      for (std::size_t changes = 1 + random.below(4); changes > 0 && !request.empty(); --changes) {
        const std::size_t at = random.below(request.size());
        switch (random.below(5)) {
          case 0:
            request[at] = static_cast<char>(random.below(256));
            break;
          case 1:
            request.erase(at, 1 + random.below(8));
            break;
          case 2:
            request.insert(at, request.substr(at, 1 + random.below(20)));
            break;
          case 3:
            request.resize(at);
            break;
          default:
            request.insert(at, "\r\n");
        }
      }
      Client client(server.port());
      client.send(request);
      client.end_sending();
      const std::string answer = client.answer();
      EXPECT_TRUE(answer.empty() || answer.starts_with("HTTP/1.1 ")) << answer;
      if (answer.starts_with("HTTP/1.1 ")) {
        EXPECT_TRUE(answer[9] == '2' || answer[9] == '4' || answer.substr(9, 3) >= "501")
            << request << answer;
      }
    }
    EXPECT_EQ(status_of(server, get("/")), 200);
    EXPECT_TRUE(server.empties());
  }
  EXPECT_EQ(open_files(), before);
}

TEST(HttpServer, StopAnswersWhatBegan) {
  Echo server;
  Client busy(server.port()), idle(server.port());
  idle.send(get("/"));
  EXPECT_EQ(idle.status(), 200);
  busy.send(post("wait"));
  while (server.counts().open < 2) std::this_thread::sleep_for(1ms);
  std::this_thread::sleep_for(20ms);
  server.stop();
  EXPECT_EQ(busy.status(), 200);
  EXPECT_EQ(idle.answer(), "");
  EXPECT_EQ(server.counts().open, 0u);
}

}  // namespace
}  // namespace espalier::testing::http_server_test
