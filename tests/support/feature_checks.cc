#include "support/feature_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "base/random.h"
#include "base/team.h"
#include "features/owned_rows.h"
#include "features/row_changes.h"

namespace espalier::test_support {
namespace {

template <class Real>
void fill(std::span<Real> values, Random& random) {
  for (Real& v : values) v = static_cast<Real>(2 * random.uniform() - 1);
}

template <class A, class B>
double dot(const A& a, const B& b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += static_cast<double>(a[k]) * b[k];
  return sum;
}

template <class Real>
BasicWeights<Real> random_weights(Random& random, WeightShape shape) {
  BasicWeights<Real> w(shape);
  for (std::size_t r = 0; r < shape.rows; ++r) fill(std::span<Real>(w.row(r), shape.width), random);
  return w;
}

// <a, b> of the problem, which with a kernel is not the Euclidean one.
template <class Real>
double product(const Problem& problem, const BasicWeights<Real>& a, const BasicWeights<Real>& b) {
  DoubleWeights of_a, of_b;
  of_a.assign(a);
  of_b.assign(b);
  return problem.inner_product(of_a, of_b);
}

// |w|^2 of absolute values: what rounding in sums of products of a kernel's values and coefficients goes by.
// Without a kernel it is |w|^2.
template <class Real>
double squared_size(const Problem& problem, BasicWeights<Real> w) {
  for (Real& value : w.values()) value = std::abs(value);
  return problem.squared_norm(w);
}

template <class Real>
bool padding_is_zero(const BasicWeights<Real>& w) {
  for (std::size_t r = 0; r < w.shape().rows; ++r) {
    for (std::size_t k = w.shape().width; k < w.stride(); ++k) {
      if (w.row(r)[k] != 0) return false;
    }
  }
  return true;
}

template <class Real>
std::string check_example(const Problem& problem, std::size_t i, Random& random, double tolerance) {
  const std::size_t length = problem.num_statistics(i);
  Workspace ws;
  const auto w = random_weights<Real>(random, problem.weight_shape());
  std::vector<Real> delta(length), s(length, std::numeric_limits<Real>::quiet_NaN());
  fill(std::span<Real>(delta), random);
  problem.score(i, w, Real{1}, std::span<Real>(s), ws);
  BasicWeights<Real> image(problem.weight_shape());
  problem.accumulate(i, std::span<const Real>(delta), image, ws);
  if (!padding_is_zero(image)) return "accumulate() wrote into the padding";

  // <F'w, delta> = <w, F delta>
  const double left = dot(s, delta), right = product(problem, w, image);
  const double size = std::sqrt(squared_size(problem, w) * squared_size(problem, image));
  if (!(std::abs(left - right) <= tolerance * size)) {
    return fmt::format("<F'w, delta> is {}, <w, F delta> is {}", left, right);
  }

  // |F delta|^2
  const double direct = problem.squared_norm(image);
  const double told = problem.squared_norm(i, std::span<const Real>(delta), ws);
  if (!(std::abs(told - direct) <= tolerance * squared_size(problem, image))) {
    return fmt::format("squared_norm(delta) is {}, |F delta|^2 is {}", told, direct);
  }

  // score() with a scale: rounding apart, the scale times the score without.
  const auto scale = static_cast<Real>(-0.75);
  std::vector<Real> scaled(length, std::numeric_limits<Real>::quiet_NaN());
  problem.score(i, w, scale, std::span<Real>(scaled), ws);
  for (std::size_t k = 0; k < length; ++k) {
    if (!(std::abs(scaled[k] - scale * s[k]) <= tolerance * (1 + std::abs(s[k])))) {
      return fmt::format("with the scale {} score {} is {}, without it {}", scale, k, scaled[k], s[k]);
    }
  }

  // accumulate() adds to what is there.
  BasicWeights<Real> sum = w;
  problem.accumulate(i, std::span<const Real>(delta), sum, ws);
  for (std::size_t j = 0; j < sum.values().size(); ++j) {
    const double expected = static_cast<double>(w.values()[j]) + image.values()[j];
    if (!(std::abs(sum.values()[j] - expected) <= tolerance)) {
      return fmt::format("weight {} is {} after accumulate(), not {}", j, sum.values()[j], expected);
    }
  }

  // |F(z - chi(y))|^2 <= squared_diameter, y the best output for random scores.
  std::vector<Real> difference(length);
  fill(std::span<Real>(s), random);
  problem.argmax(i, std::span<const Real>(s), std::span<Real>(difference), ws);
  for (Real& d : difference) d = -d;
  problem.add_gold(i, Real{1}, std::span<Real>(difference));
  const double distance = problem.squared_norm(i, std::span<const Real>(difference), ws);
  if (!(distance <= problem.squared_diameter(i) * (1 + tolerance))) {
    return fmt::format("an output is at {} from the gold one, beyond the squared diameter {}", distance,
                       problem.squared_diameter(i));
  }
  return "";
}

// The scores of float weights summed in double are those of the same weights in double.
std::string check_mixed_precision(const Problem& problem, std::size_t i, Random& random) {
  Workspace ws;
  const auto w = random_weights<float>(random, problem.weight_shape());
  DoubleWeights widened;
  widened.assign(w);
  std::vector<double> mixed(problem.num_statistics(i)), exact(mixed.size());
  problem.score(i, w, 1.5, mixed, ws);
  problem.score(i, widened, 1.5, exact, ws);
  for (std::size_t k = 0; k < mixed.size(); ++k) {
    if (!(std::abs(mixed[k] - exact[k]) <= 1e-12)) {
      return fmt::format("score {} is {} from float weights, {} from double ones", k, mixed[k], exact[k]);
    }
  }
  return "";
}

}  // namespace

DoubleWeights random_double_weights(Random& random, WeightShape shape) {
  return random_weights<double>(random, shape);
}

namespace {

// Scores of weights with a threshold are those of soft(w, threshold) written out.
std::string check_threshold(const Problem& problem, std::size_t i, const SoftThreshold& threshold,
                            Random& random) {
  DoubleWeights w = random_double_weights(random, problem.weight_shape()), shrunk = w;
  w.set_threshold(threshold);
  for (std::size_t r = 0; r < w.shape().rows; ++r) {
    const double t = threshold.of_row(r);
    for (std::size_t k = 0; k < w.shape().width; ++k) {
      const double x = w.row(r)[k];
      shrunk.row(r)[k] = x > t ? x - t : x < -t ? x + t : 0;
    }
  }
  Workspace ws;
  const std::size_t length = problem.num_statistics(i);
  std::vector<double> s(length), expected(length);
  problem.score(i, w, 0.5, s, ws);
  problem.score(i, shrunk, 0.5, expected, ws);
  Weights in_float = Weights(w.shape());
  in_float.assign(w);
  in_float.set_threshold(threshold);
  std::vector<float> rough(length);
  problem.score(i, in_float, 0.5f, rough, ws);
  for (std::size_t k = 0; k < length; ++k) {
    const double size = 1 + std::abs(expected[k]);
    if (!(std::abs(s[k] - expected[k]) <= 1e-12 * size) ||
        !(std::abs(rough[k] - expected[k]) <= 1e-4 * size)) {
      return fmt::format("score {} is {} and {} with a threshold of {}, {} of shrunk weights", k, s[k],
                         rough[k], threshold.value, expected[k]);
    }
  }
  return "";
}

}  // namespace

std::string check_thresholds(const Problem& problem, const SoftThreshold& rows, Random& random) {
  for (std::size_t i = 0; i < problem.size(); ++i) {
    for (const double value : {0.0, 0.3, 2.0}) {
      const std::string found = check_threshold(problem, i, {value, rows.first, rows.last}, random);
      if (!found.empty()) return fmt::format("example {}: {}", i, found);
    }
  }
  return "";
}

std::string check_features(const Problem& problem, Random& random) {
  for (std::size_t i = 0; i < problem.size(); ++i) {
    const std::string found = check_example<float>(problem, i, random, 2e-6);
    if (!found.empty()) return fmt::format("example {}: {}", i, found);
  }
  return check_double_features(problem, random);
}

std::string check_double_features(const Problem& problem, Random& random) {
  if (!problem.kernel()) {
    const std::string found = check_thresholds(problem, {}, random);
    if (!found.empty()) return found;
  }
  for (std::size_t i = 0; i < problem.size(); ++i) {
    for (const std::string& found :
         {check_example<double>(problem, i, random, 1e-13), check_mixed_precision(problem, i, random)}) {
      if (!found.empty()) return fmt::format("example {}: {}", i, found);
    }
  }
  return "";
}

std::string check_gradient(const Problem& problem, Random& random) {
  const DoubleWeights theta = random_double_weights(random, problem.weight_shape()),
                      direction = random_double_weights(random, problem.weight_shape());
  Workspace ws;
  const auto loss_at = [&](double step) {
    DoubleWeights moved = theta;
    for (std::size_t j = 0; j < moved.values().size(); ++j) moved.values()[j] += step * direction.values()[j];
    double sum = 0;
    for (std::size_t i = 0; i < problem.size(); ++i) {
      std::vector<double> s(problem.num_statistics(i)), mu(s.size()), z(s.size(), 0.0);
      problem.score(i, moved, 1.0, s, ws);
      problem.add_gold(i, 1.0, z);
      sum += problem.log_partition(i, s, mu, ws) - dot(z, s);
    }
    return sum;
  };
  DoubleWeights gradient(problem.weight_shape());
  for (std::size_t i = 0; i < problem.size(); ++i) {
    std::vector<double> s(problem.num_statistics(i)), mu(s.size());
    problem.score(i, theta, 1.0, s, ws);
    problem.log_partition(i, s, mu, ws);
    problem.add_gold(i, -1.0, mu);
    problem.accumulate(i, mu, gradient, ws);
  }
  const double slope = problem.inner_product(gradient, direction);
  const double step = 1e-5, difference = (loss_at(step) - loss_at(-step)) / (2 * step);
  if (!(std::abs(slope - difference) <= 1e-5 * (1 + std::abs(slope))))
    return fmt::format("the slope is {}, differences of the loss say {}", slope, difference);
  return "";
}

namespace {

// With rows that owners have found before, or all of them listed.
template <class Real>
std::string check_listed(const Problem& problem, std::size_t shares, const OwnedRows* owned, Random& random) {
  Workspace ws;
  BasicWeights<Real> whole = random_weights<Real>(random, problem.weight_shape()), parts = whole;
  std::vector<std::size_t> owners(whole.values().size(), shares);
  // Some examples have lists of their own, others follow each other in one.
  std::vector<RowChanges<Real>> lists(problem.size());
  std::size_t list = 0;
  for (std::size_t i = 0; i < problem.size(); ++i) {
    std::vector<Real> delta(problem.num_statistics(i));
    fill(std::span<Real>(delta), random);
    // As with maxima: most of some examples, and all of others, does not move.
    const double zeros = random.uniform() < 0.3 ? 1 : random.uniform();
    const std::size_t together = 1 + random.below(12);
    for (std::size_t k = 0; k < delta.size(); ++k) {
      if (random.uniform() < zeros)
        std::fill_n(delta.begin() + static_cast<std::ptrdiff_t>(k), std::min(together, delta.size() - k),
                    Real{0});
    }
    problem.accumulate(i, std::span<const Real>(delta), whole, ws);
    if (i > 0 && (owned || random.below(2) == 0)) ++list;
    if (lists[list].shares() == 0) lists[list].start(shares, owned);
    problem.sharing()->list_changes(i, std::span<const Real>(delta), lists[list], ws);
  }
  lists.resize(list + 1);
  // Owners may come in any order.
  for (std::size_t part = shares; part-- > 0;) {
    for (const RowChanges<Real>& changes : lists) {
      for (const kernels::RowChange& change : changes.changes(part)) {
        const std::size_t line = change.place / 16 * 16, turned = change.width == kernels::kTurnedLine;
        const std::size_t first = turned ? line : change.place, width = turned ? 16 : change.width;
        for (std::size_t j = first; j < first + width; ++j) {
          if (owners[j] != shares && owners[j] != part)
            return fmt::format("weight {} belongs to {} and to {} of {}", j, owners[j], part, shares);
          owners[j] = part;
        }
      }
      changes.add_to(part, parts);
    }
  }
  for (std::size_t j = 0; j < whole.values().size(); ++j) {
    if (whole.values()[j] != parts.values()[j])
      return fmt::format("weight {} is {} by {} shares, {} by one", j, parts.values()[j], shares,
                         whole.values()[j]);
  }
  return "";
}

}  // namespace

std::string check_shares(const Problem& problem, Random& random) {
  for (const std::size_t shares : {1, 2, 3, 7, 16}) {
    Team team(1 + shares % 3);
    std::vector<std::string> all{check_listed<float>(problem, shares, nullptr, random),
                                 check_listed<double>(problem, shares, nullptr, random)};
    if (const auto owned = problem.sharing()->owned_rows(shares, team)) {
      all.push_back(check_listed<float>(problem, shares, owned.get(), random));
      all.push_back(check_listed<double>(problem, shares, owned.get(), random));
    }
    for (const std::string& found : all) {
      if (!found.empty()) return found;
    }
  }
  return "";
}

std::string check_changes_of_one_size(const Problem& problem, float size, Random& random) {
  Workspace ws;
  for (std::size_t i = 0; i < problem.size(); ++i) {
    std::vector<float> delta(problem.num_statistics(i));
    for (float& x : delta) x = size * (static_cast<float>(random.below(3)) - 1);
    const std::vector<double> exact(delta.begin(), delta.end());
    Weights w(problem.weight_shape());
    DoubleWeights expected(problem.weight_shape());
    problem.accumulate(i, delta, w, ws);
    problem.accumulate(i, exact, expected, ws);
    for (std::size_t j = 0; j < w.values().size(); ++j) {
      const float found = w.values()[j];
      if (!(std::abs(found - expected.values()[j]) <= 1e-4 * size))
        return fmt::format("example {}, weight {}: {} instead of {}", i, j, found, expected.values()[j]);
    }
    const double norm = problem.squared_norm(i, exact, ws), found = problem.squared_norm(i, delta, ws);
    if (!(std::abs(found - norm) <= 1e-5 * norm))
      return fmt::format("example {}: a norm of {} instead of {}", i, found, norm);
  }
  return "";
}

}  // namespace espalier::test_support
