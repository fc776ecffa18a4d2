#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <thread>

#include "base/input.h"
#include "cli/column_models.h"
#include "cli/commands.h"
#include "cli/ending.h"
#include "cli/validators.h"
#include "espalier/base/error.h"
#include "espalier/base/threads.h"
#include "serve/service.h"

namespace espalier::cli {
namespace {

struct ServeArguments {
  std::string model, host = "127.0.0.1", token_file;
  std::vector<std::string> columns;
  std::uint64_t port = 8080, threads = 0, connections = 1024, max_bytes = std::uint64_t{1} << 20;
  double timeout = 10;
};

// The first line of a file, which alone has the secret: a command line is for everybody to see.
std::string read_token(const std::string& path) {
  if (path.empty()) return {};
  std::string text = read_all(path);
  text.resize(std::min(text.find_first_of("\r\n"), text.size()));
  if (text.size() < 16)
    throw Error::in(path, fmt::format("a token of {} characters", text.size()),
                    "expected at least 16 on the first line");
  return text;
}

void tell(const std::string& line) {
  std::fputs((line + '\n').c_str(), stderr);
  std::fflush(stderr);
}

// A connection is an open file, and systems often allow 1,024 of them unless one asks.
void allow_open_files(std::uint64_t connections) {
  constexpr rlim_t kOthers = 128;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= connections + kOthers) return;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, connections + kOthers);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

// Stops the server at the first SIGINT or SIGTERM, and looks after the model's files meanwhile. Signals are
// blocked in all threads, and read from a file here: a second one ends the program.
class Warden {
 public:
  Warden(serve::HttpServer& server, serve::ServedModel& model, serve::Service& service)
      : thread_([this, &server, &model, &service] { watch(server, model, service); }) {}
  ~Warden() {
    done_ = true;
    thread_.join();
  }
  Warden(const Warden&) = delete;
  Warden& operator=(const Warden&) = delete;

  static sigset_t signals() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    return set;
  }

 private:
  void watch(serve::HttpServer& server, serve::ServedModel& model, serve::Service& service) const {
    constexpr int kLook = 500;  // milliseconds
    const sigset_t set = signals();
    const int file = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    pollfd ready{file, POLLIN, 0};
    bool stopping = false;
    while (!done_) {
      if (::poll(&ready, 1, stopping ? 50 : kLook) > 0) {
        signalfd_siginfo info;
        if (::read(file, &info, sizeof(info)) > 0) {
          if (stopping) ::_exit(kInterrupted);
          stopping = true;
          tell("stopping: requests that began are answered; once more ends at once");
          server.stop();
        }
      }
      if (stopping) continue;
      std::string problem;
      switch (model.look(problem)) {
        case serve::ServedModel::Change::none:
          break;
        case serve::ServedModel::Change::loaded:
          service.metrics().count_reload(true);
          tell("loaded the model anew, since its file was replaced");
          break;
        case serve::ServedModel::Change::failed:
          service.metrics().count_reload(false);
          complain(problem + "; the model before stays");
          break;
      }
    }
    ::close(file);
  }

  std::atomic<bool> done_{false};
  std::thread thread_;
};

int run_server(const ServeArguments& arguments) {
  std::vector<serve::ColumnFile> columns;
  for (const std::string& given : arguments.columns) {
    const auto [name, path] = split_column(given);
    columns.push_back({name, path});
  }
  serve::ServedModel model(arguments.model, columns);
  warn_if_far(arguments.model, model.current()->model().info());
  serve::ServiceSettings settings;
  settings.busy = Threads::of(arguments.threads);
  const auto timeout = std::chrono::milliseconds(static_cast<std::int64_t>(arguments.timeout * 1000));
  settings.limits.seconds = timeout;
  serve::Service service(model, settings);

  serve::HttpServer::Settings http{
      arguments.host,           static_cast<int>(arguments.port), read_token(arguments.token_file), {},
      serve::Service::routes(), serve::Service::open_paths()};
  http.limits.body = arguments.max_bytes;
  http.limits.connections = arguments.connections;
  http.limits.request = timeout;
  allow_open_files(arguments.connections);
  // Before any thread begins, so that all of them have it.
  const sigset_t set = Warden::signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  serve::HttpServer server(
      std::move(http), [&](const serve::Request& request) { return service.answer(request); },
      [&](const std::string& path, int status, double seconds) { service.observe(path, status, seconds); });
  service.connections = [&] { return server.counts(); };
  if (!server.is_local() && arguments.token_file.empty())
    complain("--host lets other machines in, and anyone there may ask; expected --token-file");
  tell(fmt::format("serving {} at {}; Ctrl-C stops", arguments.model, server.address()));
  {
    const Warden warden(server, model, service);
    server.run();
  }
  tell("stopped");
  return kSuccess;
}

}  // namespace

void add_serve(Command program, Action& action) {
  Command command =
      program.add_subcommand("serve", "answer requests by HTTP, with a page to try a model in the browser");
  const auto arguments = std::make_shared<ServeArguments>();
  command
      .add_option("MODEL", arguments->model,
                  "a model that train saved; loaded anew when its file is replaced")
      .required();
  command.add_option("--port", arguments->port, "TCP port; 0: any that is free")
      .check(whole_number_between(0, 65'535))
      .capture_default_str();
  command
      .add_option("--host", arguments->host,
                  "address to listen at; 0.0.0.0 lets other machines in, and should have --token-file")
      .metavar("ADDRESS")
      .capture_default_str();
  command
      .add_option("--token-file", arguments->token_file,
                  "file whose first line requests have to bring: 'Authorization: Bearer TOKEN'")
      .metavar("FILE");
  command
      .add_option("--columns", arguments->columns,
                  "a tagger that fills a column of plain text, as pos=POS.esp; may be repeated")
      .metavar("NAME=MODEL");
  command
      .add_option("--threads", arguments->threads, "predictions at the same time; 0: one for each processor")
      .check(whole_number_from(0))
      .capture_default_str();
  command.add_option("--max-connections", arguments->connections, "open connections; more are answered 503")
      .check(whole_number_from(1))
      .capture_default_str();
  command.add_option("--max-bytes", arguments->max_bytes, "of a request; larger ones are answered 413")
      .check(bytes())
      .metavar("SIZE")
      .default_str("1M");
  command
      .add_option("--timeout", arguments->timeout,
                  "seconds for a request to arrive, to be worked on and to be read, each")
      .check(positive_number())
      .capture_default_str();
  command.footer(
      "Examples:\n"
      "  espalier serve names.esp\n"
      "  espalier serve names.esp --columns pos=POS.esp --port 9000\n"
      "  curl -H 'Content-Type: application/json' -d '{\"text\":\"Anna flew.\"}' "
      "localhost:8080/v1/predict\n\n"
      "POST /v1/predict, GET /v1/model, /healthz, /metrics (Prometheus), /openapi.json; the page is at /.");
  command.callback([arguments, &action] { action = [arguments] { return run_server(*arguments); }; });
}

}  // namespace espalier::cli
