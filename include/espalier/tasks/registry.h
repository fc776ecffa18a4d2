#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "espalier/tasks/task.h"

namespace espalier {

struct TaskEntry {
  std::string_view name, summary;
  int version;  // of what the task keeps in a model file; older programs refuse newer ones
  std::unique_ptr<Predictor> (*load)(const StoredTask&);
};

// The one list of tasks.
std::span<const TaskEntry> task_table();

}  // namespace espalier
