#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <iterator>
#include <new>
#include <string_view>

#include "cli/commands.h"
#include "cli/file_roles.h"
#include "cli/ranks.h"
#include "espalier/base/error.h"
#include "espalier/base/options.h"
#include "espalier/version.h"

namespace espalier::cli {

// Not through fmt::print, which throws if standard error cannot be written: there is nobody left to tell.
// Always one line, whatever the library that wrote the message intended.
void complain(std::string what) {
  std::ranges::replace(what, '\n', ' ');
  std::fputs(("espalier: " + one_line(what) + '\n').c_str(), stderr);
}

namespace {

// What is wrong here ends all ranks.
void end_with(const std::string& what) {
  if (LaunchedFleet* fleet = fleet_if_joined()) fleet->fail(what, kUserError);
  complain(what);
}

constexpr const char* kNoMemory = "out of memory; expected a larger machine, less data or fewer labels";

}  // namespace

Program make_program(Action& action) {
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
      "'espalier help COMMAND' shows the options of a command and more examples.");
  add_train(program, action);
  add_predict(program, action);
  add_eval(program, action);
  add_path(program, action);
  add_cross_validate(program, action);
  add_race(program, action);
  add_show(program, action);
  add_report(program, action);
  add_serve(program, action);
  add_verify(program, action);
  add_convert(program, action);
  add_attributes(program, action);
  add_infer(program, action);
  add_demo(program, action);
  add_generate(program, action);
  return parser;
}

namespace {

// As a shell takes it: in quotes where it would see more than one word.
std::string quoted_word(const std::string& word) {
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("-_./,:=+@%").find(c) != std::string_view::npos;
  };
  if (!word.empty() && std::ranges::all_of(word, plain)) return word;
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + '\'';
}

std::string& command_of_run() {
  static std::string command;
  return command;
}

}  // namespace

const std::string& given_command() { return command_of_run(); }

namespace {

int run_and_explain(std::vector<std::string> arguments) {
  Action action;
  Program parser = make_program(action);
  try {
    if (LaunchedFleet* fleet = joined_fleet()) {
      std::string digest = ESPALIER_VERSION;
      for (const std::string& argument : arguments) digest += '\0' + argument;
      fleet->check_same("another command or version", digest, "the same on all ranks");
    }
    constexpr std::string_view kTogether[] = {"train", "path", "predict", "eval"};
    const bool together =
        !arguments.empty() && std::ranges::find(kTogether, arguments.front()) != std::end(kTogether);
    command_of_run() = "espalier";
    for (const std::string& argument : arguments) command_of_run() += ' ' + quoted_word(argument);
    if (const auto status = parser.parse(std::move(arguments))) return *status;
    check_files(parser.options());
    // Of everything else there is but one to do.
    if (!together && !is_first_rank()) return kSuccess;
    return action();
  } catch (const Error& e) {
    end_with(spelled(e.marked(), argument_of));
  } catch (const Stopped& e) {
    complain(e.what());
    return kInterrupted;
  } catch (const std::bad_alloc&) {
    end_with(kNoMemory);
  } catch (const std::exception& e) {
    end_with(fmt::format("unexpected error: {}; please report it", e.what()));
  }
  return kUserError;
}

}  // namespace

int run(std::vector<std::string> arguments) {
  try {
    return run_and_explain(std::move(arguments));
  } catch (const std::bad_alloc&) {  // there was none left even for a message
    for (const char* text : {"espalier: ", kNoMemory, "\n"}) std::fputs(text, stderr);
    return kUserError;
  }
}

}  // namespace espalier::cli
