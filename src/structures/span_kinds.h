#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <span>
#include <vector>

namespace espalier {

class GrammarIndex;

// What stands over a span in the derivations of a sentence: bottom symbols, and the top symbols that follow
// from them. Numbers of its parts are counted within it.
struct SpanKind {
  static constexpr std::uint16_t kNone = std::numeric_limits<std::uint16_t>::max();
  struct Bottom {
    std::uint32_t symbol;
    std::uint16_t label, slot;  // its label, and where that is in `labels`; kNone: it has none
  };
  struct Top {
    std::uint32_t symbol;
    std::uint16_t same;         // the bottom symbol that it may be, or kNone
    std::uint16_t first_unary;  // of the rules that lead to it
  };
  struct Unary {
    std::uint32_t rule;
    std::uint16_t bottom;
    std::uint16_t first_slot;  // of the labels that it adds
  };
  struct Range {
    std::size_t begin, end;
  };

  std::span<const Bottom> bottoms;  // by symbols
  std::span<const Top> tops;        // by symbols
  std::span<const Unary> unaries;   // by tops
  std::span<const std::uint16_t> slots;
  std::span<const std::uint16_t> labels;  // all that stand over the span, ascending

  Range unaries_of(std::size_t top) const {
    return {tops[top].first_unary, top + 1 < tops.size() ? tops[top + 1].first_unary : unaries.size()};
  }
  std::span<const std::uint16_t> slots_of(std::size_t unary) const {
    const std::size_t first = unaries[unary].first_slot;
    return slots.subspan(first,
                         (unary + 1 < unaries.size() ? unaries[unary + 1].first_slot : slots.size()) - first);
  }
};

// The kinds of spans that some sentences have, each once: a treebank has far fewer than spans.
class SpanKinds {
 public:
  // Keeps a reference.
  explicit SpanKinds(const GrammarIndex& index);

  struct Added {
    std::uint32_t kind, num_labels;
  };
  // The kind with these symbols, which ascend. Several threads may call it at once, unless one looks at kinds
  // meanwhile. Throws Error where a span has 65,535 of anything.
  Added add(std::span<const std::uint32_t> bottoms, std::span<const std::uint32_t> tops);
  // Where no more will come: gives memory back that they would have taken.
  void shrink_to_fit();

  std::size_t size() const { return firsts_.size() - 1; }
  SpanKind operator[](std::size_t kind) const {
    const First &first = firsts_[kind], &after = firsts_[kind + 1];
    return {{bottoms_.data() + first.bottom, bottoms_.data() + after.bottom},
            {tops_.data() + first.top, tops_.data() + after.top},
            {unaries_.data() + first.unary, unaries_.data() + after.unary},
            {slots_.data() + first.slot, slots_.data() + after.slot},
            {labels_.data() + first.label, labels_.data() + after.label}};
  }

 private:
  struct First {
    std::uint32_t bottom = 0, top = 0, unary = 0, slot = 0, label = 0;
  };
  bool is(std::uint32_t kind, std::span<const std::uint32_t> bottoms,
          std::span<const std::uint32_t> tops) const;
  void append(std::span<const std::uint32_t> bottoms, std::span<const std::uint32_t> tops);
  std::uint32_t& place_of(std::uint64_t hash, std::span<const std::uint32_t> bottoms,
                          std::span<const std::uint32_t> tops);

  const GrammarIndex* index_;
  std::mutex adding_;
  std::vector<First> firsts_{{}};  // and one more, for the last one's end
  std::vector<SpanKind::Bottom> bottoms_;
  std::vector<SpanKind::Top> tops_;
  std::vector<SpanKind::Unary> unaries_;
  std::vector<std::uint16_t> slots_, labels_;
  std::vector<std::uint64_t> hashes_;  // of each kind
  std::vector<std::uint32_t> places_;  // a hash table of kinds
};

}  // namespace espalier
