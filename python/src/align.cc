#include "espalier/tasks/align.h"

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <memory>

#include "bind.h"
#include "blocks.h"
#include "espalier/base/error.h"
#include "espalier/model/model.h"
#include "items.h"
#include "json.h"
#include "settings.h"
#include "training.h"

namespace espalier::python {
namespace {

// Sentence pairs of Python, with their links or without.
class SentencePairs {
 public:
  SentencePairs(const py::sequence& X, const py::object& y, const char* x_name, const char* y_name) {
    const std::size_t size = py::len(X);
    if (!y.is_none() && py::len(y) != size)
      throw Error(fmt::format("{} has {} sentence pairs and {} has {}; expected as many", x_name, size,
                              y_name, py::len(y)));
    for (std::size_t i = 0; i < size; ++i) {
      if (i % 64 == 0 && PyErr_CheckSignals() != 0) throw py::error_already_set();
      const Place place{x_name, static_cast<std::ptrdiff_t>(i)};
      SentencePair pair = pair_of(py::object(X[i]), place);
      if (!y.is_none()) {
        const Place of_links{y_name, static_cast<std::ptrdiff_t>(i)};
        for (const py::handle link : items(py::object(y[py::int_(i)]), of_links, "expected a list of links"))
          pair.links.push_back(link_of(link, of_links));
      }
      data_.add(std::move(pair));
    }
  }
  const AlignData& data() const { return data_; }

 private:
  [[noreturn]] static void refuse(const py::handle& found, const Place& place, const char* expected) {
    throw Error::in(place.text(), std::string(py::repr(found)), expected);
  }

  static py::object items(const py::handle& object, const Place& place, const char* expected) {
    if (PyUnicode_Check(object.ptr()) || PyDict_Check(object.ptr()) || !py::isinstance<py::iterable>(object))
      refuse(object, place, expected);
    return py::reinterpret_borrow<py::object>(object);
  }

  // A list of words, or a text with white space between them.
  static std::vector<std::string> words(const py::handle& object, const Place& place) {
    std::vector<std::string> result;
    if (PyUnicode_Check(object.ptr())) {
      for (const py::handle word : object.attr("split")()) result.emplace_back(text_of(word, place, ""));
      return result;
    }
    for (const py::handle word : items(object, place, "expected a list of words, or a text"))
      result.emplace_back(text_of(word, place, "expected texts as words"));
    return result;
  }

  static SentencePair pair_of(const py::object& object, const Place& place) {
    const char* const expected = "expected two sentences: (source, target)";
    if (PyUnicode_Check(object.ptr()) || !PySequence_Check(object.ptr()) || py::len(object) != 2)
      refuse(object, place, expected);
    const auto both = py::reinterpret_borrow<py::sequence>(object);
    SentencePair pair;
    pair.source = words(py::object(both[0]), place);
    pair.target = words(py::object(both[1]), place);
    return pair;
  }

  static std::uint32_t number(const py::handle& object, const py::handle& link, const Place& place) {
    const char* const expected = "expected (source, target), numbers of words from 0";
    if (!PyIndex_Check(object.ptr())) refuse(link, place, expected);
    const auto index = py::int_(py::reinterpret_borrow<py::object>(object)).cast<long long>();
    if (index < 0 || index > 0xffff'fffeLL) refuse(link, place, expected);
    return static_cast<std::uint32_t>(index);
  }

  // (source, target), or (source, target, sure)
  static WordLink link_of(const py::handle& object, const Place& place) {
    if (PyUnicode_Check(object.ptr()) || !PySequence_Check(object.ptr()) || py::len(object) < 2 ||
        py::len(object) > 3)
      refuse(object, place, "expected (source, target), or (source, target, sure)");
    const auto link = py::reinterpret_borrow<py::sequence>(object);
    const bool sure = py::len(object) == 2 || py::bool_(py::object(link[2]));
    return {number(py::object(link[0]), object, place), number(py::object(link[1]), object, place), sure};
  }

  AlignData data_;
};

std::unique_ptr<TrainingData> make_training(const SentencePairs& train, const SentencePairs* dev,
                                            py::dict options, const std::string& loss) {
  OptionValues values(task_named("align").options());
  options = options.attr("copy")();
  take_options(options, values);
  refuse_rest(options);
  values.check_effective();
  const py::gil_scoped_release release;
  AlignOptions of_task = values.as<AlignOptions>();
  of_task.maxima = !Loss::parse(loss).smooth();
  auto result = std::make_unique<TrainingData>();
  result->set = make_align_training(train.data(), of_task, dev ? &dev->data() : nullptr);
  return result;
}

py::list to_python(const std::vector<WordLink>& links) {
  py::list result;
  for (const WordLink& link : links) result.append(py::make_tuple(link.source, link.target));
  return result;
}

// An aligner that all threads of Python share.
class SharedAligner {
 public:
  explicit SharedAligner(Model model) : model_(std::move(model)), aligner_(model_.predictor()) {}

