#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/description.h"
#include "espalier/base/options.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace espalier::cli {

// The part of CLI11 that the commands use. Its header takes longer to compile than a command does, and one
// source has it.

// Looks at an option's value, and may change it. Returns what is wrong with it; empty: nothing.
using Check = std::function<std::string(std::string&)>;

// An option of a command, which owns it.
class Option {
 public:
  Option(CLI::App* app, CLI::Option* option) : app_(app), option_(option) {}

  Option required();
  Option check(const Check& check);
  Option needs(Option other);
  Option excludes(Option other);
  Option may_lack_value();                      // the value's default then counts, as if it had been given
  Option capture_default_str();                 // help shows what the variable has now
  Option default_str(const std::string& text);  // help shows this
  Option metavar(const std::string& text);  // what help calls the value; N or X for numbers if nobody says
  Option advanced();                        // only --help-all shows it
  Option description(const std::string& text);
  // Values that completions offer, of an option without a row, or whose row does not have them.
  Option offer(std::vector<std::string> words);
  Option offer_list(std::vector<std::string> words);  // one of them, or several with commas between

 private:
  CLI::App* app_;
  CLI::Option* option_;
};

// A command, or a command of a command. The program owns it.
class Command {
 public:
  explicit Command(CLI::App* app) : app_(app) {}

  Command add_subcommand(const std::string& name, const std::string& summary);
  void require_subcommand();
  // Names are "-o,--output", or "INPUT" for what has none. A given value goes to the variable.
  Option add_option(const std::string& names, std::string& variable, const std::string& help);
  Option add_option(const std::string& names, std::optional<std::string>& variable, const std::string& help);
  Option add_option(const std::string& names, std::vector<std::string>& variable, const std::string& help);
  Option add_option(const std::string& names, double& variable, const std::string& help);
  Option add_option(const std::string& names, std::optional<double>& variable, const std::string& help);
  Option add_option(const std::string& names, int& variable, const std::string& help);
  Option add_option(const std::string& names, std::uint64_t& variable, const std::string& help);
  Option add_option(const std::string& names, std::optional<std::uint64_t>& variable,
                    const std::string& help);
  Option add_flag(const std::string& names, bool& variable, const std::string& help);
  // An option of a table; `set` is told each value that is given, after the row has found nothing wrong with
  // it.
  Option add_option(const OptionRow& row, std::function<void(const std::string& text)> set);
  // All options of a table, which set the values. Those must outlive the parsing.
  void add_options(OptionValues& values);
  Option get_option(const std::string& name);
  void remove_option(const std::string& name);
  void group(const std::string& title);  // of the options that are added from now on, in the help
  void footer(const std::string& text);
  void add_advanced_footer(const std::string& text);  // what --help-all shows after the footer
  void callback(std::function<void()> run);           // once this command was given

 private:
  Option add_option_of(const OptionRow& row, std::function<void(const std::string& text)> set);

  CLI::App* app_;
};

// An option as it was given.
struct GivenOption {
  std::string command;  // that it was given to: "train"
  std::string name;     // "--output"
  std::string plain;    // without dashes
  std::vector<std::string> values;
};

class Program {
 public:
  Program(const std::string& name, const std::string& description, const std::string& version);
  ~Program();
  Program(Program&&) noexcept;

  Command root();
  CommandDescription describe() const;
  // Runs the callback of the command that was given. Returns the exit status where nothing is left to do
  // (--help, help COMMAND, --version). Throws Error if the command line is wrong.
  std::optional<int> parse(std::vector<std::string> arguments);
  // All options of the command that was given; those that were not have no values.
  std::vector<GivenOption> options() const;

 private:
  std::unique_ptr<CLI::App> app_;
};

}  // namespace espalier::cli
