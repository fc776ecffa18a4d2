// Projective trees (Eisner 1996), vectorised over the end of a span.
//
// W(h, d) is the weight of the arc from h to d. A span i..j with i < j is seen in four ways:
//
//   A(i, j)  an arc i -> j, with all that lies between its ends    = W(i, j) S(i, j)
//   B(i, j)  an arc j -> i, likewise                               = W(j, i) S(i, j)
//   R(i, j)  i with all that it has to its right, up to j          = sum_{i < k <= j} A(i, k) R(k, j)
//   L(i, j)  j with all that it has to its left, down to i         = sum_{i <= k < j} L(i, k) B(k, j)
//
// where S(i, j) = sum_{i <= k < j} R(i, k) L(k + 1, j) and R(i, i) = L(i, i) = 1. Each tree comes about in
// one way. With any number of roots Z = R(0, m); with one, Z = sum_k L(1, k) W(0, k) R(k, m), and spans begin
// at word 1.
//
// Rows are computed from the last to the first. In row i, as soon as A, B, R and L are known at j they are
// multiplied with the rows j and j + 1, which are complete, and added to what is still to come: sums of whole
// rows, without any sum across a vector. Vectors may begin and end outside the triangle: in rows of inside
// values there are zeros, and whatever else is there stays in lanes that nobody reads.
//
// The outside values, written A', B', R', L' and S', are derivatives of log Z:
//
//   A'(i, j) = sum_{k >= j} R'(i, k) R(j, k)
//                                                   R'(i, j) = sum_{h < i} A(h, i) R'(h, j)
//                                                       + sum_{k > j} S'(i, k) L(j + 1, k)
//   B'(i, j) = sum_{h <= i} L(h, i) L'(h, j)
//                                                   L'(i, j) = sum_{h < i} R(h, i - 1) S'(h, j)
//                                                       + sum_{k > j} L'(i, k) B(j, k)
//   S'(i, j) = W(i, j) A'(i, j) + W(j, i) B'(i, j)  P(i -> j) = A(i, j) A'(i, j),
//                                                   P(j -> i) = B(i, j) B'(i, j)
//
// They go from the first row to the last. Sums over h are products of a vector and the rows before; those
// over k are passed on within the row, from its end to its beginning, with columns of the inside values,
// which are therefore kept twice.
//
// Time O(m^3), memory O(m^2). Each word has one head, so its scores may be shifted: the largest weight of a
// word is 1. Sums of products of such weights, with outside values that are at most the number of trees / Z,
// lose nothing that could be seen where a product underflows, as long as Z is not small. Where it is, the
// caller has to work with logarithms.

#include "kernels/eisner.h"

#include <algorithm>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/eisner.cc"
#include <hwy/foreach_target.h>
// foreach_target.h comes first.
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include "kernels/partial-inl.h"

#ifndef ESPALIER_KERNELS_EISNER_ONCE
#define ESPALIER_KERNELS_EISNER_ONCE
namespace espalier::kernels {

// Square matrices with rows of whole vectors. Row and column m + 1 are empty spans, which saves asking for
// them.
struct EisnerChart {
  std::size_t words, stride;
  double* weights;                                     // W(h, d) at [d][h]
  double *right, *left, *right_arcs, *left_arcs;       // R, L, A, B at [i][j]
  double *sums, *right_sums, *left_sums;               // one row: what is known of S, R and L in row i
  double *right_columns, *left_columns;                // R(i, j) at [j][i], L(i + 1, j) at [j][i]
  double *right_arc_columns, *left_arc_columns;        // A(i, j) and B(i, j) at [j][i]
  double *outside_right, *outside_left, *outside_sum;  // R', L', S' at [i][j]
  double* outside_arcs;                                // one row: A'

  static std::size_t stride_of(std::size_t words) { return (words + 2 + 7) / 8 * 8; }
  static std::size_t size(std::size_t words) { return (12 * (words + 2) + 3) * stride_of(words); }

