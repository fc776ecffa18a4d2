#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "espalier/base/workspace.h"
#include "espalier/features/weights.h"
#include "features/arc_templates.h"
#include "features/sinks.h"
#include "structures/tree_parts.h"

namespace espalier {

// Features of pairs of arcs that interact, siblings and grandparents, by hashing as in ArcFeatures: templates
// look at three words, and their directions.
class PartFeatures {
 public:
  explicit PartFeatures(unsigned bits);

  std::size_t num_weights() const { return std::size_t{1} << bits_; }
  // s = scale F'w, one value a part, siblings first.
  template <class Real, class Scale>
  void score(std::span<const WordAtoms> words, const TreeParts& parts, const Real* w, Scale scale,
             std::span<Scale> s, Workspace& ws, double threshold = 0) const;
  // w += F delta, where w is what the sink has (sinks.h). Parts with |delta| <= negligible are left out.
  template <class Real, class Sink>
  void accumulate(std::span<const WordAtoms> words, const TreeParts& parts, std::span<const Real> delta,
                  Real negligible, const Sink& w, Workspace& ws) const;
  // |F delta|^2, likewise.
  template <class Real>
  double squared_norm(std::span<const WordAtoms> words, const TreeParts& parts, std::span<const Real> delta,
                      Real negligible, Workspace& ws) const;
  // An arc of a tree is the farther one of at most one pair of siblings, and the lower one of at most one
  // with a grandparent.
  double size_for_arc() const;

 private:
  template <class Wanted, class Use>
  void for_each_part(std::span<const WordAtoms> words, const TreeParts& parts, const Wanted& wanted,
                     const Use& use, Workspace& ws) const;

  unsigned bits_;
};

}  // namespace espalier
