#include "espalier/tasks/tag.h"

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <memory>
#include <mutex>

#include "bind.h"
#include "espalier/base/error.h"
#include "espalier/model/model.h"
#include "items.h"
#include "settings.h"
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
  take_options(options, values);
  refuse_rest(options);
  values.check_effective();
  const py::gil_scoped_release release;
  auto data = std::make_unique<TrainingData>();
  data->set = make_tag_training(train.data(), values.as<TagOptions>(), dev ? &dev->data() : nullptr);
  return data;
}

// A tagger that all threads of Python share.
class SharedTagger {
 public:
  explicit SharedTagger(Model model) : model_(std::move(model)), tagger_(model_.tagger()) {
    for (std::uint32_t id = 0; id < tagger_.num_labels(); ++id)
      labels_.push_back(py::str(std::string(tagger_.label(id))));
    if (tagger_.format() == TagFormat::columns)
      throw Error::in(model_.name(), "a model of columns", "expected one of attributes");
  }

  py::list tag(const py::sequence& X) {
    py::list result;
    std::vector<std::uint32_t> labels;
    for_each_block(
        X,
        [&](const Sentences& block, Tagger::Sentence& sentence) {
          labels.clear();
          for (std::size_t i = 0; i < block.size(); ++i) {
            set(block, i, sentence);
            const auto best = sentence.labels();
            labels.insert(labels.end(), best.begin(), best.end());
          }
        },
        [&](const Sentences& block) {
          for (std::size_t i = 0; i < block.size(); ++i)
            result.append(
                labels_of(std::span(labels).subspan(block.begin(i), block.begin(i + 1) - block.begin(i))));
        });
    return result;
  }

  py::list marginals(const py::sequence& X) {
    py::list result;
    std::vector<double> probabilities;
    for_each_block(
        X,
        [&](const Sentences& block, Tagger::Sentence& sentence) {
          probabilities.clear();
          for (std::size_t i = 0; i < block.size(); ++i) {
            set(block, i, sentence);
            const auto of_sentence = sentence.marginals();
            probabilities.insert(probabilities.end(), of_sentence.begin(), of_sentence.end());
          }
        },
        [&](const Sentences& block) {
          const double* next = probabilities.data();
          for (std::size_t i = 0; i < block.size(); ++i) {
            py::list tokens(block.begin(i + 1) - block.begin(i));
            for (std::size_t t = 0; t < tokens.size(); ++t) {
              py::dict of_token;
              for (const py::str& label : labels_) of_token[label] = py::float_(*next++);
              tokens[t] = std::move(of_token);
            }
            result.append(std::move(tokens));
          }
        });
    return result;
  }

 private:
  // About so many tokens are converted at a time, so that threads take turns with the interpreter's lock.
  static constexpr std::size_t kTokens = 4096;

  static void set(const Sentences& block, std::size_t i, Tagger::Sentence& sentence) {
    sentence.clear();
    for (std::size_t t = block.begin(i); t < block.begin(i + 1); ++t) sentence.add_attributes(block.token(t));
  }

  py::list labels_of(std::span<const std::uint32_t> labels) const {
    py::list list(labels.size());
    for (std::size_t t = 0; t < labels.size(); ++t) {
      PyObject* const name = labels_[labels[t]].ptr();
      Py_INCREF(name);
      PyList_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(t), name);
    }
    return list;
  }

  // Converts sentences block by block; compute() runs without the interpreter's lock, collect() with it.
  template <class Compute, class Collect>
  void for_each_block(const py::sequence& X, const Compute& compute, const Collect& collect) {
    const Worker worker(*this);
    Sentences& block = worker->block;
    const std::size_t size = py::len(X);
    for (std::size_t i = 0; i < size;) {
      block.clear();
      for (; i < size && block.num_tokens() < kTokens; ++i)
        block.add(py::object(X[i]), {"X", static_cast<std::ptrdiff_t>(i)});
      {
        const py::gil_scoped_release release;
        compute(block, worker->sentence);
      }
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      collect(block);
    }
  }

  // What a thread works with; kept for the next one, since memory is reused.
  struct Work {
    explicit Work(const Tagger& tagger) : sentence(tagger) {}
    Sentences block;
    Tagger::Sentence sentence;
  };
  class Worker {
   public:
    explicit Worker(SharedTagger& of) : of_(of) {
      const std::lock_guard lock(of_.mutex_);
      if (of_.idle_.empty()) {
        work_ = std::make_unique<Work>(of_.tagger_);
      } else {
        work_ = std::move(of_.idle_.back());
        of_.idle_.pop_back();
      }
    }
    ~Worker() {
      const std::lock_guard lock(of_.mutex_);
      of_.idle_.push_back(std::move(work_));
    }
    Worker(const Worker&) = delete;
    Work* operator->() const { return work_.get(); }

   private:
    SharedTagger& of_;
    std::unique_ptr<Work> work_;
  };

  Model model_;
  const Tagger& tagger_;
  std::vector<py::str> labels_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Work>> idle_;
};

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
      .def("__len__", [](const LabelledSentences& data) { return data.data().size(); });
  module.def("tag_training", &make_training, py::arg("train"), py::arg("dev"), py::arg("options"));
  py::class_<SharedTagger>(module, "Tagger")
      .def(py::init<Model>(), py::arg("model"))
      .def("tag", &SharedTagger::tag, py::arg("X"))
      .def("marginals", &SharedTagger::marginals, py::arg("X"));
}

}  // namespace espalier::python
