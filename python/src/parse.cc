#include "espalier/tasks/parse.h"

#include <fmt/format.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <memory>
#include <optional>

#include "bind.h"
#include "blocks.h"
#include "espalier/base/error.h"
#include "espalier/model/model.h"
#include "espalier/tasks/sampling.h"
#include "espalier/train/read.h"
#include "items.h"
#include "json.h"
#include "settings.h"
#include "text_arena.h"
#include "training.h"

namespace espalier::python {
namespace {

constexpr const char* kToken =
    "expected a dict with form, lemma, upos, xpos, feats, head and deprel, a tuple of these, or a form";

// Sentences of Python, with heads or without: lists of tokens, or what CoNLL-U has.
class DependencySentences {
 public:
  static DependencySentences of_lists(const py::sequence& X, bool needs_heads, const char* name) {
    DependencySentences sentences(needs_heads);
    const std::size_t size = py::len(X);
    for (std::size_t i = 0; i < size; ++i) {
      if (i % 256 == 0 && PyErr_CheckSignals() != 0) throw py::error_already_set();
      sentences.add(X[i], {name, static_cast<std::ptrdiff_t>(i)});
    }
    return sentences;
  }
  static DependencySentences of_text(const std::string& text, bool needs_heads) {
    DependencySentences sentences(needs_heads);
    const py::gil_scoped_release release;
    sentences.read_ = parse_dependencies(text, needs_heads);
    return sentences;
  }
  static DependencySentences of_file(const std::string& path, bool needs_heads) {
    DependencySentences sentences(needs_heads);
    const py::gil_scoped_release release;
    sentences.read_ = read_dependencies(path, needs_heads);
    return sentences;
  }

  std::size_t size() const { return read_ ? read_->size() : words_.size(); }
  void get(std::size_t i, Parser::Sentence& sentence) const {
    if (read_) return sentence.set((*read_)[i]);
    sentence.clear();
    for (const DependencyWord& word : words_[i]) sentence.add(word);
  }
  // Requires sentences that were read.
  const DependencySentence& read(std::size_t i) const { return (*read_)[i]; }
  bool was_read() const { return read_.has_value(); }

  // Requires heads.
  ParseData data() const {
    ParseData data(true);
    for (std::size_t i = 0; i < size(); ++i) {
      if (read_) {
        data.add((*read_)[i]);
        continue;
      }
      for (const DependencyWord& word : words_[i]) data.add(word);
      data.end_sentence();
    }
    return data;
  }

 private:
  explicit DependencySentences(bool needs_heads) : needs_heads_(needs_heads) {}

  void add(const py::object& tokens, Place place) {
    if (py::isinstance<py::str>(tokens) || !py::isinstance<py::sequence>(tokens))
      throw Error::in(place.text(), std::string(py::repr(tokens)), "expected a list of tokens");
    std::vector<DependencyWord>& words = words_.emplace_back();
    const auto list = py::reinterpret_borrow<py::sequence>(tokens);
    const std::size_t size = py::len(list);
    if (size == 0) throw Error::in(place.text(), "a sentence without words", "expected some");
    for (std::size_t t = 0; t < size; ++t) {
      place.token = static_cast<std::ptrdiff_t>(t);
      words.push_back(word_of(list[t], place));
    }
  }

  DependencyWord word_of(const py::object& token, const Place& place) {
    DependencyWord word;
    if (py::isinstance<py::str>(token)) {
      word.form = text(token, place);
      if (needs_heads_) throw Error::in(place.text(), "a word without a head", kToken);
      return word;
    }
    static constexpr const char* kNames[] = {"form", "lemma", "upos", "xpos", "feats", "head", "deprel"};
    std::string_view* const fields[] = {&word.form,  &word.lemma, &word.coarse,  &word.fine,
                                        &word.feats, nullptr,     &word.relation};
    const bool is_dict = py::isinstance<py::dict>(token);
    if (!is_dict && !py::isinstance<py::sequence>(token))
      throw Error::in(place.text(), std::string(py::repr(token)), kToken);
    for (std::size_t f = 0; f < std::size(kNames); ++f) {
      const py::object field = is_dict              ? dict_field(token, kNames[f])
                               : f < py::len(token) ? py::object(token[py::int_(f)])
                                                    : py::none();
      if (field.is_none()) continue;
      if (fields[f] == nullptr) {
        take_head(field, place, word);
      } else if (py::isinstance<py::dict>(field)) {
        *fields[f] = joined(field, place);
      } else {
        *fields[f] = text(field, place);
      }
    }
    if (word.form.empty()) throw Error::in(place.text(), "a word without a form", kToken);
    if (needs_heads_ && !word.has_head) throw Error::in(place.text(), "a word without a head", kToken);
    return word;
  }