  EisnerChart(std::size_t m, double* memory) : words(m), stride(stride_of(m)) {
    const auto take = [&](std::size_t rows) {
      double* start = memory;
      memory += rows * stride;
      return start;
    };
    for (double** matrix :
         {&weights, &right, &left, &right_arcs, &left_arcs, &right_columns, &left_columns, &right_arc_columns,
          &left_arc_columns, &outside_right, &outside_left, &outside_sum})
      *matrix = take(words + 2);
    sums = take(1);
    right_sums = take(1);
    left_sums = take(1);
    outside_arcs = sums;  // inside sums are not needed any more
  }
  double* row(double* matrix, std::size_t i) const { return matrix + i * stride; }
};

// Which of n terms is the largest; of equal ones the first.
template <class Term>
std::size_t first_largest(std::size_t n, const Term& term) {
  std::size_t best = 0;
  for (std::size_t k = 1; k < n; ++k) {
    if (term(k) > term(best)) best = k;
  }
  return best;
}

// Heads within spans of the best tree.
class EisnerTraceback {
 public:
  EisnerTraceback(const EisnerChart& chart, std::uint32_t* heads) : chart_(chart), heads_(heads) {}

  void right(std::size_t i, std::size_t j) {
    while (i < j) {
      const std::size_t k = i + 1 + first_largest(j - i, [&](std::size_t n) {
                              return at(chart_.right_arcs, i, i + 1 + n) + at(chart_.right, i + 1 + n, j);
                            });
      heads_[k - 1] = static_cast<std::uint32_t>(i);
      between(i, k);
      i = k;
    }
  }
  void left(std::size_t i, std::size_t j) {
    while (i < j) {
      const std::size_t k = i + first_largest(j - i, [&](std::size_t n) {
                              return at(chart_.left, i, i + n) + at(chart_.left_arcs, i + n, j);
                            });
      heads_[k - 1] = static_cast<std::uint32_t>(j);
      between(k, j);
      j = k;
    }
  }

 private:
  double at(const double* matrix, std::size_t i, std::size_t j) const {
    return matrix[i * chart_.stride + j];
  }
  void between(std::size_t i, std::size_t j) {
    const std::size_t k = i + first_largest(j - i, [&](std::size_t n) {
                            return at(chart_.right, i, i + n) + at(chart_.left, i + n + 1, j);
                          });
    right(i, k);
    left(k + 1, j);
  }

  const EisnerChart& chart_;
  std::uint32_t* heads_;
};

}  // namespace espalier::kernels
#endif  // ESPALIER_KERNELS_EISNER_ONCE

HWY_BEFORE_NAMESPACE();
namespace espalier::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, 4>;  // rows are short: longer vectors take as long or longer

struct SumProduct {
  static constexpr double kZero = 0, kOne = 1;
  static constexpr bool kHasOutside = true;
  static double plus(double a, double b) { return a + b; }
  static double times(double a, double b) { return a * b; }
  template <class V>
  static HWY_INLINE V plus_product(V sum, V a, V b) {
    return hn::MulAdd(a, b, sum);
  }
};
struct MaxSum {
  static constexpr double kZero = -std::numeric_limits<double>::infinity(), kOne = 0;
  static constexpr bool kHasOutside = false;
  static double plus(double a, double b) { return std::max(a, b); }
  static double times(double a, double b) { return a + b; }
  template <class V>
  static HWY_INLINE V plus_product(V sum, V a, V b) {
    return hn::Max(sum, hn::Add(a, b));
  }
};

HWY_INLINE std::size_t vector_of(D d, std::size_t column) { return column / hn::Lanes(d) * hn::Lanes(d); }

