#include "espalier/tasks/treebank.h"

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <memory>
#include <optional>

#include "bind.h"
#include "blocks.h"
#include "espalier/base/error.h"
#include "espalier/model/model.h"
#include "espalier/tasks/sampling.h"
#include "items.h"
#include "json.h"
#include "settings.h"
#include "training.h"

namespace espalier::python {
namespace {

constexpr const char* kTree = "expected a tree: brackets, or (label, child, ...) with (tag, word) for words";
constexpr std::size_t kDeepest = 1000;

bool is_text(const py::handle& object) {
  return PyUnicode_Check(object.ptr()) || PyBytes_Check(object.ptr());
}

// A nested tuple or list; NLTK's trees are lists with their label beside them.
BracketTree tree_of(const py::handle& object, const Place& place, std::size_t depth) {
  const auto refuse = [&] { throw Error::in(place.text(), std::string(py::repr(object)), kTree); };
  if (depth > kDeepest)
    throw Error::in(place.text(), fmt::format("phrases within {} phrases", kDeepest),
                    "expected trees that are less deeply nested");
  BracketTree tree;
  py::list parts;
  if (PyObject_HasAttrString(object.ptr(), "label") && py::isinstance<py::list>(object)) {
    const py::object label = object.attr("label")();
    tree.label = text_of(label, place, kTree);
    for (const py::handle part : object) parts.append(part);
  } else {
    if (is_text(object) || !py::isinstance<py::sequence>(object) || py::len(object) < 2) refuse();
    const auto sequence = py::reinterpret_borrow<py::sequence>(object);
    const py::object label = sequence[0];
    tree.label = text_of(label, place, kTree);
    for (std::size_t k = 1; k < py::len(sequence); ++k) parts.append(py::object(sequence[k]));
  }
  if (parts.size() == 1 && is_text(parts[0])) {
    tree.word = text_of(parts[0], place, kTree);
    return tree;
  }
  for (const py::handle part : parts) tree.children.push_back(tree_of(part, place, depth + 1));
  return tree;
}

// (label, child, ...), and (tag, word).
py::tuple to_tuple(const BracketTree& tree) {
  if (tree.is_word()) return py::make_tuple(tree.label, tree.word);
  py::tuple tuple(tree.children.size() + 1);
  tuple[0] = py::str(tree.label);
  for (std::size_t k = 0; k < tree.children.size(); ++k) tuple[k + 1] = to_tuple(tree.children[k]);
  return tuple;
}

// Trees of Python: brackets or nested sequences in a list, a text, or a file.
class Trees {
 public:
  static Trees of_list(const py::sequence& X, const char* name) {
    Trees trees;
    const std::size_t size = py::len(X);
    for (std::size_t i = 0; i < size; ++i) {
      if (i % 256 == 0 && PyErr_CheckSignals() != 0) throw py::error_already_set();
      const py::object tree = X[i];
      const Place place{name, static_cast<std::ptrdiff_t>(i)};
      if (is_text(tree)) {
        trees.data_.add(text_of(tree, place, kTree));
      } else {
        trees.data_.add(tree_of(tree, place, 1));
      }
    }
    return trees;
  }
  static Trees of_text(const std::string& text) {
    Trees trees;
    const py::gil_scoped_release release;
    trees.data_.add_all(text);
    return trees;
  }
  static Trees of_file(const std::string& path) {
    Trees trees;
    const py::gil_scoped_release release;
    trees.data_.read(path);
    return trees;
  }
  const TreebankData& data() const { return data_; }

