#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "base/random.h"
#include "structures/chain.h"

namespace espalier {

inline constexpr double kExcluded = -std::numeric_limits<double>::infinity();

// log sum_k exp(term(k)) for k < n.
template <class Term>
double log_sum(std::size_t n, const Term& term) {
  double highest = kExcluded;
  for (std::size_t k = 0; k < n; ++k) highest = std::max(highest, term(k));
  if (highest == kExcluded) return kExcluded;
  double sum = 0;
  for (std::size_t k = 0; k < n; ++k) sum += std::exp(term(k) - highest);
  return highest + std::log(sum);
}

// -p log p
inline double surprise(double p) { return p > 0 ? -p * std::log(p) : 0; }

// Label j with a probability in proportion to exp(terms[j]).
inline std::uint32_t draw_label(std::span<const double> terms, Random& random) {
  const double total = log_sum(terms.size(), [&](std::size_t j) { return terms[j]; });
  double left = random.uniform();
  std::uint32_t drawn = 0;
  for (std::uint32_t j = 0; j < terms.size(); ++j) {
    if (terms[j] == kExcluded) continue;
    drawn = j;
    left -= std::exp(terms[j] - total);
    if (left < 0) break;
  }
  return drawn;
}

// Scores with the constraints applied, in double.
template <class Real>
class LogScores {
 public:
  LogScores(const Chain& chain, const ChainConstraints* constraints, std::span<const Real> s)
      : chain_(chain), constraints_(constraints), s_(s) {}

  double node(std::size_t t, std::size_t j) const {
    if (constraints_) {
      if (t == 0 && !constraints_->first[j]) return kExcluded;
      if (t + 1 == chain_.length() && !constraints_->last[j]) return kExcluded;
    }
    return s_[t * chain_.num_labels() + j];
  }
  // From label i at t - 1 to label j at t.
  double step(std::size_t t, std::size_t i, std::size_t j) const {
    if (constraints_ && !constraints_->step[i * chain_.num_labels() + j]) return kExcluded;
    return chain_.num_tables() > 0 ? static_cast<double>(s_[chain_.step_statistic(t, i, j)]) : 0;
  }

 private:
  const Chain& chain_;
  const ChainConstraints* constraints_;
  std::span<const Real> s_;
};

}  // namespace espalier
