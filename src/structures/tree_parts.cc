#include "structures/tree_parts.h"

namespace espalier {

void TreePartLists::append(const ArcSet& arcs, bool adjacent) {
  const std::size_t m = arcs.words();
  // The modifiers of each head, ascending.
  std::vector<std::vector<std::uint16_t>> modifiers(m + 1);
  for (std::size_t d = 1; d <= m; ++d) {
    for (std::size_t a = arcs.begin(d); a < arcs.end(d); ++a)
      modifiers[arcs.head(a, d)].push_back(static_cast<std::uint16_t>(d));
  }
  for (std::size_t h = 0; h <= m; ++h) {
    const auto head = static_cast<std::uint16_t>(h);
    for (const std::uint16_t d : modifiers[h]) {
      if (adjacent) siblings_.push_back({head, head, d});
      for (const std::uint16_t s : modifiers[h]) {
        const bool nearer = h < d ? h < s && s < d : d < s && s < h;
        if (nearer) siblings_.push_back({head, s, d});
      }
      if (h == 0) continue;
      for (std::size_t a = arcs.begin(h); a < arcs.end(h); ++a) {
        const std::size_t g = arcs.head(a, h);
        if (g != d) grandparents_.push_back({head, static_cast<std::uint16_t>(g), d});
      }
    }
  }
  begins_.push_back({siblings_.size(), grandparents_.size()});
}

}  // namespace espalier
