// An upper bound on log Z of matchings. Let rows be the pairs of a source word and columns those of a target
// word; y is a matching where each has at most k links. Z sums over y in both R (rows are right) and C
// (columns are right), and the Cauchy-Schwarz inequality parts them: for any d,
//
//   Z = sum_{y in R and C} exp (s+d).y / 2 + (s-d).y / 2
//     <= sqrt( sum_{y in R} exp (s+d).y   sum_{y in C} exp (s-d).y )
//
// Words of R have nothing to do with each other, so that with Z_k(v) = sum over subsets of at most k of
// exp(sum of their v),
//
//   log Z <= B(s, d) = 1/2 sum_i log Z_k((s+d)_i.) + 1/2 sum_j log Z_k((s-d)_.j)
//
// B is convex in (s, d); its minimum over d is the bound, B(s). In the dual of that minimum,
//
//   B(s) = max  s.mu + 1/2 sum_i H(row i) + 1/2 sum_j H(column j),
//
// over mu with at most k in each row and column: the convex hull of matchings, whose constraints are totally
// unimodular. H(row i) is the largest entropy of subsets with the marginals mu_i., so the sum of rows alone
// bounds the entropy of any distribution of matchings (rows say all of y), and so does that of columns: a
// convex free energy with an upper bound of the entropy (Wainwright et al. 2005 have the idea, for trees).
// The gradient of B(s) is the mu of the maximum.
//
// Coordinate descent: the marginals of pair e in its row and in its column agree, with all other d as they
// are, for
//
//   odds_e = exp(s_e) sqrt(q_r q_c),    q = Z_{k-1}(others) / Z_k(others)    of its row and of its column,
//
// where row and column have the weights exp(s+d)_e = odds_e / q_r and exp(s-d)_e = odds_e / q_c. Z_k of
// others come from sums over what precedes and what follows the pair, so a sweep takes O(m n k^2).
//
// Where words compete a lot, prices rise slowly, as in an auction: the longer it takes, the further do steps
// go beyond the minimum (successive over-relaxation), by a half, three quarters and seven eighths. For the
// scores of a trained CRF that is a mean of 49 sweeps instead of 229. Any d gives a bound, so
// the worst that this may do is to end with a looser one.

#include <algorithm>
#include <cmath>
#include <limits>

#include "espalier/base/error.h"
#include "structures/matching.h"

namespace espalier {
namespace {

constexpr double kNoNumber = -std::numeric_limits<double>::infinity();

// Numbers >= 0 by their logarithms, for scores whose exponentials are none.
struct LogNumber {
  double log;

  static LogNumber exp(double x) { return {x}; }
  static LogNumber zero() { return {kNoNumber}; }
  static LogNumber one() { return {0}; }
  friend LogNumber operator*(LogNumber a, LogNumber b) { return {a.log + b.log}; }
  friend LogNumber operator/(LogNumber a, LogNumber b) { return {a.log - b.log}; }
  friend LogNumber operator+(LogNumber a, LogNumber b) {
    const double high = std::max(a.log, b.log), low = std::min(a.log, b.log);
    return low == kNoNumber ? LogNumber{high} : LogNumber{high + std::log1p(std::exp(low - high))};
  }
};
double log_of(LogNumber x) { return x.log; }
bool is_zero(LogNumber x) { return x.log == kNoNumber; }
LogNumber root(LogNumber x) { return {x.log / 2}; }
// x / (1 + x)
double share(LogNumber x) {
  return x.log > 0 ? 1 / (1 + std::exp(-x.log)) : std::exp(x.log) / (1 + std::exp(x.log));
}

struct PlainNumber {
  double value;

