// Projective trees with scores of adjacent siblings and of grandparents.
//
// A head's modifiers on one side are found from the nearest to the farthest (Eisner 1996; McDonald and
// Pereira 2006), and what a word has below it depends on the word's own head, g (Koo and Collins 2010). For i
// < j, with W(h, s, d) the weight of an arc from h to d and of its sibling s, s = h for none, and G(g, h, d)
// that of the grandparent:
//
//   A_g(i, j) = G(g, i, j) [ W(i, i, j) L_i(i + 1, j) + sum_{i < k < j} W(i, k, j) A_g(i, k) T_i(k, j) ]
//       i -> j
//   B_g(i, j) = G(g, j, i) [ W(j, j, i) R_j(i, j - 1) + sum_{i < k < j} W(j, k, i) T_j(i, k) B_g(k, j) ]
//       j -> i
//   T_h(i, j) = sum_{i <= k < j} R_h(i, k) L_h(k + 1, j)
//       what lies between i and j, two modifiers of h
//   R_g(i, j) = sum_{i < k <= j} A_g(i, k) R_i(k, j)
//       i, a modifier of g, with all to its right, up to j
//   L_g(i, j) = sum_{i <= k < j} L_j(i, k) B_g(k, j)             j, likewise
//
// and R_g(i, i) = L_g(i, i) = 1. With any number of roots Z = R(0, m); with one, Z = sum_k W(0, 0, k) L_0(1,
// k) R_0(k, m). The root has no head: of its rows only context 0 counts. Without grandparents there is one
// context, whatever the head: time O(m^3), otherwise O(m^4), with the contexts in the innermost loop.
//
// The same recursions run in probabilities, in logarithms where those leave the range of doubles, and with
// maxima. Outside values are derivatives of log Z, from the longest span to the shortest.

#include <algorithm>
#include <cmath>

#include "espalier/base/error.h"
#include "kernels/eisner.h"
#include "structures/log_scores.h"
#include "structures/projective.h"

namespace espalier {
namespace {

using kernels::ContextRows;

struct Probabilities {
  static constexpr double kZero = 0, kOne = 1;
  static constexpr bool kHasKernels = true;
  static double weight(double score) { return std::exp(score); }
  static double times(double a, double b) { return a * b; }
  static void add(double& to, double term) { to += term; }
  static double probability(double value) { return value; }
  static double inverse(double value) { return 1 / value; }
  static double logarithm(double value) { return std::log(value); }
  static bool in_range(double z) { return z >= 1e-150 && z <= 1e150; }
};

struct Logarithms {
  static constexpr double kZero = kExcluded, kOne = 0;
  static constexpr bool kHasKernels = false;
  static double weight(double score) { return score; }
  static double times(double a, double b) { return a + b; }
  static void add(double& to, double term) {
    const double high = std::max(to, term), low = std::min(to, term);
    to = low == kExcluded ? high : high + std::log1p(std::exp(low - high));
  }
  static double probability(double value) { return std::exp(value); }
  static double inverse(double value) { return -value; }
  static double logarithm(double value) { return value; }
  static bool in_range(double z) { return z > kExcluded; }
};

struct Maxima {
  static constexpr double kZero = kExcluded, kOne = 0;
  static constexpr bool kHasKernels = false;
  static double weight(double score) { return score; }
  static double times(double a, double b) { return a + b; }
  static void add(double& to, double term) { to = std::max(to, term); }
};

// Scores, where an empty cube means zeros.
class Scores {
 public:
  Scores(std::size_t words, const SecondOrder<const double>& s) : n_(words + 1), s_(s) {}
  double arc(std::size_t h, std::size_t d) const { return s_.arcs[d * n_ + h]; }
  double sibling(std::size_t h, std::size_t s, std::size_t d) const {
    return s_.siblings.empty() ? 0 : s_.siblings[(h * n_ + s) * n_ + d];
  }
  double grandparent(std::size_t g, std::size_t h, std::size_t d) const {
    return s_.grandparents.empty() ? 0 : s_.grandparents[(g * n_ + h) * n_ + d];
  }
  // Calls use(s) for all siblings that an arc from h to d may have.
  template <class Use>
  static void for_siblings(std::size_t h, std::size_t d, const Use& use) {
    use(h);
    for (std::size_t s = std::min(h, d) + 1; s < std::max(h, d); ++s) use(s);
  }
  // Calls use(g) for all heads that h may have beside a modifier d.
  template <class Use>
  void for_grandparents(std::size_t h, std::size_t d, const Use& use) const {
    if (h == 0) return;
    for (std::size_t g = 0; g < std::min(h, d); ++g) use(g);
    for (std::size_t g = std::max(h, d) + 1; g < n_; ++g) use(g);
  }

