#include "espalier/model/model.h"

#include <pybind11/stl.h>

#include <fmt/format.h>

#include "bind.h"
#include "json.h"

namespace espalier::python {
namespace {

const char* to_string(Inference inference) {
  switch (inference) {
    case Inference::exact:
      return "exact";
    case Inference::relaxed:
      return "relaxed";
    case Inference::approximate:
      return "approximate";
  }
  return "unknown";
}

void bind_certificate(py::module_& module) {
  py::class_<Certificate>(module, "Certificate",
                          "How far weights are from the best possible ones: dual <= optimum <= primal.")
      .def_readonly("primal", &Certificate::primal, "The objective at the weights.")
      .def_readonly("dual", &Certificate::dual, "A lower bound of the objective at any weights.")
      .def_readonly("passes", &Certificate::passes, "Passes over the data that it took.")
      .def_property_readonly("gap", &Certificate::gap, "primal - dual.")
      .def_property_readonly("relative_gap", &Certificate::relative_gap, "(primal - dual) / primal.")
      .def_property_readonly(
          "inference", [](const Certificate& c) { return to_string(c.inference); },
          "'exact', 'relaxed' (the bound is one of a relaxed problem) or 'approximate' (it bounds nothing).")
      .def("__repr__",
           [](const Certificate& c) {
             return fmt::format(
                 "Certificate(primal={:.10g}, dual={:.10g}, relative_gap={:.2g}, passes={:.1f})", c.primal,
                 c.dual, c.relative_gap(), c.passes);
           })
      .def(py::pickle(
          [](const Certificate& c) {
            return py::make_tuple(c.primal, c.dual, c.passes, static_cast<int>(c.inference), c.rounding);
          },
          [](const py::tuple& state) {
            return Certificate{state[0].cast<double>(), state[1].cast<double>(), state[2].cast<double>(),
                               static_cast<Inference>(state[3].cast<int>()), state[4].cast<double>()};
          }));
}

py::bytes bytes_of(const Model& model) {
  const std::string_view bytes = model.bytes();
  return py::bytes(bytes.data(), bytes.size());
}

Model model_from(const py::bytes& bytes) {
  const auto view = static_cast<std::string_view>(bytes);
  const py::gil_scoped_release release;
  return Model::from_bytes(view);
}

py::list names(const Dictionary& dictionary) {
  py::list list(dictionary.size());
  for (std::uint32_t id = 0; id < dictionary.size(); ++id)
    list[id] = py::str(dictionary.name(id).data(), dictionary.name(id).size());
  return list;
}

}  // namespace

void bind_model(py::module_& module) {
  bind_certificate(module);
  py::class_<Model>(module, "Model")
      .def_static("load", &Model::load, py::arg("path"), py::call_guard<py::gil_scoped_release>())
      .def_static("from_bytes", &model_from, py::arg("bytes"))
      .def("to_bytes", &bytes_of)
      .def("save", &Model::save, py::arg("path"), py::call_guard<py::gil_scoped_release>())
      .def("rounded", &Model::rounded, py::arg("bits"), py::call_guard<py::gil_scoped_release>())
      .def_property_readonly("name", &Model::name)
      .def_property_readonly("task", [](const Model& model) { return model.info().task; })
      .def_property_readonly("loss", [](const Model& model) { return model.info().loss.name(); })
      .def_property_readonly("l2", [](const Model& model) { return model.info().l2; })
      .def_property_readonly("l1", [](const Model& model) { return model.info().l1; })
      .def_property_readonly("solver", [](const Model& model) { return model.info().solver; })
      .def_property_readonly("bits", [](const Model& model) { return model.info().bits; })
      .def_property_readonly("certificate", [](const Model& model) { return model.info().certificate; })
      .def_property_readonly("size", [](const Model& model) { return model.bytes().size(); })
      .def("count_weights",
           [](const Model& model) {
             const WeightCount count = model.count_weights();
             return py::make_tuple(count.nonzero, count.all);
           })
      .def("labels", [](const Model& model) { return names(model.predictor().labels()); })
      .def("attributes", [](const Model& model) { return names(model.predictor().attributes()); })
      .def("num_attributes", [](const Model& model) { return model.predictor().attributes().size(); })
      .def("describe", [](const Model& model) { return to_python(model.describe()); })
      .def("summary", [](const Model& model) { return model.predictor().describe(); })
      .def(py::pickle(&bytes_of, &model_from));
}

}  // namespace espalier::python
