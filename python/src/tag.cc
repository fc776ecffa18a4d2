#include "espalier/tasks/tag.h"

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <memory>
#include <optional>

#include "bind.h"
#include "espalier/base/error.h"
#include "espalier/model/model.h"
#include "items.h"
#include "json.h"
#include "settings.h"
#include "tagger.h"
#include "training.h"

namespace espalier::python {
namespace {

// Labelled sentences in memory, from Python's.
class LabelledSentences {
 public:
  // Adds one sentence. `name` and `index` say where it is in the data of a call.
  void append(py::handle items, py::handle labels, double weight, Place x, Place y) {
    sentences_.clear();
    sentences_.add(items, x);
    if (PyUnicode_Check(labels.ptr()) || PyBytes_Check(labels.ptr()))
      throw Error::in(y.text(), "a text", "expected a list of labels, one for each token");
    PyObject* const fast = PySequence_Fast(labels.ptr(), "");
    if (fast == nullptr) {
      PyErr_Clear();
      throw Error::in(y.text(), std::string(py::repr(labels)),
                      "expected a list of labels, one for each token");
    }
    const auto list = py::reinterpret_steal<py::object>(fast);
    const auto num_labels = static_cast<std::size_t>(PySequence_Fast_GET_SIZE(fast));
    if (num_labels != sentences_.num_tokens()) {
      throw Error(fmt::format("{} has {} tokens and {} has {} labels; expected as many", x.text(),
                              sentences_.num_tokens(), y.text(), num_labels));
    }
    for (std::size_t t = 0; t < num_labels; ++t) {
      y.token = static_cast<std::ptrdiff_t>(t);
      // NumPy's texts are str, numbers are not labels.
      const std::string_view label = text_of(PySequence_Fast_GET_ITEM(fast, static_cast<Py_ssize_t>(t)), y,
                                             "expected a text, the label of a token");
      data_.add_attributes(sentences_.token(t), label);
    }
    if (num_labels > 0) data_.end_sentence(weight);
  }

  const TagData& data() const { return data_; }

  // Adds the sentences of another one.
  void append(const LabelledSentences& other) {
    const TagData& data = other.data_;
    std::vector<TagData::Attribute> attributes;
    for (std::size_t i = 0; i < data.size(); ++i) {
      for (std::size_t t = data.begin(i); t < data.begin(i + 1); ++t) {
        data.attributes().get(t, attributes);
        data_.add_attributes(attributes, data.label(t));
      }
      data_.end_sentence(data.weight(i));
    }
  }

