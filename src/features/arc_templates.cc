#include "features/arc_templates.h"

#include <algorithm>
#include <utility>

#include "base/fingerprint.h"
#include "espalier/base/error.h"
#include "features/mix.h"

namespace espalier {
namespace {

// h, d and b are the head, the modifier and a word between them, s and g a sibling and a grandparent of the
// modifier; f its form, x the first letters of that, l its lemma, c and p its coarse and its fine tag, m its
// morphology; +1 and -1 the word after and before.
constexpr std::string_view kArcTable[] = {
    // one of the two words
    "hf hp",
    "hf",
    "hp",
    "hc",
    "hl",
    "hp hm",
    "df dp",
    "df",
    "dp",
    "dc",
    "dl",
    "dp dm",
    // both
    "hf hp df dp",
    "hp df dp",
    "hf df dp",
    "hf hp dp",
    "hf hp df",
    "hf df",
    "hp dp",
    "hc dc",
    // both, backed off
    "hl dl",
    "hl dp",
    "hp dl",
    "hx hp dp",
    "hp dx dp",
    "hx dx",
    "hm dm",
    "hp hm dp dm",
    "hp dp dm",
    "hp hm dp",
    // their neighbours
    "hp hp+1 dp-1 dp",
    "hp-1 hp dp-1 dp",
    "hp hp+1 dp dp+1",
    "hp-1 hp dp dp+1",
    "hp hp+1 dp",
    "hp-1 hp dp",
    "hp dp-1 dp",
    "hp dp dp+1",
    "hc-1 hc hc+1 dc-1 dc dc+1",
    // what lies between
    "hp bp dp",
    "hc bc dc",
};

constexpr std::string_view kRelationTable[] = {
    "hf",    "hp",    "hl",    "df",         "dp",         "dl",         "dx",
    "dm",    "hp dp", "hl dp", "hp dl",      "hl dl",      "hc dc dm",   "hp hm dp dm",
    "df dp", "hf dp", "hp df", "hp dp-1 dp", "hp dp dp+1", "hp hp+1 dp", "hp-1 hp dp",
};

constexpr std::string_view kSiblingTable[] = {
    "hp sp dp", "hc sc dc", "sp dp",    "sf df",    "sl dp",
    "sp dl",    "hp sl dp", "hl sp dp", "hl sl dl", "hp sp dp-1 dp dp+1",
};

constexpr std::string_view kGrandparentTable[] = {
    "gp hp dp", "gc hc dc", "gp dp",    "gl dl",    "gl dp",
    "gp dl",    "gl hp dp", "gp hl dp", "gp hp dl", "gl hl dl",
};

Atom atom_of(char letter) {
  switch (letter) {
    case 'f':
      return Atom::form;
    case 'x':
      return Atom::prefix;
    case 'l':
      return Atom::lemma;
    case 'c':
      return Atom::coarse;
    case 'p':
      return Atom::fine;
    default:
      ESPALIER_EXPECT(letter == 'm');
      return Atom::morphology;
  }
}

// What stands in for all atoms of the root, and of words beyond the ends of a sentence.
constexpr std::uint64_t kRoot = 0x5851f42d4c957f2du, kNothing = 0x14057b7ef767814fu;

}  // namespace

WordAtoms word_atoms(std::string_view form, std::string_view lemma, std::string_view coarse,
                     std::string_view fine, std::string_view morphology) {
  constexpr std::size_t kPrefix = 5;
  std::string_view prefix = form;
  for (std::size_t at = 0, letters = 0; at < form.size(); ++at) {
    const bool begins_letter = (static_cast<unsigned char>(form[at]) & 0xc0) != 0x80;  // UTF-8
    if (begins_letter && letters++ == kPrefix) prefix = form.substr(0, at);
  }
  // "_" is CoNLL's word for nothing: then a word's own tag or form is the best guess.
  const auto given = [](std::string_view text) { return !text.empty() && text != "_"; };
  if (!given(fine)) fine = coarse;
  if (!given(coarse)) coarse = fine;
  if (!given(lemma)) lemma = form;
  return {{fingerprint_of(form), fingerprint_of(prefix), fingerprint_of(lemma), fingerprint_of(coarse),
           fingerprint_of(fine), fingerprint_of(morphology)}};
}

ArcTemplates::ArcTemplates(std::span<const std::string_view> table) {
  for (const std::string_view line : table) {
    Template parsed;
    parsed.seed = fingerprint_of(line);
    bool has_between = false;
    for (std::size_t at = 0; at < line.size();) {
      const std::size_t end = std::min(line.find(' ', at), line.size());
      const std::string_view look = line.substr(at, end - at);
      at = end + 1;
      const Atom atom = atom_of(look[1]);
      const int offset = look.size() == 2 ? 0 : look[2] == '+' ? 1 : -1;
      parsed.lexical = parsed.lexical || look[1] == 'f' || look[1] == 'x' || look[1] == 'l';
      if (look[0] == 'h') parsed.head.push_back({offset, atom});
      if (look[0] == 'd') parsed.modifier.push_back({offset, atom});
      if (look[0] == 's' || look[0] == 'g') parsed.third.push_back({offset, atom});
      if (look[0] == 'b') {
        parsed.between = atom;
        has_between = true;
      }
    }
    (has_between ? between_ : plain_).push_back(std::move(parsed));
  }
}

// What looks find around a place, and which template wants to know.
std::uint32_t ArcTemplates::key_of(std::span<const WordAtoms> words, std::size_t place,
                                   const std::vector<Look>& looks, std::uint64_t seed) {
  if (looks.empty()) return 0;
  for (const Look& look : looks) {
    const auto at = static_cast<std::ptrdiff_t>(place) + look.offset;
    const bool outside = at < 0 || at > static_cast<std::ptrdiff_t>(words.size());
    const std::uint64_t found = outside   ? kNothing
                                : at == 0 ? kRoot
                                          : words[static_cast<std::size_t>(at - 1)][look.atom];
    seed = mix(seed ^ found);
  }
  return fold(seed);
}

void ArcTemplates::keys(std::span<const WordAtoms> words, std::size_t stride, std::span<std::uint32_t> head,
                        std::span<std::uint32_t> modifier) const {
  for (std::size_t place = 0; place <= words.size(); ++place) {
    std::size_t k = place * stride;
    for (const auto* templates : {&plain_, &between_}) {
      for (const Template& t : *templates) {
        head[k] = key_of(words, place, t.head, t.seed);
        modifier[k] = key_of(words, place, t.modifier, ~t.seed);
        ++k;
      }
    }
  }
}

void ArcTemplates::third_keys(std::span<const WordAtoms> words, std::size_t stride,
                              std::span<std::uint32_t> third) const {
  for (std::size_t place = 0; place <= words.size() + 1; ++place) {
    for (std::size_t t = 0; t < plain_.size(); ++t)
      third[place * stride + t] = key_of(words, place, plain_[t].third, mix(plain_[t].seed));
  }
}

std::uint32_t ArcTemplates::between_key(std::size_t t, const WordAtoms& word) const {
  return fold(between_[t].seed + word[between_[t].between]);
}

const ArcTemplates& arc_templates() {
  static const ArcTemplates templates(kArcTable);
  return templates;
}

const ArcTemplates& sibling_templates() {
  static const ArcTemplates templates(kSiblingTable);
  return templates;
}

const ArcTemplates& grandparent_templates() {
  static const ArcTemplates templates(kGrandparentTable);
  return templates;
}

const ArcTemplates& relation_templates() {
  static const ArcTemplates templates(kRelationTable);
  return templates;
}

}  // namespace espalier
