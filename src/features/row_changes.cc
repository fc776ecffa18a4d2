#include "features/row_changes.h"

#include <type_traits>
#include <utility>

#include "features/owned_rows.h"

namespace espalier {
namespace {

template <class Real>
bool all_zeros(const Real* values, std::size_t n) {
  for (std::size_t k = 0; k < n; ++k) {
    if (values[k] != 0) return false;
  }
  return true;
}

}  // namespace

template <class Real>
void RowChanges<Real>::start(std::size_t shares, const OwnedRows* owned) {
  ESPALIER_EXPECT(shares > 0);
  if (shares != shares_) {
    shares_ = shares;
    capacity_ = changes_.size() / shares;
    sizes_.resize(shares);
  }
  std::ranges::fill(sizes_, std::size_t{0});
  room_ = capacity_;
  num_values_ = 0;
  some_columns_ = false;
  owned_ = owned;
  moves_.clear();
}

template <class Real>
std::size_t RowChanges<Real>::bytes() const {
  return changes_.size() * sizeof(kernels::RowChange) + columns_.size() * sizeof(std::uint64_t) +
         values_.size() * sizeof(Real);
}

template <class Real>
void RowChanges<Real>::prefetch(std::size_t share, Step step, const Real* w) const {
  constexpr std::size_t kMostChanges = 96;  // of the weights of more than that none would stay that long
  constexpr std::size_t kInLine = kCacheLine / sizeof(Real);
  if (step == Step::size) {
    __builtin_prefetch(sizes_.data() + share);
    if (!moves_.empty()) owned_->prefetch(owned_example_, share);
    return;
  }
  const auto ask_for_all = [](const auto* first, std::size_t n) {
    for (std::size_t j = 0; j < n; j += kCacheLine / sizeof(*first)) __builtin_prefetch(first + j);
  };
  const auto all = changes(share).first(std::min(sizes_[share], kMostChanges));
  const kernels::OwnedTokens rows =
      moves_.empty() ? kernels::OwnedTokens{} : owned_->of(owned_example_, share);
  const std::size_t num_rows = std::min(rows.size, kMostChanges);
  if (step == Step::changes) {
    ask_for_all(all.data(), all.size());
    ask_for_all(rows.ids, num_rows);
    ask_for_all(rows.tokens, num_rows);
    if (!moves_.empty()) ask_for_all(moves_.data(), moves_.size());
    return;
  }
  const auto ask_for = [&](std::size_t place, std::size_t width, std::size_t source) {
    __builtin_prefetch(values_.data() + source);
    for (std::size_t line = place / kInLine; line <= (place + width - 1) / kInLine; ++line)
      prefetch_to_write(w + line * kInLine);
  };
  for (const kernels::RowChange& change : all)
    ask_for(change.place, std::max<std::size_t>(change.width, 1), change.source);
  for (std::size_t j = 0; j < num_rows; ++j) {
    const RowBlock& block = owned_->block();
    if (!moves_[rows.tokens[j]]) continue;
    ask_for(block.first + rows.ids[j] * block.stride, block.stride,
            owned_source_ + rows.tokens[j] * block.stride);
  }
}

template <class Real>
void RowChanges<Real>::add_owned(std::size_t i, const Real* delta, std::size_t num_tokens) {
  ESPALIER_EXPECT(owned_ && moves_.empty() && num_tokens > 0);
  const RowBlock& block = owned_->block();
  owned_example_ = i;
  moves_.resize(num_tokens);
  for (std::size_t t = 0; t < num_tokens; ++t) {
    const Real* of_token = delta + t * block.width;
    moves_[t] = all_zeros(of_token, block.width) ? 0 : 1;
    const std::uint32_t source = keep(of_token, block.width, block.stride);
    if (t == 0) owned_source_ = source;
  }
}

template <class Real>
void RowChanges<Real>::add_values_to(std::size_t share, const Real* values, Real* w) const {
  if (!moves_.empty()) {
    const RowBlock& block = owned_->block();
    kernels::add_owned(owned_->of(owned_example_, share), moves_.data(), block.stride, values + owned_source_,
                       w + block.first);
  }
  const auto all = changes(share);
  kernels::add_changes(all.data(), some_columns_ ? columns_.data() + share * capacity_ : nullptr, all.size(),
                       values, w);
}

template <class Real>
void RowChanges<Real>::make_room(std::size_t n) {
  const std::size_t most = *std::ranges::max_element(sizes_);
  if (most + n > capacity_) {
    const std::size_t old = capacity_;
    const auto spread = [&](auto& of_shares) {
      typename std::remove_reference_t<decltype(of_shares)> wider(shares_ * capacity_);
      for (std::size_t k = 0; k < shares_; ++k)
        std::copy_n(of_shares.begin() + static_cast<std::ptrdiff_t>(k * old), sizes_[k],
                    wider.begin() + static_cast<std::ptrdiff_t>(k * capacity_));
      of_shares = std::move(wider);
    };
    capacity_ = std::max((most + n + kAtOnce - 1) / kAtOnce * kAtOnce, old + old / 2);
    spread(changes_);
    if (some_columns_) spread(columns_);
  }
  room_ = capacity_ - most;
}

template <class Real>
void RowChanges<Real>::obey_columns() {
  if (some_columns_) return;
  some_columns_ = true;
  if (columns_.size() < changes_.size()) columns_.resize(changes_.size());
  for (std::size_t k = 0; k < shares_; ++k)
    std::fill_n(columns_.begin() + static_cast<std::ptrdiff_t>(k * capacity_), sizes_[k], kAllColumns);
}

template <class Real>
void RowChanges<Real>::grow_values(std::size_t size) {
  values_.resize(std::max(size, 2 * values_.size()));
}

// change(j) is {place, width, source, scale} of change j.
template <class Real>
template <class Change>
void RowChanges<Real>::put_all(std::size_t n, const Change& change) {
  for (std::size_t begin = 0; begin < n; begin += kAtOnce) {
    const std::size_t end = std::min(begin + kAtOnce, n);
    reserve(end - begin);
    // By value: for all that the compiler knows, a change may be stored over any of these.
    const std::size_t shares = shares_, capacity = capacity_;
    std::size_t* sizes = sizes_.data();
    kernels::RowChange* changes = changes_.data();
    for (std::size_t j = begin; j < end; ++j) {
      const kernels::RowChange next = change(j);
      const std::size_t share = owner(next.place, shares);
      changes[share * capacity + sizes[share]++] = next;
    }
  }
}

template <class Real>
void RowChanges<Real>::add_run(std::size_t place, const Real* values, std::size_t n) {
  for (std::size_t at = 0; at < n; at += kPiece) {
    const std::size_t width = std::min(kPiece, n - at);
    if (!all_zeros(values + at, width)) add(place + at, width, keep(values + at, width, width));
  }
}

template <class Real>
void RowChanges<Real>::add_to_each(std::size_t first, const std::uint32_t* places, std::size_t n,
                                   Real value) {
  ESPALIER_EXPECT(!some_columns_);
  const std::uint32_t source = keep(&value, 1, 1);
  put_all(n, [=](std::size_t t) { return kernels::RowChange{first + places[t], 1, source, 1.0f}; });
}

template <class Real>
void RowChanges<Real>::add_each(std::size_t first, const std::uint32_t* places, std::size_t n,
                                const Real* values) {
  const std::uint32_t source = keep(values, n, n);
  for (std::size_t k = 0; k < n; ++k) {
    if (values[k] != 0) add(first + places[k], 1, static_cast<std::uint32_t>(source + k));
  }
}

template <class Real>
void RowChanges<Real>::add_lines(std::size_t first, const std::uint32_t* places, std::size_t n,
                                 const Real* line) {
  ESPALIER_EXPECT(!some_columns_ && first % kLine == 0);
  const std::uint32_t source = keep(line, kLine, kLine);
  put_all(n, [=](std::size_t t) {
    return kernels::RowChange{first + places[t], kernels::kTurnedLine, source, 1.0f};
  });
}

template <class Real>
void RowChanges<Real>::add_rows(const RowBlock& block, const kernels::SparseRow& x, const Real* delta) {
  if (x.size == 0 || all_zeros(delta, block.width)) return;
  const std::size_t first = block.first, stride = block.stride;
  const std::uint32_t source = keep(delta, block.width, stride);
  const auto scale = [&](std::size_t j) { return x.values ? x.values[j] : 1.0f; };
  if (block.columns) {
    constexpr std::size_t kAhead = 8;
    obey_columns();
    for (std::size_t j = 0; j < x.size; ++j) {
      if (j + kAhead < x.size) __builtin_prefetch(block.columns + x.ids[j + kAhead]);
      reserve(1);
      put(first + x.ids[j] * stride, stride, source, scale(j), block.columns[x.ids[j]]);
    }
  } else if (stride > kWidest || some_columns_) {
    for (std::size_t j = 0; j < x.size; ++j) {
      for (std::size_t at = 0; at < stride; at += kWidest) {
        add(first + x.ids[j] * stride + at, std::min(kWidest, stride - at),
            static_cast<std::uint32_t>(source + at), scale(j));
      }
    }
  } else if (x.values) {
    put_all(x.size, [=](std::size_t j) {
      return kernels::RowChange{first + x.ids[j] * stride, stride, source, x.values[j]};
    });
  } else {
    put_all(x.size, [=](std::size_t j) {
      return kernels::RowChange{first + x.ids[j] * stride, stride, source, 1.0f};
    });
  }
}

template class RowChanges<float>;
template class RowChanges<double>;

}  // namespace espalier
