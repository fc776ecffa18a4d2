// Keyword arguments become options by the tables of rows that the library has of them: what it can be told,
// Python can tell it, by the same names and with the same errors.
#include "settings.h"

#include <fmt/format.h>

#include "espalier/base/error.h"
#include "espalier/model/open_limit.h"
#include "espalier/solvers/solver_arguments.h"
#include "json.h"

namespace espalier::python {
namespace {

std::string word_of(const std::string& name, py::handle value) {
  if (PyBool_Check(value.ptr())) return value.ptr() == Py_True ? "true" : "false";
  if (py::isinstance<py::str>(value)) return value.cast<std::string>();
  if (PyIndex_Check(value.ptr())) return py::str(py::int_(py::reinterpret_borrow<py::object>(value)));
  // The shortest text that reads as the same number.
  if (PyFloat_Check(value.ptr()) || PyObject_HasAttrString(value.ptr(), "__float__"))
    return py::repr(py::float_(py::reinterpret_borrow<py::object>(value)));
  if (PyObject_HasAttrString(value.ptr(), "__fspath__")) return py::str(value.attr("__fspath__")());
  throw Error::in(setting(name), fmt::format("found {}", std::string(py::repr(value))),
                  "expected a number, a bool, a text or a list of texts");
}

py::dict described(const OptionRow& row) {
  static constexpr const char* kKinds[] = {"flag", "whole", "real", "bytes", "text", "texts"};
  py::dict dict;
  dict["name"] = row.name;
  dict["kind"] = kKinds[static_cast<int>(row.kind)];
  dict["help"] = spelled(row.help, [](std::string_view name) { return std::string(name); });
  dict["default"] = to_python(row.default_value);
  py::list choices;
  for (const std::string& choice : row.choices) choices.append(choice);
  dict["choices"] = choices;
  dict["basic"] = row.basic;
  return dict;
}

template <class Rows>
py::list to_list(const Rows& rows) {
  py::list list;
  for (const OptionRow& row : rows) list.append(described(row));
  return list;
}

}  // namespace

std::vector<std::string> words_of(const std::string& name, py::handle value) {
  std::vector<std::string> words;
  if (py::isinstance<py::list>(value) || py::isinstance<py::tuple>(value)) {
    for (const py::handle element : value) words.push_back(word_of(name, element));
  } else {
    words.push_back(word_of(name, value));
  }
  return words;
}

void take_options(py::dict& given, OptionValues& values) {
  for (const OptionRow& row : values.table().rows()) {
    const py::str key(row.name);
    if (!given.contains(key)) continue;
    for (const std::string& word : words_of(row.name, given[key])) values.set(row.name, word);
    given.attr("pop")(key);
  }
}

TrainOptions take_train_options(py::dict& given) {
  OptionValues values(train_option_table());
  take_options(given, values);
  TrainOptions options = values.as<TrainOptions>();
  SolverArguments arguments;
  const std::vector<OptionRow> rows = arguments.rows();
  for (const OptionRow& row : rows) {
    const py::str key(row.name);
    if (!given.contains(key)) continue;
    const std::vector<std::string> words = words_of(row.name, given[key]);
    for (const std::string& word : words) {
      if (const std::string problem = row.refuse(word); !problem.empty())
        throw Error(fmt::format("{}: {}", setting(row.name), problem));
      arguments.give(row.name, word);
    }
    given.attr("pop")(key);
  }
  const SolverEntry solver = find_solver(options.solver, options.loss);
  arguments.apply({&solver, 1}, options.solver_options);
  return options;
}

void refuse_rest(const py::dict& given) {
  for (const auto& [name, value] : given)
    throw Error(fmt::format("unknown argument {}; expected one that help() lists",
                            in_quotes(name.cast<std::string>())));
}

const TaskEntry& task_named(const std::string& name) {
  if (const TaskEntry* task = find_task(name)) return *task;
  throw Error(fmt::format("unknown task {}", in_quotes(name)));
}

void bind_settings(py::module_& module) {
  module.def("train_options", [] { return to_list(train_option_table().rows()); });
  module.def("solver_options", [] { return to_list(SolverArguments().rows()); });
  module.def("task_options",
             [](const std::string& task) { return to_list(task_named(task).options().rows()); });
  module.def(
      "check_memory_to_open",
      [](const std::string& path, const py::object& memory) {
        OptionValues values(train_option_table());
        for (const std::string& word : words_of("memory", memory)) values.set("memory", word);
        check_memory_to_open(path, values.as<TrainOptions>().memory);
      },
      py::arg("path"), py::arg("memory"));
  module.def("solvers", [] {
    py::dict solvers;
    for (const SolverEntry& solver : solver_table()) solvers[py::str(solver.name)] = py::str(solver.summary);
    return solvers;
  });
}

}  // namespace espalier::python
