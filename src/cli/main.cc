#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <new>

#include "cli/commands.h"
#include "cli/file_roles.h"
#include "cli/interrupt.h"
#include "espalier/base/error.h"

namespace espalier::cli {
namespace {

// One line, whatever the library that wrote it thought.
std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

// Not through fmt::print, which throws where standard error cannot be written: nobody is left to tell.
void complain(const std::string& what) { std::fputs(("espalier: " + one_line(what) + '\n').c_str(), stderr); }

// A standard stream that is closed (2>&-) would lend its number to the next file that is opened, a model say, and what is said
// on standard error would end up there. In its place: something that only fails.
void occupy_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) >= 0) continue;
    [[maybe_unused]] const int lowest_free =
        ::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

}  // namespace

int run(std::vector<std::string> arguments) {
  Program parser(
      "espalier",
      "Trains structured predictors (CRFs, max-margin Markov networks and the losses between them) to a "
      "certified optimum.",
      "espalier " ESPALIER_VERSION);
  Command program = parser.root();
  program.require_subcommand();
  program.footer(
      "Try it:\n"
      "  espalier demo\n"
      "  espalier train tag train.txt --dev dev.txt --l2 auto -o model.esp\n"
      "  espalier eval model.esp test.txt\n\n"
      "'espalier COMMAND --help' has the options of a command and more examples.");
  Action action;
  add_train(program, action);
  add_predict(program, action);
  add_eval(program, action);
  add_path(program, action);
  add_cross_validate(program, action);
  add_race(program, action);
  add_show(program, action);
  add_convert(program, action);
  add_infer(program, action);
  add_demo(program, action);
  add_generate(program, action);

  try {
    if (const auto status = parser.parse(std::move(arguments))) return *status;
    check_files(parser.options());
    return action();
  } catch (const Error& e) {
    complain(e.what());
  } catch (const Stopped& e) {
    complain(e.what());
    return kInterrupted;
  } catch (const std::bad_alloc&) {
    complain("out of memory; expected more of it, less data or fewer labels");
  } catch (const std::exception& e) {
    complain(fmt::format("unexpected: {}; please report it", e.what()));
  }
  return kUserError;
}

}  // namespace espalier::cli

int main(int argc, char** argv) {
  using namespace espalier::cli;
  occupy_closed_streams();
  end_at_interrupts();
  const int status = run({argv + 1, argv + argc});
  // A path's table, the demo and --help are printed without looking back.
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    if (status != kUserError)
      complain("standard output: cannot be written; make room there or write elsewhere");
    return kUserError;
  }
  return status;
}
