#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <iterator>
#include <limits>
#include <string>
#include <utility>

#include "base/fingerprint.h"
#include "base/free_memory.h"
#include "base/parallel.h"
#include "base/text.h"
#include "base/text_chunks.h"
#include "espalier/base/error.h"
#include "espalier/tasks/named_rows.h"
#include "espalier/tasks/treebank.h"
#include "learning/cfg_problem.h"
#include "tasks/common.h"
#include "tasks/pieces.h"
#include "tasks/treebank/model.h"
#include "tasks/treebank/parseval.h"
#include "tasks/treebank/weights.h"

namespace espalier {
namespace {

// Where trees come from, one after the other: a file, or memory.
struct TreeSource {
  std::string name;                        // for messages
  std::function<bool(BracketTree&)> next;  // as the options want them
};

// All trees of some files, by several threads; or, where only some are wanted, one after the other.
TreeSource source_of(const InputFiles& files, BracketNorm norm, bool all, std::size_t threads) {
  if (!all || threads <= 1) {
    struct Reading {
      std::vector<std::string> paths;
      std::size_t next = 0;
      std::unique_ptr<BracketReader> reader{};
    };
    const auto reading = std::make_shared<Reading>(Reading{files.paths()});
    return {files.name(), [reading, norm](BracketTree& tree) {
              while (!reading->reader || !reading->reader->next(tree)) {
                if (reading->next == reading->paths.size()) return false;
                reading->reader = std::make_unique<BracketReader>(reading->paths[reading->next++], norm);
              }
              return true;
            }};
  }
  struct Trees {
    std::vector<BracketTree> trees;
    std::size_t next = 0;
  };
  struct Worker {};
  const auto read = std::make_shared<Trees>();
  ChunkReader chunks(files, cut_after_brackets, {threads});
  std::vector<Worker> workers(threads);
  read_in_chunks<Trees>(
      chunks, {}, workers,
      [&](Worker&, const TextChunk& chunk, Trees& part) {
        BracketReader reader(chunk, norm);
        for (BracketTree tree; reader.next(tree);) part.trees.push_back(std::move(tree));
      },
      [&](std::size_t, Trees part) {
        std::move(part.trees.begin(), part.trees.end(), std::back_inserter(read->trees));
      });
  return {files.name(), [read](BracketTree& tree) {
            if (read->next == read->trees.size()) return false;
            tree = std::move(read->trees[read->next++]);
            return true;
          }};
}

// Requires `data` to stay where it is.
TreeSource source_of(const TreebankData& data, BracketNorm norm) {
  const auto read = std::make_shared<std::size_t>(0);
  return {kDataInMemory, [&data, norm, read](BracketTree& tree) {
            if (*read == data.size()) return false;
            tree = data.tree((*read)++);
            if (!normalise(tree, norm))
              throw Error::at(kDataInMemory, *read, "a tree that has only traces", "expected words");
            return true;
          }};
}

BracketNorm norm_of(const TreebankOptions& options) { return {options.keep_traces, options.keep_functions}; }

struct TakenTrees {
  std::vector<BracketTree> trees;
  std::size_t too_long = 0;
};

// The first ones, but for those of more than `longest` words.
TakenTrees take_trees(const TreeSource& source, std::optional<std::size_t> first,
                      std::size_t longest = std::numeric_limits<std::size_t>::max()) {
  TakenTrees taken;
  std::size_t read = 0;
  for (BracketTree tree; (!first || read < *first) && source.next(tree); ++read) {
    if (num_words(tree) > longest) {
      ++taken.too_long;
    } else {
      taken.trees.push_back(std::move(tree));
    }
  }
  if (taken.trees.empty()) {
    throw Error::in(
        source.name,
        read > 0 ? fmt::format("no sentences of at most {}", counted(longest, "word")) : "no trees",
        "expected some");
  }
  return taken;
}

// Trees in brackets, which take far less memory than trees: they are rarely looked at again.
class WrittenTrees {
 public:
  explicit WrittenTrees(std::span<const BracketTree> trees) {
    for (const BracketTree& tree : trees) {
      append_brackets(tree, text_);
      ends_.push_back(text_.size());
    }
    text_.shrink_to_fit();
  }