  py::list links(const SentencePairs& X) const {
    std::vector<std::vector<WordLink>> all(X.data().size());
    py::list result;
    WordAligner::Pair pair(aligner_);
    for_each_in_blocks(
        all.size(), kBlock,
        [&](std::size_t i) {
          pair.set(X.data().pair(i));
          all[i] = pair.links();
        },
        [&](std::size_t i) { result.append(to_python(std::exchange(all[i], {}))); });
    return result;
  }

  // For each pair of sentences a list for each source word, of the probability of each target word.
  py::list marginals(const SentencePairs& X) const {
    std::vector<std::vector<std::vector<double>>> all(X.data().size());
    py::list result;
    WordAligner::Pair pair(aligner_);
    for_each_in_blocks(
        all.size(), kBlock,
        [&](std::size_t i) {
          const SentencePair& words = X.data().pair(i);
          pair.set(words);
          for (std::size_t s = 0; s < words.source.size(); ++s) {
            auto& row = all[i].emplace_back();
            for (std::size_t t = 0; t < words.target.size(); ++t) row.push_back(pair.marginal(s, t));
          }
        },
        [&](std::size_t i) { result.append(py::cast(std::exchange(all[i], {}))); });
    return result;
  }

  // Lists of (links, score, probability); None where the model has no probabilities.
  py::list kbest(const SentencePairs& X, std::size_t k) const {
    struct Best {
      std::vector<WordLink> links;
      double score, probability;
    };
    std::vector<std::vector<Best>> all(X.data().size());
    py::list result;
    WordAligner::Pair pair(aligner_);
    const bool smooth = aligner_.has_probabilities();
    for_each_in_blocks(
        all.size(), kBlock,
        [&](std::size_t i) {
          pair.set(X.data().pair(i));
          for (const auto& [links, score] : pair.kbest(k))
            all[i].push_back({links, score, smooth ? pair.probability(score) : 0});
        },
        [&](std::size_t i) {
          py::list best;
          for (const auto& [links, score, probability] : all[i]) {
            py::object p = py::none();
            if (smooth) p = py::float_(probability);
            best.append(py::make_tuple(to_python(links), score, p));
          }
          result.append(std::move(best));
          all[i] = {};
        });
    return result;
  }

  py::object evaluate(const SentencePairs& gold) const {
    Evaluation evaluation;
    {
      const py::gil_scoped_release release;
      evaluation = aligner_.evaluate(gold.data());
    }
    return python::to_python(evaluation.report);
  }

 private:
  static constexpr std::size_t kBlock = 4;

  Model model_;
  WordAligner aligner_;
};

}  // namespace

void bind_align(py::module_& module) {
  py::class_<SentencePairs>(module, "SentencePairs")
      .def(py::init<const py::sequence&, const py::object&, const char*, const char*>(), py::arg("X"),
           py::arg("y") = py::none(), py::arg("x_name") = "X", py::arg("y_name") = "y")
      .def("__len__", [](const SentencePairs& pairs) { return pairs.data().size(); });
  module.def("align_training", &make_training, py::arg("train"), py::arg("dev"), py::arg("options"),
             py::arg("loss"));
  py::class_<SharedAligner>(module, "WordAligner")
      .def(py::init<Model>(), py::arg("model"))
      .def("links", &SharedAligner::links, py::arg("X"))
      .def("marginals", &SharedAligner::marginals, py::arg("X"))
      .def("kbest", &SharedAligner::kbest, py::arg("X"), py::arg("k"))
      .def("evaluate", &SharedAligner::evaluate, py::arg("X"));
}

}  // namespace espalier::python
