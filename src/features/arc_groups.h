#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "espalier/base/workspace.h"
#include "features/arc_templates.h"

namespace espalier {

// Templates arranged by what arcs have in common. Many arcs of a sentence share a feature up to its
// distance: all that lead from a word in one direction share what their template finds of the head alone, and
// all heads with the same tag what it finds of a modifier with that tag. Such features are looked up once for
// all of these arcs.
class ArcGroups {
 public:
  // Where there are few arcs, looking for what they share costs more than it saves: `apart` leaves only words
  // between, of which every arc has many.
  enum class Sharing { all, apart };
  ArcGroups(const ArcTemplates& templates, Sharing sharing);

  // Templates of a group are numbered one after the other.
  struct Range {
    std::size_t begin = 0, end = 0;
    std::size_t size() const { return end - begin; }
  };
  // Templates that see the same of the head, its kind; at most one of them is of words between.
  struct HeadKinds {
    ArcTemplates::Looks looks;
    Range plain, between;  // the latter's number is one after those of all plain templates
  };

  const ArcTemplates& templates() const { return templates_; }
  std::size_t size() const { return templates_.size() + templates_.num_between(); }
  Range pairs() const { return pairs_; }              // those that have little in common
  Range head() const { return head_; }                // they see nothing of the modifier
  Range modifier() const { return modifier_; }        // or nothing of the head
  Range by_modifier() const { return by_modifier_; }  // of the modifier its kind
  // The first ones are those of single tags, by_modifier()'s kinds too.
  std::span<const HeadKinds> by_head() const { return by_head_; }

 private:
  ArcTemplates templates_;
  Range pairs_, head_, modifier_, by_modifier_;
  std::vector<HeadKinds> by_head_;
};

// Keys and kinds of all places of a sentence, in memory of a workspace.
struct ArcSentence {
  // In a space of as many weights as `mask` says: of keys no other bits count.
  ArcSentence(const ArcGroups& groups, std::span<const WordAtoms> words, std::uint32_t mask,
              Workspace::Frame& frame);

  std::size_t words, stride, num_between;  // the latter are templates
  std::uint32_t mask;
  std::span<std::uint32_t> heads, modifiers;  // keys, as ArcTemplates has them
  std::span<std::uint32_t> kinds;             // of each group of heads, one after the other: numbers from 0
  std::span<std::uint32_t> num_kinds;
  std::span<std::uint32_t> first_of_kind;  // the first place of each kind of the first group
  std::span<std::uint32_t> between;  // [t * (words + 1) + place]: the key of what is found in a word between
  std::span<std::uint32_t> between_kinds;  // and a number for each
};

}  // namespace espalier
