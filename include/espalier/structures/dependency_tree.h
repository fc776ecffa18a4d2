#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "espalier/base/workspace.h"
#include "espalier/structures/arc_set.h"
#include "espalier/structures/projective.h"
#include "espalier/structures/structure.h"

namespace espalier {

// Which trees a sentence may have.
struct TreeShape {
  bool projective = true;
  bool single_root = false;    // the root has exactly one modifier
  std::size_t num_labels = 1;  // relations of an arc; 1: they are not looked at
  friend bool operator==(const TreeShape&, const TreeShape&) = default;
};

// A dependency tree over the words of a sentence. With L labels
//   chi(y) = ( [y has arc a with label l] for each arc a and label l ),   K = arcs L,
// and arc a with label l is statistic a L + l. Given its head, a word's label is independent of everything else, so labels are
// summed (or maximised) out arc by arc. Scores of -infinity exclude, as long as one tree is left. Refers to the arcs.
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

  DependencyTree(const ArcSet& arcs, const TreeShape& shape) : arcs_(arcs), shape_(shape) {}

  std::size_t num_words() const { return arcs_.words(); }
  std::size_t num_labels() const { return shape_.num_labels; }
  std::size_t num_statistics() const { return arcs_.size() * shape_.num_labels; }
  const ArcSet& arcs() const { return arcs_; }
  const TreeShape& shape() const { return shape_; }

  double log_partition(std::span<const float> s, std::span<float> mu, Workspace& ws) const;
  double log_partition(std::span<const double> s, std::span<double> mu, Workspace& ws) const;
  double argmax(std::span<const float> s, std::span<float> mu, Workspace& ws) const;
  double argmax(std::span<const double> s, std::span<double> mu, Workspace& ws) const;
  Output decode(std::span<const float> s, Workspace& ws) const;
  Output decode(std::span<const double> s, Workspace& ws) const;
  // The same into memory of the caller's, one value a word each. Returns the score.
  template <class Real>
  double decode_into(std::span<const Real> s, Heads heads, std::span<std::uint32_t> labels,
                     Workspace& ws) const;

  void indicator(const Output& y, std::span<float> mu) const;
  void indicator(const Output& y, std::span<double> mu) const;
  // out += scale chi(y). Requires arcs that are allowed.
  template <class Real>
  void add_indicator(std::span<const std::uint32_t> heads, std::span<const std::uint32_t> labels, Real scale,
                     std::span<Real> out) const {
    for (std::size_t d = 1; d <= num_words(); ++d) {
      out[arcs_.find(heads[d - 1], d) * num_labels() + labels[d - 1]] += scale;
    }
  }

  // Every word has one head, so a shift of all its arcs changes no distribution: means under mu become zero word by word.
  void centre(std::span<const float> mu, std::span<float> d) const;

  // The k best trees, best first, each with its arcs' best labels; all that are possible, if there are not k.
  std::vector<Scored> kbest(std::span<const double> s, std::size_t k) const;
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

  ArcSet arcs_;
  TreeShape shape_;
};

static_assert(Structure<DependencyTree>);

}  // namespace espalier