 private:
  std::size_t n_;
  const SecondOrder<const double>& s_;
};

// What a word adds to the score of every tree: it has one head, one sibling or none, and one grandparent or,
// below the root, none. With these shifts weights are at most 1.
struct Shifts {
  std::span<double> arcs, grandparents;  // of each word as a modifier
  double root = 0;                       // of the one arc of a single root

  Shifts(std::size_t words, bool single_root, bool with_grandparents, const Scores& scores,
         Workspace::Frame& frame)
      : arcs(frame.take<double>(words + 1)), grandparents(frame.take<double>(words + 1)) {
    std::ranges::fill(arcs, 0.0);
    std::ranges::fill(grandparents, 0.0);
    double highest_root = kExcluded;
    for (std::size_t d = 1; d <= words; ++d) {
      double highest = kExcluded, highest_grandparent = kExcluded, root = kExcluded;
      for (std::size_t h = 1; h <= words; ++h) {
        if (h == d) continue;
        Scores::for_siblings(h, d, [&](std::size_t s) {
          highest = std::max(highest, scores.arc(h, d) + scores.sibling(h, s, d));
        });
        if (with_grandparents) {
          scores.for_grandparents(h, d, [&](std::size_t g) {
            highest_grandparent = std::max(highest_grandparent, scores.grandparent(g, h, d));
          });
        }
      }
      if (highest_grandparent > kExcluded) grandparents[d] = highest_grandparent;
      Scores::for_siblings(0, d, [&](std::size_t s) {
        if (s == 0 || !single_root)
          root = std::max(root, scores.arc(0, d) + scores.sibling(0, s, d) - grandparents[d]);
      });
      arcs[d] = single_root && highest > kExcluded ? highest : std::max(highest, root);
      if (arcs[d] == kExcluded) arcs[d] = 0;
      highest_root = std::max(highest_root, root - arcs[d]);
    }
    if (single_root && highest_root > kExcluded) root = highest_root;
  }
  Shifts(std::size_t words, Workspace::Frame& frame)
      : arcs(frame.take<double>(words + 1)), grandparents(frame.take<double>(words + 1)) {
    std::ranges::fill(arcs, 0.0);
    std::ranges::fill(grandparents, 0.0);
  }

  double total() const {
    double sum = root;
    for (std::size_t d = 0; d < arcs.size(); ++d) sum += arcs[d] + grandparents[d];
    return sum;
  }
};

// For each span i..j and each context, A, B, T, R and L.
struct Spans {
  std::size_t n, contexts;
  std::span<double> right_arcs, left_arcs, between, right, left;

