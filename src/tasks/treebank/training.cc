#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <string>
#include <utility>

#include "base/fingerprint.h"
#include "base/parallel.h"
#include "base/text.h"
#include "espalier/base/error.h"
#include "espalier/tasks/named_rows.h"
#include "espalier/tasks/treebank.h"
#include "learning/cfg_problem.h"
#include "tasks/treebank/model.h"
#include "tasks/treebank/parseval.h"
#include "tasks/treebank/weights.h"

namespace espalier {
namespace {

// Where trees come from, one after the other: a file, or memory.
struct TreeSource {
  std::string name;                        // for messages
  std::function<bool(BracketTree&)> next;  // as the options want them
  std::function<std::size_t()> line;       // of the last one
};

TreeSource source_of(BracketReader& reader) {
  return {reader.name(), [&reader](BracketTree& tree) { return reader.next(tree); },
          [&reader] { return reader.first_line(); }};
}

// Requires `data` to stay where it is.
TreeSource source_of(const TreebankData& data, BracketNorm norm) {
  const auto read = std::make_shared<std::size_t>(0);
  return {kDataInMemory,
          [&data, norm, read](BracketTree& tree) {
            if (*read == data.size()) return false;
            tree = data.tree((*read)++);
            if (!normalise(tree, norm))
              throw Error::at(kDataInMemory, *read, "a tree that has only traces", "expected words");
            return true;
          },
          [read] { return *read; }};
}

BracketNorm norm_of(const TreebankOptions& options) { return {options.keep_traces, options.keep_functions}; }

std::vector<BracketTree> take_trees(const TreeSource& source, std::optional<std::size_t> first,
                                    bool training) {
  std::vector<BracketTree> trees;
  for (BracketTree tree; (!first || trees.size() < *first) && source.next(tree);) {
    if (const std::size_t words = num_words(tree); training && words > kMostTreebankWords) {
      throw Error::at(source.name, source.line(), fmt::format("a sentence of {} words", grouped(words)),
                      fmt::format("expected at most {}", kMostTreebankWords));
    }
    trees.push_back(std::move(tree));
  }
  if (trees.empty()) throw Error::in(source.name, "no trees", "expected some");
  return trees;
}

class TreebankTrainingSet final : public TrainingSet {
 public:
  TreebankTrainingSet(const TreeSource& source, const TreebankOptions& options)
      : trees_(take_trees(source, options.first, true)), model_(trees_, options, derivations_) {
    make_forests(options);
    problem_ = std::make_unique<CfgProblem>(CfgExamples(sentences_, model_.features()));
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
                       percentage(100 * pruned_.recall()));
  }
  TaskSections sections() const override { return model_.sections(); }

  void replace_dev(const std::string& path) override {
    BracketReader reader(path, model_.norm());
    take_dev(source_of(reader));
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
    std::string text;
    for (const BracketTree& tree : trees_) {
      text.clear();
      append_brackets(tree, text);
      fingerprint.add_list(std::span<const char>(text));
    }
    return fingerprint.value();
  }

 private:
  struct HeldOut {
    BracketTree tree;
    std::vector<TaggedWord> words;
    std::vector<SpanWord> seen;
    std::optional<Cfg> forest;
  };

  // A tree as prediction sees it: its forest has no more of the gold tree than pruning leaves.
  HeldOut hold_out(BracketTree tree, Workspace& ws) const {
    HeldOut held_out;
    append_words(tree, held_out.words);
    held_out.tree = std::move(tree);
    held_out.seen = model_.span_words(held_out.words);
    held_out.forest = model_.forest(held_out.words, ws);
    return held_out;
  }

  void take_dev(const TreeSource& source) {
    dev_.clear();
    Workspace ws;
    for (BracketTree& tree : take_trees(source, std::nullopt, false))
      dev_.push_back(hold_out(std::move(tree), ws));
  }

  template <class Gold>
  Evaluation evaluate(const Weights& theta, std::size_t count, const Gold& gold) const {
    TreebankWorker worker(model_, theta);
    ParsevalScores scores;
    for (std::size_t k = 0; k < count; ++k) {
      const HeldOut& of = gold(k);
      scores.add(count_brackets(
          of.tree, of.forest ? worker.parse(of.words, of.seen, *of.forest) : model_.flat_tree(of.words)));
      if (!of.forest) scores.add_unparsed();
    }
    return scores.evaluation();
  }

  void make_forests(const TreebankOptions& options) {
    const auto started = std::chrono::steady_clock::now();
    if (options.notice) options.notice("pruning with a coarse grammar");
    std::vector<std::optional<CfgSentence>> made(trees_.size());
    std::vector<PruningReport> reports(options.threads);
    std::atomic<std::size_t> next{0};
    run_in_parallel(options.threads, [&](std::size_t worker) {
      Workspace ws;
      std::vector<TaggedWord> words;
      for (std::size_t i; (i = next++) < trees_.size();) {
        if (options.stop != nullptr && options.stop->load()) return;
        words.clear();
        append_words(trees_[i], words);
        Cfg forest = model_.forest(words, derivations_[i], reports[worker], ws);
        made[i].emplace(CfgSentence{model_.span_words(words), std::move(forest), std::move(derivations_[i])});
      }
    });
    if (options.stop != nullptr && options.stop->load())
      throw Stopped("stopped while pruning; no model was saved");
    for (const PruningReport& report : reports) {
      pruned_.needed += report.needed;
      pruned_.kept += report.kept;
    }
    sentences_.reserve(made.size());
    for (auto& sentence : made) sentences_.push_back(std::move(*sentence));
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - started;
    if (options.notice) options.notice(fmt::format("pruned in {:.2f} s", seconds.count()));
  }

  std::vector<BracketTree> trees_;
  std::vector<Derivation> derivations_;  // until they are part of the sentences
  TreebankModel model_;
  Dictionary attributes_;  // most features have no names
  std::vector<CfgSentence> sentences_;
  PruningReport pruned_;
  std::vector<HeldOut> dev_;
  std::unique_ptr<CfgProblem> problem_;
};

}  // namespace

std::unique_ptr<TrainingSet> read_treebank_training(const std::string& path, const TreebankOptions& options) {
  BracketReader reader(path, norm_of(options));
  return std::make_unique<TreebankTrainingSet>(source_of(reader), options);
}

std::unique_ptr<TrainingSet> make_treebank_training(const TreebankData& data, const TreebankOptions& options,
                                                    const TreebankData* dev) {
  auto set = std::make_unique<TreebankTrainingSet>(source_of(data, norm_of(options)), options);
  if (dev != nullptr) set->take_dev(*dev);
  return set;
}

}  // namespace espalier