 private:
  Sentences sentences_;
  TagData data_;
};

// X and y of fit().
void append_all(LabelledSentences& to, const py::sequence& X, const py::sequence& y,
                const py::object& weights, const char* x_name, const char* y_name) {
  const std::size_t size = py::len(X);
  if (size != py::len(y)) {
    throw Error(
        fmt::format("{} has {} sentences and {} has {}; expected as many", x_name, size, y_name, py::len(y)));
  }
  if (!weights.is_none() && py::len(weights) != size) {
    throw Error(fmt::format("sample_weight has {} weights for {} sentences; expected one for each",
                            py::len(weights), size));
  }
  for (std::size_t i = 0; i < size; ++i) {
    if (i % 256 == 0 && PyErr_CheckSignals() != 0) throw py::error_already_set();
    const auto index = static_cast<std::ptrdiff_t>(i);
    const double weight = weights.is_none() ? 1 : py::float_(weights[py::int_(i)]).cast<double>();
    to.append(py::object(X[i]), py::object(y[i]), weight, {x_name, index}, {y_name, index});
  }
}

std::unique_ptr<TrainingData> make_training(const LabelledSentences& train, const LabelledSentences* dev,
                                            py::dict options) {
  OptionValues values(task_named("tag").options());
  options = options.attr("copy")();
  // Pairs of labels, beside the name of a file.
  if (options.contains("transitions") && !py::isinstance<py::str>(options["transitions"]) &&
      !PyObject_HasAttrString(py::object(options["transitions"]).ptr(), "__fspath__")) {
    values.as<TagOptions>().forbidden =
        options["transitions"].cast<std::vector<std::pair<std::string, std::string>>>();
    options.attr("pop")("transitions");
  }
  take_options(options, values);
  refuse_rest(options);
  values.check_effective();
  const py::gil_scoped_release release;
  auto data = std::make_unique<TrainingData>();
  data->set = make_tag_training(train.data(), values.as<TagOptions>(), dev ? &dev->data() : nullptr);
  return data;
}

// X and y of a metric.
Evaluation evaluate(const py::sequence& gold, const py::sequence& predicted,
                    const std::optional<std::string>& encoding) {
  TagEvaluator evaluator(encoding);
  if (py::len(gold) != py::len(predicted)) {
    throw Error(fmt::format("y_true has {} sentences and y_pred has {}; expected as many", py::len(gold),
                            py::len(predicted)));
  }
  std::vector<std::string_view> labels[2];
  TextArena texts;  // an array makes its labels as they are asked for
  for (std::size_t i = 0; i < py::len(gold); ++i) {
    texts.clear();
    const py::object of_sentence[] = {gold[i], predicted[i]};
    for (const std::size_t k : {0, 1}) {
      labels[k].clear();
      Place place{k == 0 ? "y_true" : "y_pred", static_cast<std::ptrdiff_t>(i), -1};
      for (const py::handle label : of_sentence[k]) {
        ++place.token;
        labels[k].push_back(texts.copy(text_of(label, place, "expected a text, the label of a token")));
      }
    }
    if (labels[0].size() != labels[1].size()) {
      throw Error(fmt::format("y_true[{0}] has {1} labels and y_pred[{0}] has {2}; expected as many", i,
                              labels[0].size(), labels[1].size()));
    }
    evaluator.add(labels[0], labels[1]);
  }
  return evaluator.evaluate();
}

// {(attribute, label): weight}, or, of steps, {(label before, label): weight}; n-grams of more labels have
// them all as their key.
py::dict weights(const Model& model, bool of_steps) {
  py::dict result;
  // Coefficients of a kernel are not those of attributes.
  if (!of_steps && model.describe().at("settings").contains("kernel")) return result;
  model.predictor().for_each_weight([&](const WeightName& name, float weight) {
    if (name.before.empty() == of_steps || weight == 0) return;
    py::tuple key(of_steps ? name.before.size() + 1 : 2);
    std::size_t k = 0;
    for (const std::string_view before : name.before) key[k++] = py::str(std::string(before));
    if (!of_steps) key[k++] = py::str(std::string(name.attribute));
    key[k] = py::str(std::string(name.label));
    result[key] = py::float_(weight);
  });
  return result;
}

}  // namespace

void bind_tag(py::module_& module) {
  py::class_<LabelledSentences>(module, "LabelledSentences")
      .def(py::init<>())
      .def(
          "append",
          [](LabelledSentences& to, py::handle items, py::handle labels, double weight) {
            to.append(items, labels, weight, {"xseq"}, {"yseq"});
          },
          py::arg("xseq"), py::arg("yseq"), py::arg("weight") = 1.0)
      .def("append_all", &append_all, py::arg("X"), py::arg("y"), py::arg("weights") = py::none(),
           py::arg("x_name") = "X", py::arg("y_name") = "y")
      .def_static(
          "joined",
          [](const py::list& parts) -> py::object {
            if (parts.size() == 1) return parts[0];
            auto all = std::make_unique<LabelledSentences>();
            for (const py::handle part : parts) all->append(part.cast<const LabelledSentences&>());
            return py::cast(std::move(all));
          },
          "The sentences of all parts; of a single one, itself.")
      .def("__len__", [](const LabelledSentences& data) { return data.data().size(); });
  module.def("tag_training", &make_training, py::arg("train"), py::arg("dev"), py::arg("options"));
  py::class_<SharedTagger>(module, "Tagger")
      .def(py::init<Model>(), py::arg("model"))
      .def("tag", &SharedTagger::tag, py::arg("X"))
      .def("marginals", &SharedTagger::marginals, py::arg("X"))
      .def("kbest", &SharedTagger::kbest, py::arg("X"), py::arg("k"))
      .def("samples", &SharedTagger::samples, py::arg("X"), py::arg("n"), py::arg("seed"))
      .def("entropies", &SharedTagger::entropies, py::arg("X"))
      .def("entities", &SharedTagger::entities, py::arg("X"))
      .def("score", &SharedTagger::score, py::arg("xseq"), py::arg("yseq"))
      .def("probability", &SharedTagger::probability, py::arg("xseq"), py::arg("yseq"))
      .def("contributions", &SharedTagger::contributions, py::arg("xseq"), py::arg("yseq") = py::none())
      .def_property_readonly("has_probabilities", &SharedTagger::has_probabilities);
  module.def("tag_weights", &weights, py::arg("model"), py::arg("of_steps"));
  module.def(
      "evaluate_tags",
      [](const py::sequence& gold, const py::sequence& predicted,
         const std::optional<std::string>& encoding) {
        const Evaluation evaluation = evaluate(gold, predicted, encoding);
        return py::make_tuple(to_python(evaluation.report), evaluation.text);
      },
      py::arg("y_true"), py::arg("y_pred"), py::arg("encoding") = py::none());
}

}  // namespace espalier::python
