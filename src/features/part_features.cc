#include "features/part_features.h"

#include <algorithm>
#include <cmath>

#include "espalier/base/error.h"
#include "features/sparse_sum.h"
#include "kernels/relaxed.h"

namespace espalier {

PartFeatures::PartFeatures(unsigned bits) : bits_(bits) { ESPALIER_EXPECT(bits >= 4 && bits <= 31); }

double PartFeatures::size_for_arc() const {
  return static_cast<double>(sibling_templates().size() + grandparent_templates().size());
}

// Calls use(part, places) for every part that is wanted.
template <class Wanted, class Use>
void PartFeatures::for_each_part(std::span<const WordAtoms> words, const TreeParts& parts,
                                 const Wanted& wanted, const Use& use, Workspace& ws) const {
  const std::size_t m = words.size();
  const auto mask = static_cast<std::uint32_t>(num_weights() - 1);
  std::size_t number = 0;
  for (const bool of_siblings : {true, false}) {
    const ArcTemplates& templates = of_siblings ? sibling_templates() : grandparent_templates();
    Workspace::Frame frame(ws);
    const std::size_t n = templates.size();
    const auto head = frame.take<std::uint32_t>((m + 1) * n),
               modifier = frame.take<std::uint32_t>((m + 1) * n),
               third = frame.take<std::uint32_t>((m + 2) * n), places = frame.take<std::uint32_t>(n);
    templates.keys(words, n, head, modifier);
    templates.third_keys(words, n, third);
    for (const TreePart& part : of_siblings ? parts.siblings : parts.grandparents) {
      const std::size_t k = number++;
      if (!wanted(k)) continue;
      // The nearest modifier has no sibling.
      const std::size_t other = of_siblings && part.third == part.head ? m + 1 : part.third;
      const std::uint32_t direction =
          direction_key(part.head < part.modifier) ^ (direction_key(part.third < part.head) * 0x9e3779b1u);
      for (std::size_t t = 0; t < n; ++t) {
        places[t] =
            (head[part.head * n + t] ^ modifier[part.modifier * n + t] ^ third[other * n + t] ^ direction) &
            mask;
      }
      use(k, std::span<const std::uint32_t>(places));
    }
  }
}

template <class Real, class Scale>
void PartFeatures::score(std::span<const WordAtoms> words, const TreeParts& parts, const Real* w, Scale scale,
                         std::span<Scale> s, Workspace& ws, double threshold) const {
  for_each_part(
      words, parts, [](std::size_t) { return true; },
      [&](std::size_t k, std::span<const std::uint32_t> places) {
        Scale sum = 0;
        for (const std::uint32_t place : places)
          sum += soft(static_cast<Scale>(kernels::relaxed_load(w + place)), static_cast<Scale>(threshold));
        s[k] = scale * sum;
      },
      ws);
}

template <class Real, class Sink>
void PartFeatures::accumulate(std::span<const WordAtoms> words, const TreeParts& parts,
                              std::span<const Real> delta, Real negligible, const Sink& w,
                              Workspace& ws) const {
  for_each_part(
      words, parts, [&](std::size_t k) { return std::abs(delta[k]) > negligible; },
      [&](std::size_t k, std::span<const std::uint32_t> places) {
        w.add_to_each(places.data(), places.size(), delta[k]);
      },
      ws);
}

template <class Real>
double PartFeatures::squared_norm(std::span<const WordAtoms> words, const TreeParts& parts,
                                  std::span<const Real> delta, Real negligible, Workspace& ws) const {
  std::size_t moved = 0;
  for (const Real change : delta) moved += std::abs(change) > negligible ? 1 : 0;
  Workspace::Frame frame(ws);
  SparseSum<Real> sum(moved * std::max(sibling_templates().size(), grandparent_templates().size()), frame);
  for_each_part(
      words, parts, [&](std::size_t k) { return std::abs(delta[k]) > negligible; },
      [&](std::size_t k, std::span<const std::uint32_t> places) {
        for (const std::uint32_t place : places) sum.add(place, delta[k]);
      },
      ws);
  return sum.squared_norm();
}

template void PartFeatures::score(std::span<const WordAtoms>, const TreeParts&, const float*, float,
                                  std::span<float>, Workspace&, double) const;
template void PartFeatures::score(std::span<const WordAtoms>, const TreeParts&, const float*, double,
                                  std::span<double>, Workspace&, double) const;
template void PartFeatures::score(std::span<const WordAtoms>, const TreeParts&, const double*, double,
                                  std::span<double>, Workspace&, double) const;
template void PartFeatures::accumulate(std::span<const WordAtoms>, const TreeParts&, std::span<const float>,
                                       float, const WeightsSink<float>&, Workspace&) const;
template void PartFeatures::accumulate(std::span<const WordAtoms>, const TreeParts&, std::span<const float>,
                                       float, const ListSink<float>&, Workspace&) const;
template void PartFeatures::accumulate(std::span<const WordAtoms>, const TreeParts&, std::span<const double>,
                                       double, const WeightsSink<double>&, Workspace&) const;
template void PartFeatures::accumulate(std::span<const WordAtoms>, const TreeParts&, std::span<const double>,
                                       double, const ListSink<double>&, Workspace&) const;
template double PartFeatures::squared_norm(std::span<const WordAtoms>, const TreeParts&,
                                           std::span<const float>, float, Workspace&) const;
template double PartFeatures::squared_norm(std::span<const WordAtoms>, const TreeParts&,
                                           std::span<const double>, double, Workspace&) const;

}  // namespace espalier
