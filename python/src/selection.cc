// Which l2 is best: searches and paths by held-out data, and cross-validation, as the library has them.
#include <pybind11/stl.h>

#include <optional>
#include <variant>

#include "bind.h"
#include "espalier/base/error.h"
#include "espalier/train/cross_validate.h"
#include "settings.h"
#include "training.h"

namespace espalier::python {
namespace {

// "auto" or a pair of its ends, one value, or (max, min, factor).
Trainer::Values values_of(const py::object& l2) {
  if (py::isinstance<py::str>(l2)) {
    if (l2.cast<std::string>() == "auto") return L2Range{};
  } else if (py::isinstance<py::tuple>(l2)) {
    const auto of = l2.cast<std::vector<double>>();
    if (of.size() == 2) return L2Range{of[0], of[1]};
    if (of.size() == 3) return PathOptions{of[0], of[1], of[2]};
  } else if (PyNumber_Check(l2.ptr())) {
    return l2.cast<double>();
  }
  throw Error::in("l2", std::string(py::repr(l2)),
                  "expected a number, 'auto', (min, max) to search in or (max, min, factor) of a path");
}

py::dict described(const PathPoint& point, const std::string& headline, bool rated) {
  py::dict dict;
  dict["l2"] = point.l2;
  dict["l1"] = point.l1;
  dict["certificate"] = point.certificate;
  dict["relative_gap"] = point.certificate.relative_gap();
  dict["passes"] = point.certificate.passes;
  dict["total_passes"] = point.total_passes;
  dict["active"] = point.active;
  dict["dev_error"] = rated ? py::object(py::float_(point.dev_error)) : py::object(py::none());
  dict["dev"] = rated ? py::object(py::str(headline)) : py::object(py::none());
  dict["status"] = to_string(point.status);
  return dict;
}

// A run over several values, of which the best is the model.
py::tuple train_values(TrainingData& data, py::dict options, const Trainer::Values& values,
                       std::optional<Model> init, py::object report) {
  options = options.attr("copy")();
  TrainOptions of_run = take_train_options(options);
  refuse_rest(options);
  of_run.init = std::move(init);
  Conductor conductor(std::move(report));
  of_run.stop = conductor.stop();
  of_run.tick = [&](double) { conductor.tick(); };
  std::vector<Progress> history;
  std::optional<Trainer> trainer;
  std::optional<Model> model;
  const bool rated = !data.set->dev().empty();
  if (!rated && std::holds_alternative<L2Range>(values))
    throw Error("a search for l2: no held-out data to choose on; expected X_dev");
  {
    const py::gil_scoped_release release;
    trainer.emplace(*data.set, of_run, values);
    TrainObserver observer;
    observer.report = [&](const TrainReport& now) {
      history.push_back(now.progress);
      conductor.report(now.progress, now.dev);
      return Control::go_on;
    };
    trainer->run(observer);
    if (!trainer->path().points.empty()) model = trainer->model();
  }
  const bool interrupted = conductor.rethrow(model.has_value());
  if (!model) throw Error("stopped before the first value of l2 was done");
  py::list points;
  for (std::size_t k = 0; k < trainer->path().points.size(); ++k)
    points.append(described(trainer->path().points[k], trainer->headlines()[k], rated));
  TrainedRun run{*model, std::move(history), to_string(trainer->path().status), trainer->path().message,
                 interrupted};
  return py::make_tuple(std::move(run), points, trainer->path().best);
}

py::tuple train_l2_values(TrainingData& data, py::dict options, const py::object& l2,
                          std::optional<Model> init, py::object report) {
  return train_values(data, std::move(options), values_of(l2), std::move(init), std::move(report));
}

py::dict cross_validate_on(TrainingData& data, py::dict options, const py::object& l2, std::size_t folds,
                           py::object report) {
  CrossValidateOptions of_run;
  options = options.attr("copy")();
  of_run.train = take_train_options(options);
  refuse_rest(options);
  of_run.l2 = values_of(l2);
  of_run.folds = folds;
  Conductor conductor(std::move(report));
  of_run.train.stop = conductor.stop();
  of_run.train.tick = [&](double) { conductor.tick(); };
  CrossValidated result;
  {
    const py::gil_scoped_release release;
    result = cross_validate(*data.set, of_run,
                            [&](const FoldReport& fold) { conductor.report(fold.progress, &fold.held_out); });
  }
  const bool interrupted = conductor.rethrow(!result.values.empty());
  py::list values;
  for (const CrossValidatedValue& value : result.values) {
    py::dict dict;
    dict["l2"] = value.l2;
    dict["mean"] = value.mean;
    dict["deviation"] = value.deviation;
    dict["dev_error"] = value.dev_error;
    dict["standard_error"] = value.standard_error;
    dict["folds"] = value.folds;
    dict["passes"] = value.passes;
    values.append(std::move(dict));
  }
  py::dict dict;
  dict["values"] = values;
  dict["best"] = result.best;
  dict["simplest"] = result.simplest;
  dict["metric"] = result.metric;
  dict["status"] = to_string(result.status);
  dict["interrupted"] = interrupted;
  return dict;
}

}  // namespace

void bind_selection(py::module_& module) {
  module.def("train_l2_values", &train_l2_values, py::arg("data"), py::arg("options"), py::arg("l2"),
             py::arg("init") = py::none(), py::arg("report") = py::none());
  module.def("cross_validate", &cross_validate_on, py::arg("data"), py::arg("options"), py::arg("l2"),
             py::arg("folds"), py::arg("report") = py::none());
}

}  // namespace espalier::python
