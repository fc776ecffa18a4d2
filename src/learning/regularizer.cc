#include "espalier/learning/regularizer.h"

#include <cmath>
#include <span>

#include "base/team.h"
#include "espalier/base/error.h"
#include "features/assign_weights.h"

namespace espalier {
namespace {

// sum_j of term(theta_j or w_j, l1_j), row by row, since the threshold is one of rows. Padding is zero and
// adds nothing.
template <class Real, class Term>
double sum_over_rows(const BasicWeights<Real>& w, const SoftThreshold& l1, const Term& term) {
  double sum = 0;
  for (std::size_t r = 0; r < w.shape().rows; ++r) {
    const double threshold = l1.of_row(r);
    const Real* row = w.row(r);
    double of_row = 0;
    for (std::size_t k = 0; k < w.shape().width; ++k) of_row += term(static_cast<double>(row[k]), threshold);
    sum += of_row;
  }
  return sum;
}

}  // namespace

template <class Real>
double Regularizer::value(const Problem& problem, const BasicWeights<Real>& theta) const {
  const double squares = l2 / 2 * problem.squared_norm(theta);
  if (!sparse()) return squares;
  return squares + sum_over_rows(theta, l1, [](double x, double t) { return t * std::abs(x); });
}

template <class Real>
double Regularizer::conjugate(const Problem& problem, const BasicWeights<Real>& w) const {
  ESPALIER_EXPECT(l2 > 0);
  if (!sparse()) return problem.squared_norm(w) / (2 * l2);
  ESPALIER_EXPECT(!problem.kernel());
  const auto square = [](double x, double t) {
    const double rest = soft(x, t);
    return rest * rest;
  };
  return sum_over_rows(w, l1, square) / (2 * l2);
}

template <class To, class From>
void Regularizer::assign(BasicWeights<To>& theta, const BasicWeights<From>& w, Team& team) const {
  if (!sparse()) return assign_weights(theta, w, 1 / l2, team);
  theta.resize(w.shape());
  share_range(team, w.shape().rows, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r) {
      const double threshold = l1.of_row(r);
      for (std::size_t k = 0; k < w.shape().width; ++k)
        theta.row(r)[k] = static_cast<To>(soft(static_cast<double>(w.row(r)[k]), threshold) / l2);
    }
  });
}

void Regularizer::proximal_step(double step, DoubleWeights& x) const {
  const double shrink = 1 / (1 + step * l2);
  for (std::size_t r = 0; r < x.shape().rows; ++r) {
    const double threshold = step * l1.of_row(r);
    for (double& value : std::span(x.row(r), x.shape().width)) value = shrink * soft(value, threshold);
  }
}

template <class Real>
double Regularizer::mismatch(const Problem& problem, const BasicWeights<Real>& theta,
                             const DoubleWeights& w) const {
  ESPALIER_EXPECT(l2 > 0 && !problem.kernel());
  double squares = 0, products = 0;
  for (std::size_t r = 0; r < w.shape().rows; ++r) {
    const double threshold = l1.of_row(r);
    const Real* of_theta = theta.row(r);
    const double* of_w = w.row(r);
    for (std::size_t k = 0; k < w.shape().width; ++k) {
      const double x = of_theta[k], inside = std::clamp(of_w[k], -threshold, threshold);
      const double difference = l2 * x - (of_w[k] - inside);
      squares += difference * difference;
      products += std::abs(x) * (threshold - (x < 0 ? -inside : inside));
    }
  }
  return squares / (2 * l2) + products;
}

template double Regularizer::value(const Problem&, const Weights&) const;
template double Regularizer::value(const Problem&, const DoubleWeights&) const;
template double Regularizer::conjugate(const Problem&, const Weights&) const;
template double Regularizer::conjugate(const Problem&, const DoubleWeights&) const;
template void Regularizer::assign(Weights&, const DoubleWeights&, Team&) const;
template void Regularizer::assign(Weights&, const Weights&, Team&) const;
template void Regularizer::assign(DoubleWeights&, const DoubleWeights&, Team&) const;
template double Regularizer::mismatch(const Problem&, const Weights&, const DoubleWeights&) const;
template double Regularizer::mismatch(const Problem&, const DoubleWeights&, const DoubleWeights&) const;

}  // namespace espalier
