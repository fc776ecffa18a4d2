#include "structures/dependency_tree.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "espalier/base/error.h"
#include "kernels/softmax.h"
#include "structures/log_scores.h"
#include "structures/nonprojective.h"
#include "structures/tree_bound.h"
#include "structures/tree_decomposition.h"

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

// The place of a part in a cube of scores: of siblings and, with the third word in front, of grandparents.
std::size_t cube_index(std::size_t words, std::size_t a, std::size_t b, std::size_t c) {
  return (a * (words + 1) + b) * (words + 1) + c;
}
std::size_t cube_size(std::size_t words) { return (words + 1) * (words + 1) * (words + 1); }
std::size_t sibling_index(std::size_t words, const TreePart& part) {
  return cube_index(words, part.head, part.third, part.modifier);
}
std::size_t grandparent_index(std::size_t words, const TreePart& part) {
  return cube_index(words, part.third, part.head, part.modifier);
}

// The scores of parts as cubes, which are zero elsewhere.
SecondOrder<const double> as_cubes(std::size_t words, std::span<const double> arcs, const TreeParts& parts,
                                   std::span<const double> part_scores, Workspace::Frame& frame) {
  const auto siblings = frame.take<double>(cube_size(words)),
             grandparents = frame.take<double>(cube_size(words));
  std::fill(siblings.begin(), siblings.end(), 0.0);
  std::fill(grandparents.begin(), grandparents.end(), 0.0);
  const double* score = part_scores.data();
  for (const TreePart& part : parts.siblings) siblings[sibling_index(words, part)] = *score++;
  for (const TreePart& part : parts.grandparents) grandparents[grandparent_index(words, part)] = *score++;
  return {arcs, siblings, grandparents};
}

// The two arcs of each part.
std::span<const ArcPair> as_pairs(std::size_t words, const TreeParts& parts, Workspace::Frame& frame) {
  const auto pairs = frame.take<ArcPair>(parts.size());
  const auto arc = [words](std::size_t h, std::size_t d) {
    return static_cast<std::uint32_t>(arc_matrix_index(words, h, d));
  };
  std::size_t k = 0;
  for (const TreePart& part : parts.siblings)
    pairs[k++] = {arc(part.head, part.third), arc(part.head, part.modifier)};
  for (const TreePart& part : parts.grandparents)
    pairs[k++] = {arc(part.third, part.head), arc(part.head, part.modifier)};
  return pairs;
}

}  // namespace

// Calls use(k) for each part of the tree, siblings first.
void DependencyTree::for_each_part_in(std::span<const std::uint32_t> heads,
                                      const std::function<void(std::size_t part)>& use) const {
  const auto has = [&](std::size_t h, std::size_t d) { return heads[d - 1] == h; };
  std::size_t k = 0;
  for (const TreePart& part : parts_.siblings) {
    bool is_there = has(part.head, part.modifier) && (part.third == part.head || has(part.head, part.third));
    if (is_there && shape_.adjacent_siblings()) {
      // None of the head's modifiers lies between the two.
      const std::size_t low = std::min(part.third, part.modifier), high = std::max(part.third, part.modifier);
      for (std::size_t between = low + 1; between < high; ++between)
        is_there = is_there && !has(part.head, between);
    }
    if (is_there) use(k);
    ++k;
  }
  for (const TreePart& part : parts_.grandparents) {
    if (has(part.head, part.modifier) && has(part.third, part.head)) use(k);
    ++k;
  }
}

double DependencyTree::log_partition_of_arcs(std::span<const double> scores, std::span<double> marginals,
                                             std::span<const double> part_scores,
                                             std::span<double> part_marginals, Workspace& ws) const {
  const std::size_t m = num_words();
  const bool single_root = shape_.single_root;
  if (parts_.size() == 0) {
    return shape_.projective ? projective_log_partition(m, single_root, scores, marginals, ws)
                             : nonprojective_log_partition(m, single_root, scores, marginals, ws);
  }
  Workspace::Frame frame(ws);
  if (!shape_.projective && shape_.inference == TreeInference::trw)
    return tree_bound({m, single_root, scores, parts_, part_scores}, marginals, part_marginals, ws).log_z;
  if (!shape_.projective) {
    return nonprojective_beliefs(m, single_root, scores, as_pairs(m, parts_, frame), part_scores, marginals,
                                 part_marginals, ws)
        .log_z;
  }
  const auto siblings = frame.take<double>(cube_size(m)), grandparents = frame.take<double>(cube_size(m));
  const double log_z =
      projective_log_partition(m, single_root, as_cubes(m, scores, parts_, part_scores, frame),
                               SecondOrder<double>{marginals, siblings, grandparents}, ws);
  double* marginal = part_marginals.data();
  for (const TreePart& part : parts_.siblings) *marginal++ = siblings[sibling_index(m, part)];
  for (const TreePart& part : parts_.grandparents) *marginal++ = grandparents[grandparent_index(m, part)];
  return log_z;
}

