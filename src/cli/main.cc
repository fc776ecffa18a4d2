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

// "train, predict or eval"
std::string listed(const std::vector<const CLI::App*>& commands) {
  std::string names;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    if (i > 0) names += i + 1 < commands.size() ? ", " : " or ";
    names += commands[i]->get_name();
  }
  return names;
}

// What is wrong with the command line, in our words where CLI11's are hard to read, and where to look it up.
std::string explain(const CLI::ParseError& error, const CLI::App& program) {
  const CLI::App* command = &program;
  std::string called = program.get_name();
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    called += ' ' + command->get_name();
  }
  const std::vector<std::string> unexpected = program.remaining(true);
  const std::string what = error.what(), option = what.substr(0, what.find(':'));
  const std::vector<const CLI::App*> choices = command->get_subcommands([](const CLI::App*) { return true; });

  std::string message = what;
  if (!choices.empty()) {
    const char* kind = command == &program ? "command" : "task";
    message = unexpected.empty() ? fmt::format("no {}", kind)
                                 : fmt::format("{} is no {}", in_quotes(unexpected.front()), kind);
    message += "; expected " + listed(choices);
  } else if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !unexpected.empty()) {
    message = "unexpected argument " + in_quotes(unexpected.front());
  } else if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    message = option + (what.ends_with("missing") ? ": no value; expected one" : ": given more than once");
  }
  return fmt::format("{}; see '{} --help'", message, called);
}

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

  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
  try {
    program.parse(std::move(arguments));
    check_files(program);
    return action();
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return program.exit(e);  // --help, --version
    complain(explain(e, program));
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
