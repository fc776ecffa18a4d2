#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"
#include "espalier/base/workspace.h"
#include "espalier/structures/structure.h"
#include "support/all_outputs.h"

namespace espalier::test_support {

// Checks of a structure against the sum over all of its outputs. Each check takes scores and answers with
// what is wrong, or with nothing, so that EXPECT_EQ(check(...), "") and RC_ASSERT(check(...) == "") both show
// it.
//
//   check_inference<Real>   log Z, marginals, argmax and decoding
//   check_uniform<Real>     log Z(0) = log |Y|
//   check_kbest             order, scores, no output twice
//   check_entropy           H(u)
//   check_sampling          frequencies
//   check_centre            centring shifts every output's score alike, to mean zero

inline constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

// s.chi, where 0 * (-infinity) is 0.
template <class Real>
double score_of(std::span<const Real> s, std::span<const double> chi) {
  double sum = 0;
  for (std::size_t k = 0; k < s.size(); ++k) sum += chi[k] != 0 ? chi[k] * static_cast<double>(s[k]) : 0;
  return sum;
}

// The distribution u(y) ~ exp(s.chi(y)), output by output.
template <class Output>
struct Enumeration {
  std::vector<Output> outputs;
  std::vector<std::vector<double>> chi;  // of each output
  std::vector<double> scores;            // s.chi(y)
  std::vector<double> probabilities;
  double highest = kMinusInfinity;  // the best score
  double largest = 0;               // the largest finite |score|: what rounding errors are measured by
  double log_z = kMinusInfinity, entropy = 0;
  std::vector<double> mu;

