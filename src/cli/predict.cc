#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/output.h"
#include "cli/commands.h"
#include "cli/ending.h"
#include "espalier/base/error.h"
#include "espalier/model/model.h"
#include "espalier/tasks/registry.h"

namespace espalier::cli {

namespace {

// An option as the help of `predict` has it, which does not know the model's task yet: of those that have it,
// the tasks that say the same of it say so together.
OptionRow merged(const std::string& name) {
  std::optional<OptionRow> all;
  std::vector<std::pair<std::string, std::vector<std::string>>> helps;
  for (const TaskEntry& task : task_table()) {
    const OptionRow* row = task.predict_options().find(name);
    if (row == nullptr) continue;
    if (!all) all = *row;
    for (const std::string& word : row->choices) {
      if (std::ranges::find(all->choices, word) == all->choices.end()) all->choices.push_back(word);
    }
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
  if (all->implied.empty()) all->choices.clear();
  if (all->kind == OptionKind::text) all->default_value = Json();
  return *all;
}

std::vector<OptionRow> merged_options() {
  std::vector<OptionRow> rows;
  for (const TaskEntry& task : task_table()) {
    for (const OptionRow& row : task.predict_options().rows()) {
      if (std::ranges::find(rows, row.name, &OptionRow::name) == rows.end()) rows.push_back(merged(row.name));
    }
  }
  return rows;
}

struct Given {
  std::string name, text;
};

// The one place that refuses what a model's task does not know.
[[noreturn]] void refuse(const Given& given, const TaskEntry& task) {
  const OptionRow* own = task.predict_options().find(given.name);
  std::vector<std::string> have_option, take_value;
  for (const TaskEntry& other : task_table()) {
    const OptionRow* row = other.predict_options().find(given.name);
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

OptionValues options_for(const TaskEntry& task, const std::vector<Given>& all) {
  OptionValues values(task.predict_options());
  for (const Given& given : all) {
    const OptionRow* row = values.table().find(given.name);
    if (row == nullptr || !row->refuse(given.text).empty()) refuse(given, task);
    values.set(given.name, given.text);
  }
  values.check_effective();
  return values;
}

}  // namespace

void add_predict(Command program, Action& action) {
  Command command = program.add_subcommand("predict", "label new data with a model");
  struct Arguments {
    std::string model, input = "-", output = "-";
    std::vector<Given> options;
  };
  const auto arguments = std::make_shared<Arguments>();
  command.add_option("MODEL", arguments->model, "a model that train saved").required();
  command.add_option("INPUT", arguments->input, "the data; default: standard input");
  command.add_option("-o,--output", arguments->output, "where to write; default: standard output")
      .metavar("FILE");
  for (const OptionRow& row : merged_options()) {
    command.add_option(row, [arguments, name = row.name](const std::string& text) {
      arguments->options.push_back({name, text});
    });
  }
  command.footer(
      "Examples:\n"
      "  espalier predict tagger.esp new.txt -o tagged.txt --threads 4\n"
      "  espalier predict tagger.esp --marginals < new.txt\n"
      "  espalier predict tagger.esp new.txt --marginals entity --min-confidence 0.5\n"
      "  espalier predict classifier.esp new.svm --kbest 3\n"
      "  espalier predict parser.esp new.conllu --format tree --kbest 2\n"
      "  espalier predict phrases.esp tagged.txt --format tagged\n\n"
      "Output: for columns, the lines of the input with the label as one more column; for parse, with head\n"
      "and relation in their columns; for treebank, one bracketed tree per line; otherwise one label per\n"
      "line. --kbest writes '# RANK PROBABILITY' above each label sequence or tree, ranks from 0.");
  command.callback([arguments, &action] {
    action = [arguments] {
      const Model model(arguments->model);
      warn_if_far(arguments->model, model.info());
      // A model of a task that is in no table does not load.
      const OptionValues options = options_for(*find_task(model.info().task), arguments->options);
      OutputFile output(arguments->output);
      model.predictor().predict(arguments->input, options,
                                [&](std::string_view piece) { output.write(piece); });
      output.commit();
      return kSuccess;
    };
  });
}

}  // namespace espalier::cli