  Spans(std::size_t nodes, std::size_t num_contexts, double zero, Workspace::Frame& frame)
      : n(nodes), contexts(num_contexts) {
    for (auto* part : {&right_arcs, &left_arcs, &between, &right, &left}) {
      *part = frame.take<double>(n * n * contexts);
      std::ranges::fill(*part, zero);
    }
  }
  double* at(std::span<double> part, std::size_t i, std::size_t j) const {
    return part.data() + (i * n + j) * contexts;
  }
  // Spans that begin at i and end at j, j + 1, ...
  ContextRows from(std::span<double> part, std::size_t i, std::size_t j) const {
    return {at(part, i, j), contexts};
  }
  // Spans that end at j and begin at i, i + 1, ...
  ContextRows to(std::span<double> part, std::size_t i, std::size_t j) const {
    return {at(part, i, j), n * contexts};
  }
};

template <class Semiring>
class Chart {
 public:
  Chart(std::size_t words, bool single_root, bool with_grandparents, const Scores& scores,
        const Shifts& shifts, Workspace::Frame& frame)
      : n_(words + 1),
        contexts_(with_grandparents ? whole_units(n_) : 1),
        first_(single_root ? 1 : 0),
        steps_(frame.take<double>(n_ * n_ * n_)),
        grandparents_(frame.take<double>(with_grandparents ? n_ * n_ * contexts_ : 0)),
        coefficients_(frame.take<double>(n_)),
        sums_(frame.take<double>(n_)),
        in(n_, contexts_, Semiring::kZero, frame) {
    std::ranges::fill(grandparents_, Semiring::kZero);
    for (std::size_t d = 1; d < n_; ++d) {
      for (std::size_t h = 0; h < n_; ++h) {
        if (h == d) continue;
        const double shift = h == 0 ? shifts.arcs[d] + shifts.grandparents[d] + shifts.root : shifts.arcs[d];
        Scores::for_siblings(h, d, [&](std::size_t s) {
          step(h, s, d) = Semiring::weight(scores.arc(h, d) + scores.sibling(h, s, d) - shift);
        });
        if (!with_grandparents) continue;
        double* to = &grandparents_[(h * n_ + d) * contexts_];
        if (h == 0) to[0] = Semiring::kOne;
        scores.for_grandparents(h, d, [&](std::size_t g) {
          to[g] = Semiring::weight(scores.grandparent(g, h, d) - shifts.grandparents[d]);
        });
      }
    }
    inside();
  }

  // The value of all trees.
  double total() const {
    if (first_ == 0) return in.at(in.right, 0, n_ - 1)[0];
    double sum = Semiring::kZero;
    for (std::size_t k = 1; k < n_; ++k) Semiring::add(sum, with_root(k));
    return sum;
  }

  // Probabilities of all parts, added to mu. Requires that trees have the value z.
  void outside(double z, const SecondOrder<double>& mu, Workspace::Frame& frame) {
    Spans out(n_, contexts_, Semiring::kZero, frame);
    const auto passed = frame.take<double>(contexts_);
    const double seed = Semiring::inverse(z);
    if (first_ == 0) {
      out.at(out.right, 0, n_ - 1)[0] = seed;
    } else {
      for (std::size_t k = 1; k < n_; ++k) {
        const double root = times(seed, step(0, 0, k));
        double &l = in.at(in.left, 1, k)[0], &r = in.at(in.right, k, n_ - 1)[0];
        out.at(out.left, 1, k)[0] = times(root, r);
        out.at(out.right, k, n_ - 1)[0] = times(root, l);
        const double p = Semiring::probability(times(seed, with_root(k)));
        mu.arcs[k * n_] = p;
        if (!mu.siblings.empty()) mu.siblings[k] = p;
      }
    }
    for (std::size_t width = n_ - 1; width > 0; --width) {
      for (std::size_t i = first_, j = i + width; j < n_; ++i, ++j) outside_span(i, j, out, passed, mu);
    }
  }

  // The heads of the best tree, with maxima.
  void best(Heads heads) const {
    if (first_ == 0) return read_right(0, 0, n_ - 1, heads);
    std::size_t root = 1;
    for (std::size_t k = 2; k < n_; ++k) {
      if (with_root(k) > with_root(root)) root = k;
    }
    heads[root - 1] = 0;
    read_left(0, 1, root, heads);
    read_right(0, root, n_ - 1, heads);
  }

 private:
  static double times(double a, double b) { return Semiring::times(a, b); }
  // Contexts after the last are grandparents that nobody has.
  static std::size_t whole_units(std::size_t n) {
    return (n + kernels::kContextUnit - 1) / kernels::kContextUnit * kernels::kContextUnit;
  }

  std::size_t context(std::size_t head) const { return contexts_ > 1 ? head : 0; }
  // W(h, s, d), siblings next to each other
  double& step(std::size_t h, std::size_t s, std::size_t d) const { return steps_[(h * n_ + d) * n_ + s]; }
  double with_root(std::size_t k) const {
    return times(step(0, 0, k), times(in.at(in.left, 1, k)[0], in.at(in.right, k, n_ - 1)[0]));
  }

