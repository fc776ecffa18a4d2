#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace espalier::testing {

struct Outcome {
  int status = -1;  // of exit; 128 + the signal that ended the program, as a shell has it
  std::string out, err;
};

struct RunOptions {
  std::string folder;     // where it runs
  std::string input;      // its standard input
  std::string output;     // a path that standard output goes to instead of Outcome::out
  bool terminal = false;  // standard error is a terminal
};

// A program that runs beside the test. Its streams are files without a name, so neither side ever waits for
// the other.
class RunningProgram {
 public:
  // The first argument is the program.
  RunningProgram(const std::vector<std::string>& arguments, const RunOptions& options);
  ~RunningProgram();
  RunningProgram(const RunningProgram&) = delete;
  RunningProgram& operator=(const RunningProgram&) = delete;

  // False if the program ended, or a minute passed, with fewer lines on its standard error.
  bool wait_for_error_lines(std::ptrdiff_t count);
  bool running() { return !ended(); }
  void send(int signal) const;
  // A program that is not done after two minutes is killed.
  Outcome wait();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  using File = std::unique_ptr<std::FILE, Close>;

  bool ended();
  std::string error_text();

  File in_, out_, err_;
  int terminal_ = -1;  // our end of it
  std::string from_terminal_;
  pid_t pid_ = -1;
  bool ended_ = false;
  int status_ = -1;
};

Outcome run_program(const std::vector<std::string>& arguments, const RunOptions& options = {});

}  // namespace espalier::testing
