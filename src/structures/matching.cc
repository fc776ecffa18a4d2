// The best matching is a minimum-cost flow: word by word of the source, each with as many units as it may
// have links, over pairs of the cost -s_ij to the words of the target, each of which takes as many; a unit
// may also stay at home for nothing. One more unit at a time takes the shortest path through what is left
// (Jonker and Volgenant 1987; Edmonds and Karp 1972 for the potentials), by Dijkstra's algorithm on reduced
// costs
//
//   c_uv + p_u - p_v >= 0    where u -> v has room,    p = 0 where the path ends,
//
// so a unit costs O((m + n)^2) and all together O(min(k, n) m (m + n)^2); most units find their word at once.
// Pairs that score 0 or less are in no best matching and in no path.
//
// The k best ones are found as nonprojective_kbest.cc finds trees, by the division of Lawler (1972): of the
// matchings that agree on the first pairs, the others than the best one are, for each later pair e,
//
//   { matchings that agree with the best one before e, and not on e }.
//
// Most of these sets are never looked into: potentials are a dual solution, so that a matching loses at least
// |c_uv + p_u - p_v| where it differs from the best one on the pair u, v. A set waits with that bound, and
// its best matching is found when the bound is the highest.

#include "structures/matching.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <queue>
#include <utility>

#include "espalier/base/error.h"
#include "structures/kbest_memory.h"

namespace espalier {
namespace {

constexpr double kNoPair = -std::numeric_limits<double>::infinity();

// Words are nodes: those of the source 0 to m - 1, those of the target from m on.
class Assignment {
 public:
  Assignment(std::size_t sources, std::size_t targets, std::span<const double> s,
             std::span<const std::uint32_t> room, std::span<std::uint8_t> linked, Workspace::Frame& frame)
      : m_(sources),
        n_(targets),
        s_(s),
        linked_(linked),
        left_(frame.take<std::uint32_t>(n_)),
        potential_(frame.take<double>(m_ + n_)),
        distance_(frame.take<double>(m_ + n_)),
        from_(frame.take<std::uint32_t>(m_ + n_)),
        done_(frame.take<std::uint8_t>(m_ + n_)) {
    std::fill(linked.begin(), linked.end(), std::uint8_t{0});
    std::copy_n(room.begin() + static_cast<std::ptrdiff_t>(m_), n_, left_.begin());
    std::fill(potential_.begin(), potential_.end(), 0.0);
    for (std::size_t i = 0; i < m_; ++i) {
      for (std::size_t j = 0; j < n_; ++j) potential_[i] = std::max(potential_[i], s[i * n_ + j]);
    }
  }

  // One more unit at a word of the source. False: it stayed there, as will all that follow.
  bool add_unit(std::size_t source) {
    constexpr double kFar = std::numeric_limits<double>::infinity();
    std::fill(distance_.begin(), distance_.end(), kFar);
    std::fill(done_.begin(), done_.end(), std::uint8_t{0});
    distance_[source] = 0;
    double length = kFar;  // of the shortest path to an end
    std::size_t end = source;
    for (;;) {
      std::size_t u = m_ + n_;
      for (std::size_t v = 0; v < m_ + n_; ++v) {
        if (done_[v] == 0 && distance_[v] < (u < m_ + n_ ? distance_[u] : length)) u = v;
      }
      if (u == m_ + n_) break;
      done_[u] = 1;
      const bool is_end = u < m_ || left_[u - m_] > 0;
      if (is_end && distance_[u] + potential_[u] < length) {
        length = distance_[u] + potential_[u];
        end = u;
      }
      if (u < m_) {
        for (std::size_t j = 0; j < n_; ++j) {
          const double score = s_[u * n_ + j];
          if (score > 0 && linked_[u * n_ + j] == 0)
            reach(m_ + j, u, distance_[u] + (potential_[u] - potential_[m_ + j] - score));
        }
      } else {
        for (std::size_t i = 0; i < m_; ++i) {
          const std::size_t e = i * n_ + (u - m_);
          if (linked_[e] != 0) reach(i, u, distance_[u] + (s_[e] + potential_[u] - potential_[i]));
        }
      }
    }
    // p_v += min(d_v, length) - length keeps reduced costs above zero, and those of the path at zero.
    for (std::size_t v = 0; v < m_ + n_; ++v) {
      if (distance_[v] < length) potential_[v] += distance_[v] - length;
    }
    if (end == source) return false;
    if (end >= m_) --left_[end - m_];
    for (std::size_t v = end; v != source; v = from_[v]) {
      const std::size_t u = from_[v];
      if (v >= m_) {
        linked_[u * n_ + (v - m_)] = 1;
      } else {
        linked_[v * n_ + (u - m_)] = 0;
      }
    }
    return true;
  }

