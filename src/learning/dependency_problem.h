#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "espalier/learning/structured_problem.h"
#include "features/dependency_features.h"
#include "learning/hyperedge_cliques.h"
#include "structures/dependency_tree.h"

namespace espalier {

// Sentences with their trees.
struct DependencyCorpus {
  std::vector<std::size_t> offsets{0};  // the words of sentence i are offsets[i], ..., offsets[i + 1] - 1
  std::vector<WordAtoms> words;
  std::vector<std::uint32_t> heads, labels;  // of each word

  std::size_t size() const { return offsets.size() - 1; }
  std::size_t length(std::size_t i) const { return offsets[i + 1] - offsets[i]; }
  std::span<const WordAtoms> words_of(std::size_t i) const { return {words.data() + offsets[i], length(i)}; }
  std::span<const std::uint32_t> heads_of(std::size_t i) const {
    return {heads.data() + offsets[i], length(i)};
  }
  std::span<const std::uint32_t> labels_of(std::size_t i) const {
    return {labels.data() + offsets[i], length(i)};
  }
};

// The arcs that each sentence of a corpus may have; none are listed where all are allowed.
class ArcSets {
 public:
  // Those of the next sentence. Heads of a modifier ascend.
  void append(std::span<const std::uint32_t> offsets, std::span<const std::uint16_t> heads);
  bool empty() const { return begins_.size() == 1; }
  std::size_t num_arcs() const { return heads_.size(); }
  ArcSet operator()(std::size_t i, std::size_t length) const {
    if (empty()) return ArcSet(length);
    const Begin& begin = begins_[i];
    return {{offsets_.data() + begin.offsets, length + 1},
            {heads_.data() + begin.heads, begins_[i + 1].heads - begin.heads}};
  }

 private:
  struct Begin {
    std::size_t offsets, heads;
  };
  std::vector<Begin> begins_{{0, 0}};  // and one more, for the last one's end
  std::vector<std::uint32_t> offsets_;
  std::vector<std::uint16_t> heads_;
};

// Dependency trees: features of arcs, and the number of wrong heads as the cost. Requires gold trees that the
// shape and the arcs allow, and no empty sentence. Keeps references to all of them.
class DependencyExamples final : public SlackRescaling, public Sharing {
 public:
  DependencyExamples(const DependencyCorpus& corpus, const ArcSets& arcs, const DependencyFeatures& features,
                     const TreeShape& shape);
  // Second order: with these parts. With `maxima` the loss has an infinite beta, and upper bounds of sums are
  // of no use.
  DependencyExamples(const DependencyCorpus& corpus, const ArcSets& arcs, const TreePartLists& parts,
                     const DependencyFeatures& features, const TreeShape& shape, bool maxima = false);

  std::size_t size() const { return corpus_->size(); }
  WeightShape weight_shape() const { return features_->weight_shape(); }
  DependencyTree structure(std::size_t i) const { return {arcs(i), shape_, parts(i)}; }
  Inference inference() const {
    if (shape_.projective || parts_ == nullptr) return Inference::exact;
    return shape_.inference == TreeInference::trw && !maxima_ ? Inference::relaxed : Inference::approximate;
  }
  double weight(std::size_t) const { return 1; }
  double cost_offset(std::size_t) const { return 0; }
  double squared_diameter(std::size_t i) const;
  double squared_change(std::size_t) const { return 2 * features_->typical_size(); }
  double overlap(std::size_t) const override { return features_->common_share(); }
  double score_work(std::size_t i) const override {
    return static_cast<double>(arcs(i).size()) * features_->typical_size();
  }
  void prefetch(std::size_t i, Prefetch what) const;
  Capabilities capabilities() const {
    return {.factored = factored_.get(), .slack_rescaling = factored_ ? this : nullptr, .sharing = this};
  }

  template <class Real>
  void add_gold(std::size_t i, Real scale, std::span<Real> out) const {
    structure(i).add_indicator(corpus_->heads_of(i), corpus_->labels_of(i), scale, out);
  }
  // p_al = [a is not the gold arc of its modifier]
  template <class Real>
  void add_cost(std::size_t i, Real scale, std::span<Real> out) const {
    add_where(i, scale, out, [](bool right_head, bool) { return !right_head; });
  }
  // Wrong labels cost nothing, but are not near the gold tree either.
  void add_near_gold(std::size_t i, float kappa, std::span<float> s) const {
    add_where(i, -kappa, s, [](bool right_head, bool right_label) { return !right_head || !right_label; });
  }
  template <class Real, class Scale>
  void score(std::size_t i, const BasicWeights<Real>& w, Scale scale, std::span<Scale> s,
             Workspace& ws) const {
    features_->score(corpus_->words_of(i), arcs(i), w.row(0), scale, s, ws, parts(i), w.threshold().value);
  }
  void accumulate(std::size_t i, std::span<const float> delta, Weights& w, Workspace& ws) const;
  void accumulate(std::size_t i, std::span<const double> delta, DoubleWeights& w, Workspace& ws) const;
  void list_changes(std::size_t i, std::span<const float> delta, RowChanges<float>& changes,
                    Workspace& ws) const override;
  void list_changes(std::size_t i, std::span<const double> delta, RowChanges<double>& changes,
                    Workspace& ws) const override;
  bool lists_with_norm() const override { return true; }
  double list_with_norm(std::size_t i, std::span<const float> delta, ChangeLists& lists,
                        Workspace& ws) const override;
  double squared_norm(std::size_t i, std::span<const float> delta, Workspace& ws) const;
  double squared_norm(std::size_t i, std::span<const double> delta, Workspace& ws) const;
  // By dynamic programming over hyperedges and cost so far.
  double slack_argmax(std::size_t i, std::span<const double> s, double gamma, std::span<double> chi,
                      Workspace& ws) const override;

 private:
  template <class Real, class Sink>
  void add_all(std::size_t i, std::span<const Real> delta, const Sink& sink, Workspace& ws) const;
  ArcSet arcs(std::size_t i) const { return (*arcs_)(i, corpus_->length(i)); }
  TreeParts parts(std::size_t i) const { return parts_ ? (*parts_)(i) : TreeParts(); }
  // out += scale for each arc and label of which wrong(head is right, label is right) holds.
  template <class Real, class Wrong>
  void add_where(std::size_t i, Real scale, std::span<Real> out, const Wrong& wrong) const {
    const ArcSet all = arcs(i);
    const auto heads = corpus_->heads_of(i), labels = corpus_->labels_of(i);
    const std::size_t num_labels = shape_.num_labels;
    for (std::size_t d = 1; d <= all.words(); ++d) {
      for (std::size_t a = all.begin(d); a < all.end(d); ++a) {
        const bool right_head = all.head(a, d) == heads[d - 1];
        for (std::size_t l = 0; l < num_labels; ++l) {
          if (wrong(right_head, l == labels[d - 1])) out[a * num_labels + l] += scale;
        }
      }
    }
  }

  const DependencyCorpus* corpus_;
  const ArcSets* arcs_;
  const TreePartLists* parts_ = nullptr;  // null: first order
  const DependencyFeatures* features_;
  TreeShape shape_;
  std::shared_ptr<const HyperedgeCliques> factored_;  // of projective trees of first order; else null
  bool maxima_ = false;
};

using DependencyProblem = StructuredProblem<DependencyExamples>;

}  // namespace espalier
