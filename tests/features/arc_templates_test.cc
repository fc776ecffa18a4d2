#include "features/arc_templates.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/fingerprint.h"

namespace espalier {
namespace {

using Table = std::vector<std::string_view>;

// Keys of all templates at all places.
struct Keys {
  Keys(const ArcTemplates& templates, const std::vector<WordAtoms>& words)
      : stride(templates.size() + templates.num_between()),
        head((words.size() + 1) * stride),
        modifier(head.size()) {
    templates.keys(words, stride, head, modifier);
  }
  std::uint32_t of_head(std::size_t place, std::size_t t) const { return head[place * stride + t]; }
  std::uint32_t of_modifier(std::size_t place, std::size_t t) const { return modifier[place * stride + t]; }
  // What an arc's key consists of.
  std::uint32_t of_arc(std::size_t h, std::size_t d, std::size_t t) const {
    return of_head(h, t) ^ of_modifier(d, t);
  }

  std::size_t stride;
  std::vector<std::uint32_t> head, modifier;
};

Keys keys_of(const Table& table, const std::vector<WordAtoms>& words) { return {ArcTemplates(table), words}; }

WordAtoms word(const std::string& form) {
  return word_atoms(form, form + "-lemma", form + "-coarse", form + "-fine", form + "-morphology");
}

constexpr char kLetters[] = {'f', 'x', 'l', 'c', 'p', 'm'};  // as the atoms are numbered

TEST(WordAtoms, HashWhatTheWordHas) {
  const WordAtoms atoms = word_atoms("walked", "walk", "V", "VBD", "Tense=Past");
  EXPECT_EQ(atoms[Atom::form], fingerprint_of("walked"));
  EXPECT_EQ(atoms[Atom::prefix], fingerprint_of("walke"));
  EXPECT_EQ(atoms[Atom::lemma], fingerprint_of("walk"));
  EXPECT_EQ(atoms[Atom::coarse], fingerprint_of("V"));
  EXPECT_EQ(atoms[Atom::fine], fingerprint_of("VBD"));
  EXPECT_EQ(atoms[Atom::morphology], fingerprint_of("Tense=Past"));
}

TEST(WordAtoms, PrefixesAreFiveLetters) {
  const auto prefix = [](std::string_view form) { return word_atoms(form, "", "", "", "")[Atom::prefix]; };
  EXPECT_EQ(prefix("abcdef"), fingerprint_of("abcde"));
  EXPECT_EQ(prefix("abcde"), fingerprint_of("abcde"));
  EXPECT_EQ(prefix("ab"), fingerprint_of("ab"));
  EXPECT_EQ(prefix(""), fingerprint_of(""));
  // However many bytes each has: 2 for the umlauts, 3 for the euro sign, 4 for the last.
  EXPECT_EQ(prefix("\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6"),
            fingerprint_of("\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4"));
  EXPECT_EQ(prefix("a\xe2\x82\xac\xf0\x9f\x98\x80yz!"), fingerprint_of("a\xe2\x82\xac\xf0\x9f\x98\x80yz"));
  EXPECT_EQ(prefix("\xf0\x9f\x98\x80\xf0\x9f\x98\x80"), fingerprint_of("\xf0\x9f\x98\x80\xf0\x9f\x98\x80"));
}

TEST(WordAtoms, WhatIsMissingIsTheNextBest) {
  for (const std::string_view nothing : {"", "_"}) {
    const WordAtoms no_lemma = word_atoms("walked", nothing, "V", "VBD", nothing);
    EXPECT_EQ(no_lemma[Atom::lemma], fingerprint_of("walked"));
    EXPECT_EQ(no_lemma[Atom::morphology], fingerprint_of(nothing));
    const WordAtoms no_fine = word_atoms("walked", "walk", "V", nothing, "m");
    EXPECT_EQ(no_fine[Atom::fine], fingerprint_of("V"));
    EXPECT_EQ(no_fine[Atom::coarse], fingerprint_of("V"));
    const WordAtoms no_coarse = word_atoms("walked", "walk", nothing, "VBD", "m");
    EXPECT_EQ(no_coarse[Atom::fine], fingerprint_of("VBD"));
    EXPECT_EQ(no_coarse[Atom::coarse], fingerprint_of("VBD"));
    const WordAtoms no_tag = word_atoms("walked", "walk", nothing, nothing, "m");
    EXPECT_EQ(no_tag[Atom::fine], fingerprint_of(nothing));
    EXPECT_EQ(no_tag[Atom::coarse], fingerprint_of(nothing));
  }
  // A word of its own, not nothing.
  EXPECT_EQ(word_atoms("_", "_", "P", "P", "_")[Atom::lemma], fingerprint_of("_"));
}

// Every atom of the head and of the modifier, and of their neighbours, in turn: a key moves if its template
// names that, and stays if not.
TEST(ArcTemplates, KeysDependOnWhatTheirTemplateNames) {
  const Table table{
      "hf",          "hx",      "hl",   "hc",   "hp",   "hm",        "df",
      "dx",          "dl",      "dc",   "dp",   "dm",   "hf dl",     "hx dx",
      "hc dm",       "hp hp+1", "hf-1", "df+1", "dm-1", "hc-1 dc+1", "hp-1 hp hp+1 dp-1 dp dp+1",
      "hl hm dl dm", "dx-1 dx"};
  std::vector<WordAtoms> words;
  for (int k = 0; k < 9; ++k) words.push_back(word("w" + std::to_string(k)));
  constexpr std::size_t kHead = 3, kModifier = 7;  // far from each other, and from the ends
  const Keys before = keys_of(table, words);
  for (std::size_t place = 1; place <= words.size(); ++place) {
    for (std::size_t a = 0; a < kNumAtoms; ++a) {
      auto changed = words;
      changed[place - 1].hashes[a] = fingerprint_of("something else");
      const Keys after = keys_of(table, changed);
      for (std::size_t t = 0; t < table.size(); ++t) {
        const auto names = [&](char side, std::size_t at) {
          const std::string offset = place == at ? "" : place == at + 1 ? "+1" : place + 1 == at ? "-1" : "?";
          const std::string look = std::string{side, kLetters[a]} + offset;
          const std::string whole = " " + std::string(table[t]) + " ";
          return whole.find(" " + look + " ") != std::string::npos;
        };
        const std::string where =
            std::string(table[t]) + ", " + kLetters[a] + " of word " + std::to_string(place);
        EXPECT_EQ(before.of_head(kHead, t) != after.of_head(kHead, t), names('h', kHead)) << where;
        EXPECT_EQ(before.of_modifier(kModifier, t) != after.of_modifier(kModifier, t), names('d', kModifier))
            << where;
      }
    }
  }
}

TEST(ArcTemplates, ASideThatIsNotNamedHasNoPart) {
  const Table table{"hf", "df"};
  const std::vector<WordAtoms> words{word("a"), word("b")};
  const Keys keys = keys_of(table, words);
  for (std::size_t place = 0; place <= 2; ++place) {
    EXPECT_EQ(keys.of_modifier(place, 0), 0u);
    EXPECT_EQ(keys.of_head(place, 1), 0u);
    EXPECT_NE(keys.of_head(place, 0), 0u);
    EXPECT_NE(keys.of_modifier(place, 1), 0u);
  }
}

// The same thing found by two templates, by the head's and the modifier's side of one, or in another order,
// is another feature.
TEST(ArcTemplates, EveryLookIsAnotherFeature) {
  const std::vector<WordAtoms> words(4, word_atoms("x", "x", "x", "x", "x"));
  const Table table{"hf", "hx", "hl", "hc", "hp",    "hm",    "df",   "dx",
                    "dl", "dc", "dp", "dm", "hf hl", "hl hf", "hf df"};
  const Keys keys = keys_of(table, words);
  std::set<std::uint32_t> different;
  for (std::size_t t = 0; t < table.size(); ++t) different.insert(keys.of_arc(2, 3, t));
  EXPECT_EQ(different.size(), table.size());
  // Nothing cancels where head and modifier are alike.
  EXPECT_NE(keys.of_arc(2, 3, 14), 0u);
  // All words are the same, and so are all keys of those that do not see an end.
  for (std::size_t t = 0; t < table.size(); ++t) EXPECT_EQ(keys.of_arc(2, 3, t), keys.of_arc(1, 4, t));
}

TEST(ArcTemplates, HeadAndModifierInTurnAreDifferentArcs) {
  const Keys keys = keys_of({"hf df", "hp dp"}, {word("a"), word("b")});
  for (const std::size_t t : {0, 1}) EXPECT_NE(keys.of_arc(1, 2, t), keys.of_arc(2, 1, t));
}

TEST(ArcTemplates, TheRootIsAWordOfItsOwn) {
  const Table table{"hf", "hp-1", "dp-1", "hp+1"};
  const Keys keys = keys_of(table, {word("a"), word("b"), word("a")});
  EXPECT_NE(keys.of_head(0, 0), keys.of_head(1, 0));
  EXPECT_EQ(keys.of_head(1, 0), keys.of_head(3, 0));
  // It is what stands in front of the first word; nothing stands in front of it, or after the last.
  EXPECT_NE(keys.of_head(0, 1), keys.of_head(1, 1));
  EXPECT_NE(keys.of_head(1, 1), keys.of_head(2, 1));
  EXPECT_NE(keys.of_modifier(1, 2), keys.of_modifier(2, 2));
  const Keys longer = keys_of(table, {word("a"), word("b"), word("a"), word("b")});
  EXPECT_EQ(longer.of_head(0, 1), keys.of_head(0, 1));
  EXPECT_EQ(longer.of_head(1, 1), keys.of_head(1, 1));
  EXPECT_NE(longer.of_head(3, 3), keys.of_head(3, 3));
  // Ends are the same in every sentence, and not the root.
  EXPECT_EQ(keys_of(table, {word("c")}).of_head(1, 3), keys.of_head(3, 3));
  const Keys both = keys_of({"dp-1", "dp+1"}, {word("a")});
  EXPECT_NE(both.of_modifier(1, 0), both.of_modifier(1, 1));
}

TEST(ArcTemplates, TheRootLooksTheSameInEverySentence) {
  const Table table{"hf", "hx", "hl hm", "hc hp", "hp-1 hp"};
  const Keys one = keys_of(table, {word("a")}), another = keys_of(table, {word("b"), word("c")});
  for (std::size_t t = 0; t < table.size(); ++t) EXPECT_EQ(one.of_head(0, t), another.of_head(0, t));
}

TEST(ArcTemplates, TemplatesOfWordsBetweenComeLast) {
  const Table table{"hp bp dp", "hf", "hc bc dc", "df dp"};
  const ArcTemplates templates(table);
  EXPECT_EQ(templates.size(), 2u);
  EXPECT_EQ(templates.num_between(), 2u);
  const std::vector<WordAtoms> words{word("a"), word("b")};
  // A stride of more than the templates leaves the rest of each row alone.
  constexpr std::size_t kStride = 7;
  std::vector<std::uint32_t> head(3 * kStride, 77), modifier(3 * kStride, 77);
  templates.keys(words, kStride, head, modifier);
  const Keys plain = keys_of({"hf", "df dp"}, words), between = keys_of({"hp bp dp", "hc bc dc"}, words);
  for (std::size_t place = 0; place <= 2; ++place) {
    for (std::size_t t = 0; t < 2; ++t) {
      EXPECT_EQ(head[place * kStride + t], plain.of_head(place, t));
      EXPECT_EQ(modifier[place * kStride + t], plain.of_modifier(place, t));
      EXPECT_EQ(head[place * kStride + 2 + t], between.of_head(place, t));
      EXPECT_EQ(modifier[place * kStride + 2 + t], between.of_modifier(place, t));
    }
    for (std::size_t t = 4; t < kStride; ++t) EXPECT_EQ(head[place * kStride + t], 77u);
  }
}

TEST(ArcTemplates, KeysOfWordsBetweenSeeTheirOwnAtomAlone) {
  const Table table{"hp bp dp", "hc bc dc", "hp bm dp"};
  const ArcTemplates templates(table);
  const WordAtoms plain = word("a");
  constexpr Atom kSeen[] = {Atom::fine, Atom::coarse, Atom::morphology};
  for (std::size_t t = 0; t < 3; ++t) {
    for (std::size_t a = 0; a < kNumAtoms; ++a) {
      WordAtoms changed = plain;
      changed.hashes[a] = fingerprint_of("something else");
      EXPECT_EQ(templates.between_key(t, changed) != templates.between_key(t, plain),
                a == static_cast<std::size_t>(kSeen[t]))
          << table[t] << ", atom " << a;
    }
  }
  const WordAtoms alike = word_atoms("x", "x", "x", "x", "x");
  EXPECT_NE(templates.between_key(0, alike), templates.between_key(1, alike));
  EXPECT_NE(templates.between_key(0, alike), templates.between_key(2, alike));
}

TEST(ArcTemplates, LexicalAreThoseWithFormsPrefixesOrLemmas) {
  const Table table{"hf", "hx", "dl", "hp dp-1", "hc dc", "hm dm", "hp hf dp", "hp dl", "hp bp dp"};
  const ArcTemplates templates(table);
  const std::vector<bool> expected{true, true, true, false, false, false, true, true};
  ASSERT_EQ(templates.size(), expected.size());
  for (std::size_t t = 0; t < expected.size(); ++t)
    EXPECT_EQ(templates.is_lexical(t), expected[t]) << table[t];
}

// 32 bits of keys: few words in common, few keys in common.
RC_GTEST_PROP(ArcTemplates, DifferentWordsHaveDifferentKeys, (std::uint16_t first)) {
  std::vector<WordAtoms> words;
  for (int k = 0; k < 60; ++k) words.push_back(word(std::to_string(first + k)));
  const Keys keys(arc_templates(), words);
  const std::size_t templates = arc_templates().size();
  std::set<std::uint32_t> different;
  std::size_t all = 0;
  for (std::size_t t = 0; t < templates; ++t) {
    if (keys.of_head(1, t) == 0) continue;
    for (std::size_t place = 0; place <= words.size(); ++place, ++all)
      different.insert(keys.of_head(place, t));
  }
  // Of 2000 keys about 0.0005 pairs meet by chance.
  RC_ASSERT(all - different.size() <= 1u);
}

TEST(ArcTemplates, TheTablesOfTheParser) {
  EXPECT_GT(arc_templates().size(), 0u);
  EXPECT_GT(arc_templates().num_between(), 0u);
  EXPECT_GT(relation_templates().size(), 0u);
  EXPECT_EQ(relation_templates().num_between(), 0u) << "features of relations look at the two words alone";
  // No template twice.
  const std::vector<WordAtoms> words{word("a"), word("b"), word("c")};
  for (const ArcTemplates* templates : {&arc_templates(), &relation_templates()}) {
    const Keys keys(*templates, words);
    std::set<std::uint32_t> different;
    for (std::size_t t = 0; t < keys.stride; ++t) different.insert(keys.of_arc(1, 2, t));
    EXPECT_EQ(different.size(), keys.stride);
  }
  EXPECT_NE(direction_key(true), direction_key(false));
}

}  // namespace
}  // namespace espalier
