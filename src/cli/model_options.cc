#include "cli/model_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "cli/commands.h"
#include "espalier/base/error.h"

namespace espalier::cli {

std::vector<std::string> words_of_tasks(TaskOptions table, const std::string& name) {
  std::vector<std::string> words;
  for (const TaskEntry& task : task_table()) {
    const OptionRow* row = (task.*table)().find(name);
    if (row == nullptr) continue;
    for (const std::string& word : row->choices) {
      if (std::ranges::find(words, word) == words.end()) words.push_back(word);
    }
  }
  return words;
}

// An option as help has it, which does not know the model's task yet: of those that have it, the tasks that
// say the same of it say so together.
OptionRow ModelOptions::merged(const std::string& name) const {
  std::optional<OptionRow> all;
  std::vector<std::pair<std::string, std::vector<std::string>>> helps;
  for (const TaskEntry& task : task_table()) {
    const OptionRow* row = find(task, name);
    if (row == nullptr) continue;
    if (!all) all = *row;
    all->range.least = std::min(all->range.least, row->range.least);
    all->range.most = std::max(all->range.most, row->range.most);
    auto help = std::ranges::find(helps, row->help, &decltype(helps)::value_type::first);
    if (help == helps.end()) help = helps.insert(helps.end(), {row->help, {}});
    help->second.emplace_back(task.name);
  }
  all->help.clear();
  for (const auto& [help, tasks] : helps) {
    if (!all->help.empty()) all->help += "; ";
    if (tasks.size() < task_table().size()) all->help += fmt::format("{}: ", fmt::join(tasks, ", "));
    all->help += help;
  }
  // Which words are right is for the model's task to say, unless they decide what the rest of the command
  // line means. So are defaults that are words.
  all->choices = all->implied.empty() ? std::vector<std::string>() : words_of_tasks(table_, name);
  if (all->kind == OptionKind::text) all->default_value = Json();
  return *all;
}

void ModelOptions::add_to(Command command, bool basic) {
  std::vector<std::string> names;
  for (const TaskEntry& task : task_table()) {
    for (const OptionRow& row : (task.*table_)().rows()) {
      if (std::ranges::find(names, row.name) != names.end()) continue;
      names.push_back(row.name);
      OptionRow all = merged(row.name);
      all.basic = all.basic && basic;
      Option option = command.add_option(all, [this, name = row.name](const std::string& text) {
        given_.push_back({name, text});
      });
      const std::vector<std::string> words = words_of_tasks(table_, row.name);
      if (!words.empty()) option.offer(words);
    }
  }
}

// The one place that refuses what a model's task does not know.
void ModelOptions::refuse(const Given& given, const TaskEntry& task) const {
  const OptionRow* own = find(task, given.name);
  std::vector<std::string> have_option, take_value;
  for (const TaskEntry& other : task_table()) {
    const OptionRow* row = find(other, given.name);
    if (row == nullptr) continue;
    have_option.emplace_back(other.name);
    if (row->refuse(given.text).empty()) take_value.emplace_back(other.name);
  }
  if (own != nullptr && take_value.empty())
    throw Error(fmt::format("{}: {}", own->argument(), own->refuse(given.text)));
  std::string argument = merged(given.name).argument();
  const bool value_matters = !take_value.empty() && take_value != have_option;
  if (value_matters) argument += ' ' + given.text;
  throw Error::in(argument, fmt::format("given for a model of {}", task.name),
                  "expected a model of " + listed(value_matters ? take_value : have_option));
}

void ModelOptions::check(const Given& given, const TaskEntry& task) const {
  const OptionRow* row = find(task, given.name);
  if (row == nullptr || !row->refuse(given.text).empty()) refuse(given, task);
}

OptionValues ModelOptions::of_training_of(const Model& model) const {
  for (const Given& given : given_) check(given, *find_task(model.info().task));
  return reading_options(model, given_);
}

OptionValues ModelOptions::of(const TaskEntry& task) const {
  OptionValues values((task.*table_)());
  for (const Given& given : given_) {
    check(given, task);
    values.set(given.name, given.text);
  }
  values.check_effective();
  return values;
}

}  // namespace espalier::cli
