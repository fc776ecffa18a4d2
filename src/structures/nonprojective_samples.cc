// Trees whose arcs may cross, drawn from their distribution by the elimination of matrix_tree.cc run
// backwards. With word k eliminated,
//
//   Z = c_k Z',    w'(h, d) = w(h, d) + w(h, k) w(k, d) / c_k,    c_k = sum_{h != k} w(h, k)
//
// let T' be a tree of the other words, drawn with weights w'. Each of its arcs h -> d stands for the arc
// itself, or with probability w(h, k) w(k, d) / (c_k w'(h, d)) for the way h -> k -> d. Let D be the words d
// of such ways. Then
//
//   - the head of every d in D is k,
//   - the head of k is a vertex h of the part of T' that is left with the root when the arcs to D are gone,
//     drawn in proportion to w(h, k),
//
// is a tree with probability prod w / Z. For the sum of prod_{d in D} w(h_d, k) / c_k over all ways to hang
// the parts below D on vertices h_d such that no cycle comes about is the sum of w(h, k) / c_k over the part
// with the root alone (Cayley's formula with weights that add up to 1), and that is what the heads of k have
// to add up to. Nothing is subtracted, walks need not end (as in Wilson's algorithm, where two words that
// score each other high keep a walk for exp of that score), and everything is in logarithms, so that scores
// may have any range. O(m^3) once, then O(m^2) a tree.

#include <cmath>
#include <map>
#include <numeric>
#include <vector>

#include "espalier/base/error.h"
#include "structures/log_scores.h"
#include "structures/nonprojective.h"

namespace espalier {
namespace {

double log_sum_of_two(double a, double b) {
  const double high = std::max(a, b), low = std::min(a, b);
  return low == kExcluded ? high : high + std::log1p(std::exp(low - high));
}

// Trees over vertices 1, ..., m below vertex 0, which may have any number of modifiers.
class ForestSampler {
 public:
  // Scores as an arc matrix.
  ForestSampler(std::size_t words, std::vector<double> s) : words_(words), n_(words + 1), w_(std::move(s)) {
    through_.resize(words_ + 1);
    for (std::size_t k = 1; k <= words_; ++k) eliminate(k);
  }

  void draw(Random& random, Heads heads) {
    part_.assign(n_, kUnknown);
    for (std::size_t k = words_; k > 0; --k) {
      const std::size_t left = words_ - k;
      // The arcs of T' that stand for ways through k.
      for (std::size_t d = k + 1; d <= words_; ++d) {
        const std::size_t h = heads[d - 1];
        const double p = through_[k][(d - k - 1) * (left + 1) + (h == 0 ? 0 : h - k)];
        if (p > 0 && random.uniform() < p) heads[d - 1] = static_cast<std::uint32_t>(k);
      }
      terms_.assign(n_, kExcluded);
      terms_[0] = score(0, k);
      std::fill(part_.begin() + static_cast<std::ptrdiff_t>(k), part_.end(), kUnknown);
      for (std::size_t h = k + 1; h <= words_; ++h) {
        if (with_root(h, k, heads)) terms_[h] = score(h, k);
      }
      heads[k - 1] = draw_label(terms_, random);
    }
  }

 private:
  enum Part : char { kUnknown, kRoot, kBelow };

  double& score(std::size_t h, std::size_t d) { return w_[arc_matrix_index(words_, h, d)]; }

  // Rows of words that are left become those without k; what leads to k stays as it was then.
  void eliminate(std::size_t k) {
    const std::size_t left = words_ - k;
    std::vector<double>& through = through_[k];
    through.assign(left * (left + 1), 0);
    double c = score(0, k);
    for (std::size_t h = k + 1; h <= words_; ++h) c = log_sum_of_two(c, score(h, k));
    for (std::size_t d = k + 1; d <= words_; ++d) {
      const double to = score(k, d);
      for (std::size_t h = 0; h <= words_ && to > kExcluded; h = h == 0 ? k + 1 : h + 1) {
        if (h == d || score(h, k) == kExcluded) continue;
        const double way = score(h, k) - c + to;
        double& direct = score(h, d);
        const double both = log_sum_of_two(direct, way);
        through[(d - k - 1) * (left + 1) + (h == 0 ? 0 : h - k)] = std::exp(way - both);
        direct = both;
      }
    }
  }

  // Whether word h is in the part of the root, and not below k.
  bool with_root(std::size_t h, std::size_t k, Heads heads) {
    std::size_t at = h;
    while (at != 0 && at != k && part_[at] == kUnknown) at = heads[at - 1];
    const Part part = at == 0 ? kRoot : at == k ? kBelow : part_[at];
    for (at = h; at != 0 && at != k && part_[at] == kUnknown; at = heads[at - 1]) part_[at] = part;
    return part == kRoot;
  }

  std::size_t words_, n_;
  std::vector<double> w_;
  std::vector<std::vector<double>>
      through_;  // of each word, [d][h] of those that come after it; h = 0: the root
  std::vector<Part> part_;
  std::vector<double> terms_;
};

// One modifier of the root: it is drawn first, and is the root of a tree of the other words then.
class SingleRootSampler {
 public:
  SingleRootSampler(std::size_t words, std::span<const double> s) : words_(words), s_(s), roots_(words) {
    Workspace ws;
    std::vector<double> mu(s.size());
    nonprojective_log_partition(words, true, s, mu, ws);
    for (std::size_t d = 1; d <= words; ++d) {
      const double p = mu[arc_matrix_index(words, 0, d)];
      roots_[d - 1] = p > 0 ? std::log(p) : kExcluded;
    }
  }

  void draw(Random& random, Heads heads) {
    const std::size_t root = 1 + draw_label(roots_, random);
    heads[root - 1] = 0;
    if (words_ == 1) return;
    // Vertices of the tree below it: 0 is the root, then the other words.
    const auto word = [&](std::size_t vertex) {
      return vertex == 0 ? root : vertex < root ? vertex : vertex + 1;
    };
    auto found = below_.find(root);
    if (found == below_.end()) {
      const std::size_t m = words_ - 1;
      std::vector<double> s(arc_matrix_size(m), kExcluded);
      for (std::size_t d = 1; d <= m; ++d) {
        for (std::size_t h = 0; h <= m; ++h) {
          if (h != d) s[arc_matrix_index(m, h, d)] = s_[arc_matrix_index(words_, word(h), word(d))];
        }
      }
      found = below_.try_emplace(root, m, std::move(s)).first;
    }
    others_.resize(words_ - 1);
    found->second.draw(random, others_);
    for (std::size_t d = 1; d < words_; ++d)
      heads[word(d) - 1] = static_cast<std::uint32_t>(word(others_[d - 1]));
  }

 private:
  std::size_t words_;
  std::span<const double> s_;
  std::vector<double> roots_;
  std::map<std::size_t, ForestSampler> below_;
  std::vector<std::uint32_t> others_;
};

}  // namespace

std::vector<std::vector<std::uint32_t>> nonprojective_samples(std::size_t words, bool single_root,
                                                              std::span<const double> s, std::size_t n,
                                                              Random& random) {
  ESPALIER_EXPECT(words > 0 && s.size() == arc_matrix_size(words));
  std::vector<std::vector<std::uint32_t>> trees(n, std::vector<std::uint32_t>(words));
  const auto draw_all = [&](auto&& sampler) {
    for (auto& heads : trees) sampler.draw(random, heads);
  };
  if (single_root) {
    draw_all(SingleRootSampler(words, s));
  } else {
    draw_all(ForestSampler(words, std::vector<double>(s.begin(), s.end())));
  }
  return trees;
}

}  // namespace espalier
