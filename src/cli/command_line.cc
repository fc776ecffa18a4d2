#include "cli/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "espalier/base/error.h"

namespace espalier::cli {
namespace {

// The innermost command that was given.
const CLI::App& given_command(const CLI::App& program) {
  const CLI::App* command = &program;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  return *command;
}

std::vector<std::string> names_of(const std::vector<const CLI::App*>& commands) {
  std::vector<std::string> names;
  names.reserve(commands.size());
  for (const CLI::App* command : commands) names.push_back(command->get_name());
  return names;
}

// What help says that a value is: CLI11's names, or the words of a short list that has to be known to leave the value out.
std::string type_name(const OptionRow& row) {
  if (!row.implied.empty()) return fmt::format("[{}]", fmt::join(row.choices, "|"));
  if (row.kind == OptionKind::real) return "FLOAT";
  return row.kind == OptionKind::whole || row.kind == OptionKind::bytes ? "UINT" : "TEXT";
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
    message += "; expected " + listed(names_of(choices));
  } else if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !unexpected.empty()) {
    message = "unexpected argument " + in_quotes(unexpected.front());
  } else if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    message = option + (what.ends_with("missing") ? ": no value; expected one" : ": given more than once");
  }
  return fmt::format("{}; see '{} --help'", message, called);
}

}  // namespace

Option Option::required() { return Option(option_->required()); }
Option Option::check(const Check& check) {
  // A transformation is a check that may change the value.
  return Option(option_->transform(CLI::Validator(check, "")));
}
Option Option::needs(Option other) { return Option(option_->needs(other.option_)); }
Option Option::excludes(Option other) { return Option(option_->excludes(other.option_)); }
Option Option::may_lack_value() { return Option(option_->expected(0, 1)); }
Option Option::capture_default_str() { return Option(option_->capture_default_str()); }
Option Option::default_str(const std::string& text) { return Option(option_->default_str(text)); }
Option Option::type_name(const std::string& text) { return Option(option_->type_name(text)); }
Option Option::description(const std::string& text) { return Option(option_->description(text)); }

Command Command::add_subcommand(const std::string& name, const std::string& summary) {
  return Command(app_->add_subcommand(name, summary));
}
void Command::require_subcommand() { app_->require_subcommand(1); }
Option Command::add_option(const std::string& names, std::string& variable, const std::string& help) {
  return Option(app_->add_option(names, variable, help));
}
Option Command::add_option(const std::string& names, std::optional<std::string>& variable,
                           const std::string& help) {
  return Option(app_->add_option(names, variable, help));
}
Option Command::add_option(const std::string& names, std::vector<std::string>& variable,
                           const std::string& help) {
  return Option(app_->add_option(names, variable, help));
}
Option Command::add_option(const std::string& names, double& variable, const std::string& help) {
  return Option(app_->add_option(names, variable, help));
}
Option Command::add_option(const std::string& names, std::optional<double>& variable,
                           const std::string& help) {
  return Option(app_->add_option(names, variable, help));
}
Option Command::add_option(const std::string& names, int& variable, const std::string& help) {
  return Option(app_->add_option(names, variable, help));
}
Option Command::add_option(const std::string& names, std::uint64_t& variable, const std::string& help) {
  return Option(app_->add_option(names, variable, help));
}
Option Command::add_option(const std::string& names, std::optional<std::uint64_t>& variable,
                           const std::string& help) {
  return Option(app_->add_option(names, variable, help));
}
Option Command::add_flag(const std::string& names, bool& variable, const std::string& help) {
  return Option(app_->add_flag(names, variable, help));
}
Option Command::add_option(const OptionRow& row, std::function<void(const std::string& text)> set) {
  const std::string name = row.argument(), help = spelled(row.help, argument_of);
  if (row.kind == OptionKind::flag) {
    return Option(app_->add_flag_function(
        name, [set](std::int64_t count) { set(count > 0 ? "true" : "false"); }, help));
  }
  CLI::Option* option = row.kind == OptionKind::texts
                            ? app_->add_option_function<std::vector<std::string>>(
                                  name,
                                  [set](const std::vector<std::string>& values) {
                                    for (const std::string& value : values) set(value);
                                  },
                                  help)
                            : app_->add_option_function<std::string>(name, set, help);
  if (!row.implied.empty()) option->expected(0, 1);
  option->type_name(type_name(row));
  option->default_str(row.implied.empty() ? row.default_text() : row.implied);
  option->check([row](const std::string& text) {
    std::string refusal = row.refuse(text);
    // What stands behind an option that needs no value is taken for one.
    if (!refusal.empty() && !row.implied.empty())
      refusal += "; arguments without a name go before " + row.argument();
    return refusal;
  });
  return Option(option);
}
void Command::add_options(OptionValues& values) {
  for (const OptionRow& row : values.table().rows())
    add_option(row, [&values, name = row.name](const std::string& text) { values.set(name, text); });
}
Option Command::get_option(const std::string& name) { return Option(app_->get_option(name)); }
void Command::remove_option(const std::string& name) { app_->remove_option(app_->get_option(name)); }
void Command::group(const std::string& title) { app_->option_defaults()->group(title); }
void Command::footer(const std::string& text) { app_->footer(text); }
std::string Command::get_footer() const { return app_->get_footer(); }
void Command::callback(std::function<void()> run) { app_->callback(std::move(run)); }

Program::Program(const std::string& name, const std::string& description, const std::string& version)
    : app_(std::make_unique<CLI::App>(description, name)) {
  app_->set_version_flag("--version", version);
}
Program::~Program() = default;

Command Program::root() { return Command(app_.get()); }

std::optional<int> Program::parse(std::vector<std::string> arguments) {
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
  try {
    app_->parse(std::move(arguments));
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app_->exit(e);  // --help, --version
    throw Error(explain(e, *app_));
  }
  return std::nullopt;
}

std::vector<GivenOption> Program::options() const {
  std::vector<GivenOption> all;
  for (const CLI::Option* option : given_command(*app_).get_options())
    all.push_back({option->get_name(), option->get_single_name(), option->results()});
  return all;
}

}  // namespace espalier::cli