  std::size_t size() const { return ends_.size(); }
  std::string_view text(std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(text_).substr(begin, ends_[i] - begin);
  }
  BracketTree operator[](std::size_t i) const {
    BracketTree tree;
    BracketReader::of_text(text(i), kDataInMemory, i + 1, {true, true}).next(tree);
    return tree;
  }

 private:
  std::string text_;
  std::vector<std::size_t> ends_;
};

class TreebankTrainingSet final : public TrainingSet {
 public:
  TreebankTrainingSet(const TreeSource& source, const TreebankOptions& options)
      : TreebankTrainingSet(take_trees(source, options.first, options.longest), options) {}

  TreebankTrainingSet(TakenTrees taken, const TreebankOptions& options)
      : threads_(options.threads),
        trees_(taken.trees),
        too_long_(taken.too_long),
        model_(taken.trees, options, derivations_) {
    set_reading(reading_of("treebank", options));
    taken.trees = {};  // forests have their memory from here on
    make_forests(options);
    problem_ = std::make_unique<CfgProblem>(CfgExamples(sentences_, model_.features()));
    for (CfgSentence& sentence : sentences_) sentence.gold = {};  // the problem knows them
    derivations_ = {};
    return_free_memory();  // that of pruning and reading
  }

  std::string_view task() const override { return "treebank"; }
  int version() const override { return kTreebankVersion; }
  const Problem& problem() const override { return *problem_; }
  std::string describe() const override {
    std::size_t words = 0, edges = 0;
    for (const CfgSentence& sentence : sentences_) {
      words += sentence.words.size();
      edges += sentence.forest.num_edges();
    }
    const Grammar& grammar = model_.grammar().grammar();
    return fmt::format("{}, {}, {}, {}, {}; pruning keeps {} per word and {} % of the gold symbols",
                       counted(trees_.size(), "tree"), counted(words, "word"),
                       counted(grammar.num_tags, "tag"),
                       counted(grammar.num_symbols - grammar.num_tags, "symbol"),
                       counted(model_.index().num_rules(), "rule"), counted(edges / words, "edge"),
                       percentage(100 * pruned_.recall())) +
           describe_left_out(too_long_, model_.longest());
  }
  TaskSections sections() const override { return model_.sections(); }

  void replace_dev(const std::string& path) override {
    take_dev(source_of(path, model_.norm(), true, threads_));
  }
  void take_dev(const TreebankData& dev) {
    take_dev(source_of(dev, model_.norm()));
    name_dev(kDataInMemory);
  }
  Evaluation evaluate_dev(const Weights& theta) const override {
    return evaluate(theta, dev_.size(), [&](std::size_t k) -> const HeldOut& { return dev_[k]; });
  }
  Evaluation evaluate_examples(const Weights& theta, std::span<const std::uint32_t> examples) const override {
    Workspace ws;
    return evaluate(theta, examples.size(), [&](std::size_t k) { return hold_out(trees_[examples[k]], ws); });
  }

  float* find_weight(const WeightName& name, Weights& theta) const override {
    const auto place = find_treebank_weight(model_, name);
    return place ? theta.row(place->row) + place->column : nullptr;
  }
  const Dictionary& labels() const override { return model_.grammar().labels(); }
  const Dictionary& attributes() const override { return attributes_; }
  std::uint64_t fingerprint() const override {
    Fingerprint fingerprint;
    for (std::size_t i = 0; i < trees_.size(); ++i)
      fingerprint.add_list(std::span<const char>(trees_.text(i)));
    return fingerprint.value();
  }

 private:
  struct HeldOut {
    BracketTree tree;
    std::vector<TaggedWord> words;
    std::vector<TreebankPiece> pieces;
  };

