// Beliefs about dependency trees whose arcs have scores in pairs, too, by loopy belief propagation (Smith and
// Eisner 2008).
//
//   p(y) ~ [y is a tree] exp( sum_a s_a y_a + sum_{(a, b)} s_ab y_a y_b ),
//       y_a = 1 where the tree has arc a
//
// The factors are TREE, which all arcs share, and one for each pair. Messages are log odds, log m(1) / m(0).
// Let q_a be what arc a tells TREE, and b_a its belief:
//
//   q_a = s_a + sum_{(a, b)} m_ab->a
//   b_a = log mu_a / (1 - mu_a),    mu the probabilities of arcs in trees with scores q (matrix_tree.cc)
//   m_ab->b = lift(b_a - m_ab->a, s_ab),    lift(x, c) = log (1 + e^(x + c)) / (1 + e^x)
//
// b_a - m_ab->a is what a tells the pair: b_a has all that it hears, and what TREE says needs no name. A
// round costs one matrix-tree theorem, O(m^3), and O(1) a pair.
//
// The probability that TREE gives to both arcs of a pair is not known to the pair, which takes them for
// independent but for its own score. So beliefs are exact where TREE has them independent, as with no pairs,
// and wrong by their covariance otherwise.

#include <algorithm>
#include <cmath>
#include <limits>

#include "espalier/base/error.h"
#include "structures/nonprojective.h"

namespace espalier {
namespace {

constexpr int kMostRounds = 100;
constexpr double kTolerance = 1e-8;  // of a message
// How far messages go towards their new value: all the way at first, half as far each time that they are
// about to change more than in the round before, and a little farther each time that they are not.
constexpr double kShortestStep = 0.05, kLongerStep = 1.1;

// log(1 + e^x)
double softplus(double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }

// log (1 + e^(x + c)) / (1 + e^x): what c means to one arc, where the other one has log odds x. Requires that
// c is finite; x may be infinite.
double lift(double x, double c) {
  return x > 0 ? c + softplus(-x - c) - softplus(-x) : softplus(x + c) - softplus(x);
}

// The same for many x and one c that is not too large, whose exponential is known: half the time.
double lift_by(double x, double exp_c) {
  const double t = std::exp(-std::abs(x));
  return std::log((x > 0 ? t + exp_c : 1 + t * exp_c) / (1 + t));
}
constexpr double kLargestExponent = 600;

double probability(double log_odds) { return 1 / (1 + std::exp(-log_odds)); }

// What a pair's factor tells its arcs.
struct Message {
  double first, second;
};

}  // namespace

TreeBeliefs nonprojective_beliefs(std::size_t words, bool single_root, std::span<const double> s,
                                  std::span<const ArcPair> pairs, std::span<const double> pair_s,
                                  std::span<double> mu, std::span<double> pair_mu, Workspace& ws) {
  if (pairs.empty()) return {nonprojective_log_partition(words, single_root, s, mu, ws), true, 0};

  Workspace::Frame frame(ws);
  const auto messages = frame.take<Message>(pairs.size()), replies = frame.take<Message>(pairs.size());
  const auto q = frame.take<double>(s.size()), beliefs = frame.take<double>(s.size());
  const auto exp_pair_s = frame.take<double>(pairs.size());
  std::fill(messages.begin(), messages.end(), Message{0, 0});
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    ESPALIER_EXPECT(pairs[k].first != pairs[k].second && std::isfinite(pair_s[k]));
    exp_pair_s[k] = std::exp(pair_s[k]);
  }

  TreeBeliefs result{0, false, 0};
  double step = 1, last_change = std::numeric_limits<double>::infinity();
  for (;;) {
    // q_a = s_a + sum_{(a, b)} m_ab->a
    std::copy(s.begin(), s.end(), q.begin());
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      q[pairs[k].first] += messages[k].first;
      q[pairs[k].second] += messages[k].second;
    }
    result.log_z = nonprojective_log_odds(words, single_root, q, beliefs, ws);
    double change = 0;
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      // m_ab->b = lift(b_a - m_ab->a, s_ab)
      const Message m = messages[k];
      const double from_first = beliefs[pairs[k].first] - m.first;
      const double from_second = beliefs[pairs[k].second] - m.second;
      replies[k] = std::abs(pair_s[k]) < kLargestExponent
                       ? Message{lift_by(from_second, exp_pair_s[k]), lift_by(from_first, exp_pair_s[k])}
                       : Message{lift(from_second, pair_s[k]), lift(from_first, pair_s[k])};
      change =
          std::max({change, std::abs(replies[k].first - m.first), std::abs(replies[k].second - m.second)});
    }
    ++result.rounds;
    result.converged = change < kTolerance;
    // The last messages stay, since the beliefs are theirs.
    if (result.converged || result.rounds == kMostRounds) break;
    step = change > last_change ? std::max(step / 2, kShortestStep) : std::min(step * kLongerStep, 1.0);
    last_change = change;
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      messages[k].first += step * (replies[k].first - messages[k].first);
      messages[k].second += step * (replies[k].second - messages[k].second);
    }
  }

  std::transform(beliefs.begin(), beliefs.end(), mu.begin(), probability);
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    const auto [a, b] = pairs[k];
    const Message m = messages[k];
    const double to_a = beliefs[a] - m.first, to_b = beliefs[b] - m.second;
    // p(a, b) = p(a) p(b | a)
    pair_mu[k] = mu[a] * probability(to_b + pair_s[k]);
    // Bethe: log Z = log Z_TREE(q) + sum_{(a, b)} ( log Z_ab - log (1 + e^b_a) - log (1 + e^b_b) ), where
    // Z_ab = 1 + e^x_a + e^x_b + e^(x_a + x_b + s_ab) = (1 + e^x_b) (1 + e^(x_a + lift(x_b, s_ab))), x_a =
    // b_a - m_ab->a
    result.log_z += lift(to_a, replies[k].first) - lift(to_a, m.first) - lift(to_b, m.second);
  }
  return result;
}

}  // namespace espalier
