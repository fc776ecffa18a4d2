#include "learning/rank_blocks.h"

#include <algorithm>
#include <atomic>
#include <numeric>

#include "espalier/base/error.h"
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
  Marks marks(*this);
  std::vector<std::uint32_t> all(own.size());
  std::iota(all.begin(), all.end(), std::uint32_t{0});
  Team alone(1);
  marks.mark(own, all, alone);
  find_shared(marks.bits_);
}

// Each rank looks at a part of the blocks, for all.
void RankBlocks::find_shared(const std::vector<std::uint64_t>& mine) {
  const std::size_t ranks = fleet_.size(), words = mine.size();
  const auto part = [&](std::size_t r) {
    const std::size_t begin = words * r / ranks, end = words * (r + 1) / ranks;
    return std::span(mine).subspan(begin, end - begin);
  };
  std::vector<std::string> parts(ranks);
  for (std::size_t r = 0; r < ranks; ++r) append_bytes(parts[r], part(r));
  parts = fleet_.exchange(std::move(parts));
  std::vector<std::uint64_t> once(part(fleet_.rank()).size(), 0), twice(once);
  for (const std::string& of_rank : parts) {
    for (std::size_t k = 0; k < once.size(); ++k) {
      const auto bits = read_bytes<std::uint64_t>(of_rank, k * sizeof(std::uint64_t));
      twice[k] |= once[k] & bits;
      once[k] |= bits;
    }
  }
  std::string own_part;
  append_bytes(own_part, std::span(twice));
  for (const std::string& of_rank : fleet_.gather(own_part)) {
    for (std::size_t at = 0; at < of_rank.size(); at += sizeof(std::uint64_t))
      shared_bits_.push_back(read_bytes<std::uint64_t>(of_rank, at));
  }
  for (std::size_t word = 0; word < words; ++word) {
    shared_before_.push_back(static_cast<std::uint32_t>(shared_.size()));
    for (std::uint64_t left = mine[word] | shared_bits_[word]; left != 0; left &= left - 1) {
      const auto block =
          static_cast<std::uint32_t>(64 * word + static_cast<std::size_t>(std::countr_zero(left)));
      ((shared_bits_[word] & left & -left) != 0 ? shared_ : own_).push_back(block);
    }
  }
}

// Lists what changes of one would change, as threads that share weights list their changes.
void RankBlocks::Marks::mark(const Problem& problem, std::span<const std::uint32_t> examples, Team& team) {
  const Sharing* sharing = problem.sharing();
  if (!sharing) {
    for (std::size_t block = 0; block < blocks_.count(); ++block)
      bits_[block / 64] |= std::uint64_t{1} << block % 64;
    return;
  }
  memory_.resize(team.size());
  const std::size_t size = blocks_.block_;
  const auto set = [&](std::size_t block) {
    std::uint64_t& word = bits_[block / 64];
    const std::uint64_t bit = std::uint64_t{1} << block % 64;
    const std::atomic_ref<std::uint64_t> shared(word);
    if ((shared.load(std::memory_order_relaxed) & bit) == 0) shared.fetch_or(bit, std::memory_order_relaxed);
  };
  team.run([&](std::size_t k) {
    Memory& memory = memory_[k];
    const std::size_t begin = examples.size() * k / team.size(),
                      end = examples.size() * (k + 1) / team.size();
    for (const std::uint32_t i : examples.subspan(begin, end - begin)) {
      const std::size_t statistics = problem.num_statistics(i);
      if (memory.ones.size() < statistics) memory.ones.resize(statistics, 1.0f);
      memory.changes.start(1);
      sharing->list_changes(i, In{memory.ones.data(), statistics}, memory.changes, memory.ws);
      for (const kernels::RowChange& change : memory.changes.changes(0)) {
        const bool line = change.width == kernels::kTurnedLine;
        const std::size_t first = line ? change.place / kLine * kLine : change.place;
        const std::size_t last = first + (line ? kLine : change.width) - 1;
        for (std::size_t block = first / size; block <= last / size; ++block) set(block);
      }
    }
  });
}

template <class Real>
void RankBlocks::begin(BasicWeights<Real>& w) const {
  if (fleet_.rank() == 0) return;
  for (const std::uint32_t block : shared_) std::ranges::fill(of(w.values(), block), Real{0});
}

template <class Real>
void RankBlocks::add_up(BasicWeights<Real>& w) const {
  const std::size_t ranks = fleet_.size();
  if (ranks == 1) return;
  const auto values = w.values();
  const auto part = [&](std::size_t r) {
    return std::span(shared_).subspan(first_shared(r), first_shared(r + 1) - first_shared(r));
  };
  const auto append_all = [&](std::string& bytes, std::span<const std::uint32_t> blocks) {
    bytes.reserve(bytes.size() + blocks.size() * block_ * sizeof(Real));
    for (const std::uint32_t block : blocks) append_bytes(bytes, of(values, block));
  };
  std::vector<std::string> parts(ranks);
  for (std::size_t r = 0; r < ranks; ++r) append_all(parts[r], part(r));
  parts = fleet_.exchange(std::move(parts));

  std::string mine;
  std::size_t at = 0;
  for (const std::uint32_t block : part(fleet_.rank())) {
    const auto sum = of(values, block);
    std::ranges::fill(sum, Real{0});
    for (const std::string& of_rank : parts) add_bytes(of_rank, at, sum);
    at += sum.size_bytes();
  }
  parts.clear();
  append_all(mine, part(fleet_.rank()));
  append_bytes(mine, own());
  append_all(mine, own_);
  const std::vector<std::string> all = fleet_.gather(mine);
  for (std::size_t r = 0; r < ranks; ++r) {
    if (r == fleet_.rank()) continue;
    const std::string& bytes = all[r];
    std::size_t place = 0;
    const auto take = [&](std::size_t block) {
      const auto to = of(values, block);
      copy_bytes(bytes, place, to);
      place += to.size_bytes();
    };
    for (const std::uint32_t block : part(r)) take(block);
    // The rest are its own: numbers, then weights. The last block of all is the only one that may be shorter.
    std::size_t number = place;
    const std::size_t of_each = sizeof(std::uint32_t) + block_ * sizeof(Real);
    const std::size_t blocks = (bytes.size() - place + of_each - 1) / of_each;
    place += blocks * sizeof(std::uint32_t);
    for (std::size_t k = 0; k < blocks; ++k, number += sizeof(std::uint32_t))
      take(read_bytes<std::uint32_t>(bytes, number));
  }
}

template void RankBlocks::begin(Weights&) const;
template void RankBlocks::begin(DoubleWeights&) const;
template void RankBlocks::add_up(Weights&) const;
template void RankBlocks::add_up(DoubleWeights&) const;

}  // namespace espalier
