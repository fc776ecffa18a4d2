#include "learning/rank_blocks.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <string_view>

#include "espalier/base/error.h"
#include "features/row_changes.h"
#include "fleet/bytes.h"

namespace espalier {
namespace {

constexpr std::size_t kLine = kernels::kLineOfWeights;

// Whole rows, and whole lines where rows are short: what changes together, and little more.
std::size_t block_of(const Problem& problem) {
  const std::size_t stride = row_stride(problem.weight_shape().width);
  return stride == 0 ? kLine : stride * ((kLine + stride - 1) / stride);
}

}  // namespace

RankBlocks::RankBlocks(const Problem& own, Communicator& fleet)
    : fleet_(fleet),
      num_values_(own.weight_shape().rows * row_stride(own.weight_shape().width)),
      block_(block_of(own)) {
  ESPALIER_EXPECT(count() <= 0xffffffffu);
  find_shared(count_changes(own));
  most_own_ = static_cast<std::size_t>(fleet_.largest(static_cast<double>(own_.size())));
}

// How often a visit to each example changes each block: lists what changes of one would change, as threads
// that share weights list their changes.
std::vector<std::uint32_t> RankBlocks::count_changes(const Problem& own) const {
  const Sharing* sharing = own.sharing();
  // Where nobody can list them, every example may change all.
  std::vector<std::uint32_t> changes(count(), sharing ? 0 : static_cast<std::uint32_t>(own.size()));
  if (!sharing) return changes;
  RowChanges<float> list;
  AlignedVector<float> ones;
  Workspace ws;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const std::size_t statistics = own.num_statistics(i);
    if (ones.size() < statistics) ones.resize(statistics, 1.0f);
    list.start(1);
    sharing->list_changes(i, In{ones.data(), statistics}, list, ws);
    for (const kernels::RowChange& change : list.changes(0)) {
      const bool line = change.width == kernels::kTurnedLine;
      const std::size_t first = line ? change.place / kLine * kLine : change.place;
      const std::size_t last = first + (line ? kLine : change.width) - 1;
      for (std::size_t block = first / block_; block <= last / block_; ++block) ++changes[block];
    }
  }
  return changes;
}

// Each rank looks at a part of the blocks, for all: 1 + floor(log2 n) of those that examples of several ranks
// change, n times in all, and 0 of others.
void RankBlocks::find_shared(const std::vector<std::uint32_t>& changes) {
  const std::size_t ranks = fleet_.size();
  const auto part = [&](std::size_t r) {
    const std::size_t begin = count() * r / ranks, end = count() * (r + 1) / ranks;
    return std::span(changes).subspan(begin, end - begin);
  };
  std::vector<std::string> parts(ranks);
  for (std::size_t r = 0; r < ranks; ++r) append_bytes(parts[r], part(r));
  parts = fleet_.exchange(std::move(parts));
  std::string levels(part(fleet_.rank()).size(), '\0');
  for (std::size_t k = 0; k < levels.size(); ++k) {
    std::size_t sum = 0, with = 0;
    for (const std::string& of_rank : parts) {
      const auto own = read_bytes<std::uint32_t>(of_rank, k * sizeof(std::uint32_t));
      sum += own;
      with += own > 0 ? 1 : 0;
    }
    if (with > 1) levels[k] = static_cast<char>(std::bit_width(sum));
  }
  std::string all;
  for (const std::string& of_rank : fleet_.gather(levels)) all += of_rank;

  std::vector<std::vector<std::uint32_t>> by_level;
  for (std::size_t block = 0; block < all.size(); ++block) {
    const auto level = static_cast<std::size_t>(all[block]);
    if (level == 0 && changes[block] > 0) own_.push_back(static_cast<std::uint32_t>(block));
    if (level == 0) continue;
    if (by_level.size() < level) by_level.resize(level);
    by_level[level - 1].push_back(static_cast<std::uint32_t>(block));
  }
  shared_from_.resize(by_level.size());
  for (std::size_t level = by_level.size(); level-- > 0;) {
    shared_.insert(shared_.end(), by_level[level].begin(), by_level[level].end());
    shared_from_[level] = shared_.size();
  }
}

template <class Real>
void RankBlocks::begin(BasicWeights<Real>& w) const {
  if (fleet_.rank() == 0) return;
  for (const std::uint32_t block : shared_) std::ranges::fill(of(w.values(), block), Real{0});
}

