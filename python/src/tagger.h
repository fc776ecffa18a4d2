#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "bind.h"
#include "espalier/model/model.h"
#include "espalier/tasks/tag.h"
#include "items.h"

namespace espalier::python {

// A tagger that all threads of Python share. Sentences are converted with the interpreter's lock, and tagged
// without it.
class SharedTagger {
 public:
  // Throws Error if the model is not one that tags, or is one of columns.
  explicit SharedTagger(Model model);

  // Each for all sentences of X, one after the other.
  py::list tag(const py::sequence& X);                   // lists of labels
  py::list marginals(const py::sequence& X);             // lists of dicts, {label: probability}
  py::list kbest(const py::sequence& X, std::size_t k);  // lists of tuples, (labels, score, probability)
  // The same of n labellings that are drawn, and how uncertain they are.
  py::list samples(const py::sequence& X, std::size_t n, std::uint64_t seed);
  py::list entropies(const py::sequence& X);
  py::list entities(const py::sequence& X);  // lists of tuples, (type, begin, end, probability)

  // Of one sentence with these labels.
  double score(py::handle sentence, py::handle labels);
  double probability(py::handle sentence, py::handle labels);
  // What it is made of, for each token: (label, [(attribute, labels before, value, weight), ...]), and a dict
  // {label: what it would add in its place}.
  py::list contributions(py::handle sentence, const py::object& labels);

  const Model& model() const { return model_; }
  bool has_probabilities() const { return tagger_.has_probabilities(); }

 private:
  // What a thread works with; kept for the next one, since memory is reused.
  struct Work {
    explicit Work(const Tagger& tagger) : sentence(tagger) {}
    Sentences block;
    Tagger::Sentence sentence;
  };
  class Worker;

  template <class Compute, class Collect>
  void for_each_block(const py::sequence& X, const Compute& compute, const Collect& collect);
  template <class List>
  py::list scored(const py::sequence& X, const List& list);
  py::list labels_of(std::span<const std::uint32_t> labels) const;
  std::vector<std::uint32_t> ids_of(py::handle labels, std::size_t size) const;

  Model model_;
  const Tagger& tagger_;
  std::vector<py::str> labels_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Work>> idle_;
};

}  // namespace espalier::python
