#include "features/observed_pairs.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "espalier/base/error.h"
#include "fleet/communicator.h"

namespace espalier {
namespace {

struct Seen {
  std::uint32_t label, row;
};

// Taken by labels, so that those of an attribute come in order, each beside its repetitions.
ObservedPairs collect(const SparseRows& rows, std::vector<Seen> seen, std::size_t num_attributes,
                      double min_freq) {
  std::sort(seen.begin(), seen.end(),
            [](const Seen& a, const Seen& b) { return std::tie(a.label, a.row) < std::tie(b.label, b.row); });
  constexpr std::uint32_t kNone = ~std::uint32_t{0};
  std::vector<std::uint32_t> last(num_attributes, kNone);
  std::vector<double> sums(min_freq > 0 ? num_attributes : 0);  // of values with the label at hand
  const auto for_each_pair = [&](const auto& use) {
    std::fill(last.begin(), last.end(), kNone);
    for (std::size_t begin = 0, end = 0; begin < seen.size(); begin = end) {
      const std::uint32_t label = seen[begin].label;
      std::fill(sums.begin(), sums.end(), 0.0);
      for (end = begin; end < seen.size() && seen[end].label == label; ++end) {
        const SparseRows::Row row = rows.row(seen[end].row);
        for (std::size_t j = 0; !sums.empty() && j < row.ids.size(); ++j) sums[row.ids[j]] += row.value(j);
      }
      for (std::size_t k = begin; k < end; ++k) {
        for (const std::uint32_t a : rows.row(seen[k].row).ids) {
          if (last[a] == label) continue;
          last[a] = label;
          if (sums.empty() || sums[a] >= min_freq) use(a, label);
        }
      }
    }
  };
  std::vector<std::uint64_t> offsets(num_attributes + 1, 0);
  for_each_pair([&](std::uint32_t a, std::uint32_t) { ++offsets[a + 1]; });
  for (std::size_t a = 0; a < num_attributes; ++a) offsets[a + 1] += offsets[a];
  std::vector<std::uint32_t> labels(offsets.back());
  std::vector<std::uint64_t> next(offsets.begin(), offsets.end() - 1);
  for_each_pair([&](std::uint32_t a, std::uint32_t label) { labels[next[a]++] = label; });
  return {std::move(offsets), std::move(labels)};
}

// Pairs on their way from rank to rank, with the sums of their values so far where those matter.
struct PairSums {
  ObservedPairs pairs;
  std::vector<double> sums;

  std::string bytes() const {
    std::string text;
    const auto append = [&](const auto& values) {
      text.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(values[0]));
    };
    append(pairs.offsets());
    append(pairs.labels());
    append(sums);
    return text;
  }
  static PairSums of_bytes(std::string_view text, std::size_t num_attributes) {
    const auto take = [&](auto& values) {
      const std::size_t size = values.size() * sizeof(values[0]);
      if (size > 0) std::memcpy(values.data(), text.data(), size);
      text.remove_prefix(size);
    };
    std::vector<std::uint64_t> offsets(num_attributes + 1);
    take(offsets);
    std::vector<std::uint32_t> labels(offsets.back());
    take(labels);
    std::vector<double> sums(text.size() / sizeof(double));
    take(sums);
    return {{std::move(offsets), std::move(labels)}, std::move(sums)};
  }

  // Whatever `wanted` says of each pair.
  template <class Wanted>
  PairSums only(const Wanted& wanted) const {
    std::vector<std::uint64_t> offsets{0};
    std::vector<std::uint32_t> labels;
    std::vector<double> kept;
    for (std::size_t a = 0; a < pairs.num_attributes(); ++a) {
      for (std::size_t e = pairs.begin(a); e < pairs.offsets()[a + 1]; ++e) {
        if (!wanted(e)) continue;
        labels.push_back(pairs.labels()[e]);
        if (!sums.empty()) kept.push_back(sums[e]);
      }
      offsets.push_back(labels.size());
    }
    return {{std::move(offsets), std::move(labels)}, std::move(kept)};
  }

