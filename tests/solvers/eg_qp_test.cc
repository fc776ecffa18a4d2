#include "solvers/eg_qp.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

#include "base/random.h"

namespace espalier {
namespace {

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

double uniform(Random& random, double low, double high) { return low + (high - low) * random.uniform(); }

// A = G'G with G of `rank` rows: singular where there are fewer of them than columns.
SimplexQp random_qp(std::uint64_t seed, std::size_t blocks, std::size_t largest, std::size_t rank,
                    double size) {
  Random random(seed);
  SimplexQp qp;
  for (std::size_t i = 0; i < blocks; ++i) qp.sizes.push_back(1 + random.below(largest));
  const std::size_t dimension = std::accumulate(qp.sizes.begin(), qp.sizes.end(), std::size_t{0});
  std::vector<double> g(rank * dimension);
  for (double& x : g) x = uniform(random, -size, size);
  qp.matrix.resize(dimension * dimension);
  for (std::size_t j = 0; j < dimension; ++j) {
    for (std::size_t k = 0; k < dimension; ++k) {
      for (std::size_t r = 0; r < rank; ++r)
        qp.matrix[j * dimension + k] += g[r * dimension + j] * g[r * dimension + k];
    }
    qp.linear.push_back(uniform(random, -1, 1));
  }
  return qp;
}

SimplexQp any_qp() {
  const auto blocks = *rc::gen::inRange<std::size_t>(1, 6), largest = *rc::gen::inRange<std::size_t>(1, 6),
             rank = *rc::gen::inRange<std::size_t>(0, 8);
  return random_qp(*rc::gen::arbitrary<std::uint64_t>(), blocks, largest, rank,
                   *rc::gen::element(0.1, 1.0, 3.0));
}

template <class Call>
void for_blocks(const std::vector<std::size_t>& sizes, const Call& call) {
  std::size_t begin = 0;
  for (const std::size_t size : sizes) {
    call(begin, begin + size);
    begin += size;
  }
}

// The Euclidean projection onto the product of simplices.
void project(const std::vector<std::size_t>& sizes, std::vector<double>& v) {
  for_blocks(sizes, [&](std::size_t begin, std::size_t end) {
    std::vector<double> sorted(v.begin() + static_cast<std::ptrdiff_t>(begin),
                               v.begin() + static_cast<std::ptrdiff_t>(end));
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    double sum = 0, shift = 0;
    for (std::size_t k = 0; k < sorted.size(); ++k) {
      sum += sorted[k];
      const double candidate = (sum - 1) / static_cast<double>(k + 1);
      if (sorted[k] > candidate) shift = candidate;
    }
    for (std::size_t j = begin; j < end; ++j) v[j] = std::max(0.0, v[j] - shift);
  });
}

// How far a point is from the conditions of Karush, Kuhn and Tucker: in each block, elements with mass have
// the block's least gradient.
double kkt_violation(const SimplexQp& qp, const std::vector<double>& a) {
  std::vector<double> gradient(a.size());
  qp(a, gradient);
  double worst = 0;
  for_blocks(qp.sizes, [&](std::size_t begin, std::size_t end) {
    double lowest = std::numeric_limits<double>::infinity(), sum = 0;
    for (std::size_t j = begin; j < end; ++j) lowest = std::min(lowest, gradient[j]);
    for (std::size_t j = begin; j < end; ++j) {
      sum += a[j];
      worst = std::max({worst, -a[j], a[j] * (gradient[j] - lowest)});
    }
    worst = std::max(worst, std::abs(sum - 1));
  });
  return worst;
}

// Projected gradient descent with momentum that restarts where it leads uphill. Nothing of EG is in it.
std::vector<double> plain_solution(const SimplexQp& qp) {
  const std::size_t dimension = qp.linear.size();
  double trace = 1e-3;  // at least the largest eigenvalue
  for (std::size_t j = 0; j < dimension; ++j) trace += qp.matrix[j * dimension + j];
  std::vector<double> a(dimension), gradient(dimension);
  project(qp.sizes, a);
  std::vector<double> ahead = a;
  double momentum = 1, value = qp(a, gradient);
  for (int t = 0; t < 100000; ++t) {
    qp(ahead, gradient);
    std::vector<double> next = ahead;
    for (std::size_t j = 0; j < dimension; ++j) next[j] -= gradient[j] / trace;
    project(qp.sizes, next);
    const double next_value = qp(next, gradient);
    const double next_momentum = (1 + std::sqrt(1 + 4 * momentum * momentum)) / 2;
    const bool uphill = next_value > value;
    for (std::size_t j = 0; j < dimension; ++j) {
      ahead[j] = next[j] + (uphill ? 0 : (momentum - 1) / next_momentum * (next[j] - a[j]));
    }
    momentum = uphill ? 1 : next_momentum;
    value = next_value;
    a = next;
    if (t % 100 == 0 && kkt_violation(qp, a) < 1e-11) break;
  }
  return a;
}

// D[z|u], the sum of KL divergences of all blocks.
double divergence(const std::vector<double>& z, std::span<const double> u) {
  double sum = 0;
  for (std::size_t j = 0; j < z.size(); ++j) {
    if (z[j] > 0) sum += z[j] * std::log(z[j] / u[j]);
  }
  return sum;
}

std::vector<double> uniform_start(const SimplexQp& qp) {
  std::vector<double> start;
  for (const std::size_t size : qp.sizes) start.insert(start.end(), size, 1.0 / static_cast<double>(size));
  return start;
}

double value_at(const SimplexQp& qp, const std::vector<double>& a) {
  std::vector<double> gradient(a.size());
  return qp(a, gradient);
}

std::vector<double> any_point(const SimplexQp& qp) {
  Random random(*rc::gen::arbitrary<std::uint64_t>());
  std::vector<double> a;
  for (std::size_t j = 0; j < qp.linear.size(); ++j) a.push_back(uniform(random, 0.01, 1));
  for_blocks(qp.sizes, [&](std::size_t begin, std::size_t end) {
    double sum = 0;
    for (std::size_t j = begin; j < end; ++j) sum += a[j];
    for (std::size_t j = begin; j < end; ++j) a[j] /= sum;
  });
  return a;
}

RC_GTEST_PROP(EgQp, ValueAndGradientAreThoseOfTheQuadratic, ()) {
  const SimplexQp qp = any_qp();
  const std::size_t dimension = qp.linear.size();
  const std::vector<double> a = any_point(qp);
  std::vector<double> gradient(dimension);
  const double value = qp(a, gradient);
  double expected = dot(qp.linear, a);
  for (std::size_t j = 0; j < dimension; ++j) {
    double element = qp.linear[j];
    for (std::size_t k = 0; k < dimension; ++k) {
      expected += a[j] * qp.matrix[j * dimension + k] * a[k] / 2;
      element += qp.matrix[j * dimension + k] * a[k];
    }
    RC_ASSERT(std::abs(gradient[j] - element) <= 1e-12 * (1 + std::abs(element)));
  }
  RC_ASSERT(std::abs(value - expected) <= 1e-11 * (1 + std::abs(expected)));
}

// B is the largest range of the gradient over the corners, since the gradient is linear; lambda bounds the
// Rayleigh quotient.
RC_GTEST_PROP(EgQp, ConstantsAreBounds, ()) {
  const SimplexQp qp = any_qp();
  const std::size_t dimension = qp.linear.size();
  double range = 0;
  std::vector<std::size_t> corner(qp.sizes.size());
  for (bool more = true; more;) {
    std::vector<double> a(dimension), gradient(dimension);
    std::size_t block = 0;
    for_blocks(qp.sizes, [&](std::size_t begin, std::size_t) { a[begin + corner[block++]] = 1; });
    qp(a, gradient);
    const auto [low, high] = std::minmax_element(gradient.begin(), gradient.end());
    range = std::max(range, *high - *low);
    more = false;
    for (std::size_t i = 0; i < corner.size() && !more; ++i) {
      more = ++corner[i] < qp.sizes[i];
      if (!more) corner[i] = 0;
    }
  }
  RC_ASSERT(std::abs(qp.gradient_range() - range) <= 1e-12 * (1 + range));

  Random random(*rc::gen::arbitrary<std::uint64_t>());
  std::vector<double> v(dimension);
  for (double& x : v) x = uniform(random, -1, 1);
  double rayleigh = 0;
  for (int t = 0; t < 50; ++t) {  // power iteration: comes from below
    std::vector<double> next(dimension);
    for (std::size_t j = 0; j < dimension; ++j) {
      for (std::size_t k = 0; k < dimension; ++k) next[j] += qp.matrix[j * dimension + k] * v[k];
    }
    rayleigh = dot(next, v) / dot(v, v);
    if (!(dot(next, next) > 1e-30)) break;
    const double length = std::sqrt(dot(next, next));
    for (std::size_t j = 0; j < dimension; ++j) v[j] = next[j] / length;
  }
  RC_ASSERT(qp.eigenvalue_bound() >= rayleigh * (1 - 1e-12));
}

// Theorem 2 of Bartlett et al. 2004 after every step, against a solution that EG had no part in; and no step
// raises the value.
RC_GTEST_PROP(EgQp, BoundOfTheTheoremHolds, ()) {
  const SimplexQp qp = any_qp();
  const std::vector<double> solution = plain_solution(qp);
  RC_ASSERT(kkt_violation(qp, solution) < 1e-9);
  const double best = value_at(qp, solution);
  SimplexEgOptions options;
  options.steps = 300;
  options.gap = -1;
  if (*rc::gen::arbitrary<bool>()) options.start = any_point(qp);
  const std::vector<double> start = options.start.empty() ? uniform_start(qp) : options.start;
  std::vector<double> values;
  options.watch = [&](double value, std::span<const double>) { values.push_back(value); };
  const SimplexEgResult result = eg_qp(qp, options);
  RC_ASSERT(result.steps == 300u);
  RC_ASSERT(values.size() == 301u);
  RC_ASSERT(std::abs(values[0] - value_at(qp, start)) <= 1e-12 * (1 + std::abs(values[0])));

  const double constant = qp.gradient_range() + qp.eigenvalue_bound(), distance = divergence(solution, start);
  double sum = 0;
  for (std::size_t t = 1; t < values.size(); ++t) {
    const double rounding = 1e-12 * (1 + std::abs(values[0]));
    RC_ASSERT(values[t] <= values[t - 1] + rounding);
    sum += values[t - 1];
    const auto steps = static_cast<double>(t);
    const double bound = best + 2.5 * constant * distance / steps + 1.5 * (values[0] - values[t]) / steps;
    RC_ASSERT(values[t] <= sum / steps + rounding);
    RC_ASSERT(sum / steps <= bound + rounding);
  }
  RC_ASSERT(result.value == values.back());
  RC_ASSERT(result.value - result.gap <= best + 1e-9);
}

// Lemmas 2 and 5 of Collins et al. 2008 with Lemma 4's tau, for a quadratic.
RC_GTEST_PROP(MinimiseOverSimplices, LemmasHoldForQuadratics, ()) {
  const SimplexQp qp = any_qp();
  const double tau = qp.upper_bound();
  const std::vector<double> solution = plain_solution(qp);
  const double best = value_at(qp, solution);
  SimplexEgOptions options;
  options.steps = 200;
  options.gap = -1;
  options.eta = tau > 0 ? 1 / tau : 1;
  double before = std::numeric_limits<double>::infinity();
  std::vector<double> u_before;
  std::size_t step = 0;
  options.watch = [&](double value, std::span<const double> u) {
    const double rounding = 1e-12 * (1 + std::abs(value));
    if (step > 0) {
      // Infinite where a probability has underflowed: then it is not known.
      const double moved = divergence(u_before, u);
      RC_ASSERT(!std::isfinite(moved) || before - value >= moved / options.eta - rounding);
      RC_ASSERT(value - best <=
                divergence(solution, uniform_start(qp)) / (options.eta * static_cast<double>(step)) +
                    rounding);
    }
    before = value;
    u_before.assign(u.begin(), u.end());
    ++step;
  };
  minimise_over_simplices(qp, qp.sizes, options);
  RC_ASSERT(step == 201u);
}

// Lemma 6: a quadratic less mu times the entropy is (mu, mu + tau)-bounded, and converges like exp(-eta mu
// T).
RC_GTEST_PROP(MinimiseOverSimplices, BoundedFunctionsConvergeGeometrically, ()) {
  const SimplexQp qp = any_qp();
  const double mu = *rc::gen::element(0.3, 1.0, 4.0);
  const ConvexFunction q = [&](std::span<const double> u, std::span<double> gradient) {
    double value = qp(u, gradient);
    for (std::size_t j = 0; j < u.size(); ++j) {
      value += mu * u[j] * std::log(u[j]);
      gradient[j] += mu * (1 + std::log(u[j]));
    }
    return value;
  };
  SimplexEgOptions options;
  options.eta = 1 / (mu + qp.upper_bound());
  options.gap = 1e-12;
  options.steps = 200000;
  const SimplexEgResult optimum = minimise_over_simplices(q, qp.sizes, options);
  RC_ASSERT(optimum.gap <= 1e-12);
  const double distance = divergence(optimum.u, uniform_start(qp));
  std::size_t step = 0;
  options.gap = -1;
  options.steps = 200;
  options.watch = [&](double value, std::span<const double>) {
    if (step > 0) {
      const double bound = std::exp(-options.eta * mu * static_cast<double>(step)) / options.eta * distance;
      RC_ASSERT(value - optimum.value <= bound + 1e-11 * (1 + std::abs(value)));
    }
    ++step;
  };
  minimise_over_simplices(q, qp.sizes, options);
}

// From steps that are too small, right and too large.
RC_GTEST_PROP(MinimiseOverSimplices, HalvingFindsTheMinimum, ()) {
  const SimplexQp qp = any_qp();
  const double best = value_at(qp, plain_solution(qp));
  SimplexEgOptions options;
  const double tau = qp.upper_bound();
  options.eta = *rc::gen::element(0.01, 1.0, 16.0) / (tau > 0 ? tau : 1);
  options.halve = true;
  options.gap = 1e-4;
  options.steps = 100000;
  double lowest = std::numeric_limits<double>::infinity();
  options.watch = [&](double value, std::span<const double>) {
    RC_ASSERT(value <= lowest);
    lowest = value;
  };
  const SimplexEgResult result = minimise_over_simplices(qp, qp.sizes, options);
  RC_ASSERT(result.gap <= 1e-4);
  RC_ASSERT(result.value - best <= 1e-4);
  RC_ASSERT(result.value - best >= -1e-9);
  for_blocks(qp.sizes, [&](std::size_t begin, std::size_t end) {
    double sum = 0;
    for (std::size_t j = begin; j < end; ++j) sum += result.u[j];
    RC_ASSERT(std::abs(sum - 1) <= 1e-12);
  });
}

// A minimum at a corner: scores go on where probabilities are zero already.
TEST(MinimiseOverSimplices, CornersAreReached) {
  SimplexQp qp;
  qp.sizes = {3, 1, 2};
  qp.linear = {5, -2, 0, 7, 1, 3};
  qp.matrix.assign(36, 0.0);
  SimplexEgOptions options;
  options.gap = 0;
  options.steps = 20000;
  const SimplexEgResult result = eg_qp(qp, options);
  EXPECT_EQ(result.gap, 0);
  EXPECT_EQ(result.value, 6);
  EXPECT_EQ(result.u, (std::vector<double>{0, 1, 0, 1, 1, 0}));
}

// Without a slope anywhere there is nothing to do.
TEST(MinimiseOverSimplices, ConstantFunctionsAreMinimalAnywhere) {
  SimplexQp qp;
  qp.sizes = {2, 2};
  qp.linear.assign(4, 3.0);
  qp.matrix.assign(16, 0.0);
  const SimplexEgResult result = eg_qp(qp);
  EXPECT_EQ(result.steps, 0u);
  EXPECT_EQ(result.value, 6);
  EXPECT_EQ(result.gap, 0);
}

}  // namespace
}  // namespace espalier
