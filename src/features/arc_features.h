#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "espalier/base/workspace.h"
#include "espalier/features/weights.h"
#include "features/arc_groups.h"
#include "features/arc_templates.h"
#include "features/change_lists.h"
#include "features/sinks.h"
#include "structures/arc_set.h"

namespace espalier {

// The features of all arcs of a sentence, as the linear operator F between weights and one score for each
// arc. Features are never stored: their keys follow from the words at every call, and a key's low bits say
// where its weight is, in a space of 2^bits weights. A feature as it is and the same with the distance of
// head and modifier lie on one cache line. Weights start on one, too.
class ArcFeatures {
 public:
  ArcFeatures(const ArcTemplates& templates, unsigned bits);

  std::size_t num_weights() const { return std::size_t{1} << bits_; }
  // s = scale F'w, one value an arc.
  template <class Real, class Scale>
  void score(std::span<const WordAtoms> words, const ArcSet& arcs, const Real* w, Scale scale,
             std::span<Scale> s, Workspace& ws, double threshold = 0) const;
  // w += F delta, where w is what the sink has (sinks.h). Arcs with |delta| <= negligible are left out.
  template <class Real, class Sink>
  void accumulate(std::span<const WordAtoms> words, const ArcSet& arcs, std::span<const Real> delta,
                  Real negligible, const Sink& w, Workspace& ws) const;
  // Lists the same, of long sentences in several lists (which is the same whoever helps), and returns |F
  // delta|^2 of what they have.
  double list_with_norm(std::span<const WordAtoms> words, const ArcSet& arcs, std::span<const float> delta,
                        float negligible, ChangeLists& lists, Workspace& ws) const;
  // |F delta|^2, likewise.
  template <class Real>
  double squared_norm(std::span<const WordAtoms> words, const ArcSet& arcs, std::span<const Real> delta,
                      Real negligible, Workspace& ws) const;

  // About how many features an arc has, the most it can have, and which part of them nearly every sentence
  // has too.
  double typical_size() const;
  double largest_size() const;
  double common_share() const;

 private:
  const ArcGroups& groups_for(std::size_t arcs, std::size_t words) const;
  std::uint32_t mask() const { return static_cast<std::uint32_t>(num_weights() - 1); }

  ArcGroups shared_, apart_;
  unsigned bits_;
};

}  // namespace espalier