  // A tree as prediction sees it: its forest has no more of the gold tree than pruning leaves.
  HeldOut hold_out(BracketTree tree, Workspace& ws, const std::shared_ptr<SpanKinds>& kinds = nullptr) const {
    HeldOut held_out;
    append_words(tree, held_out.words);
    held_out.tree = std::move(tree);
    held_out.pieces = model_.pieces(held_out.words, ws, kinds);
    return held_out;
  }

  void take_dev(const TreeSource& source) {
    dev_.clear();
    const auto kinds = std::make_shared<SpanKinds>(model_.index());
    std::vector<BracketTree> trees = take_trees(source, std::nullopt).trees;
    dev_.resize(trees.size());
    std::atomic<std::size_t> next{0};
    run_in_parallel(threads_, [&](std::size_t) {
      Workspace ws;
      for (std::size_t i; (i = next++) < trees.size();) dev_[i] = hold_out(std::move(trees[i]), ws, kinds);
    });
  }

  template <class Gold>
  Evaluation evaluate(const Weights& theta, std::size_t count, const Gold& gold) const {
    TreebankWorker worker(model_, theta);
    ParsevalScores scores;
    for (std::size_t k = 0; k < count; ++k) {
      const HeldOut& of = gold(k);
      scores.add(count_brackets(of.tree, worker.parse(of.words, of.pieces)));
      if (!in_grammar(of.pieces)) scores.add_unparsed();
      if (of.pieces.size() > 1) scores.add_in_pieces();
    }
    return scores.evaluation();
  }

  void make_forests(const TreebankOptions& options) {
    const auto started = std::chrono::steady_clock::now();
    if (options.notice) options.notice("pruning with a coarse grammar");
    std::vector<std::optional<CfgSentence>> made(trees_.size());
    std::vector<PruningReport> reports(options.threads);
    const auto kinds = std::make_shared<SpanKinds>(model_.index());
    std::atomic<std::size_t> next{0};
    run_in_parallel(options.threads, [&](std::size_t worker) {
      Workspace ws;
      std::vector<TaggedWord> words;
      for (std::size_t i; (i = next++) < trees_.size();) {
        if (options.stop != nullptr && options.stop->load()) return;
        words.clear();
        append_words(trees_[i], words);
        Cfg forest = model_.forest(words, derivations_[i], reports[worker], ws, kinds);
        made[i].emplace(CfgSentence{model_.span_words(words), std::move(forest), std::move(derivations_[i])});
      }
    });
    if (options.stop != nullptr && options.stop->load())
      throw Stopped("stopped while pruning; no model was saved");
    for (const PruningReport& report : reports) {
      pruned_.needed += report.needed;
      pruned_.kept += report.kept;
    }
    kinds->shrink_to_fit();
    sentences_.reserve(made.size());
    for (auto& sentence : made) sentences_.push_back(std::move(*sentence));
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - started;
    if (options.notice) options.notice(fmt::format("pruned in {:.2f} s", seconds.count()));
  }

  std::size_t threads_;
  WrittenTrees trees_;
  std::size_t too_long_;                 // were left out
  std::vector<Derivation> derivations_;  // until they are part of the sentences
  TreebankModel model_;
  Dictionary attributes_;  // most features have no names
  std::vector<CfgSentence> sentences_;
  PruningReport pruned_;
  std::vector<HeldOut> dev_;
  std::unique_ptr<CfgProblem> problem_;
};

}  // namespace

std::unique_ptr<TrainingSet> read_treebank_training(const InputFiles& files, const TreebankOptions& options) {
  const TreeSource source = source_of(files, norm_of(options), !options.first, options.threads);
  return std::make_unique<TreebankTrainingSet>(source, options);
}

std::unique_ptr<TrainingSet> make_treebank_training(const TreebankData& data, const TreebankOptions& options,
                                                    const TreebankData* dev) {
  auto set = std::make_unique<TreebankTrainingSet>(source_of(data, norm_of(options)), options);
  if (dev != nullptr) set->take_dev(*dev);
  return set;
}

}  // namespace espalier
