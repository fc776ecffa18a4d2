#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "cli/commands.h"
#include "espalier/base/error.h"

namespace espalier::cli {
namespace {

// One line, whatever the library that wrote it thought.
std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

int run(std::vector<std::string> arguments) {
  CLI::App program(
      "Trains structured predictors (CRFs, max-margin Markov networks and the losses between them) to a "
      "certified "
      "optimum.",
      "espalier");
  program.require_subcommand(1);
  program.set_version_flag("--version", "espalier " ESPALIER_VERSION);
  program.footer(
      "Try it:\n"
      "  espalier demo\n"
      "  espalier train classify train.svm --dev dev.svm --l2 auto -o model.esp\n"
      "  espalier eval model.esp test.svm\n\n"
      "'espalier COMMAND --help' has the options of a command and more examples.");
  Action action;
  add_train(program, action);
  add_predict(program, action);
  add_eval(program, action);
  add_path(program, action);
  add_show(program, action);
  add_demo(program, action);
  add_generate(program, action);

  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
  try {
    program.parse(std::move(arguments));
    return action();
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return program.exit(e);  // --help, --version
    fmt::print(stderr, "espalier: {}; see 'espalier --help'\n", one_line(e.what()));
  } catch (const Error& e) {
    fmt::print(stderr, "espalier: {}\n", one_line(e.what()));
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "espalier: out of memory; expected more of it, or less data\n");
  } catch (const std::exception& e) {
    fmt::print(stderr, "espalier: unexpected: {}; please report it\n", one_line(e.what()));
  }
  return kUserError;
}

}  // namespace espalier::cli

// NOLINTNEXTLINE(bugprone-exception-escape): only a failing standard error could still throw
int main(int argc, char** argv) { return espalier::cli::run({argv + 1, argv + argc}); }
