#include "features/dependency_features.h"

#include <algorithm>
#include <numeric>

#include "espalier/base/error.h"

namespace espalier {

DependencyFeatures::DependencyFeatures(unsigned bits, unsigned relation_bits, std::size_t num_labels,
                                       bool second_order)
    : arcs_(arc_templates(), bits) {
  if (num_labels > 1) relations_.emplace(relation_templates(), relation_bits, num_labels);
  if (second_order) parts_.emplace(bits);
}

double DependencyFeatures::typical_size() const {
  return arcs_.typical_size() + (relations_ ? relations_->typical_size() : 0) +
         (parts_ ? parts_->size_for_arc() : 0);
}

double DependencyFeatures::largest_size() const {
  return typical_size() - arcs_.typical_size() + arcs_.largest_size();
}

template <class Real, class Scale>
void DependencyFeatures::score(std::span<const WordAtoms> words, const ArcSet& arcs, const Real* w,
                               Scale scale, std::span<Scale> s, Workspace& ws, const TreeParts& parts,
                               double threshold) const {
  const std::size_t labels = num_labels(), labelled = arcs.size() * labels;
  ESPALIER_EXPECT(s.size() == labelled + parts.size());
  if (relations_) {
    Workspace::Frame frame(ws);
    const auto of_arcs = frame.take<Scale>(arcs.size());
    arcs_.score(words, arcs, w, scale, of_arcs, ws, threshold);
    for (std::size_t a = 0; a < arcs.size(); ++a) std::fill_n(s.data() + a * labels, labels, of_arcs[a]);
    relations_->add_score(words, arcs, w + arcs_.num_weights(), scale, s.first(labelled), ws, threshold);
  } else {
    arcs_.score(words, arcs, w, scale, s.first(labelled), ws, threshold);
  }
  if (parts_) parts_->score(words, parts, w + first_of_parts(), scale, s.subspan(labelled), ws, threshold);
}

// The features of an arc do not look at its label: they see the sum over all of them.
template <class Real>
std::span<const Real> DependencyFeatures::sum_of_labels(std::span<const Real> delta, std::size_t num_arcs,
                                                        Workspace::Frame& frame) const {
  const std::size_t labels = num_labels();
  if (labels == 1) return delta.first(num_arcs);
  const auto sums = frame.take<Real>(num_arcs);
  for (std::size_t a = 0; a < num_arcs; ++a) {
    sums[a] = std::accumulate(delta.data() + a * labels, delta.data() + (a + 1) * labels, Real{0});
  }
  return sums;
}

template <class Real, class Sink>
void DependencyFeatures::accumulate(std::span<const WordAtoms> words, const ArcSet& arcs,
                                    std::span<const Real> delta, Real negligible, const Sink& w,
                                    Workspace& ws, const TreeParts& parts) const {
  Workspace::Frame frame(ws);
  const std::size_t labelled = arcs.size() * num_labels();
  ESPALIER_EXPECT(delta.size() == labelled + parts.size());
  arcs_.accumulate(words, arcs, sum_of_labels(delta, arcs.size(), frame), negligible, w, ws);
  if (relations_)
    relations_->accumulate(words, arcs, delta.first(labelled), negligible, w.from(arcs_.num_weights()), ws);
  if (parts_)
    parts_->accumulate(words, parts, delta.subspan(labelled), negligible, w.from(first_of_parts()), ws);
}

double DependencyFeatures::list_with_norm(std::span<const WordAtoms> words, const ArcSet& arcs,
                                          std::span<const float> delta, float negligible, ChangeLists& lists,
                                          Workspace& ws, const TreeParts& parts) const {
  Workspace::Frame frame(ws);
  const std::size_t labelled = arcs.size() * num_labels();
  ESPALIER_EXPECT(delta.size() == labelled + parts.size());
  double sum =
      arcs_.list_with_norm(words, arcs, sum_of_labels(delta, arcs.size(), frame), negligible, lists, ws);
  if (!relations_ && !parts_) return sum;
  const ListSink<float> rest(lists.add());
  if (relations_) {
    const auto of_labels = delta.first(labelled);
    sum += relations_->squared_norm(words, arcs, of_labels, negligible, ws);
    relations_->accumulate(words, arcs, of_labels, negligible, rest.from(arcs_.num_weights()), ws);
  }
  if (parts_) {
    const auto of_parts = delta.subspan(labelled);
    sum += parts_->squared_norm(words, parts, of_parts, negligible, ws);
    parts_->accumulate(words, parts, of_parts, negligible, rest.from(first_of_parts()), ws);
  }
  return sum;
}

template <class Real>
double DependencyFeatures::squared_norm(std::span<const WordAtoms> words, const ArcSet& arcs,
                                        std::span<const Real> delta, Real negligible, Workspace& ws,
                                        const TreeParts& parts) const {
  Workspace::Frame frame(ws);
  const std::size_t labelled = arcs.size() * num_labels();
  ESPALIER_EXPECT(delta.size() == labelled + parts.size());
  double sum = arcs_.squared_norm(words, arcs, sum_of_labels(delta, arcs.size(), frame), negligible, ws);
  if (relations_) sum += relations_->squared_norm(words, arcs, delta.first(labelled), negligible, ws);
  if (parts_) sum += parts_->squared_norm(words, parts, delta.subspan(labelled), negligible, ws);
  return sum;
}

template void DependencyFeatures::score(std::span<const WordAtoms>, const ArcSet&, const float*, float,
                                        std::span<float>, Workspace&, const TreeParts&, double) const;
template void DependencyFeatures::score(std::span<const WordAtoms>, const ArcSet&, const float*, double,
                                        std::span<double>, Workspace&, const TreeParts&, double) const;
template void DependencyFeatures::score(std::span<const WordAtoms>, const ArcSet&, const double*, double,
                                        std::span<double>, Workspace&, const TreeParts&, double) const;
template void DependencyFeatures::accumulate(std::span<const WordAtoms>, const ArcSet&,
                                             std::span<const float>, float, const WeightsSink<float>&,
                                             Workspace&, const TreeParts&) const;
template void DependencyFeatures::accumulate(std::span<const WordAtoms>, const ArcSet&,
                                             std::span<const float>, float, const ListSink<float>&,
                                             Workspace&, const TreeParts&) const;
template void DependencyFeatures::accumulate(std::span<const WordAtoms>, const ArcSet&,
                                             std::span<const double>, double, const WeightsSink<double>&,
                                             Workspace&, const TreeParts&) const;
template void DependencyFeatures::accumulate(std::span<const WordAtoms>, const ArcSet&,
                                             std::span<const double>, double, const ListSink<double>&,
                                             Workspace&, const TreeParts&) const;
template double DependencyFeatures::squared_norm(std::span<const WordAtoms>, const ArcSet&,
                                                 std::span<const float>, float, Workspace&,
                                                 const TreeParts&) const;
template double DependencyFeatures::squared_norm(std::span<const WordAtoms>, const ArcSet&,
                                                 std::span<const double>, double, Workspace&,
                                                 const TreeParts&) const;

}  // namespace espalier
