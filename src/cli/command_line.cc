#include "cli/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "base/names.h"
#include "espalier/base/error.h"

namespace espalier::cli {
namespace {

bool is_option(std::string_view argument) { return argument.size() > 1 && argument.front() == '-'; }

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

// What CLI11 has no place for, and the help.
class HelpFormatter : public CLI::FormatterBase {
 public:
  struct Words {
    std::vector<std::string> words;
    bool list = false;
  };
  std::set<const CLI::Option*> advanced;
  std::map<const CLI::Option*, Words> offered;
  std::map<const CLI::App*, std::string> advanced_footers;

  std::string make_help(const CLI::App* app, std::string, CLI::AppFormatMode mode) const override {
    return help_text(describe(*app), mode == CLI::AppFormatMode::All);
  }

  CommandDescription describe(const CLI::App& app) const {
    CommandDescription description;
    for (const CLI::App* command = &app; command != nullptr; command = command->get_parent())
      description.path.insert(description.path.begin(), command->get_name());
    description.summary = app.get_description();
    description.groups = app.get_groups();
    for (const CLI::Option* option : app.get_options()) description.options.push_back(describe(app, *option));
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
      description.commands.push_back(describe(*command));
    description.footer = app.get_footer();
    const auto footer = advanced_footers.find(&app);
    if (footer != advanced_footers.end()) description.advanced_footer = footer->second;
    return description;
  }

 private:
  OptionDescription describe(const CLI::App& app, const CLI::Option& option) const {
    OptionDescription description;
    description.by_place = option.get_positional();
    if (description.by_place) {
      description.names.push_back(option.get_name(true));
    } else {
      for (const std::string& name : option.get_snames()) description.names.push_back('-' + name);
      for (const std::string& name : option.get_lnames()) description.names.push_back("--" + name);
      if (option.get_items_expected_max() > 0) description.value = option.get_type_name();
    }
    description.required = option.get_required();
    description.may_lack_value = option.get_items_expected_min() == 0;
    description.repeatable = option.get_items_expected_max() > 1;
    description.text = option.get_description();
    if (description.required && !description.by_place) description.text += " (required)";
    // The default of an option that may lack its value is what it then means, and its name lists it first.
    if (!option.get_default_str().empty() && !description.may_lack_value)
      description.text += fmt::format(" (default:\t{})", option.get_default_str());
    description.group = option.get_group();
    description.advanced = advanced.contains(&option);
    description.asks_for_help =
        app.get_parent() != nullptr && (&option == app.get_help_ptr() || &option == app.get_help_all_ptr());
    if (const auto words = offered.find(&option); words != offered.end()) {
      description.words = words->second.words;
      description.list = words->second.list;
    } else {
      description.words = words_of(description.value);
    }
    return description;
  }
  // Of "X|auto" those that are meant as they are.
  static std::vector<std::string> words_of(const std::string& value) {
    std::vector<std::string> words;
    if (value.find('|') == std::string::npos) return words;
    for (const std::string& word : CLI::detail::split(value, '|')) {
      if (std::ranges::none_of(word, [](char c) { return 'A' <= c && c <= 'Z'; })) words.push_back(word);
    }
    return words;
  }
};

HelpFormatter& help_of(const CLI::App& app) { return static_cast<HelpFormatter&>(*app.get_formatter()); }

// "unknown option '--sead'; did you mean --seed?"
std::string unknown_option(std::string_view found, const CLI::App& command) {
  std::string message = "unknown option " + in_quotes(found);
  // "-l2 1" is an easy mistake, but one letter is like too many words.
  const std::string_view word = found.substr(std::min(found.find_first_not_of('-'), found.size()));
  if (word.size() < 2) return message;
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back(name);
  }
  const std::string name(word.substr(0, word.find('=')));
  if (found.starts_with("--") && std::ranges::find(names, name) != names.end())
    return fmt::format("--{0} before '{1}'; expected --{0} after it", name, command.get_name());
  const auto nearest = nearest_name(name, names);
  return nearest ? fmt::format("{}; did you mean --{}?", message, *nearest) : message;
}

// Throws Error if these words name no command: "train tag".
void check_command(const CLI::App& program, std::span<const std::string> words) {
  const CLI::App* command = &program;
  for (const std::string& word : words) {
    const auto choices = command->get_subcommands([](const CLI::App*) { return true; });
    if (choices.empty()) throw Error("unexpected argument " + in_quotes(word));
    const auto found =
        std::ranges::find_if(choices, [&](const CLI::App* choice) { return choice->get_name() == word; });
    if (found == choices.end())
      throw Error(unknown_name(command == &program ? "command" : "task", word, names_of(choices)));
    command = *found;
  }
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

  const auto unknown = std::ranges::find_if(unexpected, is_option);

  std::string message = what;
  if (!choices.empty()) {
    const char* kind = command == &program ? "command" : "task";
    const std::vector<std::string> names = names_of(choices);
    if (unexpected.empty()) {
      message = fmt::format("no {}; expected {}", kind, listed(names));
    } else if (!is_option(unexpected.front())) {
      message = unknown_name(kind, unexpected.front(), names);
    } else {
      message = unknown_option(unexpected.front(), *command);
      if (message.ends_with('\''))
        message += fmt::format(" before the {}; expected {} first", kind, listed(names));
    }
  } else if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !unexpected.empty()) {
    message = is_option(unexpected.front()) ? unknown_option(unexpected.front(), *command)
                                            : "unexpected argument " + in_quotes(unexpected.front());
  } else if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && unknown != unexpected.end()) {
    message = unknown_option(*unknown, *command);  // perhaps what is required, by another name
  } else if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    message = option + (what.ends_with("missing") ? ": no value; expected one" : ": given more than once");
  }
  // Whoever is told the right word need not look it up.
  return message.ends_with('?') ? message : fmt::format("{}; see '{} --help'", message, called);
}

}  // namespace

