#include "structures/projectivity.h"

#include <algorithm>
#include <vector>

namespace espalier {
namespace {

// A word and what descends from it.
struct Yield {
  std::size_t first, last, size = 1;
  std::size_t waits_for = 0;  // modifiers whose own yields are not complete
};

bool is_projective_arc(std::span<const std::uint32_t> heads, std::size_t h, std::size_t d) {
  for (std::size_t k = std::min(h, d) + 1; k < std::max(h, d); ++k) {
    std::size_t at = k;
    while (at != h && at != 0) at = heads[at - 1];
    if (at != h) return false;
  }
  return true;
}

std::size_t length(std::size_t h, std::size_t d) { return h < d ? d - h : h - d; }

// The modifier of the arc to be lifted next; 0 if all are projective.
std::size_t next_to_lift(std::span<const std::uint32_t> heads) {
  std::size_t best = 0;
  for (std::size_t d = 1; d <= heads.size(); ++d) {
    const std::size_t h = heads[d - 1];
    if (best != 0 && length(h, d) >= length(heads[best - 1], best)) continue;
    if (!is_projective_arc(heads, h, d)) best = d;
  }
  return best;
}

}  // namespace

// A tree is projective exactly if no word's yield has gaps. Yields are put together from the leaves up.
bool is_projective(std::span<const std::uint32_t> heads) {
  const std::size_t words = heads.size();
  std::vector<Yield> yields(words + 1);
  for (std::size_t d = 0; d <= words; ++d) yields[d].first = yields[d].last = d;
  for (const std::uint32_t h : heads) ++yields[h].waits_for;
  for (std::size_t leaf = 1; leaf <= words; ++leaf) {
    if (yields[leaf].size > 1 || yields[leaf].waits_for > 0) continue;
    for (std::size_t at = leaf; at != 0 && yields[at].waits_for == 0; at = heads[at - 1]) {
      const Yield& yield = yields[at];
      if (yield.last - yield.first + 1 != yield.size) return false;
      Yield& above = yields[heads[at - 1]];
      above.first = std::min(above.first, yield.first);
      above.last = std::max(above.last, yield.last);
      above.size += yield.size;
      --above.waits_for;
    }
  }
  return true;
}

std::size_t make_projective(Heads heads) {
  std::size_t lifted = 0;
  for (; !is_projective(heads); ++lifted) {
    const std::size_t d = next_to_lift(heads), h = heads[d - 1];
    heads[d - 1] = heads[h - 1];
  }
  return lifted;
}

}  // namespace espalier