  // The four sums of kernels/eisner.h. One context is too few for vectors.
  void add_rows(std::size_t count, const double* a, ContextRows x, double* y) const {
    if constexpr (Semiring::kHasKernels) {
      if (contexts_ > 1) return kernels::add_rows(count, a, x, y, contexts_);
    }
    for (std::size_t k = 0; k < count; ++k) {
      const double factor = a[k], *row = x.row(k);
      if (factor == Semiring::kZero) continue;
      for (std::size_t g = 0; g < contexts_; ++g) Semiring::add(y[g], times(factor, row[g]));
    }
  }
  void add_row_products(std::size_t count, ContextRows x, ContextRows y, double* z) const {
    if constexpr (Semiring::kHasKernels) {
      if (contexts_ > 1) return kernels::add_row_products(count, x, y, z, contexts_);
    }
    for (std::size_t k = 0; k < count; ++k) {
      const double *x_k = x.row(k), *y_k = y.row(k);
      for (std::size_t g = 0; g < contexts_; ++g) Semiring::add(z[g], times(x_k[g], y_k[g]));
    }
  }
  void spread_rows(std::size_t count, const double* a, const double* x, ContextRows y, ContextRows z,
                   double* sums) const {
    if constexpr (Semiring::kHasKernels) {
      if (contexts_ > 1) return kernels::spread_rows(count, a, x, y, z, sums, contexts_);
    }
    for (std::size_t k = 0; k < count; ++k) {
      sums[k] = Semiring::kZero;
      for (std::size_t g = 0; g < contexts_; ++g) {
        Semiring::add(y.row(k)[g], times(a[k], x[g]));
        Semiring::add(sums[k], times(x[g], z.row(k)[g]));
      }
    }
  }
  void spread_row_products(std::size_t count, const double* z, ContextRows x, ContextRows y,
                           ContextRows x_derivatives, ContextRows y_derivatives) const {
    if constexpr (Semiring::kHasKernels) {
      if (contexts_ > 1)
        return kernels::spread_row_products(count, z, x, y, x_derivatives, y_derivatives, contexts_);
    }
    for (std::size_t k = 0; k < count; ++k) {
      for (std::size_t g = 0; g < contexts_; ++g) {
        Semiring::add(x_derivatives.row(k)[g], times(z[g], y.row(k)[g]));
        Semiring::add(y_derivatives.row(k)[g], times(z[g], x.row(k)[g]));
      }
    }
  }
  // x *= G(., h, d)
  void times_grandparents(std::size_t h, std::size_t d, double* x) const {
    if (grandparents_.empty()) return;
    const double* weights = &grandparents_[(h * n_ + d) * contexts_];
    for (std::size_t g = 0; g < contexts_; ++g) x[g] = times(x[g], weights[g]);
  }

  void inside() {
    for (std::size_t i = 0; i < n_; ++i) {
      std::fill_n(in.at(in.right, i, i), contexts_, Semiring::kOne);
      std::fill_n(in.at(in.left, i, i), contexts_, Semiring::kOne);
    }
    for (std::size_t width = 1; width < n_; ++width) {
      for (std::size_t i = first_, j = i + width; j < n_; ++i, ++j) inside_span(i, j);
    }
  }

  void inside_span(std::size_t i, std::size_t j) {
    const std::size_t under_i = context(i), under_j = context(j), inner = j - i - 1;
    const auto factors = coefficients_;
    // T_h(i, j) = sum_k R_h(i, k) L_h(k + 1, j)
    if (i > 0)
      add_row_products(j - i, in.from(in.right, i, i), in.to(in.left, i + 1, j), in.at(in.between, i, j));
    // A_g(i, j) = G(g, i, j) [ W(i, i, j) L_i(i + 1, j) + sum_k W(i, k, j) A_g(i, k) T_i(k, j) ]
    double* arc = in.at(in.right_arcs, i, j);
    std::fill_n(arc, contexts_, times(step(i, i, j), in.at(in.left, i + 1, j)[under_i]));
    for (std::size_t k = i + 1; k < j; ++k)
      factors[k - i - 1] = times(step(i, k, j), in.at(in.between, k, j)[under_i]);
    add_rows(inner, factors.data(), in.from(in.right_arcs, i, i + 1), arc);
    times_grandparents(i, j, arc);
    // R_g(i, j) = sum_k A_g(i, k) R_i(k, j)
    for (std::size_t k = i + 1; k <= j; ++k) factors[k - i - 1] = in.at(in.right, k, j)[under_i];
    add_rows(j - i, factors.data(), in.from(in.right_arcs, i, i + 1), in.at(in.right, i, j));
    if (i == 0) return;
    // B_g(i, j) = G(g, j, i) [ W(j, j, i) R_j(i, j - 1) + sum_k W(j, k, i) T_j(i, k) B_g(k, j) ]
    arc = in.at(in.left_arcs, i, j);
    std::fill_n(arc, contexts_, times(step(j, j, i), in.at(in.right, i, j - 1)[under_j]));
    for (std::size_t k = i + 1; k < j; ++k)
      factors[k - i - 1] = times(step(j, k, i), in.at(in.between, i, k)[under_j]);
    add_rows(inner, factors.data(), in.to(in.left_arcs, i + 1, j), arc);
    times_grandparents(j, i, arc);
    // L_g(i, j) = sum_k L_j(i, k) B_g(k, j)
    for (std::size_t k = i; k < j; ++k) factors[k - i] = in.at(in.left, i, k)[under_j];
    add_rows(j - i, factors.data(), in.to(in.left_arcs, i, j), in.at(in.left, i, j));
  }

