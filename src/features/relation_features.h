#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "espalier/base/workspace.h"
#include "espalier/features/weights.h"
#include "features/arc_templates.h"
#include "features/sinks.h"
#include "structures/arc_set.h"

namespace espalier {

// Features of arcs with their relations: each arc has a few rows out of 2^bits, found by hashing as in
// ArcFeatures, and each row has a weight for every relation. Weights start on a cache line.
class RelationFeatures {
 public:
  RelationFeatures(const ArcTemplates& templates, unsigned bits, std::size_t num_labels);

  std::size_t num_labels() const { return num_labels_; }
  std::size_t num_weights() const { return (std::size_t{1} << bits_) * row_stride(num_labels_); }
  // s += scale F'w, one value for each arc and label.
  template <class Real, class Scale>
  void add_score(std::span<const WordAtoms> words, const ArcSet& arcs, const Real* w, Scale scale,
                 std::span<Scale> s, Workspace& ws, double threshold = 0) const;
  // w += F delta, where w is what the sink has (sinks.h). Arcs with nothing above `negligible` are left out.
  template <class Real, class Sink>
  void accumulate(std::span<const WordAtoms> words, const ArcSet& arcs, std::span<const Real> delta,
                  Real negligible, const Sink& w, Workspace& ws) const;
  // |F delta|^2, likewise.
  template <class Real>
  double squared_norm(std::span<const WordAtoms> words, const ArcSet& arcs, std::span<const Real> delta,
                      Real negligible, Workspace& ws) const;
  double typical_size() const;

 private:
  template <class Wanted, class Use>
  void for_each_arc(std::span<const WordAtoms> words, const ArcSet& arcs, const Wanted& wanted,
                    const Use& use, Workspace& ws) const;

  const ArcTemplates* templates_;
  unsigned bits_;
  std::size_t num_labels_;
};

}  // namespace espalier