// Piece by piece, in memory that stays in the caches.
template <class Real>
void RankBlocks::add_up(BasicWeights<Real>& w) const {
  if (fleet_.size() == 1) return;
  const std::size_t pieces = pieces_of(shared_.size());
  Parcels parcels(fleet_.size());
  for (std::size_t p = 0; p < pieces; ++p) {
    const std::size_t begin = shared_.size() * p / pieces, end = shared_.size() * (p + 1) / pieces;
    add_up_shared(w.values(), std::span(shared_).subspan(begin, end - begin), parcels);
  }
  const std::size_t own_pieces = pieces_of(most_own_);
  for (std::size_t p = 0; p < own_pieces; ++p) {
    const std::size_t begin = own_.size() * p / own_pieces, end = own_.size() * (p + 1) / own_pieces;
    tell_own(w.values(), std::span(own_).subspan(begin, end - begin), parcels);
  }
}

// Each rank adds up a part, for all.
template <class Real>
void RankBlocks::add_up_shared(std::span<Real> values, std::span<const std::uint32_t> blocks,
                               Parcels& parcels) const {
  const std::size_t ranks = fleet_.size(), of_each = block_ * sizeof(Real);
  const auto part = [&](std::size_t r) {
    const std::size_t begin = blocks.size() * r / ranks, end = blocks.size() * (r + 1) / ranks;
    return blocks.subspan(begin, end - begin);
  };
  const auto write_all = [&](Communicator::Parcel& to, std::span<const std::uint32_t> some) {
    char* at = to.resize(some.size() * of_each);
    for (const std::uint32_t block : some) {
      const auto from = of(values, block);
      std::memcpy(at, from.data(), from.size_bytes());
      at += of_each;
    }
    return to.bytes();
  };
  std::vector<std::string_view> to(ranks);
  for (std::size_t r = 0; r < ranks; ++r) to[r] = write_all(parcels.out[r], part(r));
  fleet_.exchange(to, parcels.in);
  std::size_t at = 0;
  for (const std::uint32_t block : part(fleet_.rank())) {
    const auto sum = of(values, block);
    std::ranges::fill(sum, Real{0});
    for (std::size_t r = 0; r < ranks; ++r)
      add_bytes(r == fleet_.rank() ? to[r] : parcels.in[r].bytes(), at, sum);
    at += of_each;
  }
  std::ranges::fill(to, write_all(parcels.out.front(), part(fleet_.rank())));
  fleet_.exchange(to, parcels.in);
  for (std::size_t r = 0; r < ranks; ++r) {
    if (r == fleet_.rank()) continue;
    std::size_t place = 0;
    for (const std::uint32_t block : part(r)) {
      copy_bytes(parcels.in[r].bytes(), place, of(values, block));
      place += of_each;
    }
  }
}

// Of these blocks, which this rank alone changes: numbers, then weights. (The last block of all may be
// shorter, and comes with some bytes that nobody reads.)
template <class Real>
void RankBlocks::tell_own(std::span<Real> values, std::span<const std::uint32_t> blocks,
                          Parcels& parcels) const {
  const std::size_t ranks = fleet_.size(), of_each = block_ * sizeof(Real);
  char* at = parcels.out.front().resize(blocks.size() * (sizeof(std::uint32_t) + of_each));
  std::ranges::copy(bytes_of(blocks), at);
  at += blocks.size_bytes();
  for (const std::uint32_t block : blocks) {
    const auto from = of(values, block);
    std::memcpy(at, from.data(), from.size_bytes());
    at += of_each;
  }
  fleet_.exchange(std::vector<std::string_view>(ranks, parcels.out.front().bytes()), parcels.in);
  for (std::size_t r = 0; r < ranks; ++r) {
    if (r == fleet_.rank()) continue;
    const std::string_view bytes = parcels.in[r].bytes();
    const std::size_t count = bytes.size() / (sizeof(std::uint32_t) + of_each);
    for (std::size_t k = 0; k < count; ++k) {
      const auto block = read_bytes<std::uint32_t>(bytes, k * sizeof(std::uint32_t));
      copy_bytes(bytes, count * sizeof(std::uint32_t) + k * of_each, of(values, block));
    }
  }
}

std::size_t RankBlocks::pieces_of(std::size_t blocks) const {
  // About half a megabyte, but not so many that a network's latency is what counts.
  constexpr std::size_t kPiece = std::size_t{1} << 17, kMost = 64;  // weights
  return std::clamp<std::size_t>(blocks * block_ / kPiece, 1, kMost);
}

template void RankBlocks::begin(Weights&) const;
template void RankBlocks::begin(DoubleWeights&) const;
template void RankBlocks::add_up(Weights&) const;
template void RankBlocks::add_up(DoubleWeights&) const;

}  // namespace espalier
