// Projective trees with a score for each arc. The fast way is a kernel in probability space
// (kernels/eisner.cc, where the recursions are explained). What follows is the reference in logarithms, which
// takes over where the range of scores is too wide for it, span by span from the shortest to the longest and
// back.

#include "structures/projective.h"

#include <algorithm>
#include <cmath>

#include "espalier/base/error.h"
#include "kernels/eisner.h"
#include "structures/log_scores.h"
#include "structures/projective_chart.h"

namespace espalier {
namespace {

// log(exp(to) + exp(term))
void log_add(double& to, double term) {
  const double high = std::max(to, term), low = std::min(to, term);
  to = low == kExcluded ? high : high + std::log1p(std::exp(low - high));
}

// Outside sums of the spans of a chart.
struct OutsideChart {
  std::span<double> arcs_right, arcs_left, right, left;

  OutsideChart(std::size_t size, Workspace::Frame& frame)
      : arcs_right(frame.take<double>(size)),
        arcs_left(frame.take<double>(size)),
        right(frame.take<double>(size)),
        left(frame.take<double>(size)) {
    for (const auto part : {arcs_right, arcs_left, right, left}) std::ranges::fill(part, kExcluded);
  }
};

}  // namespace

ProjectiveChart::ProjectiveChart(std::size_t words, bool single_root, std::span<const double> s,
                                 Workspace::Frame& frame)
    : n(words + 1),
      w(frame.take<double>(n * n)),
      arcs_right(frame.take<double>(n * n)),
      arcs_left(frame.take<double>(n * n)),
      right(frame.take<double>(n * n)),
      left(frame.take<double>(n * n)),
      log_z(kExcluded) {
  for (const auto part : {arcs_right, arcs_left, right, left}) std::ranges::fill(part, kExcluded);
  std::fill_n(w.begin(), n, kExcluded);
  for (std::size_t d = 1; d <= words; ++d) {
    const auto to = w.subspan(at(d, 0), n);
    std::ranges::copy(s.subspan(at(d, 0), n), to.begin());
    to[d] = kExcluded;
    const double highest = *std::ranges::max_element(to);
    if (highest == kExcluded) return;
    for (double& x : to) x -= highest;
    shift += highest;
  }

  for (std::size_t i = 0; i <= words; ++i) right[at(i, i)] = left[at(i, i)] = 0;
  for (std::size_t width = 1; width <= words; ++width) {
    for (std::size_t i = single_root ? 1 : 0, j = i + width; j <= words; ++i, ++j) {
      const double sum =
          log_sum(width, [&](std::size_t k) { return right[at(i, i + k)] + left[at(i + k + 1, j)]; });
      arcs_right[at(i, j)] = w[at(j, i)] + sum;
      arcs_left[at(i, j)] = w[at(i, j)] + sum;
      right[at(i, j)] = log_sum(
          width, [&](std::size_t k) { return arcs_right[at(i, i + 1 + k)] + right[at(i + 1 + k, j)]; });
      left[at(i, j)] =
          log_sum(width, [&](std::size_t k) { return left[at(i, i + k)] + arcs_left[at(i + k, j)]; });
    }
  }
  // Z = sum_k L(1, k) W(0, k) R(k, m) or R(0, m)
  log_z = single_root ? log_sum(words, [&](std::size_t k) { return with_root(k + 1); }) : right[at(0, words)];
}

double projective_log_partition_reference(std::size_t words, bool single_root, std::span<const double> s,
                                          std::span<double> mu, Workspace& ws) {
  const std::size_t n = words + 1, first = single_root ? 1 : 0;
  ESPALIER_EXPECT(words > 0 && s.size() == n * n && mu.size() == n * n);
  Workspace::Frame frame(ws);
  std::ranges::fill(mu, 0.0);
  const ProjectiveChart in(words, single_root, s, frame);
  const double log_z = in.log_z;
  if (log_z == kExcluded) return kExcluded;
  const auto at = [n](std::size_t i, std::size_t j) { return i * n + j; };
  const auto w = in.w;

  OutsideChart out(n * n, frame);
  if (single_root) {
    for (std::size_t k = 1; k <= words; ++k) {
      out.left[at(1, k)] = w[at(k, 0)] + in.right[at(k, words)];
      out.right[at(k, words)] = in.left[at(1, k)] + w[at(k, 0)];
      mu[at(k, 0)] = std::exp(in.with_root(k) - log_z);
    }
  } else {
    out.right[at(0, words)] = 0;
  }
  for (std::size_t width = words; width > 0; --width) {
    for (std::size_t i = first, j = i + width; j <= words; ++i, ++j) {
      // R(i, j) = sum_k A(i, k) R(k, j), L(i, j) = sum_k L(i, k) B(k, j)
      for (std::size_t k = i + 1; k <= j; ++k) {
        log_add(out.arcs_right[at(i, k)], out.right[at(i, j)] + in.right[at(k, j)]);
        log_add(out.right[at(k, j)], out.right[at(i, j)] + in.arcs_right[at(i, k)]);
      }
      for (std::size_t k = i; k < j; ++k) {
        log_add(out.left[at(i, k)], out.left[at(i, j)] + in.arcs_left[at(k, j)]);
        log_add(out.arcs_left[at(k, j)], out.left[at(i, j)] + in.left[at(i, k)]);
      }
      // A(i, j) = W(i, j) S(i, j), B(i, j) = W(j, i) S(i, j), S(i, j) = sum_k R(i, k) L(k + 1, j)
      double sum = w[at(j, i)] + out.arcs_right[at(i, j)];
      log_add(sum, w[at(i, j)] + out.arcs_left[at(i, j)]);
      for (std::size_t k = i; k < j; ++k) {
        log_add(out.right[at(i, k)], sum + in.left[at(k + 1, j)]);
        log_add(out.left[at(k + 1, j)], sum + in.right[at(i, k)]);
      }
      mu[at(j, i)] = std::exp(in.arcs_right[at(i, j)] + out.arcs_right[at(i, j)] - log_z);
      if (i > 0) mu[at(i, j)] = std::exp(in.arcs_left[at(i, j)] + out.arcs_left[at(i, j)] - log_z);
    }
  }
  return in.shift + log_z;
}

double projective_log_partition(std::size_t words, bool single_root, std::span<const double> s,
                                std::span<double> mu, Workspace& ws) {
  ESPALIER_EXPECT(words > 0 && s.size() == arc_matrix_size(words) && mu.size() == s.size());
  {
    Workspace::Frame frame(ws);
    const auto scratch = frame.take<double>(kernels::eisner_scratch(words));
    double log_z = 0;
    if (kernels::eisner_marginals(words, single_root, s.data(), mu.data(), &log_z, scratch.data()))
      return log_z;
  }
  return projective_log_partition_reference(words, single_root, s, mu, ws);
}

double projective_best(std::size_t words, bool single_root, std::span<const double> s, Heads heads,
                       Workspace& ws) {
  ESPALIER_EXPECT(words > 0 && s.size() == arc_matrix_size(words) && heads.size() == words);
  Workspace::Frame frame(ws);
  const auto scratch = frame.take<double>(kernels::eisner_scratch(words));
  kernels::eisner_best(words, single_root, s.data(), heads.data(), scratch.data());
  double score = 0;
  for (std::size_t d = 1; d <= words; ++d) score += s[arc_matrix_index(words, heads[d - 1], d)];
  return score;
}

}  // namespace espalier
