#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "features/arc_features.h"
#include "features/part_features.h"
#include "features/relation_features.h"

namespace espalier {

// All features of a parser: those of arcs and, where arcs have labels, those of arcs with their labels, and
// in models of second order those of parts. Their weights lie in this order.
class DependencyFeatures {
 public:
  // 2^bits weights of arcs, and in second order as many of parts; with more than one label 2^relation_bits
  // rows of them.
  DependencyFeatures(unsigned bits, unsigned relation_bits, std::size_t num_labels,
                     bool second_order = false);

  std::size_t num_labels() const { return relations_ ? relations_->num_labels() : 1; }
  WeightShape weight_shape() const { return {first_of_parts() + (parts_ ? parts_->num_weights() : 0), 1}; }
  // About |F chi|^2 of an arc with its label and parts, the most that it can be, and which part of it nearly
  // every sentence has too.
  double typical_size() const;
  double largest_size() const;
  double common_share() const { return arcs_.common_share(); }

  // Statistics are those of DependencyTree with these arcs and parts; parts are for second order.
  // s = scale F'w, where w is a flat array of weight_shape().rows that starts on a
  // cache line.
  template <class Real, class Scale>
  void score(std::span<const WordAtoms> words, const ArcSet& arcs, const Real* w, Scale scale,
             std::span<Scale> s, Workspace& ws, const TreeParts& parts = {}, double threshold = 0) const;
  // w += F delta, where w is what the sink has (sinks.h), but for statistics that move by no more than
  // `negligible`.
  template <class Real, class Sink>
  void accumulate(std::span<const WordAtoms> words, const ArcSet& arcs, std::span<const Real> delta,
                  Real negligible, const Sink& w, Workspace& ws, const TreeParts& parts = {}) const;
  // Lists the same, of long sentences in several lists, and returns |F delta|^2 of what they have.
  double list_with_norm(std::span<const WordAtoms> words, const ArcSet& arcs, std::span<const float> delta,
                        float negligible, ChangeLists& lists, Workspace& ws,
                        const TreeParts& parts = {}) const;
  template <class Real>
  double squared_norm(std::span<const WordAtoms> words, const ArcSet& arcs, std::span<const Real> delta,
                      Real negligible, Workspace& ws, const TreeParts& parts = {}) const;

 private:
  std::size_t first_of_parts() const {
    return arcs_.num_weights() + (relations_ ? relations_->num_weights() : 0);
  }
  template <class Real>
  std::span<const Real> sum_of_labels(std::span<const Real> delta, std::size_t num_arcs,
                                      Workspace::Frame& frame) const;

  ArcFeatures arcs_;
  std::optional<RelationFeatures> relations_;
  std::optional<PartFeatures> parts_;
};

}  // namespace espalier