 private:
  TreebankData data_;
};

std::unique_ptr<TrainingData> make_training(const Trees& train, const Trees* dev, py::dict options,
                                            std::size_t threads) {
  OptionValues values(task_named("treebank").options());
  options = options.attr("copy")();
  take_options(options, values);
  refuse_rest(options);
  values.check_effective();
  return interruptible([&](const std::atomic<bool>& stop) {
    TreebankOptions of_task = values.as<TreebankOptions>();
    of_task.threads = Threads::of(threads);
    of_task.stop = &stop;
    auto result = std::make_unique<TrainingData>();
    result->set = make_treebank_training(train.data(), of_task, dev ? &dev->data() : nullptr);
    return result;
  });
}

// A parser that all threads of Python share.
class SharedTreebankParser {
 public:
  explicit SharedTreebankParser(Model model) : model_(std::move(model)), parser_(model_.treebank_parser()) {}

  // Sentences are lists of words, of (word, tag), or trees, whose words and tags they are.
  py::list parse(const py::sequence& X, bool brackets) const {
    const auto sentences = sentences_of(X);
    std::vector<BracketTree> trees(sentences.size());
    py::list result;
    TreebankParser::Sentence sentence(parser_);
    for_each_in_blocks(
        sentences.size(), kBlock,
        [&](std::size_t i) {
          set(sentences[i], sentence);
          trees[i] = sentence.tree();
        },
        [&](std::size_t i) {
          result.append(shown(trees[i], brackets));
          trees[i] = {};
        });
    return result;
  }

  py::list kbest(const py::sequence& X, std::size_t k, bool brackets) const {
    return scored(X, brackets,
                  [&](TreebankParser::Sentence& sentence, std::size_t) { return sentence.kbest(k); });
  }
  py::list samples(const py::sequence& X, std::size_t n, std::uint64_t seed, bool brackets) const {
    return scored(X, brackets, [&](TreebankParser::Sentence& sentence, std::size_t i) {
      return sentence.samples(n, seed_of_item(seed, i));
    });
  }

  py::list entropies(const py::sequence& X) const {
    const auto sentences = sentences_of(X);
    std::vector<double> all(sentences.size());
    py::list result;
    TreebankParser::Sentence sentence(parser_);
    for_each_in_blocks(
        sentences.size(), kBlock,
        [&](std::size_t i) {
          set(sentences[i], sentence);
          all[i] = sentence.entropy();
        },
        [&](std::size_t i) { result.append(all[i]); });
    return result;
  }

  // Lists of (tree, score, probability); None where the model has no probabilities.
  template <class List>
  py::list scored(const py::sequence& X, bool brackets, const List& list) const {
    struct Best {
      TreebankParser::Sentence::Scored tree;
      double probability;
    };
    const auto sentences = sentences_of(X);
    std::vector<std::vector<Best>> all(sentences.size());
    py::list result;
    TreebankParser::Sentence sentence(parser_);
    for_each_in_blocks(
        sentences.size(), kBlock,
        [&](std::size_t i) {
          set(sentences[i], sentence);
          for (auto& tree : list(sentence, i)) {
            const double probability = parser_.has_probabilities() ? sentence.probability(tree.score) : 0;
            all[i].push_back({std::move(tree), probability});
          }
        },
        [&](std::size_t i) {
          py::list trees;
          for (const auto& [scored, probability] : all[i]) {
            py::object p = py::none();
            if (parser_.has_probabilities()) p = py::float_(probability);
            trees.append(py::make_tuple(shown(scored.tree, brackets), scored.score, p));
          }
          result.append(std::move(trees));
          all[i] = {};
        });
    return result;
  }

  py::object evaluate(const Trees& gold) const {
    Evaluation evaluation;
    {
      const py::gil_scoped_release release;
      evaluation = parser_.evaluate(gold.data());
    }
    return to_python(evaluation.report);
  }
  bool predicts_tags() const { return parser_.predicts_tags(); }

 private:
  static constexpr std::size_t kBlock = 4;
  using Words = std::vector<TaggedWord>;

  static py::object shown(const BracketTree& tree, bool brackets) {
    if (!brackets) return to_tuple(tree);
    std::string text;
    append_brackets(tree, text);
    return py::str(text);
  }

