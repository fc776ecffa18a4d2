#include "support/run_program.h"

#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>

namespace espalier::testing {
namespace {

using Clock = std::chrono::steady_clock;

std::string contents(std::FILE* file) {
  std::string text;
  char buffer[1 << 16];
  ssize_t got;
  while ((got = ::pread(fileno(file), buffer, sizeof(buffer), static_cast<off_t>(text.size()))) > 0) {
    text.append(buffer, static_cast<std::size_t>(got));
  }
  return text;
}

void require(bool condition, const char* what) {
  if (!condition) throw std::runtime_error(std::string("cannot ") + what);
}

// What posix_spawn is to do before the program starts; freed with the scope.
struct Plan {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  Plan() {
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
  }
  ~Plan() {
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
  }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  void move(int from, int to) { posix_spawn_file_actions_adddup2(&files, from, to); }
  // Whatever started the tests may have turned signals off (a shell does for jobs in the background).
  void default_signals() {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int signal : {SIGINT, SIGTERM, SIGPIPE}) sigaddset(&signals, signal);
    posix_spawnattr_setsigdefault(&attributes, &signals);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  }
};

}  // namespace

RunningProgram::RunningProgram(const std::vector<std::string>& arguments, const RunOptions& options)
    : in_(std::tmpfile()), out_(std::tmpfile()), err_(std::tmpfile()) {
  require(in_ && out_ && err_, "make temporary files");
  std::fwrite(options.input.data(), 1, options.input.size(), in_.get());
  std::rewind(in_.get());

  Plan plan;
  if (!options.folder.empty()) posix_spawn_file_actions_addchdir_np(&plan.files, options.folder.c_str());
  plan.move(fileno(in_.get()), STDIN_FILENO);
  if (options.output.empty()) {
    plan.move(fileno(out_.get()), STDOUT_FILENO);
  } else {
    posix_spawn_file_actions_addopen(&plan.files, STDOUT_FILENO, options.output.c_str(), O_WRONLY, 0);
  }
  int other_end = -1;
  if (options.terminal)
    require(::openpty(&terminal_, &other_end, nullptr, nullptr, nullptr) == 0, "open a terminal");
  plan.move(options.terminal ? other_end : fileno(err_.get()), STDERR_FILENO);
  plan.default_signals();

  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const int failed = ::posix_spawnp(&pid_, argv[0], &plan.files, &plan.attributes, argv.data(), environ);
  if (other_end >= 0) ::close(other_end);
  if (terminal_ >= 0) ::fcntl(terminal_, F_SETFL, O_NONBLOCK);
  require(failed == 0, "start the program");
}

RunningProgram::~RunningProgram() {
  if (!ended()) {
    send(SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  if (terminal_ >= 0) ::close(terminal_);
}

bool RunningProgram::ended() {
  if (ended_) return true;
  int status = 0;
  if (::waitpid(pid_, &status, WNOHANG) != pid_) return false;
  ended_ = true;
  status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return true;
}

std::string RunningProgram::error_text() {
  if (terminal_ < 0) return contents(err_.get());
  char buffer[4096];
  ssize_t got;
  while ((got = ::read(terminal_, buffer, sizeof(buffer))) > 0) {
    from_terminal_.append(buffer, static_cast<std::size_t>(got));
  }
  return from_terminal_;
}

bool RunningProgram::wait_for_error_lines(std::ptrdiff_t count) {
  const auto deadline = Clock::now() + std::chrono::minutes(1);
  for (;;) {
    const bool last = ended() || Clock::now() > deadline;
    const std::string text = error_text();
    if (std::count(text.begin(), text.end(), '\n') >= count) return true;
    if (last) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void RunningProgram::send(int signal) const { ::kill(pid_, signal); }

Outcome RunningProgram::wait() {
  const auto deadline = Clock::now() + std::chrono::minutes(2);
  while (!ended()) {
    error_text();  // a terminal holds but a few lines that nobody read
    if (Clock::now() > deadline) send(SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return {status_, contents(out_.get()), error_text()};
}

Outcome run_program(const std::vector<std::string>& arguments, const RunOptions& options) {
  return RunningProgram(arguments, options).wait();
}

}  // namespace espalier::testing
