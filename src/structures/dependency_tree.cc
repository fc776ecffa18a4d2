#include "espalier/structures/dependency_tree.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "espalier/structures/nonprojective.h"

namespace espalier {
namespace {

constexpr double kImpossible = -std::numeric_limits<double>::infinity();

// Calls use(arc, head, modifier) for all arcs.
template <class Use>
void for_each_arc(const ArcSet& arcs, const Use& use) {
  for (std::size_t d = 1; d <= arcs.words(); ++d) {
    for (std::size_t a = arcs.begin(d); a < arcs.end(d); ++a) use(a, arcs.head(a, d), d);
  }
}

}  // namespace

template <class Real>
double DependencyTree::log_partition_of(std::span<const Real> s, std::span<Real> mu, Workspace& ws) const {
  Workspace::Frame frame(ws);
  const std::size_t m = num_words(), labels = num_labels();
  const auto scores = frame.take<double>(arc_matrix_size(m)),
             marginals = frame.take<double>(arc_matrix_size(m));
  std::fill(scores.begin(), scores.end(), kImpossible);
  // The score of an arc is log sum_l exp s_al.
  for_each_arc(arcs_, [&](std::size_t a, std::size_t h, std::size_t d) {
    double& score = scores[arc_matrix_index(m, h, d)];
    const Real* of_arc = s.data() + a * labels;
    const double largest = *std::max_element(of_arc, of_arc + labels);
    if (labels == 1 || largest == kImpossible) {
      score = largest;
      return;
    }
    double sum = 0;
    for (std::size_t l = 0; l < labels; ++l) sum += std::exp(of_arc[l] - largest);
    score = largest + std::log(sum);
  });
  const double log_z = shape_.projective
                           ? projective_log_partition(m, shape_.single_root, scores, marginals, ws)
                           : nonprojective_log_partition(m, shape_.single_root, scores, marginals, ws);
  // mu_al = mu_a exp(s_al - score of a)
  for_each_arc(arcs_, [&](std::size_t a, std::size_t h, std::size_t d) {
    const std::size_t place = arc_matrix_index(m, h, d);
    if (labels == 1) {
      mu[a] = static_cast<Real>(marginals[place]);
      return;
    }
    for (std::size_t l = 0; l < labels; ++l) {
      const double s_al = s[a * labels + l];
      mu[a * labels + l] =
          static_cast<Real>(s_al == kImpossible ? 0 : marginals[place] * std::exp(s_al - scores[place]));
    }
  });
  return log_z;
}

// The best label of each arc, and its score.
template <class Real>
void DependencyTree::best_labels(std::span<const Real> s, std::span<double> matrix,
                                 std::span<std::uint32_t> labels) const {
  std::fill(matrix.begin(), matrix.end(), kImpossible);
  for_each_arc(arcs_, [&](std::size_t a, std::size_t h, std::size_t d) {
    const Real* of_arc = s.data() + a * num_labels();
    const Real* best = std::max_element(of_arc, of_arc + num_labels());
    matrix[arc_matrix_index(num_words(), h, d)] = *best;
    labels[arc_matrix_index(num_words(), h, d)] = static_cast<std::uint32_t>(best - of_arc);
  });
}

template <class Real>
double DependencyTree::decode_into(std::span<const Real> s, Heads heads, std::span<std::uint32_t> labels,
                                   Workspace& ws) const {
  Workspace::Frame frame(ws);
  const std::size_t m = num_words();
  const auto scores = frame.take<double>(arc_matrix_size(m));
  const auto best = frame.take<std::uint32_t>(arc_matrix_size(m));
  best_labels(s, scores, best);
  const double score = shape_.projective ? projective_best(m, shape_.single_root, scores, heads, ws)
                                         : nonprojective_best(m, shape_.single_root, scores, heads, ws);
  for (std::size_t d = 1; d <= m; ++d) labels[d - 1] = best[arc_matrix_index(m, heads[d - 1], d)];
  return score;
}
template double DependencyTree::decode_into(std::span<const float>, Heads, std::span<std::uint32_t>,
                                            Workspace&) const;
template double DependencyTree::decode_into(std::span<const double>, Heads, std::span<std::uint32_t>,
                                            Workspace&) const;

template <class Real>
DependencyTree::Output DependencyTree::decode_of(std::span<const Real> s, Workspace& ws) const {
  Output y{std::vector<std::uint32_t>(num_words()), std::vector<std::uint32_t>(num_words())};
  decode_into(s, y.heads, y.labels, ws);
  return y;
}

template <class Real>
double DependencyTree::argmax_of(std::span<const Real> s, std::span<Real> mu, Workspace& ws) const {
  Workspace::Frame frame(ws);
  const auto heads = frame.take<std::uint32_t>(num_words()), labels = frame.take<std::uint32_t>(num_words());
  const double score = decode_into(s, heads, labels, ws);
  std::fill(mu.begin(), mu.end(), Real{0});
  add_indicator<Real>(heads, labels, Real{1}, mu);
  return score;
}

double DependencyTree::log_partition(std::span<const float> s, std::span<float> mu, Workspace& ws) const {
  return log_partition_of(s, mu, ws);
}
double DependencyTree::log_partition(std::span<const double> s, std::span<double> mu, Workspace& ws) const {
  return log_partition_of(s, mu, ws);
}
double DependencyTree::argmax(std::span<const float> s, std::span<float> mu, Workspace& ws) const {
  return argmax_of(s, mu, ws);
}
double DependencyTree::argmax(std::span<const double> s, std::span<double> mu, Workspace& ws) const {
  return argmax_of(s, mu, ws);
}
DependencyTree::Output DependencyTree::decode(std::span<const float> s, Workspace& ws) const {
  return decode_of(s, ws);
}
DependencyTree::Output DependencyTree::decode(std::span<const double> s, Workspace& ws) const {
  return decode_of(s, ws);
}

void DependencyTree::indicator(const Output& y, std::span<float> mu) const {
  std::fill(mu.begin(), mu.end(), 0.0f);
  add_indicator<float>(y.heads, y.labels, 1, mu);
}
void DependencyTree::indicator(const Output& y, std::span<double> mu) const {
  std::fill(mu.begin(), mu.end(), 0.0);
  add_indicator<double>(y.heads, y.labels, 1, mu);
}

void DependencyTree::centre(std::span<const float> mu, std::span<float> d) const {
  for (std::size_t word = 1; word <= num_words(); ++word) {
    const std::size_t begin = arcs_.begin(word) * num_labels(), end = arcs_.end(word) * num_labels();
    float mean = 0;
    for (std::size_t k = begin; k < end; ++k) mean += mu[k] * d[k];
    for (std::size_t k = begin; k < end; ++k) d[k] -= mean;
  }
}

std::vector<DependencyTree::Scored> DependencyTree::kbest(std::span<const double> s, std::size_t k) const {
  const std::size_t m = num_words();
  std::vector<double> scores(arc_matrix_size(m));
  std::vector<std::uint32_t> best(arc_matrix_size(m));
  best_labels<double>(s, scores, best);
  const auto trees = shape_.projective ? projective_kbest(m, shape_.single_root, scores, k)
                                       : nonprojective_kbest(m, shape_.single_root, scores, k);
  std::vector<Scored> result;
  for (const ScoredTree& tree : trees) {
    Output y{tree.heads, std::vector<std::uint32_t>(m)};
    for (std::size_t d = 1; d <= m; ++d) y.labels[d - 1] = best[arc_matrix_index(m, tree.heads[d - 1], d)];
    result.push_back({std::move(y), tree.score});
  }
  return result;
}

double DependencyTree::entropy(std::span<const double> s, Workspace& ws) const {
  Workspace::Frame frame(ws);
  const auto mu = frame.take<double>(num_statistics());
  double sum = log_partition(s, mu, ws);
  for (std::size_t k = 0; k < mu.size(); ++k) sum -= mu[k] > 0 ? mu[k] * s[k] : 0;
  return sum;
}

}  // namespace espalier
