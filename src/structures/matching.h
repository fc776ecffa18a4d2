#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "espalier/base/workspace.h"
#include "espalier/structures/structure.h"

namespace espalier {

// Links between the words of two sentences, such that no word has more than `most` of them: a bipartite
// matching for most = 1. chi(y) has an entry for every pair of words, those of the first source word first,
// which is 1 where the two are linked. Words without a link score nothing. A score of -infinity excludes its
// pair.
//
// The best matching is exact. Counting matchings is #P-hard (their number is a permanent), so log_partition()
// is an upper bound that is convex in the scores, and its gradient (matching_bound.cc). That gradient always
// lies in the convex hull of the outputs.
class Matching {
 public:
  using Output = std::vector<std::uint32_t>;  // places of the linked pairs, ascending
  struct Scored {
    Output output;
    double score;
  };
  // How the bound was found.
  struct Convergence {
    bool converged = true;
    std::size_t sweeps = 0;
    double residual = 0;  // how far the two marginals of a pair were apart in the last sweep, at most
  };

  Matching(std::size_t sources, std::size_t targets, std::size_t most)
      : sources_(sources), targets_(targets), most_(most) {}

  std::size_t sources() const { return sources_; }
  std::size_t targets() const { return targets_; }
  std::size_t most() const { return most_; }
  std::size_t num_statistics() const { return sources_ * targets_; }

  double log_partition(std::span<const float> s, std::span<float> mu, Workspace& ws) const;
  double log_partition(std::span<const double> s, std::span<double> mu, Workspace& ws) const;
  // The same, and how it went.
  double log_partition(std::span<const double> s, std::span<double> mu, Convergence& convergence,
                       Workspace& ws) const;

  // Pairs that score 0 or less are not linked.
  double argmax(std::span<const float> s, std::span<float> mu, Workspace& ws) const;
  double argmax(std::span<const double> s, std::span<double> mu, Workspace& ws) const;
  Output decode(std::span<const float> s, Workspace& ws) const;
  Output decode(std::span<const double> s, Workspace& ws) const;

  void indicator(const Output& y, std::span<float> mu) const;
  void indicator(const Output& y, std::span<double> mu) const;

  // The k best matchings, best first; all that are possible, if there are not k.
  std::vector<Scored> kbest(std::span<const double> s, std::size_t k) const;

 private:
  template <class Real>
  double argmax_of(std::span<const Real> s, std::span<Real> mu, Workspace& ws) const;

  std::size_t sources_, targets_, most_;
};

static_assert(Structure<Matching>);

// The best matching where word k may have room[k] links, source words first. linked[e] <- 1 for its pairs,
// else 0; returns its score. loss[e] <- what a matching with e that differs loses at least; it may be empty.
double best_matching(std::size_t sources, std::size_t targets, std::span<const double> s,
                     std::span<const std::uint32_t> room, std::span<std::uint8_t> linked,
                     std::span<double> loss, Workspace& ws);

// The upper bound on log Z and its gradient (matching_bound.cc); `enough` is the residual at which it ends.
double matching_bound(const Matching& matching, std::span<const double> s, double enough,
                      std::span<double> mu, Matching::Convergence& convergence, Workspace& ws);

}  // namespace espalier