  // |c_uv + p_u - p_v|: of the right sign for pairs that are linked and others, but for rounding.
  double loss(std::size_t e) const {
    const double above = s_[e] - potential_[e / n_] + potential_[m_ + e % n_];
    return std::max(linked_[e] != 0 ? above : -above, 0.0);
  }

 private:
  void reach(std::size_t v, std::size_t from, double distance) {
    if (done_[v] != 0 || distance >= distance_[v]) return;
    distance_[v] = distance;
    from_[v] = static_cast<std::uint32_t>(from);
  }

  std::size_t m_, n_;
  std::span<const double> s_;
  std::span<std::uint8_t> linked_;
  std::span<std::uint32_t> left_;  // links that words of the target may still have
  std::span<double> potential_, distance_;
  std::span<std::uint32_t> from_;
  std::span<std::uint8_t> done_;
};

template <class Real>
void set_matching(const Matching::Output& y, std::span<Real> mu) {
  std::fill(mu.begin(), mu.end(), Real{0});
  for (const std::uint32_t e : y) mu[e] = 1;
}

// The best of a set of matchings, and what others lose at least.
struct FoundMatching {
  std::vector<std::uint8_t> linked;
  std::vector<double> loss;
};

// Matchings that agree with `like` on the pairs before `first`, but for the last of these where `differs`.
struct MatchingSet {
  double score;  // of the best of them; no less than that, where it is not found yet
  std::size_t first;
  std::shared_ptr<const FoundMatching> like;
  bool differs;        // then `like` is not in the set, and its best is not found
  std::size_t serial;  // equal scores: the one made first
};

struct WorseMatching {
  bool operator()(const MatchingSet& a, const MatchingSet& b) const {
    return a.score != b.score ? a.score < b.score : a.serial > b.serial;
  }
};

}  // namespace

double best_matching(std::size_t sources, std::size_t targets, std::span<const double> s,
                     std::span<const std::uint32_t> room, std::span<std::uint8_t> linked,
                     std::span<double> loss, Workspace& ws) {
  Workspace::Frame frame(ws);
  Assignment assignment(sources, targets, s, room, linked, frame);
  for (std::size_t i = 0; i < sources; ++i) {
    for (std::size_t unit = 0; unit < std::min<std::size_t>(room[i], targets); ++unit) {
      if (!assignment.add_unit(i)) break;
    }
  }
  for (std::size_t e = 0; e < loss.size(); ++e) loss[e] = assignment.loss(e);
  double score = 0;
  for (std::size_t e = 0; e < s.size(); ++e) score += linked[e] != 0 ? s[e] : 0;
  return score;
}

template <class Real>
double Matching::argmax_of(std::span<const Real> s, std::span<Real> mu, Workspace& ws) const {
  ESPALIER_EXPECT(s.size() == num_statistics() && mu.size() == num_statistics());
  Workspace::Frame frame(ws);
  const auto scores = frame.take<double>(s.size());
  std::copy(s.begin(), s.end(), scores.begin());
  const auto room = frame.take<std::uint32_t>(sources_ + targets_);
  std::fill(room.begin(), room.end(), static_cast<std::uint32_t>(most_));
  const auto linked = frame.take<std::uint8_t>(s.size());
  const double score = best_matching(sources_, targets_, scores, room, linked, {}, ws);
  std::copy(linked.begin(), linked.end(), mu.begin());
  return score;
}

double Matching::argmax(std::span<const float> s, std::span<float> mu, Workspace& ws) const {
  return argmax_of(s, mu, ws);
}
double Matching::argmax(std::span<const double> s, std::span<double> mu, Workspace& ws) const {
  return argmax_of(s, mu, ws);
}

Matching::Output Matching::decode(std::span<const double> s, Workspace& ws) const {
  Workspace::Frame frame(ws);
  const auto mu = frame.take<double>(s.size());
  argmax_of(s, mu, ws);
  Output y;
  for (std::uint32_t e = 0; e < mu.size(); ++e) {
    if (mu[e] != 0) y.push_back(e);
  }
  return y;
}
Matching::Output Matching::decode(std::span<const float> s, Workspace& ws) const {
  Workspace::Frame frame(ws);
  const auto scores = frame.take<double>(s.size());
  std::copy(s.begin(), s.end(), scores.begin());
  return decode(std::span<const double>(scores), ws);
}

void Matching::indicator(const Output& y, std::span<float> mu) const { set_matching(y, mu); }
void Matching::indicator(const Output& y, std::span<double> mu) const { set_matching(y, mu); }

std::vector<Matching::Scored> Matching::kbest(std::span<const double> s, std::size_t k) const {
  Workspace ws;
  std::vector<Scored> best;
  std::priority_queue<MatchingSet, std::vector<MatchingSet>, WorseMatching> sets;
  std::size_t serial = 0;
  KbestMemory memory;
  const auto push = [&](MatchingSet set) {
    set.serial = serial++;
    memory.add(sizeof(MatchingSet));
    sets.push(std::move(set));
  };
  std::vector<double> left(s.size());
  std::vector<std::uint32_t> room(sources_ + targets_);
  // Whether pair e is linked in the set, where it is one of those before `first`.
  const auto is_linked = [](const MatchingSet& set, std::size_t e) {
    return (set.like->linked[e] != 0) != (set.differs && e + 1 == set.first);
  };
  // Finds the best one of the set; there may be none.
  const auto find = [&](const MatchingSet& set) {
    std::fill(room.begin(), room.end(), static_cast<std::uint32_t>(most_));
    std::copy(s.begin(), s.end(), left.begin());
    for (std::size_t e = 0; e < set.first; ++e) {
      left[e] = kNoPair;
      if (!is_linked(set, e)) continue;
      std::uint32_t &source = room[e / targets_], &target = room[sources_ + e % targets_];
      if (s[e] == kNoPair || source == 0 || target == 0) return;
      --source;
      --target;
    }
    FoundMatching found{std::vector<std::uint8_t>(s.size()), std::vector<double>(s.size())};
    memory.add(s.size() * (sizeof(std::uint8_t) + sizeof(double)));
    best_matching(sources_, targets_, left, room, found.linked, found.loss, ws);
    double score = 0;
    for (std::size_t e = 0; e < s.size(); ++e) {
      if (e < set.first) found.linked[e] = is_linked(set, e) ? 1 : 0;
      score += found.linked[e] != 0 ? s[e] : 0;
    }
    push({score, set.first, std::make_shared<const FoundMatching>(std::move(found)), false, 0});
  };

  const FoundMatching nothing{std::vector<std::uint8_t>(s.size()), {}};
  if (k > 0) find({0, 0, std::make_shared<const FoundMatching>(nothing), false, 0});
  while (!sets.empty()) {
    const MatchingSet set = sets.top();
    sets.pop();
    if (set.differs) {
      find(set);
      continue;
    }
    best.push_back({{}, set.score});
    double size = 0;  // what rounding errors of a loss are measured by
    for (std::uint32_t e = 0; e < s.size(); ++e) {
      if (s[e] != kNoPair) size = std::max(size, std::abs(s[e]));
      if (set.like->linked[e] != 0) best.back().output.push_back(e);
    }
    if (best.size() == k) break;
    for (std::size_t e = set.first; e < s.size(); ++e) {
      if (s[e] == kNoPair) continue;
      push({set.score - set.like->loss[e] + 1e-12 * (size + std::abs(set.score)), e + 1, set.like, true, 0});
    }
  }
  return best;
}

}  // namespace espalier