  static PlainNumber exp(double x) { return {std::exp(x)}; }
  static PlainNumber zero() { return {0}; }
  static PlainNumber one() { return {1}; }
  friend PlainNumber operator*(PlainNumber a, PlainNumber b) { return {a.value * b.value}; }
  friend PlainNumber operator/(PlainNumber a, PlainNumber b) { return {a.value / b.value}; }
  friend PlainNumber operator+(PlainNumber a, PlainNumber b) { return {a.value + b.value}; }
};
double log_of(PlainNumber x) { return std::log(x.value); }
bool is_zero(PlainNumber x) { return x.value == 0; }
PlainNumber root(PlainNumber x) { return {std::sqrt(x.value)}; }
double share(PlainNumber x) { return x.value / (1 + x.value); }

// The sums over subsets of c members, c = 0, ..., k.
template <class Number>
void clear_sums(Number* sums, std::size_t k) {
  sums[0] = Number::one();
  std::fill_n(sums + 1, k, Number::zero());
}
// With one more that may be a member.
template <class Number>
void add_member(const Number* sums, std::size_t k, Number weight, Number* with) {
  for (std::size_t c = k; c > 0; --c) with[c] = sums[c] + weight * sums[c - 1];
  with[0] = sums[0];
}
template <class Number>
Number total(const Number* sums, std::size_t k) {
  Number sum = sums[0];
  for (std::size_t c = 1; c <= k; ++c) sum = sum + sums[c];
  return sum;
}
// Z_{k-1} / Z_k of those before and those after.
template <class Number>
Number room_for_one(const Number* before, const Number* after, std::size_t k) {
  Number fewer = Number::zero(), exactly = Number::zero();
  for (std::size_t a = 0; a <= k; ++a) {
    for (std::size_t b = 0; a + b < k; ++b) fewer = fewer + before[a] * after[b];
    exactly = exactly + before[a] * after[k - a];
  }
  return fewer / (fewer + exactly);
}

template <class Number>
class Sweeps {
 public:
  Sweeps(const Matching& matching, std::span<const double> s, Workspace::Frame& frame)
      : m_(matching.sources()),
        n_(matching.targets()),
        k_(matching.most()),
        in_row_(frame.take<Number>(s.size())),
        in_column_(frame.take<Number>(s.size())),
        below_(frame.take<Number>((m_ + 1) * n_ * size())),
        right_(frame.take<Number>((n_ + 1) * size())),
        above_(frame.take<Number>(n_ * size())),
        left_(frame.take<Number>(size())) {
    for (std::size_t e = 0; e < s.size(); ++e) in_row_[e] = in_column_[e] = Number::exp(s[e]);
  }

  // Once over all pairs, to the minimum of each or 1/2 + 1/4 + ... (`further` terms) beyond it. mu becomes
  // their marginals; returns the bound, and how far the two of a pair were apart.
  double sweep(int further, std::span<double> mu, double& residual) {
    residual = 0;
    double bound = 0;
    for (std::size_t j = 0; j < n_; ++j) {
      clear_sums(above_.data() + j * size(), k_);
      clear_sums(below(m_, j), k_);
      for (std::size_t i = m_; i-- > 0;) add_member(below(i + 1, j), k_, in_column_[i * n_ + j], below(i, j));
    }
    for (std::size_t i = 0; i < m_; ++i) {
      clear_sums(right_.data() + n_ * size(), k_);
      for (std::size_t j = n_; j-- > 0;)
        add_member(right_.data() + (j + 1) * size(), k_, in_row_[i * n_ + j], right_.data() + j * size());
      clear_sums(left_.data(), k_);
      for (std::size_t j = 0; j < n_; ++j) {
        const std::size_t e = i * n_ + j;
        Number* const above = above_.data() + j * size();
        const Number q_row = room_for_one<Number>(left_.data(), right_.data() + (j + 1) * size(), k_);
        const Number q_column = room_for_one<Number>(above, below(i + 1, j), k_);
        const Number row = in_row_[e] * q_row, column = in_column_[e] * q_column;
        residual = std::max(residual, std::abs(share(row) - share(column)));
        const Number odds = root(row) * root(column);
        mu[e] = share(odds);
        if (!is_zero(odds)) {
          Number step = odds / row;
          Number part = step;
          for (int k = 0; k < further; ++k) {
            part = root(part);
            step = step * part;
          }
          in_row_[e] = in_row_[e] * step;
          in_column_[e] = in_column_[e] / step;
        }
        add_member(left_.data(), k_, in_row_[e], left_.data());
        add_member(above, k_, in_column_[e], above);
      }
      bound += log_of(total(left_.data(), k_)) / 2;
    }
    for (std::size_t j = 0; j < n_; ++j) bound += log_of(total(above_.data() + j * size(), k_)) / 2;
    return bound;
  }

