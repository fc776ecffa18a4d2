// The sum over all dependency trees, and the probabilities of their arcs, without a subtraction. With weights
// w(h, d) = exp s(h, d),
//
//   Z = sum over trees of prod_{(h, d) in tree} w(h, d),    mu(h, d) = d log Z / d s(h, d)
//
// The matrix-tree theorem (Tutte 1984; Koo et al. 2007, section 3) says that Z is a determinant. Its factors
// lose all their digits where scores differ much, since their diagonal is a small difference of large
// numbers. But each row of the matrix sums to zero, so that the diagonal is also a sum, which is how
// Grassmann, Taksar and Heyman (1985) solve Markov chains. The chain here walks from a word to one of its
// heads, h with probability w(h, d) / sum_h' w(h', d), and ends at the root. Eliminating word k watches the
// walk only while it is elsewhere:
//
//   Z = c_k Z',    c_k = sum_{h != k} w(h, k),    w'(h, d) = w(h, d) + w(h, k) w(k, d) / c_k        (h != d)
//
// The walk also has the marginals. The trees that contain (h, d) are (h, d) and two trees, one rooted at 0,
// which has h, and one rooted at d; this is the weight of all such pairs times the probability e(h, d) that a
// walk from h ends at the root before it meets d. Hence
//
//   mu(h, d) = w(h, d) e(h, d) / sum_h' w(h', d) e(h', d)
//   e(0, d) = 1,    e(d, d) = 0,    e(k, d) = sum_{h != k} w(h, k) / c_k e(h, d)
//
// where the last one has the weights that k was eliminated with, and d must be eliminated later than k. So d
// is to be the last word, for each d in turn. These eliminations share their beginnings: eliminate one half
// of the words and solve the rest, then the other half, recursively. That is m^3 (1 + 1/4 + 1/16 + ...)
// multiplications, about as many as an inverse.
//
// One modifier of the root: let its weights be infinitely small, epsilon w(0, d). Trees with two modifiers
// vanish, and what is left is of first order: Z and all e(h, d), h > 0, are multiples of epsilon, and the
// root is no term of c_k but for the last word.
//
// Everything is a sum, a product or a quotient of positive numbers, thus right to a few digits less than
// their type has. Doubles do where nothing can underflow; otherwise the same steps are taken in numbers with
// a wider exponent.

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "espalier/base/error.h"
#include "kernels/softmax.h"
#include "structures/nonprojective.h"

namespace espalier {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A number that is not negative, of any magnitude: value * 2^(512 exponent), 2^-256 <= value < 2^256, or 0.
class Scaled {
 public:
  Scaled() = default;  // uninitialised, as memory of a workspace is
  explicit Scaled(double value) : Scaled(value, value > 0 ? 0 : -kInfinity) {}
  static Scaled exp(double x) {
    if (x == -kInfinity) return Scaled(0);
    const double exponent = std::round(x / kLogStep);
    // There is something to clamp only where |x| > 1e15, whose last digit means a factor of e or more.
    return {std::exp(std::clamp(x - exponent * kLogStep, -kLogStep / 2, kLogStep / 2)), exponent};
  }
  double log() const { return value_ > 0 ? std::log(value_) + exponent_ * kLogStep : -kInfinity; }
  double value() const { return value_ * std::exp2(512 * exponent_); }
  double exponent() const { return exponent_; }
  Scaled shifted(double exponents) const { return {value_, exponent_ + exponents}; }

  friend Scaled operator*(Scaled a, Scaled b) { return {a.value_ * b.value_, a.exponent_ + b.exponent_}; }
  // Requires b > 0.
  friend Scaled operator/(Scaled a, Scaled b) { return {a.value_ / b.value_, a.exponent_ - b.exponent_}; }
  friend Scaled operator+(Scaled a, Scaled b) {
    if (a.exponent_ < b.exponent_) std::swap(a, b);
    const double behind = a.exponent_ - b.exponent_;
    if (behind > 1) return a;  // by a factor of 2^512 at least
    return {a.value_ + (behind == 1 ? b.value_ * kDown : b.value_), a.exponent_};
  }
  Scaled& operator+=(Scaled b) { return *this = *this + b; }
  Scaled& operator*=(Scaled b) { return *this = *this * b; }
  friend bool is_zero(Scaled a) { return a.value_ == 0; }

