#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "espalier/base/workspace.h"
#include "features/row_changes.h"

namespace espalier {

// What one example adds to the weights, in lists that are made one after the other: of a long example several
// threads may write some each. Used again and again; once it has grown, it allocates nothing.
class ChangeLists {
 public:
  // Owners of lists that have to come out the same for any number of threads, each of which makes the changes
  // of some.
  static constexpr std::size_t kFineShares = 16;

  // So many empty lists (RowChanges::start).
  std::span<RowChanges<float>> start(std::size_t lists, std::size_t shares, const OwnedRows* owned = nullptr);
  RowChanges<float>& add();  // one more
  std::span<const RowChanges<float>> lists() const { return std::span(lists_).first(size_); }

  // |sum of all changes|^2 for lists of kFineShares and of rows of arcs alone, the same to the bit whoever
  // helps.
  double squared_norm(Workspace& ws) const;
  // All changes times a factor.
  void scale(float factor) {
    for (RowChanges<float>& list : std::span(lists_).first(size_)) list.scale(factor);
  }
  // Keeps them once more (RowChanges::copy_scaled).
  void copy_scaled(float factor) {
    for (RowChanges<float>& list : std::span(lists_).first(size_)) list.copy_scaled(factor);
  }

 private:
  double squared_norm_of(std::size_t share, Workspace& ws) const;

  std::vector<RowChanges<float>> lists_;
  std::size_t size_ = 0;
};

}  // namespace espalier
