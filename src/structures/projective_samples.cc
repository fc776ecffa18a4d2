// Projective trees drawn from their distribution, span by span from the longest: each part of a chart is a
// sum over where it divides, and a place is drawn in proportion to its term.

#include <vector>

#include "espalier/base/error.h"
#include "structures/log_scores.h"
#include "structures/projective.h"
#include "structures/projective_chart.h"

namespace espalier {
namespace {

class ProjectiveSampler {
 public:
  ProjectiveSampler(std::size_t words, bool single_root, std::span<const double> s)
      : words_(words), single_root_(single_root), frame_(ws_), in_(words, single_root, s, frame_) {}

  bool possible() const { return in_.log_z > kExcluded; }

  void draw(Random& random, Heads heads) {
    random_ = &random;
    heads_ = heads;
    if (!single_root_) return right(0, words_);
    const std::size_t k = 1 + pick(words_, [&](std::size_t i) { return in_.with_root(i + 1); });
    heads_[k - 1] = 0;
    left(1, k);
    right(k, words_);
  }

 private:
  template <class Term>
  std::size_t pick(std::size_t n, const Term& term) {
    terms_.clear();
    for (std::size_t k = 0; k < n; ++k) terms_.push_back(term(k));
    return draw_label(terms_, *random_);
  }

  // R(i, j) = sum_k A(i, k) R(k, j)
  void right(std::size_t i, std::size_t j) {
    while (i < j) {
      const std::size_t k = i + 1 + pick(j - i, [&](std::size_t step) {
                              const std::size_t to = i + 1 + step;
                              return in_.arcs_right[in_.at(i, to)] + in_.right[in_.at(to, j)];
                            });
      heads_[k - 1] = static_cast<std::uint32_t>(i);
      halves(i, k);
      i = k;
    }
  }
  // L(i, j) = sum_k L(i, k) B(k, j)
  void left(std::size_t i, std::size_t j) {
    while (i < j) {
      const std::size_t k = i + pick(j - i, [&](std::size_t step) {
                              return in_.left[in_.at(i, i + step)] + in_.arcs_left[in_.at(i + step, j)];
                            });
      heads_[k - 1] = static_cast<std::uint32_t>(j);
      halves(k, j);
      j = k;
    }
  }
  // S(i, j) = sum_k R(i, k) L(k + 1, j)
  void halves(std::size_t i, std::size_t j) {
    const std::size_t k = i + pick(j - i, [&](std::size_t step) {
                            return in_.right[in_.at(i, i + step)] + in_.left[in_.at(i + step + 1, j)];
                          });
    right(i, k);
    left(k + 1, j);
  }

  std::size_t words_;
  bool single_root_;
  Workspace ws_;
  Workspace::Frame frame_;
  const ProjectiveChart in_;
  Random* random_ = nullptr;
  Heads heads_;
  std::vector<double> terms_;
};

}  // namespace

std::vector<std::vector<std::uint32_t>> projective_samples(std::size_t words, bool single_root,
                                                           std::span<const double> s, std::size_t n,
                                                           Random& random) {
  ESPALIER_EXPECT(words > 0 && s.size() == arc_matrix_size(words));
  ProjectiveSampler sampler(words, single_root, s);
  ESPALIER_EXPECT(sampler.possible());
  std::vector<std::vector<std::uint32_t>> trees(n, std::vector<std::uint32_t>(words));
  for (auto& heads : trees) sampler.draw(random, heads);
  return trees;
}

}  // namespace espalier