Option Option::required() {
  option_->required();
  return *this;
}
Option Option::check(const Check& check) {
  // A transformation is a check that may change the value.
  option_->transform(CLI::Validator(check, ""));
  return *this;
}
Option Option::needs(Option other) {
  option_->needs(other.option_);
  return *this;
}
Option Option::excludes(Option other) {
  option_->excludes(other.option_);
  return *this;
}
Option Option::may_lack_value() {
  option_->expected(0, 1);
  return *this;
}
Option Option::capture_default_str() {
  option_->capture_default_str();
  return *this;
}
Option Option::default_str(const std::string& text) {
  option_->default_str(text);
  return *this;
}
Option Option::metavar(const std::string& text) {
  option_->type_name(text);
  return *this;
}
Option Option::advanced() {
  help_of(*app_).advanced.insert(option_);
  return *this;
}
Option Option::description(const std::string& text) {
  option_->description(text);
  return *this;
}
Option Option::offer(std::vector<std::string> words) {
  help_of(*app_).offered[option_] = {std::move(words), false};
  return *this;
}
Option Option::offer_list(std::vector<std::string> words) {
  help_of(*app_).offered[option_] = {std::move(words), true};
  return *this;
}

Command Command::add_subcommand(const std::string& name, const std::string& summary) {
  return Command(app_->add_subcommand(name, summary));
}
void Command::require_subcommand() { app_->require_subcommand(1); }
Option Command::add_option(const std::string& names, std::string& variable, const std::string& help) {
  return {app_, app_->add_option(names, variable, help)};
}
Option Command::add_option(const std::string& names, std::optional<std::string>& variable,
                           const std::string& help) {
  return {app_, app_->add_option(names, variable, help)};
}
Option Command::add_option(const std::string& names, std::vector<std::string>& variable,
                           const std::string& help) {
  return {app_, app_->add_option(names, variable, help)};
}
Option Command::add_option(const std::string& names, double& variable, const std::string& help) {
  return {app_, app_->add_option(names, variable, help)->type_name("X")};
}
Option Command::add_option(const std::string& names, std::optional<double>& variable,
                           const std::string& help) {
  return {app_, app_->add_option(names, variable, help)->type_name("X")};
}
Option Command::add_option(const std::string& names, int& variable, const std::string& help) {
  return {app_, app_->add_option(names, variable, help)->type_name("N")};
}
Option Command::add_option(const std::string& names, std::uint64_t& variable, const std::string& help) {
  return {app_, app_->add_option(names, variable, help)->type_name("N")};
}
Option Command::add_option(const std::string& names, std::optional<std::uint64_t>& variable,
                           const std::string& help) {
  return {app_, app_->add_option(names, variable, help)->type_name("N")};
}
Option Command::add_flag(const std::string& names, bool& variable, const std::string& help) {
  return {app_, app_->add_flag(names, variable, help)};
}
Option Command::add_option(const OptionRow& row, std::function<void(const std::string& text)> set) {
  Option option = add_option_of(row, std::move(set));
  if (!row.choices.empty()) option.offer(row.choices);
  return row.basic ? option : option.advanced();
}
Option Command::add_option_of(const OptionRow& row, std::function<void(const std::string& text)> set) {
  const std::string name = row.argument(), help = spelled(row.help, argument_of);
  if (row.kind == OptionKind::flag) {
    return {app_, app_->add_flag_function(
                      name, [set](std::int64_t count) { set(count > 0 ? "true" : "false"); }, help)};
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
  option->type_name(row.metavar());
  option->default_str(row.implied.empty() ? row.default_text() : row.implied);
  option->check([row](const std::string& text) {
    std::string refusal = row.refuse(text);
    // What follows an option that needs no value is taken for one.
    if (!refusal.empty() && !row.implied.empty()) refusal += "; put file names before " + row.argument();
    return refusal;
  });
  return {app_, option};
}
void Command::add_options(OptionValues& values) {
  for (const OptionRow& row : values.table().rows())
    add_option(row, [&values, name = row.name](const std::string& text) { values.set(name, text); });
}
Option Command::get_option(const std::string& name) { return {app_, app_->get_option(name)}; }
void Command::remove_option(const std::string& name) {
  CLI::Option* option = app_->get_option(name);
  help_of(*app_).advanced.erase(option);
  help_of(*app_).offered.erase(option);
  app_->remove_option(option);
}
void Command::group(const std::string& title) { app_->option_defaults()->group(title); }
void Command::footer(const std::string& text) { app_->footer(text); }
void Command::add_advanced_footer(const std::string& text) {
  help_of(*app_).advanced_footers[app_] += '\n' + text;
}
void Command::callback(std::function<void()> run) { app_->callback(std::move(run)); }

Program::Program(const std::string& name, const std::string& description, const std::string& version)
    : app_(std::make_unique<CLI::App>(description, name)) {
  app_->formatter(std::make_shared<HelpFormatter>());
  app_->set_help_flag("-h,--help", "show this help; after a command, its options");
  app_->set_help_all_flag("--help-all", "after a command: all of its options");
  app_->set_version_flag("-V,--version", version, "show the version");
}
Program::~Program() = default;
Program::Program(Program&&) noexcept = default;

Command Program::root() { return Command(app_.get()); }

CommandDescription Program::describe() const { return help_of(*app_).describe(*app_); }

std::optional<int> Program::parse(std::vector<std::string> arguments) {
  if (!arguments.empty() && arguments.front() == "help") {
    // Not as "COMMAND --help", which shows the program's help for an unknown command.
    arguments.erase(arguments.begin());
    std::erase_if(arguments, [](const std::string& word) { return is_option(word); });
    check_command(*app_, arguments);
    arguments.emplace_back("--help");
  }
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
  const auto commands = app_->get_subcommands();
  const std::string command = commands.empty() ? "" : commands.front()->get_name();
  for (const CLI::Option* option : given_command(*app_).get_options())
    all.push_back({command, option->get_name(), option->get_single_name(), option->results()});
  return all;
}

}  // namespace espalier::cli