  bool possible() const { return highest > kMinusInfinity; }
  std::size_t num_possible() const {
    return static_cast<std::size_t>(
        std::count_if(scores.begin(), scores.end(), [](double score) { return score > kMinusInfinity; }));
  }
  std::size_t find(const Output& y) const {
    return static_cast<std::size_t>(std::find(outputs.begin(), outputs.end(), y) - outputs.begin());
  }
};

template <class S, class Real>
Enumeration<typename S::Output> enumerate(const S& structure, std::span<const Real> s) {
  Enumeration<typename S::Output> e;
  const std::size_t length = structure.num_statistics();
  e.outputs = all_outputs(structure);
  for (const auto& y : e.outputs) {
    e.chi.emplace_back(length);
    structure.indicator(y, std::span<double>(e.chi.back()));
    const double score = score_of(s, std::span<const double>(e.chi.back()));
    e.scores.push_back(score);
    e.highest = std::max(e.highest, score);
    if (score > kMinusInfinity) e.largest = std::max(e.largest, std::abs(score));
  }
  e.mu.assign(length, 0);
  if (!e.possible()) return e;
  double sum = 0;
  for (const double score : e.scores) sum += std::exp(score - e.highest);
  e.log_z = e.highest + std::log(sum);
  for (std::size_t y = 0; y < e.outputs.size(); ++y) {
    const double p = std::exp(e.scores[y] - e.highest) / sum;
    e.probabilities.push_back(p);
    if (p > 0) e.entropy -= p * std::log(p);
    for (std::size_t k = 0; k < length; ++k) e.mu[k] += p * e.chi[y][k];
  }
  return e;
}

// False also where one of them is not a number.
inline bool close(double a, double b, double tolerance) { return std::abs(a - b) <= tolerance; }

// Marginals agree to `tolerance`, and values of the size of a score in proportion to that. A marginal is exp
// of a difference of logarithms, so that it carries their rounding; and those that count (mu > 1) err in
// proportion.
template <class Real, class S>
std::string check_inference(const S& structure, std::span<const Real> s, double tolerance) {
  const auto e = enumerate(structure, s);
  const double value_tolerance = tolerance * (1 + e.largest);
  const double mu_tolerance = tolerance + 8 * std::numeric_limits<double>::epsilon() * e.largest;
  Workspace ws;
  std::vector<Real> mu(s.size(), Real{-1}), best(s.size(), Real{-1}), decoded(s.size(), Real{-1});

  const double log_z = structure.log_partition(s, std::span<Real>(mu), ws);
  if (!close(log_z, e.log_z, value_tolerance)) return fmt::format("log Z is {}, not {}", log_z, e.log_z);
  for (std::size_t k = 0; k < mu.size(); ++k) {
    if (!close(mu[k], e.mu[k], mu_tolerance * std::max(1.0, e.mu[k])))
      return fmt::format("mu[{}] is {}, not {}", k, mu[k], e.mu[k]);
  }

  const double value = structure.argmax(s, std::span<Real>(best), ws);
  if (!close(value, e.highest, value_tolerance))
    return fmt::format("the maximum is {}, not {}", value, e.highest);
  const std::vector<double> best_chi(best.begin(), best.end());
  if (std::find(e.chi.begin(), e.chi.end(), best_chi) == e.chi.end()) {
    return fmt::format("the argmax statistics are those of no output");
  }
  const double reached = score_of(s, std::span<const double>(best_chi));
  if (!close(reached, e.highest, value_tolerance)) {
    return fmt::format("the argmax statistics score {}, not {}", reached, e.highest);
  }

  const auto y = structure.decode(s, ws);
  if (e.find(y) == e.outputs.size()) return "the decoded output is none of Y";
  structure.indicator(y, std::span<Real>(decoded));
  if (decoded != best) return "the statistics of the decoded output are not those of argmax";
  return "";
}

// log Z(0) = log |Y|, and the marginals are means over Y.
template <class Real, class S>
std::string check_uniform(const S& structure, double tolerance) {
  const std::vector<Real> zero(structure.num_statistics(), Real{0});
  std::vector<Real> mu(zero.size());
  Workspace ws;
  const double log_z = structure.log_partition(std::span<const Real>(zero), std::span<Real>(mu), ws);
  const double expected = std::log(static_cast<double>(all_outputs(structure).size()));
  if (!close(log_z, expected, tolerance))
    return fmt::format("log Z(0) is {}, not log |Y| = {}", log_z, expected);
  return check_inference<Real>(structure, std::span<const Real>(zero), tolerance);
}

// The k best possible outputs, best first, or all of them where there are not k.
template <class S>
std::string check_kbest(const S& structure, std::span<const double> s, std::size_t k, double tolerance) {
  const auto e = enumerate(structure, s);
  const double value_tolerance = tolerance * (1 + e.largest);
  std::vector<double> sorted = e.scores;
  std::sort(sorted.begin(), sorted.end(), std::greater<>());

  const auto best = structure.kbest(s, k);
  const std::size_t expected = std::min(k, e.num_possible());
  if (best.size() != expected) return fmt::format("{} best outputs, not {}", best.size(), expected);
  std::vector<bool> seen(e.outputs.size());
  for (std::size_t r = 0; r < best.size(); ++r) {
    const std::size_t y = e.find(best[r].output);
    if (y == e.outputs.size()) return fmt::format("best output {} is none of Y", r);
    if (seen[y]) return fmt::format("best output {} was there before", r);
    seen[y] = true;
    if (!close(best[r].score, e.scores[y], value_tolerance)) {
      return fmt::format("best output {} has the score {}, not {}", r, best[r].score, e.scores[y]);
    }
    if (!close(best[r].score, sorted[r], value_tolerance)) {
      return fmt::format("best score {} is {}, not {}", r, best[r].score, sorted[r]);
    }
    if (r > 0 && best[r].score > best[r - 1].score)
      return fmt::format("best outputs {} and {} are out of order", r - 1, r);
  }
  return "";
}

template <class S>
std::string check_entropy(const S& structure, std::span<const double> s, double tolerance) {
  const auto e = enumerate(structure, s);
  Workspace ws;
  const double entropy = structure.entropy(s, ws);
  if (!close(entropy, e.entropy, tolerance))
    return fmt::format("the entropy is {}, not {}", entropy, e.entropy);
  return "";
}

// Frequencies in `draws` draws by Pearson's chi-square, outputs with an expectation under 5 taken together.
// The seed is the caller's, so the outcome is always the same; the bound, five standard deviations and some,
// is one that a right sampler misses once in many thousand seeds.
template <class S>
std::string check_sampling(const S& structure, std::span<const double> s, std::uint64_t seed,
                           std::size_t draws) {
  const auto e = enumerate(structure, s);
  std::vector<std::size_t> counts(e.outputs.size());
  Random random(seed);
  Workspace ws;
  for (std::size_t draw = 0; draw < draws; ++draw) {
    const std::size_t y = e.find(structure.sample(s, random, ws));
    if (y == e.outputs.size()) return "a sample is none of Y";
    if (e.probabilities[y] == 0) return "a sample is impossible";
    ++counts[y];
  }
  double statistic = 0, rare_expected = 0, rare_count = 0, cells = 0;
  const auto add_cell = [&](double expected, double count) {
    statistic += (count - expected) * (count - expected) / expected;
    ++cells;
  };
  for (std::size_t y = 0; y < counts.size(); ++y) {
    const double expected = e.probabilities[y] * static_cast<double>(draws);
    const double count = static_cast<double>(counts[y]);
    if (expected >= 5) {
      add_cell(expected, count);
    } else {
      rare_expected += expected;
      rare_count += count;
    }
  }
  if (rare_expected >= 5) {
    add_cell(rare_expected, rare_count);
  } else if (rare_count > 25) {
    return fmt::format("rare outputs were drawn {} times, {} expected", rare_count, rare_expected);
  }
  const double freedom = cells - 1;
  const double bound = freedom + 5 * std::sqrt(2 * freedom) + 10;
  if (!(statistic <= bound)) {
    return fmt::format("the frequencies' chi-square is {}, with {} degrees of freedom", statistic, freedom);
  }
  return "";
}

// d before and after centring differ by the same amount on every output, and E_mu[d] = 0 afterwards.
template <class S>
std::string check_centre(const S& structure, std::span<const float> s, std::span<const float> direction,
                         double tolerance) {
  std::vector<float> mu(s.size()), d(direction.begin(), direction.end());
  Workspace ws;
  structure.log_partition(s, std::span(mu), ws);
  structure.centre(std::span<const float>(mu), std::span(d));
  double scale = 1;
  for (const float x : direction) scale = std::max(scale, static_cast<double>(std::abs(x)));
  std::vector<double> chi(s.size());
  bool first = true;
  double shift = 0;
  for (const auto& y : all_outputs(structure)) {
    structure.indicator(y, std::span(chi));
    const double moved = score_of(std::span<const float>(d), chi) - score_of(direction, chi);
    if (first) shift = moved;
    first = false;
    if (!(std::abs(moved - shift) <= tolerance * scale)) {
      return fmt::format("one output's score moves by {}, another's by {}", shift, moved);
    }
  }
  double mean = 0;
  for (std::size_t k = 0; k < d.size(); ++k) mean += static_cast<double>(mu[k]) * d[k];
  if (!(std::abs(mean) <= tolerance * scale)) return fmt::format("the mean is {} after centring", mean);
  return {};
}

}  // namespace espalier::test_support
