#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/command_line.h"

namespace espalier::cli {

// Each adds one subcommand to the program. Parsing sets `action` to what the command line asks for; the
// action returns the exit status and throws Error for the user's mistakes.
using Action = std::function<int()>;
void add_train(Command program, Action& action);
void add_path(Command program, Action& action);
void add_cross_validate(Command program, Action& action);
void add_race(Command program, Action& action);
void add_predict(Command program, Action& action);
void add_eval(Command program, Action& action);
void add_show(Command program, Action& action);
void add_report(Command program, Action& action);
void add_serve(Command program, Action& action);
void add_verify(Command program, Action& action);
void add_convert(Command program, Action& action);
void add_attributes(Command program, Action& action);
void add_infer(Command program, Action& action);
void add_demo(Command program, Action& action);
void add_generate(Command program, Action& action);

// All of them. The action must outlive the program.
Program make_program(Action& action);
// The whole program, given its arguments (without its own name). Prints errors and returns the exit status.
int run(std::vector<std::string> arguments);
// The command line of the action, as a shell takes it: "espalier train tag train.txt -o model.esp".
const std::string& given_command();
// Says what is wrong on standard error.
void complain(std::string what);

inline constexpr int kSuccess = 0, kUserError = 2, kMissedGap = 3, kRefuted = 4, kInterrupted = 130;

}  // namespace espalier::cli