  // Adds what the arc from h to d, with value `inside` and derivative `outside`, says about probabilities;
  // passed <- the derivative of what stands in brackets.
  void finish_arc(std::size_t h, std::size_t d, const double* inside, const double* outside,
                  std::span<double> passed, const SecondOrder<double>& mu) const {
    double sum = 0;
    for (std::size_t g = 0; g < contexts_; ++g) {
      const double p = Semiring::probability(times(inside[g], outside[g]));
      sum += p;
      if (h > 0 && g < n_ && !mu.grandparents.empty()) mu.grandparents[(g * n_ + h) * n_ + d] = p;
    }
    mu.arcs[d * n_ + h] = sum;
    std::copy_n(outside, contexts_, passed.begin());
    times_grandparents(h, d, passed.data());
  }
  // Of the term W(h, s, d) x y_g, whose derivatives sum to `derivative` x: its probability, if anyone asks
  // for it.
  void finish_sibling(std::size_t h, std::size_t s, std::size_t d, double x, double derivative,
                      const SecondOrder<double>& mu) const {
    if (mu.siblings.empty()) return;
    mu.siblings[(h * n_ + s) * n_ + d] = Semiring::probability(times(step(h, s, d), times(x, derivative)));
  }

  void outside_span(std::size_t i, std::size_t j, const Spans& out, std::span<double> passed,
                    const SecondOrder<double>& mu) {
    const std::size_t under_i = context(i), under_j = context(j), inner = j - i - 1;
    const auto factors = coefficients_, sums = sums_;
    // R_g(i, j) = sum_k A_g(i, k) R_i(k, j)
    for (std::size_t k = i + 1; k <= j; ++k) factors[k - i - 1] = in.at(in.right, k, j)[under_i];
    spread_rows(j - i, factors.data(), out.at(out.right, i, j), out.from(out.right_arcs, i, i + 1),
                in.from(in.right_arcs, i, i + 1), sums.data());
    for (std::size_t k = i + 1; k <= j; ++k) Semiring::add(out.at(out.right, k, j)[under_i], sums[k - i - 1]);
    // A_g(i, j) = G(g, i, j) [ W(i, i, j) L_i(i + 1, j) + sum_k W(i, k, j) A_g(i, k) T_i(k, j) ]
    finish_arc(i, j, in.at(in.right_arcs, i, j), out.at(out.right_arcs, i, j), passed, mu);
    double first = Semiring::kZero;
    for (const double x : passed) Semiring::add(first, x);
    Semiring::add(out.at(out.left, i + 1, j)[under_i], times(step(i, i, j), first));
    finish_sibling(i, i, j, in.at(in.left, i + 1, j)[under_i], first, mu);
    for (std::size_t k = i + 1; k < j; ++k)
      factors[k - i - 1] = times(step(i, k, j), in.at(in.between, k, j)[under_i]);
    spread_rows(inner, factors.data(), passed.data(), out.from(out.right_arcs, i, i + 1),
                in.from(in.right_arcs, i, i + 1), sums.data());
    for (std::size_t k = i + 1; k < j; ++k) {
      Semiring::add(out.at(out.between, k, j)[under_i], times(step(i, k, j), sums[k - i - 1]));
      finish_sibling(i, k, j, in.at(in.between, k, j)[under_i], sums[k - i - 1], mu);
    }
    if (i == 0) return;
    // L_g(i, j) = sum_k L_j(i, k) B_g(k, j)
    for (std::size_t k = i; k < j; ++k) factors[k - i] = in.at(in.left, i, k)[under_j];
    spread_rows(j - i, factors.data(), out.at(out.left, i, j), out.to(out.left_arcs, i, j),
                in.to(in.left_arcs, i, j), sums.data());
    for (std::size_t k = i; k < j; ++k) Semiring::add(out.at(out.left, i, k)[under_j], sums[k - i]);
    // B_g(i, j) = G(g, j, i) [ W(j, j, i) R_j(i, j - 1) + sum_k W(j, k, i) T_j(i, k) B_g(k, j) ]
    finish_arc(j, i, in.at(in.left_arcs, i, j), out.at(out.left_arcs, i, j), passed, mu);
    first = Semiring::kZero;
    for (const double x : passed) Semiring::add(first, x);
    Semiring::add(out.at(out.right, i, j - 1)[under_j], times(step(j, j, i), first));
    finish_sibling(j, j, i, in.at(in.right, i, j - 1)[under_j], first, mu);
    for (std::size_t k = i + 1; k < j; ++k)
      factors[k - i - 1] = times(step(j, k, i), in.at(in.between, i, k)[under_j]);
    spread_rows(inner, factors.data(), passed.data(), out.to(out.left_arcs, i + 1, j),
                in.to(in.left_arcs, i + 1, j), sums.data());
    for (std::size_t k = i + 1; k < j; ++k) {
      Semiring::add(out.at(out.between, i, k)[under_j], times(step(j, k, i), sums[k - i - 1]));
      finish_sibling(j, k, i, in.at(in.between, i, k)[under_j], sums[k - i - 1], mu);
    }
    // T_h(i, j) = sum_k R_h(i, k) L_h(k + 1, j)
    spread_row_products(j - i, out.at(out.between, i, j), in.from(in.right, i, i), in.to(in.left, i + 1, j),
                        out.from(out.right, i, i), out.to(out.left, i + 1, j));
  }