  static py::object dict_field(const py::object& token, const char* name) {
    return py::reinterpret_borrow<py::dict>(token).attr("get")(name);
  }

  // "Case=Nom|Number=Sing", as CoNLL-U writes features.
  std::string_view joined(const py::object& features, const Place& place) {
    std::string all;
    for (const auto& [key, value] : py::reinterpret_borrow<py::dict>(features)) {
      if (!all.empty()) all += '|';
      all += text_of(key, place, "expected texts in feats");
      all += '=';
      all += text_of(value, place, "expected texts in feats");
    }
    return texts_->copy(all);
  }

  static void take_head(const py::object& field, const Place& place, DependencyWord& word) {
    if (!PyIndex_Check(field.ptr()) || PyBool_Check(field.ptr()))
      throw Error::in(place.text(), fmt::format("the head {}", std::string(py::repr(field))),
                      "expected the number of a word, or 0 for the root");
    const auto head = py::int_(field).cast<long long>();
    if (head < 0 || head > 1'000'000)
      throw Error::in(place.text(), fmt::format("the head {}", head),
                      "expected the number of a word, or 0 for the root");
    word.head = static_cast<std::uint32_t>(head);
    word.has_head = true;
  }

  std::string_view text(const py::object& field, const Place& place) {
    return texts_->copy(text_of(field, place, kToken));
  }

  bool needs_heads_;
  std::optional<std::vector<DependencySentence>> read_;
  std::unique_ptr<TextArena> texts_ = std::make_unique<TextArena>();
  std::vector<std::vector<DependencyWord>> words_;  // their texts are in the arena
};

std::unique_ptr<TrainingData> make_training(const DependencySentences& train, const DependencySentences* dev,
                                            py::dict options, std::size_t threads, const std::string& loss) {
  OptionValues values(task_named("parse").options());
  options = options.attr("copy")();
  take_options(options, values);
  refuse_rest(options);
  values.check_effective();
  return interruptible([&](const std::atomic<bool>& stop) {
    ParseOptions of_task = values.as<ParseOptions>();
    of_task.threads = Threads::of(threads);
    of_task.stop = &stop;
    of_task.maxima = !Loss::parse(loss).smooth();
    const ParseData data = train.data();
    std::optional<ParseData> held_out;
    if (dev != nullptr) held_out = dev->data();
    auto result = std::make_unique<TrainingData>();
    result->set = make_parse_training(data, of_task, held_out ? &*held_out : nullptr);
    return result;
  });
}

// A parser that all threads of Python share.
class SharedParser {
 public:
  explicit SharedParser(Model model) : model_(std::move(model)), parser_(model_.parser()) {
    for (std::uint32_t r = 0; r < parser_.num_relations(); ++r)
      relations_.push_back(py::str(std::string(parser_.relation(r))));
  }

  // A pair of heads and relations for each sentence; None in place of relations where the model has none.
  py::list parse(const DependencySentences& X) const {
    struct Tree {
      std::vector<std::uint32_t> heads;
      std::vector<std::string_view> relations;
    };
    std::vector<Tree> trees(X.size());
    py::list result;
    Parser::Sentence sentence(parser_);
    for_each_in_blocks(
        X.size(), kBlock,
        [&](std::size_t i) {
          X.get(i, sentence);
          const auto heads = sentence.heads();
          const auto relations = sentence.relations();
          trees[i] = {{heads.begin(), heads.end()}, {relations.begin(), relations.end()}};
        },
        [&](std::size_t i) {
          py::object relations = py::none();
          if (parser_.labelled()) {
            py::list names;
            for (const std::string_view name : trees[i].relations) names.append(relation(name));
            relations = std::move(names);
          }
          result.append(py::make_tuple(py::cast(trees[i].heads), relations));
          trees[i] = {};
        });
    return result;
  }

  // The text of sentences that were read, with trees.
  std::string parse_text(const DependencySentences& X) const {
    std::string text;
    Parser::Sentence sentence(parser_);
    for_each_in_blocks(
        X.size(), kBlock,
        [&](std::size_t i) {
          X.get(i, sentence);
          append_tree(X.read(i), sentence.heads(), sentence.relations(), text);
        },
        [](std::size_t) {});
    return text;
  }

  // An array of n x (n + 1) for each sentence: the probability of every head of a word, the root's first.
  py::list head_probabilities(const DependencySentences& X) const {
    std::vector<std::vector<double>> tables(X.size());
    py::list result;
    Parser::Sentence sentence(parser_);
    for_each_in_blocks(
        X.size(), kBlock,
        [&](std::size_t i) {
          X.get(i, sentence);
          for (std::size_t word = 1; word <= sentence.size(); ++word) {
            const auto row = sentence.head_probabilities(word);
            tables[i].insert(tables[i].end(), row.begin(), row.end());
          }
        },
        [&](std::size_t i) {
          // n (n + 1) numbers
          std::size_t n = 0;
          while (n * (n + 1) < tables[i].size()) ++n;
          py::array_t<double> table({n, n + 1});
          std::copy(tables[i].begin(), tables[i].end(), table.mutable_data());
          result.append(std::move(table));
          tables[i] = {};
        });
    return result;
  }