 private:
  Scaled(double value, double exponent) : value_(value), exponent_(exponent) {
    if (value_ >= kHigh) {
      value_ *= kDown;
      exponent_ += 1;
    } else if (value_ < kLow && value_ > 0) {
      value_ *= kUp;
      exponent_ -= 1;
    }
  }

  static constexpr double kHigh = 0x1p256, kLow = 0x1p-256, kUp = 0x1p512, kDown = 0x1p-512;
  static constexpr double kLogStep = 512 * 0.693147180559945309417232121458;

  double value_, exponent_;  // the exponent of 0 is -infinity
};

bool is_zero(double a) { return a == 0; }

// What underflow would begin at, with room for a sum or two.
constexpr double kSmallest = 1e-290, kLargest = 1e290;

// Weights of arcs between m words, one row for each modifier, and of those that lead from the root.
template <class Real>
struct Weights {
  std::span<Real> words, root;
};

// The elimination of all words but one, for each of them.
template <class Real>
class Elimination {
 public:
  // first_order: weights of the root are infinitely small. may_underflow: look out for it.
  Elimination(std::size_t words, bool first_order, bool may_underflow, std::span<Real> escape, Workspace& ws)
      : words_(words),
        first_order_(first_order),
        may_underflow_(may_underflow),
        escape_(escape.data()),
        ws_(ws) {}

  // Sets escape(h, d) = e(h, d), one row for each h > 0, and Z; destroys the weights. Returns false where a
  // double does not do or, among other numbers, where there is no tree.
  bool run(const Weights<Real>& w, Scaled& z) {
    z_ = Scaled(1);
    ok_ = true;
    solve({words_, w.words.data(), words_, w.root.data(), escape_}, true);
    z = z_;
    return ok_;
  }

 private:
  // n words that follow each other; the others are eliminated.
  struct Block {
    std::size_t n;
    Real* w;
    std::size_t stride;
    Real* root;
    Real* escape;  // from the first of them to itself

    Block from(std::size_t begin, std::size_t end, std::size_t escape_stride) const {
      return {end - begin, w + begin * stride + begin, stride, root + begin,
              escape + begin * escape_stride + begin};
    }
  };

  void solve(const Block& block, bool first) {
    const std::size_t n = block.n, half = n / 2;
    if (n == 1) {
      block.escape[0] = Real(0);
      if (is_zero(block.root[0])) ok_ = false;
      if (first) z_ *= Scaled(block.root[0]);
      return;
    }
    {
      Workspace::Frame frame(ws_);
      const auto w = frame.template take<Real>(n * n), root = frame.template take<Real>(n);
      for (std::size_t d = 0; d < n; ++d)
        std::copy(block.w + d * block.stride, block.w + d * block.stride + n, w.data() + d * n);
      std::copy(block.root, block.root + n, root.data());
      const Block copy{n, w.data(), n, root.data(), block.escape};
      for (std::size_t k = 0; k < half && ok_; ++k) eliminate(copy, k, k + 1, n, first);
      if (ok_) solve(copy.from(half, n, words_), first);
      for (std::size_t k = half; k-- > 0 && ok_;) walk(copy, k, k + 1, n, half, n);
    }
    for (std::size_t k = n; k-- > half && ok_;) eliminate(block, k, 0, k, false);
    if (ok_) solve(block.from(0, half, words_), false);
    for (std::size_t k = half; k < n && ok_; ++k) walk(block, k, 0, k, 0, half);
  }

