#include "tasks/new_names.h"

#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace espalier {

std::vector<std::uint32_t> merge_names_of_ranks(const Dictionary& own, Dictionary& into,
                                                Communicator& fleet) {
  for (std::size_t r = 0; r < fleet.size(); ++r) {
    std::string bytes;
    for (std::uint32_t id = 0; r == fleet.rank() && id < own.size(); ++id) {
      const std::string_view name = own.name(id);
      if (into.find(name)) continue;
      const auto length = static_cast<std::uint32_t>(name.size());
      bytes.append(reinterpret_cast<const char*>(&length), sizeof(length)).append(name);
    }
    bytes = std::move(fleet.gather(bytes)[r]);
    for (std::size_t at = 0; at < bytes.size();) {
      std::uint32_t length = 0;
      std::memcpy(&length, bytes.data() + at, sizeof(length));
      into.add(std::string_view(bytes).substr(at + sizeof(length), length));
      at += sizeof(length) + length;
    }
  }
  std::vector<std::uint32_t> ids(own.size());
  for (std::uint32_t id = 0; id < own.size(); ++id) ids[id] = *into.find(own.name(id));
  return ids;
}

void add_up_counts(std::vector<std::uint32_t>& counts, Communicator& fleet) {
  constexpr std::size_t kAtOnce = std::size_t{1} << 20;
  std::vector<double> sums;
  for (std::size_t begin = 0; begin < counts.size(); begin += kAtOnce) {
    const auto from = counts.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto to = from + static_cast<std::ptrdiff_t>(std::min(kAtOnce, counts.size() - begin));
    sums.assign(from, to);
    fleet.add_up(sums);
    std::transform(sums.begin(), sums.end(), from,
                   [](double sum) { return static_cast<std::uint32_t>(sum); });
  }
}

}  // namespace espalier
