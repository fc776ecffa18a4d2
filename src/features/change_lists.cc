#include "features/change_lists.h"

#include <array>

#include "base/helping.h"
#include "features/sparse_sum.h"
#include "kernels/arcs.h"
#include "kernels/vectors.h"

namespace espalier {

std::span<RowChanges<float>> ChangeLists::start(std::size_t lists, std::size_t shares,
                                                const OwnedRows* owned) {
  if (lists_.size() < lists) lists_.resize(lists);
  size_ = lists;
  const auto all = std::span(lists_).first(lists);
  for (RowChanges<float>& list : all) list.start(shares, owned);
  return all;
}

RowChanges<float>& ChangeLists::add() {
  if (lists_.size() == size_) lists_.emplace_back();
  RowChanges<float>& list = lists_[size_++];
  list.start(kFineShares);
  return list;
}

// A weight has one owner, so that the norm is the sum of theirs.
double ChangeLists::squared_norm(Workspace& ws) const {
  std::array<double, kFineShares> norms{};
  // As many parts as there are lists: where one thread lists a short example, it is not worth sharing.
  const std::size_t parts = std::min(size_, kFineShares);
  in_parts(ws, parts, [&](std::size_t part, Workspace& own) {
    for (std::size_t k = kFineShares * part / parts; k < kFineShares * (part + 1) / parts; ++k)
      norms[k] = squared_norm_of(k, own);
  });
  double sum = 0;
  for (const double norm : norms) sum += norm;
  return sum;
}

// Lines of weights that change get a number and a line of their own, in which all changes are made.
double ChangeLists::squared_norm_of(std::size_t share, Workspace& ws) const {
  constexpr std::size_t kLine = kernels::kLineOfWeights;
  // Owners go by a product with the same number as the table's places: within one of them, places of the
  // table would crowd.
  constexpr std::uint32_t kOther = 0x85ebca6bu;
  std::size_t most = 0, longest = 0;
  for (const RowChanges<float>& list : lists()) {
    most += list.changes(share).size();
    longest = std::max(longest, list.changes(share).size());
  }
  Workspace::Frame frame(ws);
  SparsePlaces known(most, frame);
  const auto lines = frame.take<float>(most * kLine);
  const auto own = frame.take<kernels::RowChange>(longest);
  for (const RowChanges<float>& list : lists()) {
    const auto changes = list.changes(share);
    for (std::size_t j = 0; j < changes.size(); ++j) {
      ESPALIER_EXPECT(changes[j].width == kernels::kTurnedLine);
      const std::size_t before = known.size(), place = changes[j].place;
      const std::size_t number = known.number(static_cast<std::uint32_t>(place / kLine) * kOther);
      if (known.size() > before) std::fill_n(lines.data() + number * kLine, kLine, 0.0f);
      own[j] = {number * kLine + place % kLine, kernels::kTurnedLine, changes[j].source, 1.0f};
    }
    kernels::add_changes(own.data(), nullptr, changes.size(), list.values(), lines.data());
  }
  return kernels::dot(lines.data(), lines.data(), known.size() * kLine);
}

}  // namespace espalier
