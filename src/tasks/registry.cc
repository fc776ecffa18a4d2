#include "espalier/tasks/registry.h"

#include <algorithm>
#include <utility>

namespace espalier {

// Each in the task's folder, task.cc.
TaskEntry tag_task();
TaskEntry classify_task();
TaskEntry parse_task();
TaskEntry treebank_task();
TaskEntry graph_task();
TaskEntry align_task();

namespace {

std::vector<TaskEntry>& tasks() {
  static std::vector<TaskEntry> all{tag_task(),      classify_task(), parse_task(),
                                    treebank_task(), graph_task(),    align_task()};
  return all;
}

}  // namespace

std::span<const TaskEntry> task_table() { return tasks(); }

const TaskEntry* find_task(std::string_view name) {
  const auto found = std::ranges::find(tasks(), name, &TaskEntry::name);
  return found == tasks().end() ? nullptr : &*found;
}

void add_task(TaskEntry task) { tasks().push_back(std::move(task)); }

}  // namespace espalier
