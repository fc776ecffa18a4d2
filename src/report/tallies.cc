#include "report/tallies.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/parse_number.h"

namespace espalier {

Json short_json(double value, int digits) {
  if (!std::isfinite(value)) return nullptr;
  return parse_double(fmt::format("{:.{}g}", value, digits)).value_or(value);
}

Json most_likely(std::span<const double> probabilities, std::optional<std::size_t> always) {
  constexpr double kLeast = 0.005;
  constexpr std::size_t kMost = 4;
  std::vector<std::size_t> order;
  for (std::size_t k = 0; k < probabilities.size(); ++k) {
    if (probabilities[k] >= kLeast || k == always) order.push_back(k);
  }
  std::ranges::stable_sort(order,
                           [&](std::size_t a, std::size_t b) { return probabilities[a] > probabilities[b]; });
  if (order.size() > kMost) {
    const bool cut = always && std::ranges::find(order, *always) - order.begin() >= std::ptrdiff_t{kMost};
    order.resize(kMost);
    if (cut) order.back() = *always;
  }
  Json list = Json::array();
  for (const std::size_t k : order) list.push_back(Json::array({k, short_json(probabilities[k], 3)}));
  return list;
}

void Calibration::add(double probability, bool right) {
  const double place = std::ceil(probability * kBins) - 1;
  Bin& bin = bins_[static_cast<std::size_t>(std::clamp(place, 0.0, kBins - 1.0))];
  ++bin.count;
  bin.right += right ? 1 : 0;
  bin.sum += probability;
  ++total_;
}

Json Calibration::json() const {
  Json bins = Json::array();
  double error = 0;
  for (std::size_t k = 0; k < kBins; ++k) {
    const Bin& bin = bins_[k];
    if (bin.count == 0) continue;
    const auto count = static_cast<double>(bin.count);
    const double confidence = bin.sum / count, accuracy = static_cast<double>(bin.right) / count;
    error += std::abs(confidence - accuracy) * count / static_cast<double>(total_);
    bins.push_back({{"from", static_cast<double>(k) / kBins},
                    {"to", static_cast<double>(k + 1) / kBins},
                    {"count", bin.count},
                    {"confidence", short_json(confidence)},
                    {"accuracy", short_json(accuracy)}});
  }
  return {{"bins", bins}, {"error", short_json(error)}};
}

void LabelPairs::add(std::string_view gold, std::string_view predicted) {
  const std::uint32_t g = names_.add(gold);
  ++counts_[{g, names_.add(predicted)}];
}

Json LabelPairs::json() const {
  std::vector<std::size_t> golds(names_.size()), errors(names_.size());
  for (const auto& [pair, count] : counts_) {
    golds[pair.first] += count;
    if (pair.first != pair.second) errors[pair.first] += count, errors[pair.second] += count;
  }
  std::vector<std::uint32_t> order(names_.size());
  std::iota(order.begin(), order.end(), 0u);
  const auto by = [&](const std::vector<std::size_t>& counts) {
    std::ranges::stable_sort(order, [&](std::uint32_t a, std::uint32_t b) { return counts[a] > counts[b]; });
  };
  const std::size_t shown = std::min(order.size(), kMostShown);
  if (shown < order.size()) by(errors);
  const std::size_t left_out = order.size() - shown;
  order.resize(shown);
  by(golds);
  Json labels = Json::array(), table = Json::array();
  for (const std::uint32_t gold : order) {
    labels.push_back(names_.name(gold));
    Json row = Json::array();
    for (const std::uint32_t predicted : order) {
      const auto found = counts_.find({gold, predicted});
      row.push_back(found == counts_.end() ? std::size_t{0} : found->second);
    }
    table.push_back(row);
  }
  return {{"labels", labels}, {"counts", table}, {"left_out", left_out}};
}

Json LabelPairs::most_confused(std::size_t top) const {
  std::vector<std::pair<std::size_t, std::pair<std::uint32_t, std::uint32_t>>> pairs;
  for (const auto& [pair, count] : counts_) {
    if (pair.first != pair.second) pairs.emplace_back(count, pair);
  }
  std::ranges::stable_sort(pairs, [](const auto& a, const auto& b) { return a.first > b.first; });
  pairs.resize(std::min(pairs.size(), top));
  Json list = Json::array();
  for (const auto& [count, pair] : pairs)
    list.push_back(
        {{"gold", names_.name(pair.first)}, {"predicted", names_.name(pair.second)}, {"count", count}});
  return list;
}

void LengthTally::add(std::size_t length, std::size_t correct) {
  const auto after = std::ranges::upper_bound(kFrom, std::max<std::size_t>(length, 1));
  Range& range = ranges_[static_cast<std::size_t>(after - kFrom.begin()) - 1];
  ++range.sentences;
  range.exact += correct == length ? 1 : 0;
  range.tokens += length;
  range.correct += correct;
}

Json LengthTally::json() const {
  Json list = Json::array();
  for (std::size_t k = 0; k < kFrom.size(); ++k) {
    const Range& range = ranges_[k];
    if (range.sentences == 0) continue;
    list.push_back({{"from", kFrom[k]},
                    {"to", k + 1 < kFrom.size() ? Json(kFrom[k + 1] - 1) : Json()},
                    {"sentences", range.sentences},
                    {"exact", range.exact},
                    {"tokens", range.tokens},
                    {"correct", range.correct}});
  }
  return list;
}

void ErrorList::add(double sureness, std::vector<std::string> kinds, Json content) {
  const std::size_t number = all_++;
  if (content.is_null()) return;
  list_.push_back({sureness, number, std::move(kinds), std::move(content)});
  if (list_.size() >= kPruneAt) prune();
}

void ErrorList::prune() {
  std::ranges::sort(list_, [](const One& a, const One& b) {
    return a.sureness != b.sureness ? a.sureness > b.sureness : a.number < b.number;
  });
  std::map<std::string, std::size_t> seen;
  std::size_t place = 0;
  std::erase_if(list_, [&](const One& one) {
    bool kept = place++ < kSurest;
    for (const std::string& kind : one.kinds) kept = seen[kind]++ < kOfEachKind || kept;
    return !kept;
  });
}

Json ErrorList::json() {
  prune();
  Json list = Json::array();
  std::size_t bytes = 0;
  for (One& one : list_) {
    bytes += one.content.dump().size();
    if (list.size() == kMost || bytes > kMostBytes) break;
    list.push_back(std::move(one.content));
  }
  const std::size_t shown = list.size();
  return {{"all", all_}, {"shown", shown}, {"list", std::move(list)}};
}

}  // namespace espalier