  // Eliminates word k, where [begin, end) are left. Its row becomes the probabilities of a step.
  void eliminate(const Block& block, std::size_t k, std::size_t begin, std::size_t end, bool first) {
    Real* from = block.w + k * block.stride;
    // c_k = sum_{h != k} w(h, k)
    Real sum = first_order_ ? Real(0) : block.root[k];
    for (std::size_t h = begin; h < end; ++h) sum += from[h];
    if (is_zero(sum)) {
      ok_ = false;
      return;
    }
    if (first) z_ *= Scaled(sum);
    for (std::size_t h = begin; h < end; ++h) from[h] = from[h] / sum;
    block.root[k] = block.root[k] / sum;
    // w'(h, d) = w(h, d) + w(h, k) / c_k w(k, d)
    for (std::size_t d = begin; d < end; ++d) {
      Real* to = block.w + d * block.stride;
      const Real weight = to[k];
      if (is_zero(weight)) continue;
      add_multiple(weight, from + begin, end - begin, to + begin);
      block.root[d] += weight * block.root[k];
    }
    if constexpr (std::is_same_v<Real, double>) {
      if (!(block.root[k] < kLargest)) ok_ = false;
      if (!may_underflow_) return;
      double weight = 1;
      for (std::size_t d = begin; d < end; ++d) weight = smaller(weight, block.w[d * block.stride + k]);
      if (sum < kSmallest || smallest_step(block, k, begin, end) * weight < kSmallest) ok_ = false;
    }
  }

  // e(k, d) = sum_{h != k} w(h, k) / c_k e(h, d) for all d in [begin_d, end_d), and h in [begin, end) or the
  // root.
  void walk(const Block& block, std::size_t k, std::size_t begin, std::size_t end, std::size_t begin_d,
            std::size_t end_d) {
    const Real* step = block.w + k * block.stride;
    Real* to = block.escape + k * words_ + begin_d;
    std::fill(to, to + (end_d - begin_d), block.root[k]);
    for (std::size_t h = begin; h < end; ++h) {
      if (!is_zero(step[h])) add_multiple(step[h], block.escape + h * words_ + begin_d, end_d - begin_d, to);
    }
    if constexpr (std::is_same_v<Real, double>) {
      if (!may_underflow_) return;
      if (smallest_step(block, k, begin, end) * smallest_escape_ < kSmallest) ok_ = false;
      for (std::size_t d = 0; d < end_d - begin_d; ++d) smallest_escape_ = smaller(smallest_escape_, to[d]);
    }
  }

  static void add_multiple(Real factor, const Real* __restrict from, std::size_t n, Real* __restrict to) {
    for (std::size_t k = 0; k < n; ++k) to[k] += factor * from[k];
  }

  // Zeros are exact: no arc leads there.
  static double smaller(double a, double b) { return b > 0 && b < a ? b : a; }
  static double smallest_step(const Block& block, std::size_t k, std::size_t begin, std::size_t end) {
    double smallest = smaller(1, block.root[k]);
    for (std::size_t h = begin; h < end; ++h) smallest = smaller(smallest, block.w[k * block.stride + h]);
    return smallest;
  }

  std::size_t words_;
  bool first_order_, may_underflow_;
  Real* escape_;
  Workspace& ws_;
  Scaled z_;
  double smallest_escape_ = 1;
  bool ok_ = true;
};

// An infinitely small number: so many exponents that no scores make up for it, and few enough that the
// exponents of all its powers are exact.
constexpr double kInfinitesimal = -0x1p40;

double plain(double a) { return a; }
double plain(Scaled a) { return a.value(); }
double logarithm(double a) { return std::log(a); }
double logarithm(Scaled a) {
  if (std::abs(a.exponent()) > -kInfinitesimal / 2) return std::copysign(kInfinity, a.exponent());
  return a.log();
}

// v(h) = w(h, d) e(h, d), h = 0, ..., m, is in proportion to the probabilities of the heads of d. What
// callers want of it:
struct Probabilities {
  static constexpr double kNone = 0;