// Row i of the inside values, from the rows after it.
template <class Semiring>
HWY_INLINE void inside_row(D d, const EisnerChart& chart, std::size_t i) {
  constexpr double kZero = Semiring::kZero, kOne = Semiring::kOne;
  const std::size_t lanes = hn::Lanes(d), stride = chart.stride, words = chart.words;
  double *right = chart.row(chart.right, i), *left = chart.row(chart.left, i);
  double *right_arcs = chart.row(chart.right_arcs, i), *left_arcs = chart.row(chart.left_arcs, i);
  const double* to_i = chart.row(chart.weights, i);
  double *HWY_RESTRICT sums = chart.sums, *HWY_RESTRICT right_sums = chart.right_sums,
                       *HWY_RESTRICT left_sums = chart.left_sums;
  for (double* row : {right, left, left_arcs, right_sums, left_sums}) std::fill_n(row, stride, kZero);
  right[i] = left[i] = kOne;
  std::copy_n(chart.row(chart.left, i + 1), stride, sums);  // R(i, i) L(i + 1, j)
  if constexpr (Semiring::kHasOutside) {
    chart.row(chart.right_columns, i)[i] = kOne;
    if (i > 0) chart.row(chart.left_columns, i)[i - 1] = kOne;
  }
  for (std::size_t j = i + 1; j <= words; ++j) {
    // A(i, j) = W(i, j) S(i, j), B(i, j) = W(j, i) S(i, j)
    const double a = Semiring::times(chart.row(chart.weights, j)[i], sums[j]);
    const double b = Semiring::times(to_i[j], sums[j]);
    // R(i, j): all but A(i, j) R(j, j) is there; L(i, j): all but L(i, i) B(i, j)
    const double r = Semiring::plus(right_sums[j], a), l = Semiring::plus(left_sums[j], b);
    right_arcs[j] = a;
    left_arcs[j] = b;
    right[j] = r;
    left[j] = l;
    if constexpr (Semiring::kHasOutside) {
      chart.row(chart.right_arc_columns, j)[i] = a;
      chart.row(chart.left_arc_columns, j)[i] = b;
      chart.row(chart.right_columns, j)[i] = r;
      if (i > 0) chart.row(chart.left_columns, j)[i - 1] = l;
    }
    const auto va = hn::Set(d, a), vr = hn::Set(d, r), vl = hn::Set(d, l);
    const double *right_j = chart.row(chart.right, j), *left_j = chart.row(chart.left, j + 1),
                 *left_arcs_j = chart.row(chart.left_arcs, j);
    // For k > j: R(i, k) += A(i, j) R(j, k), S(i, k) += R(i, j) L(j + 1, k), L(i, k) += L(i, j) B(j, k)
    for (std::size_t k = vector_of(d, j); k <= words; k += lanes) {
      hn::Store(Semiring::plus_product(hn::Load(d, right_sums + k), va, hn::Load(d, right_j + k)), d,
                right_sums + k);
      hn::Store(Semiring::plus_product(hn::Load(d, sums + k), vr, hn::Load(d, left_j + k)), d, sums + k);
      hn::Store(Semiring::plus_product(hn::Load(d, left_sums + k), vl, hn::Load(d, left_arcs_j + k)), d,
                left_sums + k);
    }
  }
}

// Requires the weights.
template <class Semiring>
HWY_INLINE void inside(D d, const EisnerChart& chart, std::size_t first) {
  // The empty span after the end.
  std::fill_n(chart.row(chart.left, chart.words + 1), chart.stride, Semiring::kZero);
  for (std::size_t i = chart.words + 1; i-- > first;) inside_row<Semiring>(d, chart, i);
}

// out += sum_{h < n} x_h (row h of M), from column `from` on
HWY_INLINE void add_rows_before(D d, const double* x, std::size_t first, std::size_t n, const double* matrix,
                                std::size_t stride, std::size_t from, std::size_t end, double* out) {
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t k = from; k < end; k += lanes) {
    auto sum = hn::Load(d, out + k), other = hn::Zero(d);
    const double* at = matrix + first * stride + k;
    std::size_t h = first;
    for (; h + 2 <= n; h += 2, at += 2 * stride) {
      sum = hn::MulAdd(hn::Set(d, x[h]), hn::Load(d, at), sum);
      other = hn::MulAdd(hn::Set(d, x[h + 1]), hn::Load(d, at + stride), other);
    }
    if (h < n) sum = hn::MulAdd(hn::Set(d, x[h]), hn::Load(d, at), sum);
    hn::Store(hn::Add(sum, other), d, out + k);
  }
}

