#include "tasks/treebank/head_rules.h"

#include <algorithm>
#include <cstdint>

namespace espalier {
namespace {

// The head is the first child, seen from one end, that is the first candidate; else the one that is the
// second, and so on. Where any candidate will do, it is the first child that is one of them. Where a row
// finds none, the next row of the category is asked; where the last one finds none, the head is the child at
// its end.
enum class From : std::uint8_t { left, right };
enum class Which : std::uint8_t { by_rank, any };

struct HeadRule {
  std::string_view category;
  From from;
  std::string_view candidates;  // with single spaces between them
  Which which = Which::by_rank;
};

constexpr HeadRule kRules[] = {
    {"ADJP", From::left, "NNS QP NN $ ADVP JJ VBN VBG ADJP JJR NP JJS DT FW RBR RBS SBAR RB"},
    {"ADVP", From::right, "RB RBR RBS FW ADVP TO CD JJR JJ IN NP JJS NN"},
    {"CONJP", From::right, "CC RB IN"},
    {"FRAG", From::right, ""},
    {"LST", From::right, "LS :"},
    {"NAC", From::left, "NN NNS NNP NNPS NP NAC EX $ CD QP PRP VBG JJ JJS JJR ADJP FW"},
    {"NP", From::right, "NN NNP NNPS NNS NX POS JJR", Which::any},
    {"NP", From::left, "NP"},
    {"NP", From::right, "$ ADJP PRN", Which::any},
    {"NP", From::right, "CD"},
    {"NP", From::right, "JJ JJS RB QP", Which::any},
    {"NX", From::right, "NN NNP NNPS NNS NX POS JJR", Which::any},
    {"PP", From::right, "IN TO VBG VBN RP FW"},
    {"PRT", From::right, "RP"},
    {"QP", From::left, "$ IN NNS NN JJ RB DT CD QP JJR JJS"},
    {"RRC", From::right, "VP NP ADVP ADJP PP"},
    {"S", From::left, "TO IN VP S SBAR ADJP UCP NP"},
    {"SBAR", From::left, "WHNP WHPP WHADVP WHADJP IN DT S SQ SINV SBAR FRAG"},
    {"SBARQ", From::left, "SQ S SINV SBARQ FRAG"},
    {"SINV", From::left, "VBZ VBD VBP VB MD VP S SINV ADJP NP"},
    {"SQ", From::left, "VBZ VBD VBP VB MD VP SQ"},
    {"UCP", From::right, ""},
    {"VP", From::left, "TO VBD VBN MD VBZ VB VBG VBP VP ADJP NN NNS NP"},
    {"WHADJP", From::left, "CC WRB JJ ADJP"},
    {"WHADVP", From::right, "CC WRB"},
    {"WHNP", From::left, "WDT WP WP$ WHADJP WHPP WHNP"},
    {"WHPP", From::right, "IN TO FW"},
};

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// The first child, from that end, that `is_head` is true of.
template <class IsHead>
std::size_t search(From from, std::size_t children, const IsHead& is_head) {
  for (std::size_t k = 0; k < children; ++k) {
    const std::size_t child = from == From::left ? k : children - 1 - k;
    if (is_head(child)) return child;
  }
  return kNone;
}

// Calls found(candidate) until it is true.
template <class Found>
bool any_candidate(std::string_view candidates, const Found& found) {
  while (!candidates.empty()) {
    const std::size_t end = std::min(candidates.find(' '), candidates.size());
    if (found(candidates.substr(0, end))) return true;
    candidates.remove_prefix(std::min(end + 1, candidates.size()));
  }
  return false;
}

std::size_t apply(const HeadRule& rule, std::span<const std::string_view> children) {
  if (rule.which == Which::any) {
    return search(rule.from, children.size(), [&](std::size_t child) {
      return any_candidate(rule.candidates, [&](std::string_view name) { return children[child] == name; });
    });
  }
  std::size_t head = kNone;
  any_candidate(rule.candidates, [&](std::string_view name) {
    head = search(rule.from, children.size(), [&](std::size_t child) { return children[child] == name; });
    return head != kNone;
  });
  return head;
}

}  // namespace

std::size_t find_head(std::string_view category, std::span<const std::string_view> children) {
  From last = From::left;
  for (const HeadRule& rule : kRules) {
    if (rule.category != category) continue;
    if (const std::size_t head = apply(rule, children); head != kNone) return head;
    last = rule.from;
  }
  return last == From::left ? 0 : children.size() - 1;
}

}  // namespace espalier