  template <class Real>
  static void write(std::span<const Real> v, std::span<Real>, double* row) {
    Real sum(0);
    for (const Real x : v) sum += x;
    for (std::size_t h = 0; h < v.size(); ++h) row[h] = plain(v[h] / sum);
  }
};

struct LogOdds {
  static constexpr double kNone = -kInfinity;

  template <class Real>
  static void write(std::span<const Real> v, std::span<Real> after, double* row) {
    Real sum(0);
    for (std::size_t h = v.size(); h-- > 0; sum += v[h]) after[h] = sum;
    // log mu / (1 - mu), with 1 - mu as the sum of all others
    Real before(0);
    for (std::size_t h = 0; h < v.size(); before += v[h++]) {
      const Real others = before + after[h];
      row[h] = is_zero(v[h]) ? -kInfinity : is_zero(others) ? kInfinity : logarithm(v[h] / others);
    }
  }
};

// All of it in one type of numbers. Returns Z of these weights; 0 where the type does not do, or where there
// is no tree.
template <class Output, class Real>
Scaled sum_trees(std::size_t words, bool first_order, bool may_underflow, const Weights<Real>& w,
                 std::span<double> out, Workspace& ws) {
  Workspace::Frame frame(ws);
  const auto escape = frame.template take<Real>(words * words);
  const Weights<Real> copy{frame.template take<Real>(words * words), frame.template take<Real>(words)};
  std::copy(w.words.begin(), w.words.end(), copy.words.begin());
  std::copy(w.root.begin(), w.root.end(), copy.root.begin());
  Scaled z(0);
  if (!Elimination<Real>(words, first_order, may_underflow, escape, ws).run(copy, z)) return Scaled(0);

  const auto v = frame.template take<Real>(words + 1), scratch = frame.template take<Real>(words + 1);
  std::fill(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(words) + 1, Output::kNone);
  for (std::size_t d = 0; d < words; ++d) {
    v[0] = w.root[d];
    for (std::size_t h = 0; h < words; ++h) v[h + 1] = w.words[d * words + h] * escape[h * words + d];
    if constexpr (std::is_same_v<Real, double>) {
      for (std::size_t h = 0; may_underflow && h < words; ++h) {
        if (v[h + 1] < kSmallest && w.words[d * words + h] > 0 && escape[h * words + d] > 0) return Scaled(0);
      }
    }
    Output::write(std::span<const Real>(v), scratch, &out[(d + 1) * (words + 1)]);
  }
  return z;
}

class MatrixTree {
 public:
  MatrixTree(std::size_t words, bool single_root, std::span<const double> s, Workspace& ws)
      : words_(words), single_root_(single_root), s_(s), ws_(ws) {
    ESPALIER_EXPECT(words > 0);
    if (!single_root) return;
    // A word that has no head but the root leaves the root no other modifier.
    for (std::size_t d = 0; d < words && single_root_; ++d) {
      bool only = true;
      for (std::size_t h = 1; h <= words && only; ++h) only = score(h, d) == -kInfinity;
      if (!only) continue;
      only_modifier_ = d;
      single_root_ = false;
    }
  }

  template <class Output>
  double run(std::span<double> out) {
    Workspace::Frame frame(ws_);
    double log_z = 0;
    {
      Weights<double> w{frame.take<double>(words_ * words_), frame.take<double>(words_)};
      bool may_underflow = false;
      if (set_weights(w, may_underflow, log_z)) {
        const Scaled z = sum_trees<Output>(words_, single_root_, may_underflow, w, out, ws_);
        if (!is_zero(z)) return log_z + z.log();
      }
    }
    Weights<Scaled> w{frame.take<Scaled>(words_ * words_), frame.take<Scaled>(words_)};
    log_z = set_weights(w);
    Scaled z = sum_trees<Output>(words_, false, false, w, out, ws_);
    if (single_root_) z = z.shifted(-kInfinitesimal);
    if (is_zero(z) || z.exponent() < kInfinitesimal / 2) {
      std::fill(out.begin(), out.end(), Output::kNone);
      return -kInfinity;
    }
    return log_z + z.log();
  }

