#include "features/span_templates.h"

#include <algorithm>
#include <string>

#include "base/fingerprint.h"
#include "espalier/base/error.h"
#include "features/mix.h"
#include "features/word_attributes.h"

namespace espalier {
namespace {

// After Hall, Durrett and Klein (2014), with tags and pairs of words.
constexpr std::string_view kSpanTable[] = {
    "n",
    "z",
    // one word
    "fw",
    "lw",
    "bw",
    "aw",
    "fw n",
    "lw n",
    "fp",
    "lx",
    "bx",
    "ax",
    // the ends of the span, and their neighbours
    "ft n",
    "lt n",
    "bt n",
    "at n",
    "ft lt n",
    "bt at n",
    "bt ft n",
    "lt at n",
    "bt ft lt at",
    "fs ls n",
    // with words
    "fw lw",
    "bw fw",
    "lw aw",
    "fw lt",
    "ft lw",
    "bw at",
    "bt aw",
    "bw ft",
    "lt aw",
    "ft aw",
};

// Around a split: before it is the last word of the left part, and then comes the first one of the right
// part.
constexpr std::string_view kSplitTable[] = {
    "bw", "fw", "bt ft", "bw ft", "bt fw", "bw fw", "bt-1 bt ft", "bt ft ft+1", "bs fs",
};

// Of a word whose tag is not known.
constexpr std::string_view kTagTable[] = {
    "fw",   "fx", "fp",   "fs",    "bw fw",      "fw fw+1", "bw",
    "fw+1", "bx", "fx+1", "bs fs", "bx fx fx+1", "bw-1",    "fw+2",
};

SpanAtom span_atom_of(char letter) {
  switch (letter) {
    case 'w':
      return SpanAtom::form;
    case 's':
      return SpanAtom::shape;
    case 'p':
      return SpanAtom::prefix;
    case 'x':
      return SpanAtom::suffix;
    default:
      ESPALIER_EXPECT(letter == 't');
      return SpanAtom::tag;
  }
}

// "fw+1" is first+1.form.
std::string readable_span_look(std::string_view look) {
  if (look == "n") return "length";
  if (look == "z") return "tags";
  const std::string_view word = look[0] == 'f'   ? "first"
                                : look[0] == 'l' ? "last"
                                : look[0] == 'b' ? "before"
                                                 : "after";
  const SpanAtom atom = span_atom_of(look[1]);
  const std::string_view name = atom == SpanAtom::form     ? "form"
                                : atom == SpanAtom::shape  ? "shape"
                                : atom == SpanAtom::prefix ? "prefix"
                                : atom == SpanAtom::suffix ? "suffix"
                                                           : "tag";
  return std::string(word).append(look.substr(2)).append(".").append(name);
}

// What stands in for all atoms of words beyond the ends of a sentence.
constexpr std::uint64_t kNoWord = 0x14057b7ef767814fu;

// 1, 2, 3, 4, 5, 6 to 10, 11 to 20, and more.
constexpr std::uint64_t length_bin(std::size_t n) { return n <= 5 ? n : n <= 10 ? 6 : n <= 20 ? 7 : 8; }

constexpr std::size_t kFewWords = 6;

}  // namespace

SpanWord span_word(std::string_view form, std::string_view tag) {
  constexpr std::size_t kPrefix = 3, kSuffix = 3;
  std::string lower, shape;
  append_lower_case(form, lower);
  append_shape(form, shape);
  return {{fingerprint_of(lower), fingerprint_of(shape), fingerprint_of(prefix_of(lower, kPrefix)),
           fingerprint_of(suffix_of(lower, kSuffix)), fingerprint_of(tag)}};
}

SpanTemplates::SpanTemplates(std::span<const std::string_view> table, std::string_view of) {
  for (const std::string_view line : table) {
    Template parsed;
    parsed.seed = fingerprint_of(line);
    parsed.name = of;
    for (std::size_t at = 0; at < line.size();) {
      const std::size_t end = std::min(line.find(' ', at), line.size());
      const std::string_view look = line.substr(at, end - at);
      at = end + 1;
      parsed.name.append(" ").append(readable_span_look(look));
      if (look == "n") {
        parsed.length = true;
      } else if (look == "z") {
        parsed.tags = true;
      } else {
        const SpanAtom atom = span_atom_of(look[1]);
        const int step = look.size() == 2 ? 0 : (look[2] == '+' ? 1 : -1) * (look[3] - '0');
        const bool inside =
            look[0] == 'f' || look[0] == 'a';  // the word at the position, or the one before it
        const bool begins = look[0] == 'f' || look[0] == 'b';
        ESPALIER_EXPECT(begins || look[0] == 'l' || look[0] == 'a');
        (begins ? parsed.begin : parsed.end).push_back({(inside ? 0 : -1) + step, atom});
        parsed.lexical = parsed.lexical || atom == SpanAtom::form;
      }
    }
    templates_.push_back(std::move(parsed));
  }
}

double SpanTemplates::common_share() const {
  const auto common =
      std::count_if(templates_.begin(), templates_.end(), [](const Template& t) { return !t.lexical; });
  return static_cast<double>(common) / static_cast<double>(size());
}

void SpanTemplates::keys(std::span<const SpanWord> words, std::span<std::uint32_t> begins,
                         std::span<std::uint32_t> ends) const {
  const auto seen = [&](std::size_t position, const std::vector<Look>& looks, std::uint64_t seed) {
    std::uint64_t key = seed;
    for (const Look& look : looks) {
      const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(position) + look.offset;
      const bool there = at >= 0 && at < static_cast<std::ptrdiff_t>(words.size());
      key = mix(key ^ (there ? words[static_cast<std::size_t>(at)][look.atom] : kNoWord));
    }
    return fold(key);
  };
  for (std::size_t position = 0; position <= words.size(); ++position) {
    for (std::size_t t = 0; t < size(); ++t) {
      const Template& of = templates_[t];
      begins[position * size() + t] = seen(position, of.begin, of.seed);
      ends[position * size() + t] = of.end.empty() ? 0 : seen(position, of.end, ~of.seed);
    }
  }
}

void SpanTemplates::span_keys(std::span<const SpanWord> words, std::size_t begin, std::size_t end,
                              std::span<const std::uint32_t> begins, std::span<const std::uint32_t> ends,
                              std::span<std::uint32_t> to) const {
  const std::uint32_t *of_begin = begins.data() + begin * size(), *of_end = ends.data() + end * size();
  const std::uint32_t length = fold(length_bin(end - begin));
  for (std::size_t t = 0; t < size(); ++t) {
    to[t] = of_begin[t] ^ of_end[t] ^ (templates_[t].length ? length : 0);
    if (!templates_[t].tags) continue;
    std::uint64_t tags = templates_[t].seed;
    if (end - begin <= kFewWords) {
      for (std::size_t k = begin; k < end; ++k) tags = mix(tags ^ words[k][SpanAtom::tag]);
    }
    to[t] = fold(tags);
  }
}

const SpanTemplates& span_templates() {
  static const SpanTemplates templates(kSpanTable, "span:");
  return templates;
}
const SpanTemplates& split_templates() {
  static const SpanTemplates templates(kSplitTable, "split:");
  return templates;
}
const SpanTemplates& tag_templates() {
  static const SpanTemplates templates(kTagTable, "word:");
  return templates;
}

}  // namespace espalier