// Row i of the outside values, from the rows before it. R'(i, .) and L'(i, .) come with what the root adds to
// them.
HWY_INLINE void outside_row(D d, const EisnerChart& chart, std::size_t i, std::size_t first, double* mu) {
  const std::size_t lanes = hn::Lanes(d), stride = chart.stride, words = chart.words;
  const std::size_t start = vector_of(d, i), columns = words + 1;
  double *right = chart.row(chart.outside_right, i), *left = chart.row(chart.outside_left, i),
         *sum = chart.row(chart.outside_sum, i);
  double *HWY_RESTRICT right_sums = chart.right_sums, *HWY_RESTRICT left_sums = chart.left_sums,
                       *HWY_RESTRICT arcs = chart.outside_arcs;
  std::copy_n(right, stride, right_sums);
  std::copy_n(left, stride, left_sums);
  std::fill_n(arcs, stride, 0.0);
  std::fill_n(sum, stride, 0.0);
  double* left_arcs = sum;  // sum_{h < i} L(h, i) L'(h, j), until S'(i, j) takes its place
  if (i > first) {
    add_rows_before(d, chart.row(chart.right_arc_columns, i), first, i, chart.outside_right, stride, start,
                    columns, right_sums);
    add_rows_before(d, chart.row(chart.right_columns, i - 1), first, i, chart.outside_sum, stride, start,
                    columns, left_sums);
    // Column i of L begins with word 1: at place 0.
    add_rows_before(d, chart.row(chart.left_columns, i) - 1, std::max<std::size_t>(first, 1), i,
                    chart.outside_left, stride, start, columns, left_arcs);
  }
  const double* to_i = chart.row(chart.weights, i);
  for (std::size_t j = words; j > i; --j) {
    const double r = right_sums[j], l = left_sums[j];
    // A'(i, j), whose term R'(i, j) R(j, j) comes last; B'(i, j), with L(i, i) L'(i, j)
    const double a = arcs[j] + r, b = left_arcs[j] + l;
    // S'(i, j) = W(i, j) A'(i, j) + W(j, i) B'(i, j)
    const double s = chart.row(chart.weights, j)[i] * a + to_i[j] * b;
    right[j] = r;
    left[j] = l;
    sum[j] = s;
    mu[j * columns + i] = chart.row(chart.right_arcs, i)[j] * a;
    if (i > 0) mu[i * columns + j] = chart.row(chart.left_arcs, i)[j] * b;

    const auto vr = hn::Set(d, r), vl = hn::Set(d, l), vs = hn::Set(d, s);
    const double *right_j = chart.row(chart.right_columns, j), *left_j = chart.row(chart.left_columns, j),
                 *left_arcs_j = chart.row(chart.left_arc_columns, j);
    // For k < j: A'(i, k) += R'(i, j) R(k, j), R'(i, k) += S'(i, j) L(k + 1, j), L'(i, k) += L'(i, j) B(k, j)
    for (std::size_t k = start; k < j; k += lanes) {
      hn::Store(hn::MulAdd(vr, hn::Load(d, right_j + k), hn::Load(d, arcs + k)), d, arcs + k);
      hn::Store(hn::MulAdd(vs, hn::Load(d, left_j + k), hn::Load(d, right_sums + k)), d, right_sums + k);
      hn::Store(hn::MulAdd(vl, hn::Load(d, left_arcs_j + k), hn::Load(d, left_sums + k)), d, left_sums + k);
    }
  }
}

HWY_INLINE double largest(D d, const double* x, std::size_t n) {
  constexpr double kLowest = -std::numeric_limits<double>::infinity();
  const std::size_t lanes = hn::Lanes(d);
  auto highest = hn::Set(d, kLowest);
  std::size_t k = 0;
  for (; k + lanes <= n; k += lanes) highest = hn::Max(highest, hn::LoadU(d, x + k));
  if (k < n) highest = hn::Max(highest, load_first(d, x + k, n - k, kLowest));
  return hn::GetLane(hn::MaxOfLanes(d, highest));
}

// W(h, d) = exp(s(h, d) - shift of d), and the sum of all shifts. With one root, which has one modifier, its
// scores are shifted once more.
HWY_INLINE double exponentiate(D d, const EisnerChart& chart, bool single_root, const double* s) {
  constexpr double kLowest = -std::numeric_limits<double>::infinity();
  const std::size_t lanes = hn::Lanes(d), columns = chart.words + 1;
  std::fill_n(chart.weights, chart.stride, 0.0);
  double total = 0, root_shift = kLowest;
  for (std::size_t word = 1; word < columns; ++word) {
    const double* from = s + word * columns;
    double* to = chart.row(chart.weights, word);
    for (std::size_t k = 0; k < columns; k += lanes) {
      const std::size_t n = columns - k;
      hn::Store(n >= lanes ? hn::LoadU(d, from + k) : load_first(d, from + k, n, kLowest), d, to + k);
    }
    to[word] = kLowest;
    if (single_root) to[0] = kLowest;
    double shift = largest(d, to, columns);
    // Without any head but the root. Of infinities alone, vectors that are emulated find the lowest number.
    if (shift <= std::numeric_limits<double>::lowest()) shift = from[0];
    total += shift;
    if (single_root) root_shift = std::max(root_shift, from[0] - shift);
    const auto v = hn::Set(d, shift), smallest = hn::Set(d, -700.0);  // infinities stay out of Exp
    for (std::size_t k = 0; k < columns; k += lanes) {
      const auto x = hn::Sub(hn::Load(d, to + k), v);
      hn::Store(hn::IfThenElseZero(hn::Gt(x, smallest), hn::Exp(d, hn::Max(x, smallest))), d, to + k);
    }
    if (single_root) to[0] = from[0] - shift;
  }
  if (!single_root) return total;
  for (std::size_t word = 1; word < columns; ++word) {
    double& weight = chart.row(chart.weights, word)[0];
    weight = std::exp(weight - root_shift);
  }
  return total + root_shift;
}

