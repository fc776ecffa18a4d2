#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "structures/arc_set.h"

namespace espalier {

// Two arcs of a tree that interact.
struct TreePart {
  std::uint16_t head, third, modifier;
  friend bool operator==(const TreePart&, const TreePart&) = default;
};

// The pairs of arcs of a sentence that have scores of their own. The arc from head to modifier is one of
// them. Of siblings the other one leads from the head to `third`, which is on the same side and nearer. If
// they are adjacent, it is the next nearer modifier, or the head itself if there is none; otherwise any. Of
// grandparents it leads from `third` to the head.
struct TreeParts {
  std::span<const TreePart> siblings, grandparents;
  std::size_t size() const { return siblings.size() + grandparents.size(); }
};

// The parts of all sentences, one after the other.
class TreePartLists {
 public:
  // All parts whose arcs are allowed, of the next sentence.
  void append(const ArcSet& arcs, bool adjacent);
  void clear() { *this = {}; }
  bool empty() const { return begins_.size() == 1; }
  TreeParts operator()(std::size_t i) const {
    if (empty()) return {};
    const Begin &begin = begins_[i], &end = begins_[i + 1];
    return {{siblings_.data() + begin.siblings, end.siblings - begin.siblings},
            {grandparents_.data() + begin.grandparents, end.grandparents - begin.grandparents}};
  }

 private:
  struct Begin {
    std::size_t siblings, grandparents;
  };
  std::vector<Begin> begins_{{0, 0}};  // and one more, for the last one's end
  std::vector<TreePart> siblings_, grandparents_;
};

}  // namespace espalier
