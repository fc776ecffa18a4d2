#pragma once

#include <pybind11/pybind11.h>

namespace espalier::python {

namespace py = pybind11;

// Each adds its part to the module; module.cc calls them in order, since signatures name classes that are
// there already.
void bind_errors(py::module_& module);
void bind_model(py::module_& module);
void bind_training(py::module_& module);
void bind_items(py::module_& module);
void bind_tag(py::module_& module);
void bind_classify(py::module_& module);
void bind_parse(py::module_& module);
void bind_treebank(py::module_& module);
void bind_graph(py::module_& module);
void bind_align(py::module_& module);
void bind_selection(py::module_& module);

}  // namespace espalier::python