  py::list kbest(const DependencySentences& X, std::size_t k) const {
    return scored(X, [&](Parser::Sentence& sentence, std::size_t) { return sentence.kbest(k); });
  }
  py::list samples(const DependencySentences& X, std::size_t n, std::uint64_t seed) const {
    return scored(X, [&](Parser::Sentence& sentence, std::size_t i) {
      return sentence.samples(n, seed_of_item(seed, i));
    });
  }

  py::list entropies(const DependencySentences& X) const {
    std::vector<double> all(X.size());
    py::list result;
    Parser::Sentence sentence(parser_);
    for_each_in_blocks(
        X.size(), kBlock,
        [&](std::size_t i) {
          X.get(i, sentence);
          all[i] = sentence.entropy();
        },
        [&](std::size_t i) { result.append(all[i]); });
    return result;
  }

  // Lists of (heads, relations, score, probability); None where the model has no relations or probabilities.
  template <class List>
  py::list scored(const DependencySentences& X, const List& list) const {
    struct Best {
      Parser::Sentence::Scored tree;
      double probability;
    };
    std::vector<std::vector<Best>> all(X.size());
    py::list result;
    Parser::Sentence sentence(parser_);
    for_each_in_blocks(
        X.size(), kBlock,
        [&](std::size_t i) {
          X.get(i, sentence);
          for (auto& tree : list(sentence, i)) {
            const double probability = parser_.has_probabilities() ? sentence.probability(tree.score) : 0;
            all[i].push_back({std::move(tree), probability});
          }
        },
        [&](std::size_t i) {
          py::list trees;
          for (const auto& [tree, probability] : all[i]) {
            py::object relations = py::none(), p = py::none();
            if (parser_.labelled()) {
              py::list names;
              for (const std::uint32_t r : tree.relations) names.append(relations_[r]);
              relations = std::move(names);
            }
            if (parser_.has_probabilities()) p = py::float_(probability);
            trees.append(py::make_tuple(py::cast(tree.heads), relations, tree.score, p));
          }
          result.append(std::move(trees));
          all[i] = {};
        });
    return result;
  }

  py::object evaluate(const DependencySentences& gold) const {
    Evaluation evaluation;
    {
      const py::gil_scoped_release release;
      evaluation = parser_.evaluate(gold.data());
    }
    return to_python(evaluation.report);
  }

  bool labelled() const { return parser_.labelled(); }
  py::list relations() const {
    py::list names;
    for (const py::str& name : relations_) names.append(name);
    return names;
  }

 private:
  static constexpr std::size_t kBlock = 16;

  py::str relation(std::string_view name) const {
    if (const auto id = parser_.find_relation(name)) return relations_[*id];
    return py::str(std::string(name));
  }

  Model model_;
  const Parser& parser_;
  std::vector<py::str> relations_;
};

}  // namespace

void bind_parse(py::module_& module) {
  py::class_<DependencySentences>(module, "DependencySentences")
      .def_static("of_lists", &DependencySentences::of_lists, py::arg("X"), py::arg("needs_heads"),
                  py::arg("name") = "X")
      .def_static("of_text", &DependencySentences::of_text, py::arg("text"), py::arg("needs_heads"))
      .def_static("of_file", &DependencySentences::of_file, py::arg("path"), py::arg("needs_heads"))
      .def("__len__", &DependencySentences::size);
  module.def("parse_training", &make_training, py::arg("train"), py::arg("dev"), py::arg("options"),
             py::arg("threads") = 1, py::arg("loss") = "crf");
  py::class_<SharedParser>(module, "Parser")
      .def(py::init<Model>(), py::arg("model"))
      .def_property_readonly("labelled", &SharedParser::labelled)
      .def_property_readonly("relations", &SharedParser::relations)
      .def("parse", &SharedParser::parse, py::arg("X"))
      .def("parse_text", &SharedParser::parse_text, py::arg("X"))
      .def("head_probabilities", &SharedParser::head_probabilities, py::arg("X"))
      .def("kbest", &SharedParser::kbest, py::arg("X"), py::arg("k"))
      .def("samples", &SharedParser::samples, py::arg("X"), py::arg("n"), py::arg("seed"))
      .def("entropies", &SharedParser::entropies, py::arg("X"))
      .def("evaluate", &SharedParser::evaluate, py::arg("X"));
}

}  // namespace espalier::python
