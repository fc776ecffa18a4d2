#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "espalier/base/workspace.h"
#include "espalier/structures/structure.h"

namespace espalier {

// One of L labels: chi(y) is the indicator vector of y, so K = L, log Z(s) = log sum_k exp s_k and mu =
// softmax(s). A score of -infinity excludes its label, as long as one label is left.
class Multiclass {
 public:
  using Output = std::uint32_t;
  struct Scored {
    Output output;
    double score;
  };

  explicit Multiclass(std::size_t num_labels) : num_labels_(num_labels) {}

  std::size_t num_statistics() const { return num_labels_; }

  double log_partition(std::span<const float> s, std::span<float> mu, Workspace& ws) const;
  double log_partition(std::span<const double> s, std::span<double> mu, Workspace& ws) const;

  // Of equal scores the first label wins.
  double argmax(std::span<const float> s, std::span<float> mu, Workspace& ws) const;
  double argmax(std::span<const double> s, std::span<double> mu, Workspace& ws) const;
  Output decode(std::span<const float> s, Workspace& ws) const;
  Output decode(std::span<const double> s, Workspace& ws) const;

  void indicator(Output y, std::span<float> mu) const;
  void indicator(Output y, std::span<double> mu) const;

  // Shifts a direction d of scores so that its mean under mu is zero. Adding the same to every score changes
  // no distribution, and what is not added cannot swamp the differences that matter.
  void centre(std::span<const float> mu, std::span<float> d) const;

  // The k best labels, best first; all that are not excluded, if there are not k.
  std::vector<Scored> kbest(std::span<const double> s, std::size_t k) const;
  // A label drawn from u.
  Output sample(std::span<const double> s, Random& random, Workspace& ws) const;
  // H(u) = log Z(s) - s.mu, and 0 log 0 = 0.
  double entropy(std::span<const double> s, Workspace& ws) const;

  // The Factored capability (learning/capabilities.h). There is one clique, the label itself: clique
  // marginals are mu.
  std::size_t num_clique_marginals() const { return num_labels_; }
  double clique_entropy(std::span<const double> clique_mu) const;  // -sum_k mu_k log mu_k

 private:
  std::size_t num_labels_;
};

static_assert(Structure<Multiclass>);

}  // namespace espalier
