#include "tagger.h"

#include <fmt/format.h>

#include <optional>

#include "espalier/base/error.h"
#include "espalier/tasks/sampling.h"

namespace espalier::python {
namespace {

// About so many tokens are converted at a time, so that threads take turns with the interpreter's lock.
constexpr std::size_t kTokens = 512;

void set(const Sentences& block, std::size_t i, Tagger::Sentence& sentence) {
  sentence.clear();
  for (std::size_t t = block.begin(i); t < block.begin(i + 1); ++t) sentence.add_attributes(block.token(t));
}

}  // namespace

class SharedTagger::Worker {
 public:
  explicit Worker(SharedTagger& of) : of_(of) {
    {
      const std::lock_guard lock(of_.mutex_);
      if (!of_.idle_.empty()) {
        work_ = std::move(of_.idle_.back());
        of_.idle_.pop_back();
      }
    }
    if (!work_) work_ = std::make_unique<Work>(of_.tagger_);
  }
  ~Worker() {
    const std::lock_guard lock(of_.mutex_);
    of_.idle_.push_back(std::move(work_));
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  Work* operator->() const { return work_.get(); }

 private:
  SharedTagger& of_;
  std::unique_ptr<Work> work_;
};

SharedTagger::SharedTagger(Model model) : model_(std::move(model)), tagger_(model_.tagger()) {
  if (tagger_.format() == TagFormat::columns)
    throw Error::in(model_.name(), "a model of columns",
                    "expected one of attributes; `espalier predict` uses models of columns");
  for (std::uint32_t id = 0; id < tagger_.num_labels(); ++id)
    labels_.emplace_back(std::string(tagger_.label(id)));
}

// compute() runs without the interpreter's lock, collect() with it.
template <class Compute, class Collect>
void SharedTagger::for_each_block(const py::sequence& X, const Compute& compute, const Collect& collect) {
  const Worker worker(*this);
  Sentences& block = worker->block;
  for (std::size_t i = 0; i < py::len(X);) {
    block.clear();
    for (; i < py::len(X) && block.num_tokens() < kTokens; ++i)
      block.add(py::object(X[i]), {"X", static_cast<std::ptrdiff_t>(i)});
    {
      const py::gil_scoped_release release;
      for (std::size_t k = 0; k < block.size(); ++k) {
        set(block, k, worker->sentence);
        compute(worker->sentence);
      }
    }
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    for (std::size_t k = 0; k < block.size(); ++k) collect(block.begin(k + 1) - block.begin(k));
  }
}

py::list SharedTagger::tag(const py::sequence& X) {
  py::list result;
  std::vector<std::uint32_t> labels;
  std::size_t taken = 0;  // of these
  for_each_block(
      X,
      [&](Tagger::Sentence& sentence) {
        if (taken > 0) labels.clear();
        taken = 0;
        const auto best = sentence.labels();
        labels.insert(labels.end(), best.begin(), best.end());
      },
      [&](std::size_t length) {
        result.append(labels_of(std::span(labels).subspan(taken, length)));
        taken += length;
      });
  return result;
}

py::list SharedTagger::marginals(const py::sequence& X) {
  py::list result;
  std::vector<double> probabilities;
  std::size_t taken = 0;
  for_each_block(
      X,
      [&](Tagger::Sentence& sentence) {
        if (taken > 0) probabilities.clear();
        taken = 0;
        const auto marginals = sentence.marginals();
        probabilities.insert(probabilities.end(), marginals.begin(), marginals.end());
      },
      [&](std::size_t length) {
        py::list tokens(length);
        for (std::size_t t = 0; t < length; ++t) {
          py::dict of_token;
          for (const py::str& label : labels_) of_token[label] = py::float_(probabilities[taken++]);
          tokens[t] = std::move(of_token);
        }
        result.append(std::move(tokens));
      });
  return result;
}

py::list SharedTagger::kbest(const py::sequence& X, std::size_t k) {
  if (k == 0) throw Error(fmt::format("{} 0; expected at least 1", setting("k")));
  return scored(X, [&](Tagger::Sentence& sentence, std::size_t) { return sentence.kbest(k); });
}

py::list SharedTagger::samples(const py::sequence& X, std::size_t n, std::uint64_t seed) {
  return scored(X, [&](Tagger::Sentence& sentence, std::size_t i) {
    return sentence.samples(n, seed_of_item(seed, i));
  });
}

py::list SharedTagger::entropies(const py::sequence& X) {
  py::list result;
  std::vector<double> all;
  std::size_t taken = 0;
  for_each_block(
      X, [&](Tagger::Sentence& sentence) { all.push_back(sentence.entropy()); },
      [&](std::size_t) { result.append(all[taken++]); });
  return result;
}

template <class List>
py::list SharedTagger::scored(const py::sequence& X, const List& list) {
  struct Scored {
    std::vector<std::uint32_t> labels;
    double score, probability;
  };
  py::list result;
  std::vector<std::vector<Scored>> best;
  std::size_t taken = 0, seen = 0;
  for_each_block(
      X,
      [&](Tagger::Sentence& sentence) {
        if (taken > 0) best.clear();
        taken = 0;
        best.emplace_back();
        for (auto& [labels, score] : list(sentence, seen++)) {
          const double probability = has_probabilities() ? sentence.probability(score) : 0;
          best.back().push_back({std::move(labels), score, probability});
        }
      },
      [&](std::size_t) {
        py::list of_sentence;
        for (const auto& [labels, score, probability] : best[taken])
          of_sentence.append(
              py::make_tuple(labels_of(labels), score,
                             has_probabilities() ? py::object(py::float_(probability)) : py::none()));
        ++taken;
        result.append(std::move(of_sentence));
      });
  return result;
}

py::list SharedTagger::entities(const py::sequence& X) {
  py::list result;
  std::vector<std::vector<Tagger::Chunk>> chunks;
  std::size_t taken = 0;
  for_each_block(
      X,
      [&](Tagger::Sentence& sentence) {
        if (taken > 0) chunks.clear();
        taken = 0;
        const auto found = sentence.chunks();
        chunks.emplace_back(found.begin(), found.end());
      },
      [&](std::size_t) {
        py::list of_sentence;
        for (const auto& [begin, end, type, probability] : chunks[taken])
          of_sentence.append(py::make_tuple(std::string(type), begin, end, probability));
        ++taken;
        result.append(std::move(of_sentence));
      });
  return result;
}

double SharedTagger::score(py::handle sentence, py::handle labels) {
  const Worker worker(*this);
  worker->block.clear();
  worker->block.add(sentence, {"xseq"});
  set(worker->block, 0, worker->sentence);
  return worker->sentence.score(ids_of(labels, worker->block.num_tokens()));
}

double SharedTagger::probability(py::handle sentence, py::handle labels) {
  const Worker worker(*this);
  worker->block.clear();
  worker->block.add(sentence, {"xseq"});
  set(worker->block, 0, worker->sentence);
  const std::vector<std::uint32_t> ids = ids_of(labels, worker->block.num_tokens());
  return worker->sentence.probability(worker->sentence.score(ids));
}

py::list SharedTagger::contributions(py::handle sentence, const py::object& of_labels) {
  const Worker worker(*this);
  worker->block.clear();
  worker->block.add(sentence, {"xseq"});
  set(worker->block, 0, worker->sentence);
  std::vector<std::uint32_t> labels;
  if (of_labels.is_none()) {
    const auto best = worker->sentence.labels();
    labels.assign(best.begin(), best.end());
  } else {
    labels = ids_of(of_labels, worker->block.num_tokens());
  }
  py::list result;
  for (std::size_t t = 0; t < labels.size(); ++t) {
    py::list parts;
    worker->sentence.for_each_contribution(t, labels, [&](const Tagger::Sentence::Contribution& one) {
      parts.append(py::make_tuple(std::string(one.attribute), labels_of(one.before), one.value, one.weight));
    });
    py::dict others;
    std::vector<std::uint32_t> changed = labels;
    for (std::uint32_t label = 0; label < labels_.size(); ++label) {
      changed[t] = label;
      double sum = 0;
      worker->sentence.for_each_contribution(
          t, changed, [&](const Tagger::Sentence::Contribution& one) { sum += one.value * one.weight; });
      others[labels_[label]] = sum;
    }
    result.append(py::make_tuple(labels_[labels[t]], std::move(parts), std::move(others)));
  }
  return result;
}

py::list SharedTagger::labels_of(std::span<const std::uint32_t> labels) const {
  py::list list(labels.size());
  for (std::size_t t = 0; t < labels.size(); ++t) {
    PyObject* const name = labels_[labels[t]].ptr();
    Py_INCREF(name);
    PyList_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(t), name);
  }
  return list;
}

std::vector<std::uint32_t> SharedTagger::ids_of(py::handle labels, std::size_t size) const {
  std::vector<std::uint32_t> ids;
  Place place{"yseq"};
  for (const py::handle label : labels) {
    place.token = static_cast<std::ptrdiff_t>(ids.size());
    const std::string_view name = text_of(label, place, "expected a text, the label of a token");
    const auto id = tagger_.find_label(name);
    if (!id)
      throw Error::in(place.text(), fmt::format("the label {}", in_quotes(name)),
                      "expected one of the model's");
    ids.push_back(*id);
  }
  if (ids.size() != size)
    throw Error(fmt::format("xseq has {} tokens and yseq has {} labels; expected as many", size, ids.size()));
  return ids;
}

}  // namespace espalier::python