bool eisner_marginals_f64(std::size_t words, bool single_root, const double* s, double* mu, double* log_z,
                          double* scratch) {
  const D d;
  const EisnerChart chart(words, scratch);
  const std::size_t first = single_root ? 1 : 0, columns = words + 1;
  const double shift = exponentiate(d, chart, single_root, s);
  inside<SumProduct>(d, chart, first);

  // Z = sum_k L(1, k) W(0, k) R(k, m) or R(0, m)
  double z = 0;
  if (single_root) {
    for (std::size_t k = 1; k <= words; ++k)
      z += chart.row(chart.left, 1)[k] * chart.row(chart.weights, k)[0] * chart.row(chart.right, k)[words];
  } else {
    z = chart.row(chart.right, 0)[words];
  }
  constexpr double kSmallest = 1e-150, kLargest = 1e150;
  if (!(z >= kSmallest && z <= kLargest)) return false;
  *log_z = shift + std::log(z);

  std::fill_n(chart.outside_right, columns * chart.stride, 0.0);
  std::fill_n(chart.outside_left, columns * chart.stride, 0.0);
  std::fill_n(mu, columns * columns, 0.0);
  if (single_root) {
    for (std::size_t k = 1; k <= words; ++k) {
      const double w = chart.row(chart.weights, k)[0] / z, l = chart.row(chart.left, 1)[k],
                   r = chart.row(chart.right, k)[words];
      chart.row(chart.outside_left, 1)[k] = w * r;
      chart.row(chart.outside_right, k)[words] = l * w;
      mu[k * columns] = l * w * r;
    }
  } else {
    chart.row(chart.outside_right, 0)[words] = 1 / z;
  }
  for (std::size_t i = first; i <= words; ++i) outside_row(d, chart, i, first, mu);

  // Not a number where an outside value was too large.
  auto sums = hn::Zero(d);
  std::size_t k = 0;
  for (; k + hn::Lanes(d) <= columns * columns; k += hn::Lanes(d)) sums = hn::Add(sums, hn::LoadU(d, mu + k));
  double heads = hn::GetLane(hn::SumOfLanes(d, sums));
  for (; k < columns * columns; ++k) heads += mu[k];
  return std::isfinite(heads);
}

void eisner_best_f64(std::size_t words, bool single_root, const double* s, std::uint32_t* heads,
                     double* scratch) {
  constexpr double kLowest = -std::numeric_limits<double>::infinity();
  const EisnerChart chart(words, scratch);
  const std::size_t columns = words + 1;
  for (std::size_t word = 0; word < columns; ++word) {
    double* to = chart.row(chart.weights, word);
    std::fill_n(std::copy_n(s + word * columns, columns, to), chart.stride - columns, kLowest);
    if (word == 0) std::fill_n(to, columns, kLowest);
    to[word] = kLowest;
  }
  inside<MaxSum>(D(), chart, single_root ? 1 : 0);
  EisnerTraceback traceback(chart, heads);
  if (!single_root) return traceback.right(0, words);
  const std::size_t root = 1 + first_largest(words, [&](std::size_t k) {
                             return chart.row(chart.left, 1)[k + 1] + chart.row(chart.weights, k + 1)[0] +
                                    chart.row(chart.right, k + 1)[words];
                           });
  heads[root - 1] = 0;
  traceback.left(1, root);
  traceback.right(root, words);
}

void add_rows_f64(std::size_t count, const double* a, ContextRows x, double* y, std::size_t n) {
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t g = 0;
  for (; g + 2 * lanes <= n; g += 2 * lanes) {
    auto first = hn::Load(d, y + g), second = hn::Load(d, y + g + lanes);
    const double* at = x.first + g;
    for (std::size_t k = 0; k < count; ++k, at += x.stride) {
      const auto scale = hn::Set(d, a[k]);
      first = hn::MulAdd(scale, hn::Load(d, at), first);
      second = hn::MulAdd(scale, hn::Load(d, at + lanes), second);
    }
    hn::Store(first, d, y + g);
    hn::Store(second, d, y + g + lanes);
  }
  for (; g < n; g += lanes) {
    auto sum = hn::Load(d, y + g);
    for (std::size_t k = 0; k < count; ++k)
      sum = hn::MulAdd(hn::Set(d, a[k]), hn::Load(d, x.row(k) + g), sum);
    hn::Store(sum, d, y + g);
  }
}

