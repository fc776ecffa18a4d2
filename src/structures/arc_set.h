#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace espalier {

// The arcs that the dependency trees of a sentence may have. Words are 1, ..., m and 0 is the root; an arc
// leads from a head to its modifier. Arcs are numbered modifier by modifier, and the heads of a modifier
// ascend. Either all m^2 of them are allowed, or some: those lie elsewhere.
class ArcSet {
 public:
  explicit ArcSet(std::size_t words) : words_(words) {}
  // The heads of modifier d are heads[offsets[d - 1]], ..., heads[offsets[d] - 1], ascending; m + 1 offsets,
  // the first 0.
  ArcSet(std::span<const std::uint32_t> offsets, std::span<const std::uint16_t> heads)
      : words_(offsets.size() - 1), offsets_(offsets), heads_(heads) {}

  std::size_t words() const { return words_; }
  bool all() const { return offsets_.empty(); }
  std::size_t size() const { return all() ? words_ * words_ : heads_.size(); }

  // The arcs of modifier d are begin(d), ..., end(d) - 1.
  std::size_t begin(std::size_t d) const { return all() ? (d - 1) * words_ : offsets_[d - 1]; }
  std::size_t end(std::size_t d) const { return all() ? d * words_ : offsets_[d]; }
  // The head of arc a, which is one of modifier d.
  std::size_t head(std::size_t a, std::size_t d) const {
    if (!all()) return heads_[a];
    const std::size_t h = a - begin(d);
    return h < d ? h : h + 1;
  }

  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  // The arc from h to d; kNone where it is not allowed.
  std::size_t find(std::size_t h, std::size_t d) const {
    if (all()) return h == d ? kNone : begin(d) + (h < d ? h : h - 1);
    for (std::size_t a = begin(d); a < end(d); ++a) {
      if (heads_[a] == h) return a;
    }
    return kNone;
  }

 private:
  std::size_t words_;
  std::span<const std::uint32_t> offsets_;  // empty: all arcs
  std::span<const std::uint16_t> heads_;
};

// One value for each arc of m words: row = modifier, column = head, m + 1 of each. Row 0 and the diagonal
// mean nothing. -infinity, as a score, excludes an arc.
inline std::size_t arc_matrix_size(std::size_t words) { return (words + 1) * (words + 1); }
inline std::size_t arc_matrix_index(std::size_t words, std::size_t h, std::size_t d) {
  return d * (words + 1) + h;
}

// A tree: heads[d - 1] is the head of word d.
using Heads = std::span<std::uint32_t>;

}  // namespace espalier
