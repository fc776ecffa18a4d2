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

// "hp+1" is head+1.xpos.
std::string readable_arc_look(std::string_view look) {
  static constexpr std::pair<char, std::string_view> kWords[] = {
      {'h', "head"}, {'d', "word"}, {'b', "between"}, {'s', "sibling"}, {'g', "grandparent"}};
  static constexpr std::pair<char, std::string_view> kAtoms[] = {
      {'f', "form"}, {'x', "prefix"}, {'l', "lemma"}, {'c', "upos"}, {'p', "xpos"}, {'m', "feats"}};
  const auto named = [](const auto& names, char letter) {
    return std::ranges::find(names, letter, [](const auto& name) { return name.first; })->second;
  };
  return std::string(named(kWords, look[0]))
      .append(look.substr(2))
      .append(".")
      .append(named(kAtoms, look[1]));
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

ArcTemplates::ArcTemplates(std::span<const std::string_view> table, std::string_view of) {
  for (const std::string_view line : table) {
    Template parsed;
    parsed.seed = fingerprint_of(line);
    parsed.name = of;
    bool has_between = false;
    for (std::size_t at = 0; at < line.size();) {
      const std::size_t end = std::min(line.find(' ', at), line.size());
      const std::string_view look = line.substr(at, end - at);
      at = end + 1;
      const Atom atom = atom_of(look[1]);
      parsed.name.append(parsed.name.empty() ? "" : " ").append(readable_arc_look(look));
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

ArcTemplates ArcTemplates::in_order(std::span<const std::size_t> numbers) const {
  ArcTemplates result;
  for (const std::size_t t : numbers) (t < plain_.size() ? result.plain_ : result.between_).push_back(of(t));
  return result;
}

std::uint64_t ArcTemplates::kind_of(std::span<const WordAtoms> words, std::size_t place, const Looks& looks,
                                    std::uint64_t seed) {
  for (const Look& look : looks) {
    const auto at = static_cast<std::ptrdiff_t>(place) + look.offset;
    const bool outside = at < 0 || at > static_cast<std::ptrdiff_t>(words.size());
    const std::uint64_t found = outside   ? kNothing
                                : at == 0 ? kRoot
                                          : words[static_cast<std::size_t>(at - 1)][look.atom];
    seed = mix(seed ^ found);
  }
  return seed;
}

// keys[place * stride], for all places up to `last`: what looks find there, and which template wants to know.
void ArcTemplates::put_keys(std::span<const WordAtoms> words, std::size_t last, const Looks& looks,
                            std::uint64_t seed, std::size_t stride, std::uint32_t* keys) {
  const auto put = [&](std::size_t place, std::uint64_t found) { keys[place * stride] = fold(found); };
  if (looks.empty()) {
    for (std::size_t place = 0; place <= last; ++place) keys[place * stride] = 0;
    return;
  }
  // Near the ends of the sentence some looks find no word; in between all do.
  std::ptrdiff_t before = 0, after = 0;
  for (const Look& look : looks) {
    before = std::min<std::ptrdiff_t>(before, look.offset);
    after = std::max<std::ptrdiff_t>(after, look.offset);
  }
  const auto begin = static_cast<std::size_t>(1 - before),
             end = words.size() + 1 - std::min(words.size(), static_cast<std::size_t>(after));
  for (std::size_t place = 0; place < std::min(begin, last + 1); ++place)
    put(place, kind_of(words, place, looks, seed));
  const auto look_at = [&](std::uint64_t found, const Look& look, std::size_t place) {
    return mix(found ^ words[place - 1 + static_cast<std::size_t>(look.offset)][look.atom]);
  };
  const Look first = looks.front(), other = looks.back();
  if (looks.size() == 1) {
    for (std::size_t place = begin; place < end; ++place) put(place, look_at(seed, first, place));
  } else if (looks.size() == 2) {
    for (std::size_t place = begin; place < end; ++place)
      put(place, look_at(look_at(seed, first, place), other, place));
  } else {
    for (std::size_t place = begin; place < end; ++place) put(place, kind_of(words, place, looks, seed));
  }
  for (std::size_t place = std::max(begin, end); place <= last; ++place)
    put(place, kind_of(words, place, looks, seed));
}

void ArcTemplates::keys(std::span<const WordAtoms> words, std::size_t stride, std::span<std::uint32_t> head,
                        std::span<std::uint32_t> modifier) const {
  std::size_t k = 0;
  for (const auto* templates : {&plain_, &between_}) {
    for (const Template& t : *templates) {
      put_keys(words, words.size(), t.head, t.seed, stride, head.data() + k);
      put_keys(words, words.size(), t.modifier, ~t.seed, stride, modifier.data() + k);
      ++k;
    }
  }
}

void ArcTemplates::third_keys(std::span<const WordAtoms> words, std::size_t stride,
                              std::span<std::uint32_t> third) const {
  for (std::size_t t = 0; t < plain_.size(); ++t)
    put_keys(words, words.size() + 1, plain_[t].third, mix(plain_[t].seed), stride, third.data() + t);
}

std::uint32_t ArcTemplates::between_key(std::size_t t, const WordAtoms& word) const {
  return fold(between_[t].seed + word[between_[t].between]);
}

const ArcTemplates& arc_templates() {
  static const ArcTemplates templates(kArcTable, "arc:");
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
  static const ArcTemplates templates(kRelationTable, "relation:");
  return templates;
}

}  // namespace espalier
