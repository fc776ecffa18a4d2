#include "model/data_fingerprint.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <vector>

#include "fleet/list_fingerprint.h"

namespace espalier {
namespace {

constexpr std::string_view kHash = "xxh3:";

// Everything of the examples but their features: structure, gold outputs, costs and weights.
std::uint64_t fingerprint_of_examples(const Problem& problem, bool known, Communicator* fleet) {
  std::vector<float> statistics;
  return list_fingerprint(problem.size(), fleet, [&](std::size_t i, Fingerprint& fingerprint) {
    const double numbers[] = {problem.weight(i), problem.cost_offset(i)};
    fingerprint.add_list(std::span<const double>(numbers));
    statistics.assign(problem.num_statistics(i), 0.0f);
    if (known) problem.add_gold(i, 1.0f, statistics);
    fingerprint.add_list(std::span<const float>(statistics));
    std::fill(statistics.begin(), statistics.end(), 0.0f);
    problem.add_cost(i, 1.0f, statistics);
    fingerprint.add_list(std::span<const float>(statistics));
  });
}

}  // namespace

std::string fingerprint_text(const Fingerprint& fingerprint) {
  return fmt::format("{}{:016x}", kHash, fingerprint.value());
}

bool is_fingerprint(const Json& value) {
  return value.is_string() && value.get<std::string>().starts_with(kHash);
}

bool comes_from_data(std::string_view section) {
  return section.find('.') != std::string_view::npos || section == "pruner";
}

std::string data_fingerprint(const TrainingSet& data, bool known) {
  Fingerprint fingerprint;
  for (const auto& [name, bytes] : data.sections().arrays) {
    if (comes_from_data(name)) fingerprint.add_list(std::span<const char>(bytes));
  }
  const std::uint64_t parts[] = {fingerprint_of_examples(data.problem(), known, data.fleet()),
                                 data.fingerprint()};
  fingerprint.add_list(std::span<const std::uint64_t>(parts));
  return fingerprint_text(fingerprint);
}

}  // namespace espalier
