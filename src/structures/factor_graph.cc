#include "structures/factor_graph.h"

#include <algorithm>
#include <limits>

#include "espalier/base/error.h"

namespace espalier {

FactorGraph::FactorGraph(std::vector<std::uint32_t> cardinalities)
    : cardinalities_(std::move(cardinalities)) {
  ESPALIER_EXPECT(std::all_of(cardinalities_.begin(), cardinalities_.end(), [](auto n) { return n > 0; }));
}

bool FactorGraph::has_room(std::span<const std::uint32_t> scope) const {
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max() / 64;
  std::size_t entries = 1;
  for (const std::uint32_t v : scope) {
    if (entries > kMost / cardinalities_[v]) return false;
    entries *= cardinalities_[v];
  }
  return begin_.back() <= kMost - entries;
}

std::size_t FactorGraph::add_clique(std::span<const std::uint32_t> scope) {
  ESPALIER_EXPECT(!scope.empty() && has_room(scope));
  std::size_t entries = 1;
  for (std::size_t i = 0; i < scope.size(); ++i) {
    ESPALIER_EXPECT(scope[i] < cardinalities_.size());
    ESPALIER_EXPECT(std::find(scope.begin(), scope.begin() + static_cast<std::ptrdiff_t>(i), scope[i]) ==
                    scope.begin() + static_cast<std::ptrdiff_t>(i));
    entries *= cardinalities_[scope[i]];
  }
  variables_.insert(variables_.end(), scope.begin(), scope.end());
  scope_begin_.push_back(variables_.size());
  begin_.push_back(begin_.back() + entries);
  return begin_.size() - 2;
}

void FactorGraph::forbid(std::size_t clique, std::size_t entry) {
  ESPALIER_EXPECT(clique < num_cliques() && entry < size(clique));
  const std::size_t statistic = begin_[clique] + entry;
  const auto at = std::lower_bound(forbidden_.begin(), forbidden_.end(), statistic);
  if (at == forbidden_.end() || *at != statistic) forbidden_.insert(at, statistic);
}

std::size_t FactorGraph::entry(std::size_t clique, std::span<const std::uint32_t> y) const {
  std::size_t entry = 0;
  for (const std::uint32_t v : scope(clique)) entry = entry * cardinalities_[v] + y[v];
  return entry;
}

}  // namespace espalier
