#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bind.h"
#include "espalier/base/options.h"
#include "espalier/tasks/registry.h"
#include "espalier/train/train.h"

namespace espalier::python {

// The words of a value, as a command line has them: one, or several of a list.
std::vector<std::string> words_of(const std::string& name, py::handle value);

// Sets every option of the dict that the table has, and takes it out of the dict.
void take_options(py::dict& given, OptionValues& values);

// What keyword arguments say of training: all that is in the tables of training and of solvers is taken out
// of the dict.
TrainOptions take_train_options(py::dict& given);

// Throws Error if something is left.
void refuse_rest(const py::dict& given);

const TaskEntry& task_named(const std::string& name);

}  // namespace espalier::python
