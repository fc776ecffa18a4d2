#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "espalier/base/workspace.h"
#include "espalier/structures/structure.h"
#include "structures/arc_set.h"
#include "structures/projective.h"
#include "structures/tree_parts.h"

namespace espalier {

// How sums over trees are found whose arcs may cross, in second order.
enum class TreeInference {
  trw,  // upper bounds (tree_bound.h); siblings are adjacent
  bp    // loopy belief propagation (nonprojective.h); siblings are any two on one side
};

// Which trees a sentence may have.
struct TreeShape {
  bool projective = true;
  bool single_root = false;    // the root has exactly one modifier
  std::size_t num_labels = 1;  // relations of an arc; 1: they are not looked at
  TreeInference inference = TreeInference::trw;
  // Which parts trees have, in second order.
  bool adjacent_siblings() const { return projective || inference == TreeInference::trw; }
  friend bool operator==(const TreeShape&, const TreeShape&) = default;
};

// A dependency tree over the words of a sentence. With L labels
//   chi(y) = ( [y has arc a with label l] for each arc a and label l ),   K = arcs L,
// and arc a with label l is statistic a L + l. Given its head, a word's label is independent of everything
// else, so labels are summed (or maximised) out arc by arc. Scores of -infinity exclude, as long as one tree
// is left. Refers to the arcs.
//
// In second order chi(y) also has a 1 for each part (tree_parts.h) of which y has both arcs: siblings from
// statistic arcs L on, then grandparents. Inference is exact for projective trees. For others
//   trw: log Z is an upper bound, mu its gradient, and a relaxation finds the best tree, or a good one
//   bp: log Z and mu are estimates, and the best tree is the one with the most probable arcs by them
class DependencyTree {
 public:
  struct Output {
    std::vector<std::uint32_t> heads, labels;  // of word d: heads[d - 1]
    friend bool operator==(const Output&, const Output&) = default;
  };
  struct Scored {
    Output output;
    double score;
  };

  DependencyTree(const ArcSet& arcs, const TreeShape& shape, const TreeParts& parts = {})
      : arcs_(arcs), shape_(shape), parts_(parts) {}

  std::size_t num_words() const { return arcs_.words(); }
  std::size_t num_labels() const { return shape_.num_labels; }
  std::size_t num_statistics() const { return arcs_.size() * shape_.num_labels + parts_.size(); }
  // Whether inference is what it says: it is not where parts meet arcs that may cross.
  bool exact() const { return shape_.projective || parts_.size() == 0; }
  const ArcSet& arcs() const { return arcs_; }
  const TreeShape& shape() const { return shape_; }

  double log_partition(std::span<const float> s, std::span<float> mu, Workspace& ws) const;
  double log_partition(std::span<const double> s, std::span<double> mu, Workspace& ws) const;
  double argmax(std::span<const float> s, std::span<float> mu, Workspace& ws) const;
  double argmax(std::span<const double> s, std::span<double> mu, Workspace& ws) const;
  Output decode(std::span<const float> s, Workspace& ws) const;
  Output decode(std::span<const double> s, Workspace& ws) const;
  // The same into memory of the caller's, one value per word each. Returns the score.
  template <class Real>
  double decode_into(std::span<const Real> s, Heads heads, std::span<std::uint32_t> labels,
                     Workspace& ws) const {
    return best_into(s, heads, labels, ws).score;
  }
  struct Best {
    double score;
    bool optimal;  // no tree is better
  };
  template <class Real>
  Best best_into(std::span<const Real> s, Heads heads, std::span<std::uint32_t> labels, Workspace& ws) const;

  void indicator(const Output& y, std::span<float> mu) const;
  void indicator(const Output& y, std::span<double> mu) const;
  // out += scale chi(y). Requires arcs that are allowed.
  template <class Real>
  void add_indicator(std::span<const std::uint32_t> heads, std::span<const std::uint32_t> labels, Real scale,
                     std::span<Real> out) const {
    for (std::size_t d = 1; d <= num_words(); ++d) {
      out[arcs_.find(heads[d - 1], d) * num_labels() + labels[d - 1]] += scale;
    }
    if (parts_.size() > 0) {
      for_each_part_in(heads, [&](std::size_t k) { out[arcs_.size() * num_labels() + k] += scale; });
    }
  }

  // Every word has one head, so a shift of all its arcs changes no distribution: means under mu become zero
  // word by word.
  void centre(std::span<const float> mu, std::span<float> d) const;

  // The k best trees, best first, each with its arcs' best labels; all that are possible, if there are not k.
  // Requires first order.
  std::vector<Scored> kbest(std::span<const double> s, std::size_t k) const;
  bool has_kbest() const { return parts_.size() == 0; }
  // Trees with their labels, drawn independently of each other from u(y) ~ exp s.chi(y). Requires first
  // order.
  std::vector<Output> samples(std::span<const double> s, std::size_t n, Random& random) const;
  // H(u), and 0 log 0 = 0.
  double entropy(std::span<const double> s, Workspace& ws) const;

 private:
  template <class Real>
  double log_partition_of(std::span<const Real> s, std::span<Real> mu, Workspace& ws) const;
  template <class Real>
  double argmax_of(std::span<const Real> s, std::span<Real> mu, Workspace& ws) const;
  template <class Real>
  Output decode_of(std::span<const Real> s, Workspace& ws) const;
  template <class Real>
  void best_labels(std::span<const Real> s, std::span<double> matrix, std::span<std::uint32_t> labels) const;

  void for_each_part_in(std::span<const std::uint32_t> heads,
                        const std::function<void(std::size_t part)>& use) const;
  double log_partition_of_arcs(std::span<const double> scores, std::span<double> marginals,
                               std::span<const double> part_scores, std::span<double> part_marginals,
                               Workspace& ws) const;
  Best best_of_arcs(std::span<const double> scores, std::span<const double> part_scores, Heads heads,
                    Workspace& ws) const;

  ArcSet arcs_;
  TreeShape shape_;
  TreeParts parts_;
};

static_assert(Structure<DependencyTree>);

}  // namespace espalier
