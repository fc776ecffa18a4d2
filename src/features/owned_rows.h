#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "base/team.h"
#include "espalier/base/memory.h"
#include "espalier/features/sparse_rows.h"
#include "features/row_changes.h"
#include "kernels/changes.h"

namespace espalier {

// Which rows of weights the tokens of each example change, sorted by who owns them: found once, so that no
// visit has to list them. For a token, RowChanges has the values that are added to all of its rows.
class OwnedRows {
 public:
  // Example i has the tokens offsets[i] .. offsets[i + 1] - 1, whose ids are rows of the block, all with
  // value
  // 1. nullptr: an example is too long.
  static std::shared_ptr<const OwnedRows> make(const SparseRows& tokens, std::span<const std::size_t> offsets,
                                               const RowBlock& block, std::size_t shares, Team& team) {
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
      if (offsets[i + 1] - offsets[i] > std::numeric_limits<std::uint16_t>::max()) return nullptr;
    }
    return std::shared_ptr<const OwnedRows>(new OwnedRows(tokens, offsets, block, shares, team));
  }

  const RowBlock& block() const { return block_; }
  // What one owner has of an example: in the order of its tokens.
  kernels::OwnedTokens of(std::size_t i, std::size_t share) const {
    const std::size_t* starts = starts_.data() + i * shares_ + share;
    return {ids_.data() + starts[0], tokens_.data() + starts[0], starts[1] - starts[0]};
  }
  // Where it lies, which has to be known before it can be asked for itself.
  void prefetch(std::size_t i, std::size_t share) const {
    __builtin_prefetch(starts_.data() + i * shares_ + share);
  }

 private:
  OwnedRows(const SparseRows& tokens, std::span<const std::size_t> offsets, const RowBlock& block,
            std::size_t shares, Team& team)
      : block_(block), shares_(shares) {
    const SparseRows::Range all = tokens.range(0, offsets.back());
    const std::size_t first = all.offsets[0];
    ids_ = ZeroedArray<std::uint32_t>(all.offsets[offsets.back()] - first);
    tokens_ = ZeroedArray<std::uint16_t>(ids_.size());
    starts_ = ZeroedArray<std::size_t>((offsets.size() - 1) * shares + 1);
    starts_[starts_.size() - 1] = ids_.size();
    share_range(team, offsets.size() - 1, [&](std::size_t begin, std::size_t end) {
      std::vector<std::size_t> next(shares);
      for (std::size_t i = begin; i < end; ++i) {
        const auto for_each = [&](const auto& use) {
          for (std::size_t t = offsets[i]; t < offsets[i + 1]; ++t) {
            for (std::size_t j = all.offsets[t]; j < all.offsets[t + 1]; ++j) {
              const std::size_t place = block.first + all.ids[j] * block.stride;
              use(t - offsets[i], all.ids[j], RowChanges<float>::owner(place, shares));
            }
          }
        };
        std::ranges::fill(next, std::size_t{0});
        for_each([&](std::size_t, std::uint32_t, std::size_t share) { ++next[share]; });
        std::size_t at = all.offsets[offsets[i]] - first;
        for (std::size_t share = 0; share < shares; ++share) {
          starts_[i * shares + share] = at;
          at += std::exchange(next[share], at);
        }
        for_each([&](std::size_t token, std::uint32_t id, std::size_t share) {
          ids_[next[share]] = id;
          tokens_[next[share]++] = static_cast<std::uint16_t>(token);
        });
      }
    });
  }

  RowBlock block_;
  std::size_t shares_;
  // Of example i and share k from starts_[i * shares + k] on.
  ZeroedArray<std::uint32_t> ids_;
  ZeroedArray<std::uint16_t> tokens_;
  ZeroedArray<std::size_t> starts_;
};

}  // namespace espalier
