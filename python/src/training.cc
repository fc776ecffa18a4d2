#include "training.h"

#include <pybind11/stl.h>

#include <fmt/format.h>

#include "espalier/base/error.h"
#include "json.h"
#include "settings.h"

namespace espalier::python {

void bind_settings(py::module_& module);

template <class Call>
void Conductor::with_python(const Call& call) {
  const py::gil_scoped_acquire acquire;
  if (raised_) return;
  try {
    call();
  } catch (py::error_already_set& error) {
    raised_.emplace(std::move(error));
    stop_ = true;
  }
}

void Conductor::tick() {
  // Often enough for whoever pressed Ctrl-C, and too rarely to be felt by other threads of Python.
  constexpr std::chrono::milliseconds kBetween{50};
  const auto now = std::chrono::steady_clock::now();
  if (now - last_.load() < kBetween) return;
  last_ = now;
  with_python([] {
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  });
}

void Conductor::report(const Progress& progress, const Evaluation* dev) {
  with_python([&] {
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    if (!report_.is_none()) report_(progress, dev ? to_python(dev->rates) : py::none());
  });
}

bool Conductor::rethrow(bool worth_keeping) {
  if (!raised_) return false;
  if (worth_keeping && raised_->matches(PyExc_KeyboardInterrupt)) {
    raised_.reset();
    return true;
  }
  py::error_already_set error = std::move(*raised_);
  raised_.reset();
  throw error;
}

TrainedRun train(TrainingSet& data, TrainOptions options, py::object report) {
  Conductor conductor(std::move(report));
  options.stop = conductor.stop();
  options.tick = [&](double) { conductor.tick(); };
  std::vector<Progress> history;
  std::optional<Trainer> trainer;
  std::optional<Model> model;
  double passes = 0;
  {
    const py::gil_scoped_release release;
    trainer.emplace(data, options, options.l2);
    TrainObserver observer;
    observer.report = [&](const TrainReport& now) {
      history.push_back(now.progress);
      passes = now.progress.passes;
      std::optional<Evaluation> dev;
      if (!now.dev && !data.dev().empty()) dev = data.evaluate_dev(now.theta);
      conductor.report(now.progress, now.dev ? now.dev : dev ? &*dev : nullptr);
      return Control::go_on;
    };
    trainer->run(observer);
    // Less than a pass over the data has not looked at all of it.
    if (passes >= 1 || trainer->path().status != Status::stopped) model = trainer->model();
  }
  const bool interrupted = conductor.rethrow(passes >= 1);
  return {*model, std::move(history), to_string(trainer->path().status), trainer->path().message,
          interrupted};
}

void bind_training(py::module_& module) {
  bind_settings(module);
  py::class_<Progress>(module, "Progress", "One report of a run: a certificate, and what it took.")
      .def_readonly("passes", &Progress::passes, "Passes over the data.")
      .def_readonly("seconds", &Progress::seconds, "Of training alone.")
      .def_readonly("wall_seconds", &Progress::wall_seconds, "Of training and certification.")
      .def_readonly("primal", &Progress::primal, "The objective at the weights.")
      .def_readonly("dual", &Progress::dual, "A lower bound of the objective at any weights.")
      .def_property_readonly("gap", &Progress::gap, "primal - dual.")
      .def_property_readonly("relative_gap", &Progress::relative_gap, "(primal - dual) / primal.")
      .def("__repr__",
           [](const Progress& p) {
             return fmt::format(
                 "Progress(passes={:.1f}, relative_gap={:.2g}, primal={:.10g}, seconds={:.1f})", p.passes,
                 p.relative_gap(), p.primal, p.seconds);
           })
      .def(py::pickle(
          [](const Progress& p) {
            return py::make_tuple(p.epoch, p.passes, p.seconds, p.wall_seconds, p.primal, p.dual,
                                  static_cast<int>(p.inference), p.rounding);
          },
          [](const py::tuple& state) {
            return Progress{state[0].cast<int>(),
                            state[1].cast<double>(),
                            state[2].cast<double>(),
                            state[3].cast<double>(),
                            state[4].cast<double>(),
                            state[5].cast<double>(),
                            static_cast<Inference>(state[6].cast<int>()),
                            state[7].cast<double>()};
          }));
  py::class_<TrainedRun>(module, "TrainedRun")
      .def_readonly("model", &TrainedRun::model)
      .def_readonly("history", &TrainedRun::history)
      .def_readonly("status", &TrainedRun::status)
      .def_readonly("message", &TrainedRun::message)
      .def_readonly("interrupted", &TrainedRun::interrupted);
  py::class_<TrainingData>(module, "TrainingData")
      .def("describe", [](const TrainingData& data) { return data.set->describe(); })
      .def(
          "train",
          [](TrainingData& data, py::dict options, std::optional<Model> init, py::object report) {
            options = options.attr("copy")();
            TrainOptions of_run = take_train_options(options);
            refuse_rest(options);
            if (of_run.patience > 0 && data.set->dev().empty())
              throw Error("patience: no held-out data to look at; expected X_dev");
            of_run.init = std::move(init);
            return train(*data.set, std::move(of_run), std::move(report));
          },
          py::arg("options"), py::arg("init") = py::none(), py::arg("report") = py::none());
}

}  // namespace espalier::python