  // Which k of begin, ..., end - 1 has the largest term; of equal ones the first.
  template <class Term>
  static std::size_t first_largest(std::size_t begin, std::size_t end, const Term& term) {
    std::size_t best = begin;
    for (std::size_t k = begin + 1; k < end; ++k) {
      if (term(k) > term(best)) best = k;
    }
    return best;
  }

  void read_right(std::size_t g, std::size_t i, std::size_t j, Heads heads) const {
    if (i == j) return;
    const std::size_t k = first_largest(i + 1, j + 1, [&](std::size_t at) {
      return in.at(in.right, at, j)[context(i)] + in.at(in.right_arcs, i, at)[g];
    });
    read_right_arc(g, i, k, heads);
    read_right(context(i), k, j, heads);
  }
  void read_left(std::size_t g, std::size_t i, std::size_t j, Heads heads) const {
    if (i == j) return;
    const std::size_t k = first_largest(i, j, [&](std::size_t at) {
      return in.at(in.left, i, at)[context(j)] + in.at(in.left_arcs, at, j)[g];
    });
    read_left_arc(g, k, j, heads);
    read_left(context(j), i, k, heads);
  }
  void read_right_arc(std::size_t g, std::size_t i, std::size_t j, Heads heads) const {
    heads[j - 1] = static_cast<std::uint32_t>(i);
    const std::size_t sibling = first_largest(i, j, [&](std::size_t k) {
      return k == i ? step(i, i, j) + in.at(in.left, i + 1, j)[context(i)]
                    : step(i, k, j) + in.at(in.between, k, j)[context(i)] + in.at(in.right_arcs, i, k)[g];
    });
    if (sibling == i) return read_left(context(i), i + 1, j, heads);
    read_right_arc(g, i, sibling, heads);
    read_between(context(i), sibling, j, heads);
  }
  void read_left_arc(std::size_t g, std::size_t i, std::size_t j, Heads heads) const {
    heads[i - 1] = static_cast<std::uint32_t>(j);
    const std::size_t sibling = first_largest(i + 1, j + 1, [&](std::size_t k) {
      return k == j ? step(j, j, i) + in.at(in.right, i, j - 1)[context(j)]
                    : step(j, k, i) + in.at(in.between, i, k)[context(j)] + in.at(in.left_arcs, k, j)[g];
    });
    if (sibling == j) return read_right(context(j), i, j - 1, heads);
    read_left_arc(g, sibling, j, heads);
    read_between(context(j), i, sibling, heads);
  }
  void read_between(std::size_t h, std::size_t i, std::size_t j, Heads heads) const {
    const std::size_t k = first_largest(
        i, j, [&](std::size_t at) { return in.at(in.right, i, at)[h] + in.at(in.left, at + 1, j)[h]; });
    read_right(h, i, k, heads);
    read_left(h, k + 1, j, heads);
  }

