#include "features/arc_groups.h"

#include <algorithm>
#include <utility>

#include "espalier/base/error.h"

namespace espalier {
namespace {

// Rounded up, so that kernels may read whole vectors.
constexpr std::size_t whole_vectors(std::size_t n) { return (n + 15) / 16 * 16; }

// numbers[k]: how many different values there are before the first that equals values[k]. Returns how many
// there are in all.
template <class Value>
std::uint32_t number_kinds(std::span<const Value> values, std::span<std::uint32_t> numbers,
                           std::span<Value> different) {
  std::size_t n = 0;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const auto end = different.begin() + static_cast<std::ptrdiff_t>(n);
    const auto found = std::find(different.begin(), end, values[k]);
    numbers[k] = static_cast<std::uint32_t>(found - different.begin());
    if (found == end) different[n++] = values[k];
  }
  return static_cast<std::uint32_t>(n);
}

}  // namespace

ArcGroups::ArcGroups(const ArcTemplates& templates, Sharing sharing) : templates_(templates) {
  const ArcTemplates::Looks tag{{0, Atom::fine}};
  const std::size_t plain = templates.size(), all = plain + templates.num_between();
  by_head_.push_back({tag, {}, {}});
  // A group of its own for every template of words between, but for the first that sees a tag.
  bool of_tag = false;
  for (std::size_t t = plain; t < all; ++t) {
    const auto& looks = templates.head_looks(t);
    if (!of_tag && looks == tag) {
      of_tag = true;
    } else {
      by_head_.push_back({looks, {}, {}});
    }
  }

  std::vector<std::size_t> order;
  std::vector<bool> taken(all);
  const auto take = [&](std::size_t begin, std::size_t end, auto&& belongs) {
    const std::size_t first = order.size();
    for (std::size_t t = begin; t < end; ++t) {
      if (taken[t] || !belongs(t)) continue;
      order.push_back(t);
      taken[t] = true;
    }
    return Range{first, order.size()};
  };
  if (sharing == Sharing::apart) pairs_ = take(0, plain, [](std::size_t) { return true; });
  head_ = take(0, plain, [&](std::size_t t) { return templates.modifier_looks(t).empty(); });
  modifier_ = take(0, plain, [&](std::size_t t) { return templates.head_looks(t).empty(); });
  for (HeadKinds& kinds : by_head_)
    kinds.plain = take(0, plain, [&](std::size_t t) { return templates.head_looks(t) == kinds.looks; });
  by_modifier_ = take(0, plain, [&](std::size_t t) { return templates.modifier_looks(t) == tag; });
  if (sharing == Sharing::all) pairs_ = take(0, plain, [](std::size_t) { return true; });
  for (HeadKinds& kinds : by_head_) {
    kinds.between = take(plain, all, [&, none = true](std::size_t t) mutable {
      return templates.head_looks(t) == kinds.looks && std::exchange(none, false);
    });
  }
  templates_ = templates.in_order(order);
}

ArcSentence::ArcSentence(const ArcGroups& groups, std::span<const WordAtoms> atoms, std::uint32_t space,
                         Workspace::Frame& frame)
    : words(atoms.size()),
      stride(whole_vectors(groups.size() + 15)),
      num_between(groups.templates().num_between()),
      mask(space) {
  const ArcTemplates& templates = groups.templates();
  const std::size_t places = words + 1, num_groups = groups.by_head().size();
  heads = frame.take<std::uint32_t>(places * stride);
  modifiers = frame.take<std::uint32_t>(places * stride);
  templates.keys(atoms, stride, heads, modifiers);

  kinds = frame.take<std::uint32_t>(num_groups * places);
  num_kinds = frame.take<std::uint32_t>(num_groups);
  const auto hashes = frame.take<std::uint64_t>(places), different = frame.take<std::uint64_t>(places);
  for (std::size_t g = 0; g < num_groups; ++g) {
    for (std::size_t place = 0; place < places; ++place)
      hashes[place] = ArcTemplates::kind_of(atoms, place, groups.by_head()[g].looks);
    num_kinds[g] = number_kinds<std::uint64_t>(hashes, kinds.subspan(g * places, places), different);
  }
  first_of_kind = frame.take<std::uint32_t>(num_kinds[0]);
  for (std::size_t place = places; place-- > 0;)
    first_of_kind[kinds[place]] = static_cast<std::uint32_t>(place);

  between = frame.take<std::uint32_t>(num_between * places);
  between_kinds = frame.take<std::uint32_t>(num_between * places);
  const auto different_keys = frame.take<std::uint32_t>(places);
  for (std::size_t t = 0; t < num_between; ++t) {
    const auto keys = between.subspan(t * places, places);
    keys[0] = 0;  // the root is never between two words
    for (std::size_t place = 1; place < places; ++place)
      keys[place] = templates.between_key(t, atoms[place - 1]);
    number_kinds<std::uint32_t>(keys.subspan(1), between_kinds.subspan(t * places + 1, words),
                                different_keys);
  }
}

}  // namespace espalier