 private:
  // The score of the arc from h to word d + 1.
  double score(std::size_t h, std::size_t d) const {
    if (h == d + 1 || (h == 0 && only_modifier_ < words_ && d != only_modifier_)) return -kInfinity;
    return s_[arc_matrix_index(words_, h, d + 1)];
  }

  // Weights that sum to 1 for each word, the root left out if it is infinitesimal. log_scale is the logarithm
  // of what Z must be multiplied with. Returns false where a double does not do.
  bool set_weights(const Weights<double>& w, bool& may_underflow, double& log_scale) const {
    Workspace::Frame frame(ws_);
    const auto row = frame.take<double>(words_ + 1);
    const std::size_t begin = single_root_ ? 1 : 0;
    double range = 0;
    std::size_t excluded = 0;
    log_scale = 0;
    for (std::size_t d = 0; d < words_; ++d) {
      double highest = -kInfinity, lowest = kInfinity;
      for (std::size_t h = 0; h <= words_; ++h) row[h] = score(h, d);
      for (std::size_t h = begin; h <= words_; ++h) {
        highest = std::max(highest, row[h]);
        lowest = row[h] > -kInfinity ? std::min(lowest, row[h]) : lowest;
        excluded += row[h] > -kInfinity ? 0 : 1;
      }
      if (highest == -kInfinity) return false;
      range = std::max(range, highest - lowest);
      if (!(range < kRange)) return false;
      const double log_sum = kernels::softmax(&row[begin], words_ + 1 - begin, &row[begin]);
      std::copy(row.begin() + 1, row.end(), w.words.begin() + static_cast<std::ptrdiff_t>(d * words_));
      w.root[d] = single_root_ ? row[0] - log_sum : row[0];
      log_scale += log_sum;
    }
    if (single_root_) {
      const double highest = *std::max_element(w.root.begin(), w.root.end());
      if (highest == -kInfinity) return false;
      for (double& x : w.root) {
        if (x > -kInfinity)
          range = std::max(range, highest - x);
        else
          ++excluded;
        x = std::exp(x - highest);
      }
      log_scale += highest;
    }
    // Where every arc is allowed, weights only grow, and sums of weights only shrink.
    may_underflow = range > kRange / 2 || excluded > words_;
    return range < kRange;
  }
  // Those of each word are at most 1.
  double set_weights(const Weights<Scaled>& w) const {
    double log_scale = 0;
    for (std::size_t d = 0; d < words_; ++d) {
      double highest = -kInfinity;
      for (std::size_t h = 0; h <= words_; ++h) highest = std::max(highest, score(h, d));
      const double shift = highest > -kInfinity ? highest : 0;
      for (std::size_t h = 1; h <= words_; ++h)
        w.words[d * words_ + h - 1] = Scaled::exp(score(h, d) - shift);
      w.root[d] = Scaled::exp(score(0, d) - shift).shifted(single_root_ ? kInfinitesimal : 0);
      log_scale += shift;
    }
    return log_scale;
  }

  // The logarithm of the range of weights that doubles are used for.
  static constexpr double kRange = 600;

  std::size_t words_;
  bool single_root_;
  std::size_t only_modifier_ = static_cast<std::size_t>(-1);  // of the root
  std::span<const double> s_;
  Workspace& ws_;
};

}  // namespace

double nonprojective_log_partition(std::size_t words, bool single_root, std::span<const double> s,
                                   std::span<double> mu, Workspace& ws) {
  return MatrixTree(words, single_root, s, ws).run<Probabilities>(mu);
}

double nonprojective_log_odds(std::size_t words, bool single_root, std::span<const double> s,
                              std::span<double> log_odds, Workspace& ws) {
  return MatrixTree(words, single_root, s, ws).run<LogOdds>(log_odds);
}

}  // namespace espalier