void add_row_products_f64(std::size_t count, ContextRows x, ContextRows y, double* z, std::size_t n) {
  const D d;
  for (std::size_t g = 0; g < n; g += hn::Lanes(d)) {
    auto sum = hn::Load(d, z + g);
    for (std::size_t k = 0; k < count; ++k)
      sum = hn::MulAdd(hn::Load(d, x.row(k) + g), hn::Load(d, y.row(k) + g), sum);
    hn::Store(sum, d, z + g);
  }
}

void spread_rows_f64(std::size_t count, const double* a, const double* x, ContextRows y, ContextRows z,
                     double* sums, std::size_t n) {
  const D d;
  for (std::size_t k = 0; k < count; ++k) {
    double* to = y.row(k);
    const double* with = z.row(k);
    const auto scale = hn::Set(d, a[k]);
    auto sum = hn::Zero(d);
    for (std::size_t g = 0; g < n; g += hn::Lanes(d)) {
      const auto v = hn::Load(d, x + g);
      hn::Store(hn::MulAdd(scale, v, hn::Load(d, to + g)), d, to + g);
      sum = hn::MulAdd(v, hn::Load(d, with + g), sum);
    }
    sums[k] = hn::GetLane(hn::SumOfLanes(d, sum));
  }
}

void spread_row_products_f64(std::size_t count, const double* z, ContextRows x, ContextRows y,
                             ContextRows x_derivatives, ContextRows y_derivatives, std::size_t n) {
  const D d;
  for (std::size_t k = 0; k < count; ++k) {
    const double *x_k = x.row(k), *y_k = y.row(k);
    double *to_x = x_derivatives.row(k), *to_y = y_derivatives.row(k);
    for (std::size_t g = 0; g < n; g += hn::Lanes(d)) {
      const auto v = hn::Load(d, z + g);
      hn::Store(hn::MulAdd(v, hn::Load(d, y_k + g), hn::Load(d, to_x + g)), d, to_x + g);
      hn::Store(hn::MulAdd(v, hn::Load(d, x_k + g), hn::Load(d, to_y + g)), d, to_y + g);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace espalier::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace espalier::kernels {

HWY_EXPORT(eisner_marginals_f64);
HWY_EXPORT(eisner_best_f64);
HWY_EXPORT(add_rows_f64);
HWY_EXPORT(add_row_products_f64);
HWY_EXPORT(spread_rows_f64);
HWY_EXPORT(spread_row_products_f64);

std::size_t eisner_scratch(std::size_t words) { return EisnerChart::size(words); }
bool eisner_marginals(std::size_t words, bool single_root, const double* s, double* mu, double* log_z,
                      double* scratch) {
  return HWY_DYNAMIC_DISPATCH(eisner_marginals_f64)(words, single_root, s, mu, log_z, scratch);
}
void eisner_best(std::size_t words, bool single_root, const double* s, std::uint32_t* heads,
                 double* scratch) {
  HWY_DYNAMIC_DISPATCH(eisner_best_f64)(words, single_root, s, heads, scratch);
}
void add_rows(std::size_t count, const double* a, ContextRows x, double* y, std::size_t n) {
  HWY_DYNAMIC_DISPATCH(add_rows_f64)(count, a, x, y, n);
}
void add_row_products(std::size_t count, ContextRows x, ContextRows y, double* z, std::size_t n) {
  HWY_DYNAMIC_DISPATCH(add_row_products_f64)(count, x, y, z, n);
}
void spread_rows(std::size_t count, const double* a, const double* x, ContextRows y, ContextRows z,
                 double* sums, std::size_t n) {
  HWY_DYNAMIC_DISPATCH(spread_rows_f64)(count, a, x, y, z, sums, n);
}
void spread_row_products(std::size_t count, const double* z, ContextRows x, ContextRows y,
                         ContextRows x_derivatives, ContextRows y_derivatives, std::size_t n) {
  HWY_DYNAMIC_DISPATCH(spread_row_products_f64)(count, z, x, y, x_derivatives, y_derivatives, n);
}

}  // namespace espalier::kernels
#endif  // HWY_ONCE
