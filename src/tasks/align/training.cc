#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <utility>

#include "base/fingerprint.h"
#include "base/text.h"
#include "espalier/base/error.h"
#include "espalier/tasks/align.h"
#include "espalier/tasks/named_rows.h"
#include "learning/matching_problem.h"
#include "tasks/align/model.h"
#include "tasks/align/pair_reader.h"
#include "tasks/align/pairs_in_memory.h"
#include "tasks/common.h"

namespace espalier {
namespace {

// Sentence pairs, and where the rows of their words begin among those of all.
struct PairSet {
  std::vector<SentencePair> pairs;
  std::vector<std::size_t> begins;

  std::size_t size() const { return pairs.size(); }
};

Evaluation evaluate(const AlignModel& model, const PairSet& set, const SparseRows& rows,
                    std::span<const std::uint32_t> chosen, const Weights& theta) {
  AlignmentScores scores;
  std::vector<double> s;
  Workspace ws;
  for (const std::uint32_t i : chosen) {
    s.resize(set.pairs[i].num_pairs());
    score_pairs_of_words(rows, set.begins[i], theta, s);
    scores.add(set.pairs[i], model.structure(set.pairs[i]).decode(std::span<const double>(s), ws));
  }
  return scores.evaluation();
}

// Where pairs come from, one after the other: files, or memory.
struct PairSource {
  std::string name;  // for messages
  std::function<bool(SentencePair&)> next;
};

PairSource source_of(const InputFiles& files) {
  struct Reading {
    std::vector<std::string> paths;
    std::size_t next = 0;
    std::unique_ptr<PairReader> reader{};
  };
  const auto reading = std::make_shared<Reading>(Reading{files.paths()});
  return {files.name(), [reading](SentencePair& pair) {
            while (!reading->reader || !reading->reader->next(pair)) {
              if (reading->next == reading->paths.size()) return false;
              reading->reader = std::make_unique<PairReader>(reading->paths[reading->next++], true);
            }
            return true;
          }};
}

// Requires `data` to stay where it is.
PairSource source_of(const AlignData& data) {
  const auto number = std::make_shared<std::size_t>(0);
  return {kDataInMemory, [&data, number](SentencePair& pair) {
            if (*number == data.size()) return false;
            pair = checked_pair(data.pair(*number), *number + 1);
            ++*number;
            return true;
          }};
}

class AlignTrainingSet final : public TrainingSet {
 public:
  // Of files, or of data in memory.
  template <class From>
  AlignTrainingSet(const From& from, const AlignOptions& options) {
    set_reading(reading_of("align", options));
    model_.links = options.links;
    if (!options.dictionary.empty()) model_.scores = WordPairs::read(options.dictionary);
    labels_.add(kLinkLabel);
    PairAttributes::add_fixed(model_.attributes);
    read(source_of(from), options);
    make_problem(options);
  }
  void take_dev(const AlignData& dev) {
    take_dev_from(source_of(dev));
    name_dev(kDataInMemory);
  }

  std::string_view task() const override { return "align"; }
  int version() const override { return kAlignVersion; }
  const Problem& problem() const override { return *problem_; }
  std::string describe() const override {
    const double fit =
        gold_links_ == 0 ? 1.0 : static_cast<double>(kept_links_) / static_cast<double>(gold_links_);
    return fmt::format("{}, {} source and {} target words, {}, {} % of them in a matching of {}",
                       counted(train_.size(), "sentence pair"), grouped(words_[0]), grouped(words_[1]),
                       counted(gold_links_, "sure link"), percentage(100 * fit), model_.describe()) +
           left_out();
  }
  TaskSections sections() const override { return model_.sections(); }

  void replace_dev(const std::string& path) override { take_dev_from(source_of(InputFiles(path))); }
  void take_dev_from(const PairSource& source) {
    PairSet dev;
    SparseRows rows;
    PairAttributes attributes = model_.pair_attributes();
    for (SentencePair pair; source.next(pair);) {
      dev.begins.push_back(rows.size());
      attributes.append(pair, false, rows);
      dev.pairs.push_back(std::move(pair));
    }
    if (dev.size() == 0) throw Error::in(source.name, "no sentence pairs", "expected some");
    dev_ = std::move(dev);
    dev_rows_ = std::move(rows);
  }
  Evaluation evaluate_dev(const Weights& theta) const override {
    std::vector<std::uint32_t> all(dev_.size());
    std::iota(all.begin(), all.end(), 0u);
    return evaluate(model_, dev_, dev_rows_, all, theta);
  }
  Evaluation evaluate_examples(const Weights& theta, std::span<const std::uint32_t> examples) const override {
    return evaluate(model_, train_, features_->rows(0), examples, theta);
  }

