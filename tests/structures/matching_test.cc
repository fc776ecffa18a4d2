#include "structures/matching.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "support/all_matchings.h"
#include "support/enumeration.h"
#include "support/random_scores.h"

namespace espalier::matching_test {
namespace {

using test_support::enumerate;
using test_support::finite_scores;
using test_support::kMinusInfinity;
using test_support::score_of;

Matching any_matching(std::size_t largest) {
  const auto m = *rc::gen::inRange<std::size_t>(1, largest + 1);
  const auto n = *rc::gen::inRange<std::size_t>(1, largest + 1);
  return {m, n, *rc::gen::inRange<std::size_t>(1, 4)};
}

// In a range that coordinate descent crosses in no time.
std::vector<double> small_scores(std::size_t n) {
  return *rc::gen::container<std::vector<double>>(
      n, rc::gen::map(rc::gen::inRange(-4000, 4001), [](int step) { return step * 1e-3; }));
}

double bound_of(const Matching& matching, std::span<const double> s) {
  Workspace ws;
  std::vector<double> mu(s.size());
  return matching.log_partition(s, std::span(mu), ws);
}

template <class Real>
std::string check_argmax(const Matching& matching, std::span<const Real> s, double tolerance) {
  const auto e = enumerate(matching, s);
  Workspace ws;
  std::vector<Real> best(s.size(), Real{-1}), decoded(s.size(), Real{-1});
  const double value = matching.argmax(s, std::span(best), ws);
  if (!test_support::close(value, e.highest, tolerance * (1 + e.largest)))
    return fmt::format("the maximum is {}, not {}", value, e.highest);
  const std::vector<double> chi(best.begin(), best.end());
  if (std::find(e.chi.begin(), e.chi.end(), chi) == e.chi.end()) return "the best is no matching";
  if (!test_support::close(score_of(s, std::span<const double>(chi)), value, 1e-12 * (1 + e.largest)))
    return "the best has another score";
  matching.indicator(matching.decode(s, ws), std::span(decoded));
  return decoded == best ? "" : "what is decoded is another one";
}

RC_GTEST_PROP(Matching, BestIsThatOfEnumeration, ()) {
  const Matching matching = any_matching(4);
  const auto s = *test_support::scores(matching.num_statistics());
  const std::vector<float> rounded(s.begin(), s.end());
  RC_ASSERT(check_argmax<double>(matching, std::span(s), 1e-14) == "");
  RC_ASSERT(check_argmax<float>(matching, std::span(rounded), 1e-14) == "");
}

// Of the dual variables that every run leaves, by the independent way of a bound: sentences too long to list
// their matchings have a best one that no exchange of two links makes better.
RC_GTEST_PROP(Matching, NoExchangeOfLinksIsBetter, ()) {
  const Matching matching(12, 9, *rc::gen::inRange<std::size_t>(1, 3));
  const auto s = small_scores(matching.num_statistics());
  Workspace ws;
  const auto best = matching.decode(std::span<const double>(s), ws);
  std::vector<std::size_t> row(12), column(9);
  for (const auto e : best) ++row[e / 9], ++column[e % 9];
  for (std::size_t e = 0; e < s.size(); ++e) {
    if (std::find(best.begin(), best.end(), e) != best.end()) {
      RC_ASSERT(s[e] > 0);
      continue;
    }
    // Links that have to go for e to come: the lowest of its row and of its column, where those are full.
    double lost = 0;
    for (const bool of_row : {true, false}) {
      if ((of_row ? row[e / 9] : column[e % 9]) < matching.most()) continue;
      double lowest = std::numeric_limits<double>::infinity();
      for (const auto f : best) {
        if (of_row ? f / 9 == e / 9 : f % 9 == e % 9) lowest = std::min(lowest, s[f]);
      }
      lost += lowest;
    }
    RC_ASSERT(s[e] <= lost + 1e-12);
  }
}

RC_GTEST_PROP(Matching, KBestIsThatOfEnumeration, ()) {
  const Matching matching = any_matching(3);
  const auto s = *test_support::scores(matching.num_statistics());
  for (const std::size_t k : {std::size_t{0}, std::size_t{1}, *rc::gen::inRange<std::size_t>(2, 40)})
    RC_ASSERT(test_support::check_kbest(matching, std::span(s), k, 1e-13) == "");
}

// log sum over subsets of at most k
double log_subsets(std::span<const double> s, std::size_t k) {
  double sum = 0;
  for (std::uint32_t set = 0; set < 1u << s.size(); ++set) {
    std::size_t members = 0;
    double score = 0;
    for (std::size_t e = 0; e < s.size(); ++e) {
      if ((set >> e & 1) == 0) continue;
      ++members;
      score += s[e];
    }
    if (members <= k) sum += std::exp(score);
  }
  return std::log(sum);
}

RC_GTEST_PROP(Matching, LogPartitionIsBounded, ()) {
  const Matching matching = any_matching(4);
  const auto s = small_scores(matching.num_statistics());
  const auto e = enumerate(matching, std::span<const double>(s));
  const double bound = bound_of(matching, s);
  RC_ASSERT(bound >= e.log_z - 1e-12);
  // d = 0 is one of those whose minimum it is.
  double apart = 0;
  const std::size_t n = matching.targets();
  for (std::size_t i = 0; i < matching.sources(); ++i)
    apart += log_subsets(std::span(s).subspan(i * n, n), matching.most()) / 2;
  for (std::size_t j = 0; j < n; ++j) {
    std::vector<double> column;
    for (std::size_t i = 0; i < matching.sources(); ++i) column.push_back(s[i * n + j]);
    apart += log_subsets(column, matching.most()) / 2;
  }
  RC_ASSERT(bound <= apart + 1e-12);
}

RC_GTEST_PROP(Matching, BoundIsExactWhereWordsDoNotCompete, ()) {
  const auto m = *rc::gen::inRange<std::size_t>(1, 5), n = *rc::gen::inRange<std::size_t>(1, 5);
  const Matching matching(m, n, std::max(m, n));
  const auto s = small_scores(matching.num_statistics());
  Workspace ws;
  std::vector<double> mu(s.size());
  double log_z = 0;
  const double bound = matching.log_partition(std::span<const double>(s), std::span(mu), ws);
  for (std::size_t e = 0; e < s.size(); ++e) {
    log_z += std::log1p(std::exp(s[e]));
    RC_ASSERT(std::abs(mu[e] - 1 / (1 + std::exp(-s[e]))) <= 1e-12);
  }
  RC_ASSERT(std::abs(bound - log_z) <= 1e-11);
}

RC_GTEST_PROP(Matching, MarginalsAreTheGradientOfTheBound, ()) {
  const Matching matching = any_matching(4);
  auto s = small_scores(matching.num_statistics());
  Workspace ws;
  std::vector<double> mu(s.size());
  matching.log_partition(std::span<const double>(s), std::span(mu), ws);
  constexpr double kStep = 1e-3;
  for (std::size_t e = 0; e < s.size(); ++e) {
    const double at = s[e];
    s[e] = at + kStep;
    const double above = bound_of(matching, s);
    s[e] = at - kStep;
    const double below = bound_of(matching, s);
    s[e] = at;
    RC_ASSERT(std::abs((above - below) / (2 * kStep) - mu[e]) <= 1e-6);
  }
}

RC_GTEST_PROP(Matching, BoundIsConvex, ()) {
  const Matching matching = any_matching(4);
  const auto s = small_scores(matching.num_statistics()), t = small_scores(matching.num_statistics());
  std::vector<double> between;
  for (std::size_t e = 0; e < s.size(); ++e) between.push_back((s[e] + t[e]) / 2);
  RC_ASSERT(bound_of(matching, between) <= (bound_of(matching, s) + bound_of(matching, t)) / 2 + 1e-10);
}

// In the hull of matchings, however the sweeps went: 0 <= mu, and at most k in each row and column.
RC_GTEST_PROP(Matching, MarginalsAreMeansOfMatchings, ()) {
  const Matching matching = any_matching(4);
  const auto s = *test_support::scores(matching.num_statistics());
  const auto e = enumerate(matching, std::span<const double>(s));
  Workspace ws;
  std::vector<double> mu(s.size());
  const double bound = matching.log_partition(std::span<const double>(s), std::span(mu), ws);
  RC_ASSERT(bound >= e.log_z - 1e-12 * (1 + e.largest));
  const std::size_t n = matching.targets();
  std::vector<double> row(matching.sources()), column(n);
  for (std::size_t k = 0; k < mu.size(); ++k) {
    RC_ASSERT(mu[k] >= 0 && mu[k] <= 1);
    if (s[k] == kMinusInfinity) RC_ASSERT(mu[k] == 0);
    row[k / n] += mu[k];
    column[k % n] += mu[k];
  }
  for (const double sum : row) RC_ASSERT(sum <= static_cast<double>(matching.most()) * (1 + 1e-14));
  for (const double sum : column) RC_ASSERT(sum <= static_cast<double>(matching.most()) * (1 + 1e-14));
}

// A pair of a score of -400 is as good as none, but scores are then too far apart for plain numbers.
RC_GTEST_PROP(Matching, LogarithmsGiveWhatPlainNumbersGive, ()) {
  const Matching matching = any_matching(4);
  auto s = small_scores(matching.num_statistics()), t = s;
  const auto pair = *rc::gen::inRange<std::size_t>(0, s.size());
  s[pair] = kMinusInfinity;
  t[pair] = -400;
  Workspace ws;
  std::vector<double> plain(s.size()), logarithms(s.size());
  const double bound = matching.log_partition(std::span<const double>(s), std::span(plain), ws);
  const double other = matching.log_partition(std::span<const double>(t), std::span(logarithms), ws);
  RC_ASSERT(std::abs(bound - other) <= 1e-11);
  for (std::size_t e = 0; e < s.size(); ++e) RC_ASSERT(std::abs(plain[e] - logarithms[e]) <= 1e-9);
}

RC_GTEST_PROP(Matching, FloatIsDoubleRounded, ()) {
  const Matching matching = any_matching(4);
  const auto s = small_scores(matching.num_statistics());
  const std::vector<float> rounded(s.begin(), s.end());
  const std::vector<double> exact(rounded.begin(), rounded.end());
  Workspace ws;
  std::vector<float> mu(s.size());
  std::vector<double> expected(s.size());
  const double bound = matching.log_partition(std::span<const float>(rounded), std::span(mu), ws);
  RC_ASSERT(std::abs(bound - matching.log_partition(std::span<const double>(exact), std::span(expected),
                                                    ws)) <= 1e-9);
  for (std::size_t e = 0; e < s.size(); ++e) RC_ASSERT(std::abs(mu[e] - expected[e]) <= 1e-5);
}

// Relaxed marginals of temperature 0 are the best matching: the polytope has no other vertices.
TEST(Matching, ColdBoundIsTheMaximum) {
  const Matching matching(3, 3, 1);
  const std::vector<double> s{2, 1.5, -1, 1.75, 0.5, -2, 0.25, -1, 0.125};
  std::vector<double> cold;
  for (const double score : s) cold.push_back(1000 * score);
  Workspace ws;
  std::vector<double> best(9), mu(9);
  const double value = matching.argmax(std::span<const double>(s), std::span(best), ws);
  EXPECT_EQ(value, 1.5 + 1.75 + 0.125);
  EXPECT_NEAR(matching.log_partition(std::span<const double>(cold), std::span(mu), ws) / 1000, value, 1e-3);
  for (std::size_t e = 0; e < 9; ++e) EXPECT_NEAR(mu[e], best[e], 1e-9);
}

TEST(Matching, SaysHowTheBoundWasFound) {
  Workspace ws;
  std::vector<double> mu(1);
  Matching::Convergence convergence;
  const double one_pair = Matching(1, 1, 1).log_partition(std::vector<double>{0.5}, mu, convergence, ws);
  EXPECT_DOUBLE_EQ(one_pair, std::log1p(std::exp(0.5)));
  EXPECT_TRUE(convergence.converged);
  EXPECT_EQ(convergence.sweeps, 1u);
}

}  // namespace
}  // namespace espalier::matching_test
