// `espalier serve` as a program: how it begins and ends. tests/serve has what it answers.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>

#include "cli/cli_test.h"
#include "serve/client.h"

namespace espalier::testing::serve_test {
namespace {

class CliServeTest : public CliTest {
 protected:
  void SetUp() override {
    succeed("generate classify -n 100 --seed 1 -o train.txt");
    succeed("train classify train.txt --format crfsuite --quiet -o m.esp");
  }
};

// A port that is taken while this lives, and the next moment most likely free.
class Taken {
 public:
  Taken() : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(at);
    if (::bind(socket_, reinterpret_cast<const sockaddr*>(&at), sizeof(at)) == 0 &&
        ::listen(socket_, 1) == 0 && ::getsockname(socket_, reinterpret_cast<sockaddr*>(&at), &size) == 0)
      port_ = ntohs(at.sin_port);
  }
  ~Taken() { free(); }
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;
  void free() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
  }
  int port() const { return port_; }

 private:
  int socket_, port_ = 0;
};

TEST_F(CliServeTest, ServesUntilItIsToldToStop) {
  for (const int signal : {SIGTERM, SIGINT}) {
    Taken taken;
    const int port = taken.port();
    ASSERT_GT(port, 0);
    taken.free();
    RunningProgram program(command("serve m.esp --port " + std::to_string(port)), here());
    ASSERT_TRUE(program.wait_for_error_lines(1));
    Client client(port);
    client.send(post(R"({"attributes":{"goal":1}})"));
    EXPECT_EQ(client.status(), 200);
    program.send(signal);
    const Outcome outcome = program.wait();
    EXPECT_EQ(outcome.status, 0);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err,
              "serving m.esp at http://127.0.0.1:" + std::to_string(port) +
                  "/; Ctrl-C stops\nstopping: requests that began are answered; once more ends at "
                  "once\nstopped\n");
  }
}

TEST_F(CliServeTest, Refuses) {
  const Taken taken;
  const std::string port = std::to_string(taken.port());
  EXPECT_EQ(error("serve m.esp --port " + port), "espalier: --host 127.0.0.1, --port " + port +
                                                     ": cannot listen: Address already in use; expected an "
                                                     "address of this machine and a port that is free");
  EXPECT_EQ(error("serve m.esp --port 70000"),
            "espalier: --port: found '70000'; expected a whole number from 0 to 65535; see 'espalier serve "
            "--help'");
  EXPECT_EQ(error("serve missing.esp").substr(0, 22), "espalier: missing.esp:");
  EXPECT_EQ(error("serve train.txt").substr(0, 20), "espalier: train.txt:");
  write("token", "short\n");
  EXPECT_EQ(error("serve m.esp --port 0 --token-file token"),
            "espalier: token: a token of 5 characters; expected at least 16 on the first line");
  EXPECT_EQ(error("serve m.esp --columns pos=m.esp"),
            "espalier: --columns: given for a model of classify; expected a model of tag, parse or treebank");
  EXPECT_EQ(error("serve m.esp --columns pos"),
            "espalier: --columns: 'pos'; expected NAME=MODEL, as pos=POS.esp");
}

}  // namespace
}  // namespace espalier::testing::serve_test