  float* find_weight(const WeightName& name, Weights& theta) const override {
    const auto place = find_align_weight(model_, name);
    return place ? theta.row(*place) : nullptr;
  }
  const Dictionary& labels() const override { return labels_; }
  const Dictionary& attributes() const override { return model_.attributes; }
  std::uint64_t fingerprint() const override {
    Fingerprint fingerprint;
    add_rows(features_->rows(0), fingerprint);
    for (std::size_t i = 0; i < train_.size(); ++i) {
      const std::uint64_t sizes[] = {train_.pairs[i].source.size(), train_.pairs[i].target.size()};
      fingerprint.add_list(std::span<const std::uint64_t>(sizes));
      for (const WordLink& link : train_.pairs[i].links) {
        const std::uint32_t numbers[] = {link.source, link.target, link.sure ? 1u : 0u};
        fingerprint.add_list(std::span<const std::uint32_t>(numbers));
      }
    }
    return fingerprint.value();
  }

 private:
  std::string left_out() const {
    return too_long_ == 0 ? ""
                          : fmt::format("; {} of more than {} left out", counted(too_long_, "pair"),
                                        counted(longest_, "word"));
  }

  void read(const PairSource& source, const AlignOptions& options) {
    longest_ = options.longest;
    std::vector<std::string> lower[2];
    bool enough = false;
    for (SentencePair pair; !enough && source.next(pair);) {
      if (std::max(pair.source.size(), pair.target.size()) > longest_) {
        ++too_long_;
        continue;
      }
      for (const int side : {0, 1}) {
        const auto& words = side == 0 ? pair.source : pair.target;
        lower[side].clear();
        for (const std::string& word : words) lower[side].push_back(lower_case(word));
        words_[side] += words.size();
      }
      model_.counts.count(lower[0], lower[1]);
      train_.pairs.push_back(std::move(pair));
      enough = options.first && train_.size() == *options.first;
    }
    if (train_.size() == 0)
      throw Error::in(source.name,
                      too_long_ > 0
                          ? fmt::format("no sentence pairs of at most {}", counted(longest_, "word"))
                          : "no sentence pairs",
                      "expected some");
    model_.counts.finish();
  }

  void make_problem(const AlignOptions& options) {
    PairAttributes attributes(model_.attributes, model_.counts, model_.scores, options.pair_count);
    std::vector<MatchingExample> examples;
    SparseRows rows;  // the number of attributes is known when all have been seen
    Workspace ws;
    for (const SentencePair& pair : train_.pairs) {
      train_.begins.push_back(rows.size());
      attributes.append(pair, true, rows);
      const Matching matching = model_.structure(pair);
      MatchingExample example{matching,
                              gold_matching(pair, matching, attributes.strengths(), ws),
                              {},
                              static_cast<float>(options.missing_cost)};
      kept_links_ += example.gold.size();
      for (const WordLink& link : pair.links) {
        gold_links_ += link.sure ? 1 : 0;
        const auto e = static_cast<std::uint32_t>(pair.place(link));
        if (!std::binary_search(example.gold.begin(), example.gold.end(), e)) example.free.push_back(e);
      }
      examples.push_back(std::move(example));
    }
    features_ = std::make_unique<GraphFeatures>(std::vector<GraphTypeSize>{{model_.attributes.size(), 1, 1}});
    for (std::size_t i = 0; i < train_.size(); ++i) {
      for (std::size_t e = 0; e < train_.pairs[i].num_pairs(); ++e) {
        const SparseRows::Row row = rows.row(train_.begins[i] + e);
        for (std::size_t j = 0; j < row.ids.size(); ++j) features_->add(0, row.ids[j], row.value(j));
        features_->finish_row(0);
      }
      features_->finish_graph();
    }
    problem_ =
        std::make_unique<MatchingProblem>(MatchingExamples(*features_, std::move(examples), options.maxima));
  }

  AlignModel model_;
  Dictionary labels_;
  PairSet train_, dev_;
  SparseRows dev_rows_;
  std::size_t longest_ = 0, too_long_ = 0;
  std::size_t words_[2] = {0, 0};
  std::size_t gold_links_ = 0, kept_links_ = 0;  // sure links, and those of matchings
  std::unique_ptr<GraphFeatures> features_;
  std::unique_ptr<MatchingProblem> problem_;
};

}  // namespace

std::unique_ptr<TrainingSet> read_align_training(const InputFiles& files, const AlignOptions& options) {
  return std::make_unique<AlignTrainingSet>(files, options);
}

std::unique_ptr<TrainingSet> make_align_training(const AlignData& data, const AlignOptions& options,
                                                 const AlignData* dev) {
  auto set = std::make_unique<AlignTrainingSet>(data, options);
  if (dev != nullptr) set->take_dev(*dev);
  return set;
}

}  // namespace espalier
