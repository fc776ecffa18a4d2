#include "features/arc_features.h"

#include <algorithm>
#include <cmath>

#include "espalier/base/error.h"
#include "features/sparse_sum.h"
#include "kernels/arcs.h"
#include "kernels/relaxed.h"

namespace espalier {
namespace {

// Distances 1, 2, 3, 4, 5, 6 to 10, and more; their columns: 0 has the feature without a distance.
constexpr std::uint32_t distance_column(std::size_t distance) {
  return distance <= 5 ? static_cast<std::uint32_t>(distance) : distance <= 10 ? 6 : 7;
}

// Rounded up, so that kernels may read whole vectors.
constexpr std::size_t padded(std::size_t n) { return (n + 15) / 16 * 16; }

// More would be slow, and mostly noise.
constexpr std::size_t kMostBetween = 16;

}  // namespace

ArcFeatures::ArcFeatures(const ArcTemplates& templates, unsigned bits) : templates_(&templates), bits_(bits) {
  ESPALIER_EXPECT(bits >= 4 && bits <= 31);
}

double ArcFeatures::typical_size() const {
  constexpr double kTypicalBetween = 3;
  return 2 * (static_cast<double>(templates_->size()) +
              kTypicalBetween * static_cast<double>(templates_->num_between()));
}

double ArcFeatures::largest_size() const {
  return 2 * static_cast<double>(templates_->size() + kMostBetween * templates_->num_between());
}

double ArcFeatures::common_share() const {
  std::size_t common = 0;
  for (std::size_t t = 0; t < templates_->size(); ++t) common += templates_->is_lexical(t) ? 0 : 1;
  return static_cast<double>(common) / static_cast<double>(templates_->size());
}

// Calls use(arc, places) for every arc that is wanted, modifier by modifier, where `places` says where the
// weights of its features are; and before that ask(place) for one on each of their cache lines.
template <class Wanted, class Ask, class Use>
void ArcFeatures::for_each_arc(std::span<const WordAtoms> words, const ArcSet& arcs, const Wanted& wanted,
                               const Ask& ask, const Use& use, Workspace& ws) const {
  Workspace::Frame frame(ws);
  const std::size_t m = words.size(), plain = templates_->size(), kinds = templates_->num_between();
  const std::size_t stride = padded(plain + kinds);
  const auto head = frame.take<std::uint32_t>((m + 1) * stride),
             modifier = frame.take<std::uint32_t>((m + 1) * stride);
  templates_->keys(words, stride, head, modifier);
  const auto between_keys = frame.take<std::uint32_t>((m + 1) * kinds);
  for (std::size_t k = 1; k <= m; ++k) {
    for (std::size_t t = 0; t < kinds; ++t)
      between_keys[k * kinds + t] = templates_->between_key(t, words[k - 1]);
  }
  const auto between = frame.take<std::uint32_t>(kinds * kMostBetween);
  const auto num_between = frame.take<std::size_t>(kinds);
  const auto arc_of = frame.take<std::size_t>(m + 1);
  // Arcs are used some steps after their places are known, which is when their weights are asked for.
  constexpr std::size_t kWaiting = 4;
  const std::size_t most = padded(2 * (plain + kinds * kMostBetween) + 32);
  const auto places = frame.take<std::uint32_t>(kWaiting * most);
  std::size_t sizes[kWaiting] = {}, waiting_arcs[kWaiting] = {};
  std::size_t began = 0, ended = 0;
  const auto use_oldest = [&] {
    const std::size_t k = ended++ % kWaiting;
    use(waiting_arcs[k], std::span<const std::uint32_t>(places.data() + k * most, sizes[k]));
  };
  const std::uint32_t mask = static_cast<std::uint32_t>(num_weights() - 1);

  for (std::size_t d = 1; d <= m; ++d) {
    std::fill(arc_of.begin(), arc_of.end(), ArcSet::kNone);
    std::size_t lowest = m + 1, highest = 0;
    for (std::size_t a = arcs.begin(d); a < arcs.end(d); ++a) {
      if (!wanted(a)) continue;
      const std::size_t h = arcs.head(a, d);
      arc_of[h] = a;
      lowest = std::min(lowest, h);
      highest = std::max(highest, h);
    }
    // Heads to the left from the nearest to the farthest, then those to the right: what lies between only
    // grows.
    for (const bool left : {true, false}) {
      std::fill(num_between.begin(), num_between.end(), 0);
      const std::uint32_t direction = direction_key(left);
      for (std::size_t distance = 1;; ++distance) {
        if (left ? (distance > d || d - distance < lowest) : d + distance > highest) break;
        const std::size_t h = left ? d - distance : d + distance;
        if (distance > 1) {
          const std::uint32_t* passed = between_keys.data() + (left ? h + 1 : h - 1) * kinds;
          for (std::size_t t = 0; t < kinds; ++t) {
            std::uint32_t* keys = between.data() + t * kMostBetween;
            std::size_t& n = num_between[t];
            if (n < kMostBetween && std::find(keys, keys + n, passed[t]) == keys + n) keys[n++] = passed[t];
          }
        }
        if (arc_of[h] == ArcSet::kNone) continue;
        if (began - ended == kWaiting) use_oldest();
        const std::size_t k = began++ % kWaiting;
        std::uint32_t* to = places.data() + k * most;
        const std::uint32_t* of_head = head.data() + h * stride;
        const std::uint32_t* of_modifier = modifier.data() + d * stride;
        const std::uint32_t column = distance_column(distance);
        kernels::arc_places(of_head, of_modifier, plain, direction, column, mask, to);
        for (std::size_t t = 0; t < plain; ++t) ask(to[t]);
        std::size_t size = 2 * plain;
        for (std::size_t t = 0; t < kinds; ++t) {
          const std::uint32_t key = of_head[plain + t] ^ of_modifier[plain + t] ^ direction;
          for (std::size_t b = 0; b < num_between[t]; ++b) {
            const std::uint32_t x = key ^ between[t * kMostBetween + b];
            ask(x & mask);
            to[size++] = x & mask;
            to[size++] = kernels::place_in_column(x, column) & mask;
          }
        }
        sizes[k] = size;
        waiting_arcs[k] = arc_of[h];
      }
    }
  }
  for (std::size_t left = began - ended; left > 0; --left) use_oldest();
}

template <class Real, class Scale>
void ArcFeatures::score(std::span<const WordAtoms> words, const ArcSet& arcs, const Real* w, Scale scale,
                        std::span<Scale> s, Workspace& ws, double threshold) const {
  for_each_arc(
      words, arcs, [](std::size_t) { return true; },
      [w](std::uint32_t place) { __builtin_prefetch(w + place); },
      [&](std::size_t a, std::span<const std::uint32_t> places) {
        Scale sums[4] = {};
        const auto weight = [&](std::uint32_t place) {
          return soft(static_cast<Scale>(kernels::relaxed_load(w + place)), static_cast<Scale>(threshold));
        };
        std::size_t j = 0;
        for (; j + 4 <= places.size(); j += 4) {
          for (std::size_t k = 0; k < 4; ++k) sums[k] += weight(places[j + k]);
        }
        for (; j < places.size(); ++j) sums[0] += weight(places[j]);
        s[a] = scale * ((sums[0] + sums[1]) + (sums[2] + sums[3]));
      },
      ws);
}

template <class Real>
void ArcFeatures::accumulate(std::span<const WordAtoms> words, const ArcSet& arcs,
                             std::span<const Real> delta, Real negligible, RowShare share, Real* w,
                             Workspace& ws) const {
  for_each_arc(
      words, arcs, [&](std::size_t a) { return std::abs(delta[a]) > negligible; },
      [w](std::uint32_t place) { __builtin_prefetch(w + place, 1); },
      [&](std::size_t a, std::span<const std::uint32_t> places) {
        const Real change = delta[a];
        for (const std::uint32_t place : places) {
          if (share.of > 1 && !share.has(place / 16)) continue;  // by cache lines
          kernels::relaxed_store(w + place, kernels::relaxed_load(w + place) + change);
        }
      },
      ws);
}

template <class Real>
double ArcFeatures::squared_norm(std::span<const WordAtoms> words, const ArcSet& arcs,
                                 std::span<const Real> delta, Real negligible, Workspace& ws) const {
  std::size_t moved = 0;
  for (const Real change : delta) moved += std::abs(change) > negligible ? 1 : 0;
  Workspace::Frame frame(ws);
  const auto most = static_cast<std::size_t>(largest_size());
  SparseSum<Real> sum(std::min(moved * most, num_weights()), frame);
  for_each_arc(
      words, arcs, [&](std::size_t a) { return std::abs(delta[a]) > negligible; }, [](std::uint32_t) {},
      [&](std::size_t a, std::span<const std::uint32_t> places) {
        for (const std::uint32_t place : places) sum.add(place, delta[a]);
      },
      ws);
  return sum.squared_norm();
}

template void ArcFeatures::score(std::span<const WordAtoms>, const ArcSet&, const float*, float,
                                 std::span<float>, Workspace&, double) const;
template void ArcFeatures::score(std::span<const WordAtoms>, const ArcSet&, const float*, double,
                                 std::span<double>, Workspace&, double) const;
template void ArcFeatures::score(std::span<const WordAtoms>, const ArcSet&, const double*, double,
                                 std::span<double>, Workspace&, double) const;
template void ArcFeatures::accumulate(std::span<const WordAtoms>, const ArcSet&, std::span<const float>,
                                      float, RowShare, float*, Workspace&) const;
template void ArcFeatures::accumulate(std::span<const WordAtoms>, const ArcSet&, std::span<const double>,
                                      double, RowShare, double*, Workspace&) const;
template double ArcFeatures::squared_norm(std::span<const WordAtoms>, const ArcSet&, std::span<const float>,
                                          float, Workspace&) const;
template double ArcFeatures::squared_norm(std::span<const WordAtoms>, const ArcSet&, std::span<const double>,
                                          double, Workspace&) const;

}  // namespace espalier
