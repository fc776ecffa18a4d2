// docs/options.md is what the tables of options say. To write it anew:
//   ESPALIER_WRITE_DOCS=1 build/tests/test_docs --gtest_filter='OptionsPage.*'

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <string_view>

#include "base/input.h"
#include "espalier/base/error.h"
#include "espalier/tasks/registry.h"
#include "espalier/train/train.h"

namespace espalier::options_test {
namespace {

// In a cell of a table a bar would end it.
std::string cell(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, 1, '\\');
  return text;
}

std::string capitalised(std::string_view sentence) {
  std::string text(sentence);
  text.at(0) = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

std::string values(const OptionRow& row) {
  if (row.kind == OptionKind::flag) return "flag";
  std::string text = row.file.empty() ? row.expected() : "a file";
  if (text.empty()) text = "text";
  if (row.kind == OptionKind::bytes) text = "bytes, such as 500M or 1.5G";
  if (row.kind == OptionKind::texts) text += ", any number of them";
  return row.implied.empty() ? text : fmt::format("{}; without a value: {}", text, row.implied);
}

// "**`--gazetteer FILE`**", in bold type where the short help has it
std::string name_of(const OptionRow& row) {
  const std::string value = row.metavar();
  const std::string name = cell(fmt::format("`{}{}{}`", row.argument(), value.empty() ? "" : " ", value));
  return row.basic ? fmt::format("**{}**", name) : name;
}

std::string table(const OptionTable& options) {
  std::string text = "| option | values | default | |\n|---|---|---|---|\n";
  for (const OptionRow& row : options.rows()) {
    const std::string usual = row.default_text();
    text +=
        fmt::format("| {} | {} | {} | {} |\n", name_of(row), cell(values(row)),
                    usual.empty() ? "" : fmt::format("`{}`", usual), cell(spelled(row.help, argument_of)));
  }
  return text;
}

std::string page() {
  std::string text =
      "# Options of tasks\n\n"
      "What `train`, `path`, `cross-validate` and `race` take for every task, and for each in addition,\n"
      "and what `predict` takes for models of the task. `espalier train TASK --help` shows the "
      "options in bold type,\n`--help-all` all of them, with those that tasks share. Names are those of the "
      "run "
      "log, with `-` for `_`.\nThis page is generated from the tables that the program itself uses.\n";
  text +=
      "\n## Every task\n\nHow to train. `train` has all of these, `--l2` also as `auto`; `path`, "
      "`cross-validate` and `race` have those that make sense\nthere. The estimators of Python have them as "
      "arguments.\n\n" +
      table(train_option_table());
  for (const TaskEntry& task : task_table()) {
    text += fmt::format("\n## {}\n\n{}.\n\n{}", task.name, capitalised(task.summary), table(task.options()));
    if (!task.latent.empty())
      text += fmt::format("\n`--{}` has the limits `--outer-gap` and `--outer-rounds`.\n", task.latent);
    if (!task.groups.empty()) text += fmt::format("\n`cross-validate --group-by`: {}.\n", task.groups);
    text += fmt::format("\n`predict` with a model of {}:\n\n{}", task.name, table(task.predict_options()));
  }
  return text;
}

TEST(OptionsPage, IsWhatTheTablesSay) {
  const std::string path = ESPALIER_SOURCE_DIR "/docs/options.md";
  if (std::getenv("ESPALIER_WRITE_DOCS") != nullptr) std::ofstream(path) << page();
  EXPECT_EQ(read_all(path), page());
}

// Help, messages and the log go by these rules for every task.
TEST(OptionsPage, EveryOptionIsComplete) {
  for (const TaskEntry& task : task_table()) {
    for (const OptionTable* options : {&train_option_table(), &task.options(), &task.predict_options()}) {
      for (const OptionRow& row : options->rows()) {
        SCOPED_TRACE(fmt::format("{} {}", task.name, row.name));
        EXPECT_EQ(row.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"), std::string::npos);
        EXPECT_FALSE(row.help.empty());
        EXPECT_EQ(row.metavar().empty(), row.kind == OptionKind::flag);
        EXPECT_EQ(options->find(row.name), &row) << "two of one name";
        if (const std::string usual = row.default_text(); !usual.empty()) {
          EXPECT_EQ(row.refuse(usual), "") << "the default";
        }
        for (const std::string& word : row.choices) {
          EXPECT_EQ(row.refuse(word), "");
        }
      }
    }
  }
}

// `predict` is told before it knows the task: an option of several tasks is of one kind.
TEST(OptionsPage, TasksAgreeOnWhatAnOptionOfPredictIs) {
  std::map<std::string, const OptionRow*> rows;
  for (const TaskEntry& task : task_table()) {
    for (const OptionRow& row : task.predict_options().rows()) {
      const OptionRow& first = *rows.emplace(row.name, &row).first->second;
      EXPECT_EQ(row.kind, first.kind) << task.name << ' ' << row.name;
      EXPECT_EQ(row.implied, first.implied) << task.name << ' ' << row.name;
    }
  }
  EXPECT_GE(rows.size(), 7u);
}

}  // namespace
}  // namespace espalier::options_test