DependencyTree::Best DependencyTree::best_of_arcs(std::span<const double> scores,
                                                  std::span<const double> part_scores, Heads heads,
                                                  Workspace& ws) const {
  const std::size_t m = num_words();
  const bool single_root = shape_.single_root;
  if (parts_.size() == 0) {
    return {shape_.projective ? projective_best(m, single_root, scores, heads, ws)
                              : nonprojective_best(m, single_root, scores, heads, ws),
            true};
  }
  Workspace::Frame frame(ws);
  if (shape_.projective)
    return {projective_best(m, single_root, as_cubes(m, scores, parts_, part_scores, frame), heads, ws),
            true};
  if (shape_.inference == TreeInference::trw) {
    const BestTree best = best_tree({m, single_root, scores, parts_, part_scores}, heads, ws);
    return {best.value, best.optimal};
  }
  const auto beliefs = frame.take<double>(arc_matrix_size(m)),
             part_beliefs = frame.take<double>(parts_.size());
  log_partition_of_arcs(scores, beliefs, part_scores, part_beliefs, ws);
  // The tree with the largest expected number of right heads; arcs that are excluded stay so.
  for (std::size_t j = 0; j < beliefs.size(); ++j) {
    if (scores[j] == kImpossible) beliefs[j] = kImpossible;
  }
  nonprojective_best(m, single_root, beliefs, heads, ws);
  double score = 0;
  for (std::size_t d = 1; d <= m; ++d) score += scores[arc_matrix_index(m, heads[d - 1], d)];
  for_each_part_in(heads, [&](std::size_t k) { score += part_scores[k]; });
  return {score, false};
}

template <class Real>
double DependencyTree::log_partition_of(std::span<const Real> s, std::span<Real> mu, Workspace& ws) const {
  Workspace::Frame frame(ws);
  const std::size_t m = num_words(), labels = num_labels();
  const auto scores = frame.take<double>(arc_matrix_size(m)),
             marginals = frame.take<double>(arc_matrix_size(m));
  std::fill(scores.begin(), scores.end(), kImpossible);
  const auto of_labels =
      frame.take<double>(labels);  // in double precision for floats, too: log Z is the sum of many
  // The score of an arc is log sum_l exp s_al. Until its probability is known, mu has those of its labels,
  // given the arc.
  for_each_arc(arcs_, [&](std::size_t a, std::size_t h, std::size_t d) {
    double& score = scores[arc_matrix_index(m, h, d)];
    const Real* of_arc = s.data() + a * labels;
    Real* given_arc = mu.data() + a * labels;
    if (labels == 1) {
      score = *of_arc;
      *given_arc = 1;
    } else if (std::all_of(of_arc, of_arc + labels, [](Real x) { return x == kImpossible; })) {
      std::fill_n(given_arc, labels, Real{0});
    } else {
      std::copy_n(of_arc, labels, of_labels.begin());
      score = kernels::softmax(of_labels.data(), labels, of_labels.data());
      std::copy_n(of_labels.begin(), labels, given_arc);
    }
  });
  const auto part_scores = frame.take<double>(parts_.size()),
             part_marginals = frame.take<double>(parts_.size());
  const std::size_t labelled = arcs_.size() * labels;
  std::copy(s.begin() + static_cast<std::ptrdiff_t>(labelled), s.end(), part_scores.begin());
  const double log_z = log_partition_of_arcs(scores, marginals, part_scores, part_marginals, ws);
  for (std::size_t k = 0; k < parts_.size(); ++k) mu[labelled + k] = static_cast<Real>(part_marginals[k]);
  for_each_arc(arcs_, [&](std::size_t a, std::size_t h, std::size_t d) {
    const double of_arc = marginals[arc_matrix_index(m, h, d)];
    for (std::size_t l = 0; l < labels; ++l)
      mu[a * labels + l] = static_cast<Real>(of_arc * mu[a * labels + l]);
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
DependencyTree::Best DependencyTree::best_into(std::span<const Real> s, Heads heads,
                                               std::span<std::uint32_t> labels, Workspace& ws) const {
  Workspace::Frame frame(ws);
  const std::size_t m = num_words();
  const auto scores = frame.take<double>(arc_matrix_size(m));
  const auto best = frame.take<std::uint32_t>(arc_matrix_size(m));
  best_labels(s, scores, best);
  const auto part_scores = frame.take<double>(parts_.size());
  std::copy(s.begin() + static_cast<std::ptrdiff_t>(arcs_.size() * num_labels()), s.end(),
            part_scores.begin());
  const Best found = best_of_arcs(scores, part_scores, heads, ws);
  for (std::size_t d = 1; d <= m; ++d) labels[d - 1] = best[arc_matrix_index(m, heads[d - 1], d)];
  return found;
}
template DependencyTree::Best DependencyTree::best_into(std::span<const float>, Heads,
                                                        std::span<std::uint32_t>, Workspace&) const;
template DependencyTree::Best DependencyTree::best_into(std::span<const double>, Heads,
                                                        std::span<std::uint32_t>, Workspace&) const;

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
  ESPALIER_EXPECT(parts_.size() == 0);
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

std::vector<DependencyTree::Output> DependencyTree::samples(std::span<const double> s, std::size_t n,
                                                            Random& random) const {
  ESPALIER_EXPECT(parts_.size() == 0);
  const std::size_t m = num_words(), labels = num_labels();
  std::vector<double> scores(arc_matrix_size(m), kImpossible);
  for_each_arc(arcs_, [&](std::size_t a, std::size_t h, std::size_t d) {
    scores[arc_matrix_index(m, h, d)] = log_sum(labels, [&](std::size_t l) { return s[a * labels + l]; });
  });
  Random of_labels(random.next());  // so that the first of many trees are those of few
  auto trees = shape_.projective ? projective_samples(m, shape_.single_root, scores, n, random)
                                 : nonprojective_samples(m, shape_.single_root, scores, n, random);
  std::vector<Output> result;
  for (auto& heads : trees) {
    Output y{std::move(heads), std::vector<std::uint32_t>(m)};
    for (std::size_t d = 1; d <= m && labels > 1; ++d)
      y.labels[d - 1] = draw_label(s.subspan(arcs_.find(y.heads[d - 1], d) * labels, labels), of_labels);
    result.push_back(std::move(y));
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