 private:
  std::size_t size() const { return k_ + 1; }
  Number* below(std::size_t i, std::size_t j) { return below_.data() + (i * n_ + j) * size(); }

  std::size_t m_, n_, k_;
  std::span<Number> in_row_, in_column_;  // exp(s+d), exp(s-d)
  std::span<Number> below_;               // sums of column j from row i on
  std::span<Number> right_;               // of this row, from column j on
  std::span<Number> above_, left_;        // of the rows, and the columns of this row, that were seen
};

int how_far(std::size_t sweeps) { return sweeps < 10 ? 0 : sweeps < 50 ? 1 : sweeps < 200 ? 2 : 3; }

template <class Number>
double sweep_until(const Matching& matching, std::span<const double> s, double enough, std::span<double> mu,
                   Matching::Convergence& convergence, Workspace& ws) {
  constexpr std::size_t kMostSweeps = 1000;
  Workspace::Frame frame(ws);
  Sweeps<Number> sweeps(matching, s, frame);
  double bound = 0;
  convergence = {};
  do {
    bound = sweeps.sweep(how_far(convergence.sweeps), mu, convergence.residual);
    ++convergence.sweeps;
    convergence.converged = convergence.residual <= enough;
  } while (!convergence.converged && convergence.sweeps < kMostSweeps);
  return bound;
}

// Rows and columns of more than k are scaled down, so that mu is a mean of matchings whatever the residual.
void pull_inside(const Matching& matching, std::span<double> mu) {
  const auto most = static_cast<double>(matching.most());
  const auto scale = [&](std::size_t first, std::size_t step, std::size_t count) {
    double sum = 0;
    for (std::size_t k = 0; k < count; ++k) sum += mu[first + k * step];
    if (sum <= most) return;
    for (std::size_t k = 0; k < count; ++k) mu[first + k * step] *= most / sum;
  };
  const std::size_t m = matching.sources(), n = matching.targets();
  for (std::size_t i = 0; i < m; ++i) scale(i * n, 1, n);
  for (std::size_t j = 0; j < n; ++j) scale(j, n, m);
}

}  // namespace

double matching_bound(const Matching& matching, std::span<const double> s, double enough,
                      std::span<double> mu, Matching::Convergence& convergence, Workspace& ws) {
  ESPALIER_EXPECT(s.size() == matching.num_statistics() && mu.size() == s.size());
  // d is at most as large as the scores, and sums have products of k weights.
  constexpr double kLargestExponent = 600;
  double largest = 0;
  for (const double score : s) {
    if (std::isfinite(score)) largest = std::max(largest, std::abs(score));
  }
  const bool plain = 2 * static_cast<double>(matching.most() + 1) * largest < kLargestExponent;
  const double bound = plain ? sweep_until<PlainNumber>(matching, s, enough, mu, convergence, ws)
                             : sweep_until<LogNumber>(matching, s, enough, mu, convergence, ws);
  pull_inside(matching, mu);
  return bound;
}

double Matching::log_partition(std::span<const double> s, std::span<double> mu, Convergence& convergence,
                               Workspace& ws) const {
  return matching_bound(*this, s, 1e-10, mu, convergence, ws);
}
double Matching::log_partition(std::span<const double> s, std::span<double> mu, Workspace& ws) const {
  Convergence convergence;
  return log_partition(s, mu, convergence, ws);
}
// Marginals are rounded to floats anyway.
double Matching::log_partition(std::span<const float> s, std::span<float> mu, Workspace& ws) const {
  Workspace::Frame frame(ws);
  const auto scores = frame.take<double>(s.size()), means = frame.take<double>(s.size());
  std::copy(s.begin(), s.end(), scores.begin());
  Convergence convergence;
  const double bound = matching_bound(*this, scores, 1e-6, means, convergence, ws);
  for (std::size_t e = 0; e < mu.size(); ++e) mu[e] = static_cast<float>(means[e]);
  return bound;
}

}  // namespace espalier