  // With those of others, whose sums are 0.
  PairSums with(const ObservedPairs& others, bool with_sums) const {
    std::vector<std::uint64_t> offsets{0};
    std::vector<std::uint32_t> labels;
    std::vector<double> all_sums;
    for (std::size_t a = 0; a < others.num_attributes(); ++a) {
      const auto own = pairs.labels(a), more = others.labels(a);
      std::set_union(own.begin(), own.end(), more.begin(), more.end(), std::back_inserter(labels));
      for (std::size_t e = offsets.back(), k = 0; with_sums && e < labels.size(); ++e) {
        const bool known = k < own.size() && own[k] == labels[e];
        all_sums.push_back(known ? sums[pairs.begin(a) + k++] : 0.0);
      }
      offsets.push_back(labels.size());
    }
    return {{std::move(offsets), std::move(labels)}, std::move(all_sums)};
  }
};

// The pairs of all ranks. Each adds its own to what the one before it hands over: so sums have the bits of
// one process, which adds up in the same order.
ObservedPairs collect_of_ranks(const SparseRows& rows, const std::vector<Seen>& seen,
                               std::size_t num_attributes, double min_freq, Communicator& fleet) {
  const ObservedPairs own = collect(rows, seen, num_attributes, 0);
  PairSums all{{std::vector<std::uint64_t>(num_attributes + 1, 0), {}}, {}};
  for (std::size_t r = 0; r < fleet.size(); ++r) {
    std::vector<std::string> to(fleet.size());
    if (r == fleet.rank()) {
      all = all.with(own, min_freq > 0);
      for (std::size_t k = 0; min_freq > 0 && k < seen.size(); ++k) {
        const SparseRows::Row row = rows.row(seen[k].row);
        for (std::size_t j = 0; j < row.ids.size(); ++j) {
          const auto labels = all.pairs.labels(row.ids[j]);
          const auto at = std::lower_bound(labels.begin(), labels.end(), seen[k].label) - labels.begin();
          all.sums[all.pairs.begin(row.ids[j]) + static_cast<std::size_t>(at)] += row.value(j);
        }
      }
      if (r + 1 < fleet.size()) to[r + 1] = all.bytes();
    }
    const std::string from = r + 1 < fleet.size() ? fleet.exchange(std::move(to))[r] : std::string();
    if (r + 1 == fleet.rank()) all = PairSums::of_bytes(from, num_attributes);
  }
  const bool last = fleet.rank() + 1 == fleet.size();
  if (last && min_freq > 0) all = all.only([&](std::size_t e) { return all.sums[e] >= min_freq; });
  return PairSums::of_bytes(fleet.gather(last ? all.bytes() : std::string()).back(), num_attributes).pairs;
}

ObservedPairs collect_of(const SparseRows& rows, std::vector<Seen> seen, std::size_t num_attributes,
                         double min_freq, Communicator* fleet) {
  if (fleet != nullptr) return collect_of_ranks(rows, seen, num_attributes, min_freq, *fleet);
  return collect(rows, std::move(seen), num_attributes, min_freq);
}

}  // namespace

ObservedPairs::ObservedPairs(std::vector<std::uint64_t> offsets, std::vector<std::uint32_t> labels)
    : offsets_(std::move(offsets)), labels_(std::move(labels)) {
  ESPALIER_EXPECT(!offsets_.empty() && offsets_.front() == 0 && offsets_.back() == labels_.size());
  ESPALIER_EXPECT(std::is_sorted(offsets_.begin(), offsets_.end()));
}

ObservedPairs observed_pairs(const Sequences& sequences, std::span<const std::uint32_t> labels,
                             std::size_t num_attributes, double min_freq, Communicator* fleet) {
  std::vector<Seen> seen;
  seen.reserve(labels.size());
  for (std::size_t t = 0; t < labels.size(); ++t) seen.push_back({labels[t], static_cast<std::uint32_t>(t)});
  return collect_of(sequences.tokens, std::move(seen), num_attributes, min_freq, fleet);
}

ObservedPairs observed_steps(const Sequences& sequences, std::span<const std::uint32_t> labels,
                             std::size_t num_labels, std::size_t num_attributes, double min_freq,
                             Communicator* fleet) {
  std::vector<Seen> seen;
  const auto& row_of = sequences.transition_of;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    for (std::size_t t = sequences.offsets[i] + 1; t < sequences.offsets[i + 1]; ++t) {
      const std::size_t pair = labels[t - 1] * num_labels + labels[t];
      seen.push_back({static_cast<std::uint32_t>(pair), row_of.empty() ? 0 : row_of[t]});
    }
  }
  return collect_of(sequences.transitions, std::move(seen), num_attributes, min_freq, fleet);
}

ObservedPairs all_pairs(std::size_t num_attributes, std::size_t num_labels) {
  std::vector<std::uint64_t> offsets;
  for (std::size_t a = 0; a <= num_attributes; ++a) offsets.push_back(a * num_labels);
  std::vector<std::uint32_t> labels(num_attributes * num_labels);
  for (std::size_t e = 0; e < labels.size(); ++e) labels[e] = static_cast<std::uint32_t>(e % num_labels);
  return {std::move(offsets), std::move(labels)};
}

}  // namespace espalier
