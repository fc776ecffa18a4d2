#include "espalier/features/dependency_features.h"

#include <numeric>

namespace espalier {

DependencyFeatures::DependencyFeatures(unsigned bits, unsigned relation_bits, std::size_t num_labels)
    : arcs_(arc_templates(), bits) {
  if (num_labels > 1) relations_.emplace(relation_templates(), relation_bits, num_labels);
}

double DependencyFeatures::typical_size() const {
  return arcs_.typical_size() + (relations_ ? relations_->typical_size() : 0);
}

template <class Real, class Scale>
void DependencyFeatures::score(std::span<const WordAtoms> words, const ArcSet& arcs, const Real* w,
                               Scale scale, std::span<Scale> s, Workspace& ws) const {
  if (!relations_) return arcs_.score(words, arcs, w, scale, s, ws);
  Workspace::Frame frame(ws);
  const auto of_arcs = frame.take<Scale>(arcs.size());
  arcs_.score(words, arcs, w, scale, of_arcs, ws);
  const std::size_t labels = num_labels();
  for (std::size_t a = 0; a < arcs.size(); ++a) std::fill_n(s.data() + a * labels, labels, of_arcs[a]);
  relations_->add_score(words, arcs, w + arcs_.num_weights(), scale, s, ws);
}

// The features of an arc do not look at its label: they see the sum over all of them.
template <class Real>
std::span<const Real> DependencyFeatures::sum_of_labels(std::span<const Real> delta, std::size_t num_arcs,
                                                        Workspace::Frame& frame) const {
  const auto sums = frame.take<Real>(num_arcs);
  const std::size_t labels = num_labels();
  for (std::size_t a = 0; a < num_arcs; ++a) {
    sums[a] = std::accumulate(delta.data() + a * labels, delta.data() + (a + 1) * labels, Real{0});
  }
  return sums;
}

template <class Real>
void DependencyFeatures::accumulate(std::span<const WordAtoms> words, const ArcSet& arcs,
                                    std::span<const Real> delta, Real negligible, RowShare share, Real* w,
                                    Workspace& ws) const {
  if (!relations_) return arcs_.accumulate(words, arcs, delta, negligible, share, w, ws);
  Workspace::Frame frame(ws);
  arcs_.accumulate(words, arcs, sum_of_labels(delta, arcs.size(), frame), negligible, share, w, ws);
  relations_->accumulate(words, arcs, delta, negligible, share, w + arcs_.num_weights(), ws);
}

template <class Real>
double DependencyFeatures::squared_norm(std::span<const WordAtoms> words, const ArcSet& arcs,
                                        std::span<const Real> delta, Real negligible, Workspace& ws) const {
  if (!relations_) return arcs_.squared_norm(words, arcs, delta, negligible, ws);
  Workspace::Frame frame(ws);
  return arcs_.squared_norm(words, arcs, sum_of_labels(delta, arcs.size(), frame), negligible, ws) +
         relations_->squared_norm(words, arcs, delta, negligible, ws);
}

template void DependencyFeatures::score(std::span<const WordAtoms>, const ArcSet&, const float*, float,
                                        std::span<float>, Workspace&) const;
template void DependencyFeatures::score(std::span<const WordAtoms>, const ArcSet&, const float*, double,
                                        std::span<double>, Workspace&) const;
template void DependencyFeatures::score(std::span<const WordAtoms>, const ArcSet&, const double*, double,
                                        std::span<double>, Workspace&) const;
template void DependencyFeatures::accumulate(std::span<const WordAtoms>, const ArcSet&,
                                             std::span<const float>, float, RowShare, float*,
                                             Workspace&) const;
template void DependencyFeatures::accumulate(std::span<const WordAtoms>, const ArcSet&,
                                             std::span<const double>, double, RowShare, double*,
                                             Workspace&) const;
template double DependencyFeatures::squared_norm(std::span<const WordAtoms>, const ArcSet&,
                                                 std::span<const float>, float, Workspace&) const;
template double DependencyFeatures::squared_norm(std::span<const WordAtoms>, const ArcSet&,
                                                 std::span<const double>, double, Workspace&) const;

}  // namespace espalier