  static void set(const Words& words, TreebankParser::Sentence& sentence) {
    sentence.clear();
    for (const auto& [word, tag] : words) sentence.add(word, tag);
  }

  std::vector<Words> sentences_of(const py::sequence& X) const {
    std::vector<Words> sentences;
    const std::size_t size = py::len(X);
    for (std::size_t i = 0; i < size; ++i)
      sentences.push_back(words_of_sentence(X[i], {"X", static_cast<std::ptrdiff_t>(i)}));
    return sentences;
  }

  // A tree is a text, or begins with its label and has something nested after it.
  static bool is_tree(const py::object& sentence) {
    if (is_text(sentence)) return true;
    if (PyObject_HasAttrString(sentence.ptr(), "label")) return true;
    const auto parts = py::reinterpret_borrow<py::sequence>(sentence);
    if (py::len(parts) < 2) return false;
    const py::object first = parts[0], second = parts[1];
    return is_text(first) && !is_text(second);
  }

  static Words words_of_sentence(const py::object& sentence, Place place) {
    constexpr const char* kSentence = "expected a list of words or of (word, tag), or a tree";
    if (!is_text(sentence) && !py::isinstance<py::sequence>(sentence))
      throw Error::in(place.text(), std::string(py::repr(sentence)), kSentence);
    Words words;
    if (is_tree(sentence)) {
      TreebankData one;
      if (is_text(sentence)) {
        one.add(text_of(sentence, place, kSentence));
      } else {
        one.add(tree_of(sentence, place, 1));
      }
      BracketTree tree = one.tree(0);
      remove_traces(tree);
      append_words(tree, words);
      return words;
    }
    for (const py::handle token : sentence) {
      ++place.token;
      if (is_text(token)) {
        words.push_back({std::string(text_of(token, place, kSentence)), {}});
        continue;
      }
      if (!py::isinstance<py::sequence>(token) || py::len(token) != 2)
        throw Error::in(place.text(), std::string(py::repr(token)), "expected a word or (word, tag)");
      const auto pair = py::reinterpret_borrow<py::sequence>(token);
      const py::object word = pair[0], tag = pair[1];
      words.push_back({std::string(text_of(word, place, "expected a word")),
                       std::string(text_of(tag, place, "expected a tag"))});
    }
    if (words.empty()) throw Error::in(place.text(), "a sentence without words", "expected some");
    return words;
  }

  Model model_;
  const TreebankParser& parser_;
};

}  // namespace

void bind_treebank(py::module_& module) {
  py::class_<Trees>(module, "Trees")
      .def_static("of_list", &Trees::of_list, py::arg("X"), py::arg("name") = "X")
      .def_static("of_text", &Trees::of_text, py::arg("text"))
      .def_static("of_file", &Trees::of_file, py::arg("path"))
      .def("__len__", [](const Trees& trees) { return trees.data().size(); })
      .def("to_list", [](const Trees& trees) {
        py::list list;
        for (std::size_t i = 0; i < trees.data().size(); ++i) list.append(to_tuple(trees.data().tree(i)));
        return list;
      });
  module.def("treebank_training", &make_training, py::arg("train"), py::arg("dev"), py::arg("options"),
             py::arg("threads") = 1);
  py::class_<SharedTreebankParser>(module, "TreebankParser")
      .def(py::init<Model>(), py::arg("model"))
      .def_property_readonly("predicts_tags", &SharedTreebankParser::predicts_tags)
      .def("parse", &SharedTreebankParser::parse, py::arg("X"), py::arg("brackets"))
      .def("kbest", &SharedTreebankParser::kbest, py::arg("X"), py::arg("k"), py::arg("brackets"))
      .def("samples", &SharedTreebankParser::samples, py::arg("X"), py::arg("n"), py::arg("seed"),
           py::arg("brackets"))
      .def("entropies", &SharedTreebankParser::entropies, py::arg("X"))
      .def("evaluate", &SharedTreebankParser::evaluate, py::arg("X"));
}

}  // namespace espalier::python
