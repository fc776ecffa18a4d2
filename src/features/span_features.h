#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "espalier/base/workspace.h"
#include "espalier/features/weights.h"
#include "structures/cfg.h"

namespace espalier {

// What features of spans see of a word: a hash of each of these.
enum class SpanAtom : std::uint8_t { form, shape, prefix, suffix, tag };
inline constexpr std::size_t kNumSpanAtoms = 5;

struct SpanWord {
  std::array<std::uint64_t, kNumSpanAtoms> hashes;
  std::uint64_t operator[](SpanAtom atom) const { return hashes[static_cast<std::size_t>(atom)]; }
};

// The tag is empty where it is not known.
SpanWord span_word(std::string_view form, std::string_view tag);

struct CfgFeatureOptions {
  bool spans = true;  // and splits; without them a model has rules (and tags) alone
  // 2^bits rows for spans and splits, with a weight for each label, and 2^tag_bits for words, with a weight
  // for each tag; 0: words have one tag each.
  unsigned bits = 18, tag_bits = 0;
};

// All features of derivations, as the linear operator F between weights and statistics (Cfg): a weight for
// each rule and, for each place (a span, a split, a word), a few rows of weights, found by hashing what its
// templates see there. A row has a weight for each label, so that the scores of all labels over a span are
// one sum of rows. Rows are never stored: they follow from the words at every call. Weights are a flat array
// that starts on a cache line: rules, rows of spans and splits, rows of words.
class CfgFeatures {
 public:
  CfgFeatures(const GrammarIndex& index, const CfgFeatureOptions& options);

  WeightShape weight_shape() const { return {first_of_tags_ + num_tag_weights_, 1}; }
  // Where the weight of a rule is: unary rule r is binaries.size() + r.
  WeightPlace rule_place(std::size_t rule) const { return {rule, 0}; }
  // The rows of spans and splits, and those of words; where row r has the weight of a label, or of a tag.
  std::size_t num_label_rows() const { return options_.spans ? std::size_t{1} << options_.bits : 0; }
  std::size_t num_tag_rows() const { return has_tags() ? std::size_t{1} << options_.tag_bits : 0; }
  WeightPlace label_place(std::size_t r, std::size_t label) const {
    return {first_of_rows_ + r * row_stride(index_->grammar().num_labels) + label, 0};
  }
  WeightPlace tag_place(std::size_t r, std::size_t tag) const {
    return {first_of_tags_ + r * row_stride(index_->grammar().num_tags) + tag, 0};
  }
  // About |F chi|^2 of a node with its rules and label, and which part of it nearly every sentence has too.
  double typical_size() const;
  double common_share() const;
  // How often an output uses rules, labels, splits and tags.
  struct Counts {
    double rules = 0, labels = 0, splits = 0, tags = 0;
  };
  // The most that |F delta|^2 can be if the |delta| of each kind sum up to this: if all see the same.
  double largest_norm(const Counts& counts) const;

  // visit(template, place, k, weight) for every weight of spans, splits and words: with the template's name,
  // of the k-th label of a place (the statistic place.first + k).
  using Visit = std::function<void(std::string_view, const Cfg::Place&, std::size_t, const WeightPlace&)>;
  void for_each_feature(std::span<const SpanWord> words, const Cfg& forest, const Visit& visit) const;

  // s = scale F'w
  template <class Real, class Scale>
  void score(std::span<const SpanWord> words, const Cfg& forest, const Real* w, Scale scale,
             std::span<Scale> s, Workspace& ws, double threshold = 0) const;
  // w += F delta, where w is what the sink has (sinks.h). Places with nothing above `negligible` are left
  // out.
  template <class Real, class Sink>
  void accumulate(std::span<const SpanWord> words, const Cfg& forest, std::span<const Real> delta,
                  Real negligible, const Sink& w, Workspace& ws) const;
  // |F delta|^2, likewise.
  template <class Real>
  double squared_norm(std::span<const SpanWord> words, const Cfg& forest, std::span<const Real> delta,
                      Real negligible, Workspace& ws) const;

 private:
  // Two kinds of rows, of labels and of tags, each with its own part of the weights.
  struct Rows;
  // use(rows) for all places that are wanted, not more of them than that at once.
  template <class Wanted, class Use>
  void for_label_rows(std::span<const SpanWord> words, const Cfg& forest, const Wanted& wanted,
                      std::size_t at_once, const Use& use, Workspace::Frame& frame) const;
  template <class Wanted>
  Rows tag_rows(std::span<const SpanWord> words, const Cfg& forest, const Wanted& wanted,
                Workspace::Frame& frame) const;
  bool has_tags() const { return num_tag_weights_ > 0; }

  const GrammarIndex* index_;
  CfgFeatureOptions options_;
  std::size_t first_of_rows_, first_of_tags_, num_tag_weights_;
};

}  // namespace espalier
