#pragma once

#include <string>
#include <vector>

#include "cli/command_line.h"
#include "espalier/base/options.h"
#include "espalier/model/model.h"
#include "espalier/tasks/registry.h"
#include "espalier/train/read.h"

namespace espalier::cli {

// &TaskEntry::predict_options, or &TaskEntry::options.
using TaskOptions = const OptionTable& (*TaskEntry::*)();
// The words that one task or another takes for an option.
std::vector<std::string> words_of_tasks(TaskOptions table, const std::string& name);

// Options of the task that a model is of, which a command line does not know before the model is open: those
// of all tasks are taken, and only those of its own are right.
class ModelOptions {
 public:
  explicit ModelOptions(TaskOptions table) : table_(table) {}

  // An option each, which is for --help-all alone unless `basic` ones may be for newcomers. Must outlive the
  // parsing.
  void add_to(Command command, bool basic);
  bool given() const { return !given_.empty(); }
  // Throws Error for what the task does not know, and for what has no effect.
  OptionValues of(const TaskEntry& task) const;
  // The same for those of training (&TaskEntry::options): what training data of a model are read with, these
  // instead of those that it knows.
  OptionValues of_training_of(const Model& model) const;

 private:
  using Given = TypedOption;
  void check(const Given& given, const TaskEntry& task) const;
  const OptionRow* find(const TaskEntry& task, const std::string& name) const {
    return (task.*table_)().find(name);
  }
  OptionRow merged(const std::string& name) const;
  [[noreturn]] void refuse(const Given& given, const TaskEntry& task) const;

  TaskOptions table_;
  std::vector<Given> given_;
};

}  // namespace espalier::cli