  std::size_t n_, contexts_, first_;
  std::span<double> steps_, grandparents_;  // W at [h][d][s], G at [h][d][g]
  std::span<double> coefficients_, sums_;   // of one span
  Spans in;
};

// False where the trees' value is out of range: then nothing is known.
template <class Semiring>
bool marginals(std::size_t words, bool single_root, const SecondOrder<const double>& s,
               const SecondOrder<double>& mu, double& log_z, Workspace& ws) {
  Workspace::Frame frame(ws);
  const bool with_grandparents = !s.grandparents.empty() || !mu.grandparents.empty();
  const Scores scores(words, s);
  const Shifts shifts(words, single_root, with_grandparents, scores, frame);
  Chart<Semiring> chart(words, single_root, with_grandparents, scores, shifts, frame);
  const double z = chart.total();
  for (const auto part : {mu.arcs, mu.siblings, mu.grandparents}) std::ranges::fill(part, 0.0);
  log_z = kExcluded;
  if (!Semiring::in_range(z)) return false;
  log_z = shifts.total() + Semiring::logarithm(z);
  // Whoever asks for no probabilities of arcs may still ask for others.
  SecondOrder<double> all = mu;
  if (mu.arcs.empty()) all.arcs = frame.take<double>(arc_matrix_size(words));
  chart.outside(z, all, frame);
  // Not a number where an outside value was too large.
  double heads = 0;
  for (std::size_t d = 1; d <= words; ++d) {
    for (std::size_t h = 0; h <= words; ++h) heads += h == d ? 0 : all.arcs[d * (words + 1) + h];
  }
  return std::isfinite(heads);
}

void expect_sizes(std::size_t words, const SecondOrder<const double>& s) {
  const std::size_t cube = arc_matrix_size(words) * (words + 1);
  ESPALIER_EXPECT(words > 0 && s.arcs.size() == arc_matrix_size(words));
  ESPALIER_EXPECT(s.siblings.empty() || s.siblings.size() == cube);
  ESPALIER_EXPECT(s.grandparents.empty() || s.grandparents.size() == cube);
}

}  // namespace

double projective_log_partition(std::size_t words, bool single_root, const SecondOrder<const double>& s,
                                const SecondOrder<double>& mu, Workspace& ws) {
  expect_sizes(words, s);
  double log_z = kExcluded;
  if (!marginals<Probabilities>(words, single_root, s, mu, log_z, ws))
    marginals<Logarithms>(words, single_root, s, mu, log_z, ws);
  return log_z;
}

double projective_best(std::size_t words, bool single_root, const SecondOrder<const double>& s, Heads heads,
                       Workspace& ws) {
  expect_sizes(words, s);
  ESPALIER_EXPECT(heads.size() == words);
  Workspace::Frame frame(ws);
  const Scores scores(words, s);
  const Chart<Maxima> chart(words, single_root, !s.grandparents.empty(), scores, Shifts(words, frame), frame);
  chart.best(heads);
  double score = 0;
  for (std::size_t d = 1; d <= words; ++d) {
    const std::size_t h = heads[d - 1];
    std::size_t sibling = h;
    const std::size_t towards_head = h < d ? static_cast<std::size_t>(-1) : 1;
    for (std::size_t k = d + towards_head; k != h && sibling == h; k += towards_head) {
      if (heads[k - 1] == h) sibling = k;
    }
    score += scores.arc(h, d) + scores.sibling(h, sibling, d);
    if (h > 0) score += scores.grandparent(heads[h - 1], h, d);
  }
  return score;
}

}  // namespace espalier
