#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace espalier::cli {

// Each adds one subcommand to the program. Parsing sets `action` to what the command line asks for; the action
// returns the exit status and throws Error for the user's mistakes.
using Action = std::function<int()>;
void add_train(CLI::App& program, Action& action);
void add_path(CLI::App& program, Action& action);
void add_cross_validate(CLI::App& program, Action& action);
void add_race(CLI::App& program, Action& action);
void add_predict(CLI::App& program, Action& action);
void add_eval(CLI::App& program, Action& action);
void add_show(CLI::App& program, Action& action);
void add_convert(CLI::App& program, Action& action);
void add_infer(CLI::App& program, Action& action);
void add_demo(CLI::App& program, Action& action);
void add_generate(CLI::App& program, Action& action);

// The whole program, given its arguments (without its own name). Prints errors and returns the exit status.
int run(std::vector<std::string> arguments);

inline constexpr int kSuccess = 0, kUserError = 2, kMissedGap = 3, kInterrupted = 130;

}  // namespace espalier::cli
