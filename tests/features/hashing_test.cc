// The hashing of features as docs/verify.md describes it, done anew from that page alone (and from XXH3): its
// templates are read from the page, and lead to the same weights as ours. Whoever changes one of them changes
// what every model means.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/fingerprint.h"
#include "base/input.h"
#include "features/dependency_features.h"
#include "features/span_templates.h"
#include "support/arc_feature_checks.h"

namespace espalier::hashing_test {
namespace {

using test_support::image_of;

std::string page() {
  static const std::string text = read_all(ESPALIER_SOURCE_DIR "/docs/verify.md");
  return text;
}

// The indented lines that follow a text on the page.
std::string block_after(const std::string& marker) {
  const std::string text = page();
  const std::size_t at = text.find(marker);
  EXPECT_NE(at, std::string::npos) << marker;
  const std::size_t begin = text.find("\n\n    ", at) + 2, end = text.find("\n\n", begin);
  return text.substr(begin, (end == std::string::npos ? text.size() - 1 : end) - begin);
}

std::vector<std::string> templates_after(const std::string& marker) {
  std::vector<std::string> templates(1);
  for (const char c : block_after(marker)) {
    if (c == '\n') continue;
    if (c == ',') {
      templates.emplace_back();
    } else if (c != ' ' || (!templates.back().empty() && templates.back().back() != ' ')) {
      templates.back() += c;
    }
  }
  return templates;
}

std::uint64_t mix(std::uint64_t x) {
  x = x ^ (x >> 32);
  x = x * 0xd6e8feb86659fd93;
  x = x ^ (x >> 32);
  x = x * 0xd6e8feb86659fd93;
  return x ^ (x >> 32);
}
std::uint32_t fold(std::uint64_t x) { return static_cast<std::uint32_t>(mix(x) >> 32); }
std::uint64_t hash(std::string_view text) { return fingerprint_of(text); }

constexpr std::uint64_t kBeyond = 0x14057b7ef767814f, kRootSees = 0x5851f42d4c957f2d;

// By the letter of a look.
using Word = std::map<char, std::uint64_t>;
struct Sentence {
  std::vector<Word> words;
  int first;  // place of the first word; a root before it
  std::uint64_t sees(int place, char letter) const {
    if (first == 1 && place == 0) return kRootSees;
    const int k = place - first;
    return k < 0 || k >= static_cast<int>(words.size()) ? kBeyond
                                                        : words[static_cast<std::size_t>(k)].at(letter);
  }
};

struct Look {
  char place, letter;
  int step;
};
std::vector<Look> looks_of(const std::string& pattern, const std::string& places) {
  std::vector<Look> looks;
  for (std::size_t at = 0; at < pattern.size();
       at = std::min(pattern.find(' ', at), pattern.size() - 1) + 1) {
    if (places.find(pattern[at]) == std::string::npos) continue;
    int step = 0;
    if (at + 3 < pattern.size() && pattern[at + 2] == '+') step = pattern[at + 3] - '0';
    if (at + 3 < pattern.size() && pattern[at + 2] == '-') step = '0' - pattern[at + 3];
    looks.push_back({pattern[at], pattern[at + 1], step});
  }
  return looks;
}

std::uint32_t part(std::uint64_t seed, const Sentence& sentence, const std::vector<Look>& looks,
                   const std::map<char, int>& place_of) {
  std::uint64_t x = seed;
  for (const Look& look : looks) x = mix(x ^ sentence.sees(place_of.at(look.place) + look.step, look.letter));
  return fold(x);
}
// 0 without looks.
std::uint32_t part_or_0(std::uint64_t seed, const Sentence& sentence, const std::vector<Look>& looks,
                        const std::map<char, int>& place_of) {
  return looks.empty() ? 0 : part(seed, sentence, looks, place_of);
}

std::uint32_t side(int head, int modifier) { return head < modifier ? 0x3c6ef372 : 0xa54ff53a; }

// All keys of a template at an arc: several where it looks at words between.
std::vector<std::uint32_t> arc_keys(const std::string& pattern, const Sentence& sentence, int h, int d) {
  const std::map<char, int> places{{'h', h}, {'d', d}};
  const std::uint32_t key = part_or_0(hash(pattern), sentence, looks_of(pattern, "h"), places) ^
                            part_or_0(~hash(pattern), sentence, looks_of(pattern, "d"), places) ^ side(h, d);
  const std::vector<Look> between = looks_of(pattern, "b");
  if (between.empty()) return {key};
  std::vector<std::uint32_t> keys;
  std::vector<std::uint64_t> met;
  const int step = h < d ? -1 : 1;
  for (int b = d + step; b != h; b += step) {
    const std::uint64_t value = sentence.sees(b, between[0].letter);
    if (std::ranges::find(met, value) != met.end() || met.size() == 16) continue;
    met.push_back(value);
    keys.push_back(key ^ fold(hash(pattern) + value));
  }
  return keys;
}

// s or g: the place of the third word; `seen` from where its looks go.
std::uint32_t part_key(const std::string& pattern, const Sentence& sentence, int h, int d, int third,
                       int seen) {
  const std::map<char, int> places{{'h', h}, {'d', d}, {'s', seen}, {'g', seen}};
  return part_or_0(hash(pattern), sentence, looks_of(pattern, "h"), places) ^
         part_or_0(~hash(pattern), sentence, looks_of(pattern, "d"), places) ^
         part_or_0(mix(hash(pattern)), sentence, looks_of(pattern, "sg"), places) ^ side(h, d) ^
         side(third, h) * 0x9e3779b1u;
}

struct Tree {
  std::vector<WordAtoms> words;
  Sentence sentence;
};
Tree tree(const std::vector<std::vector<std::string>>& rows) {
  Tree result;
  result.sentence.first = 1;
  for (const auto& row : rows) {  // form, lemma, coarse, fine, morphology; ASCII
    result.words.push_back(word_atoms(row[0], row[1], row[2], row[3], row[4]));
    result.sentence.words.push_back({{'f', hash(row[0])},
                                     {'x', hash(row[0].substr(0, 5))},
                                     {'l', hash(row[1].empty() || row[1] == "_" ? row[0] : row[1])},
                                     {'c', hash(row[2] == "_" ? row[3] : row[2])},
                                     {'p', hash(row[3] == "_" ? row[2] : row[3])},
                                     {'m', hash(row[4])}});
  }
  return result;
}

Tree dogs() {
  return tree(
      {{"The", "the", "DT", "DT", ""}, {"dog", "dog", "NN", "NN", ""}, {"barked", "bark", "VBD", "VBD", ""}});
}
Tree longer() {
  std::vector<std::vector<std::string>> rows;
  for (int k = 0; k < 23; ++k)
    rows.push_back({fmt::format("Word{}", k % 19), k % 3 ? fmt::format("lemma{}", k) : "_",
                    fmt::format("C{}", k % 5), k % 4 ? fmt::format("P{}", k % 21) : "_",
                    k % 2 ? "Case=Nom" : ""});
  return tree(rows);
}

using Image = AlignedVector<double>;

TEST(Hashing, OfArcsAndRelationsIsThatOfTheDocuments) {
  constexpr unsigned kBits = 14, kRelationBits = 9;
  constexpr std::size_t kLabels = 3;
  const std::vector<std::string> arc = templates_after("Templates of arcs:"),
                                 relation = templates_after("Templates of relations:");
  const DependencyFeatures features(kBits, kRelationBits, kLabels);
  for (const Tree& of : {dogs(), longer()}) {
    const int m = static_cast<int>(of.words.size());
    const ArcSet all(of.words.size());
    for (int d = 1; d <= m; ++d) {
      for (int h = 0; h <= m; h += d % 3 + 1) {
        if (h == d) continue;
        Image delta(all.size() * kLabels, 0.0), expected(features.weight_shape().rows, 0.0);
        const std::size_t a = all.find(static_cast<std::size_t>(h), static_cast<std::size_t>(d));
        delta[a * kLabels + 1] = 1;
        const int away = std::abs(h - d);
        const std::uint32_t c = away <= 5 ? static_cast<std::uint32_t>(away) : away <= 10 ? 6 : 7;
        for (const std::string& pattern : arc) {
          for (const std::uint32_t key : arc_keys(pattern, of.sentence, h, d)) {
            const std::uint32_t k = key % 16;
            expected[key & ((1u << kBits) - 1)] += 1;
            expected[((key - k) + (k + c) % 16) & ((1u << kBits) - 1)] += 1;
          }
        }
        for (const std::string& pattern : relation) {
          const std::uint32_t row = arc_keys(pattern, of.sentence, h, d).at(0) & ((1u << kRelationBits) - 1);
          expected[(1u << kBits) + row * row_stride(kLabels) + 1] += 1;
        }
        ASSERT_EQ(image_of<double>(features, of.words, all, delta), expected) << h << " -> " << d;
      }
    }
  }
}

TEST(Hashing, OfPairsOfArcsIsThatOfTheDocuments) {
  constexpr unsigned kBits = 14;
  const std::vector<std::string> sibling = templates_after("Templates of siblings:"),
                                 grandparent =
                                     templates_after("and of grandparents, where g is the head of h:");
  const Tree of = longer();
  const std::vector<TreePart> siblings{{4, 4, 6}, {4, 5, 6}, {9, 8, 2}, {0, 0, 3}},
      grandparents{{4, 0, 6}, {4, 9, 2}, {7, 3, 8}};
  const PartFeatures features(kBits);
  const std::size_t all = siblings.size() + grandparents.size();
  for (std::size_t k = 0; k < all; ++k) {
    const bool of_siblings = k < siblings.size();
    const TreePart part = of_siblings ? siblings[k] : grandparents[k - siblings.size()];
    Image delta(all, 0.0), image(std::size_t{1} << kBits, 0.0), expected(image);
    delta[k] = 1;
    Workspace ws;
    features.accumulate(of.words, TreeParts{siblings, grandparents}, std::span<const double>(delta), 0.0,
                        WeightsSink<double>(image.data()), ws);
    // No sibling looks like a word beyond the sentence.
    const int seen =
        of_siblings && part.third == part.head ? static_cast<int>(of.words.size()) + 1 : part.third;
    for (const std::string& pattern : of_siblings ? sibling : grandparent)
      expected[part_key(pattern, of.sentence, part.head, part.modifier, part.third, seen) &
               ((1u << kBits) - 1)] += 1;
    EXPECT_EQ(image, expected) << k;
  }
}

struct Phrases {
  std::vector<SpanWord> words;
  Sentence sentence;
};
Phrases phrases(const std::vector<std::pair<std::string, std::string>>& rows) {
  Phrases result;
  result.sentence.first = 0;
  for (const auto& [form, tag] : rows) {  // ASCII letters and digits
    result.words.push_back(span_word(form, tag));
    std::string lower, shape;
    for (const char c : form) {
      lower += static_cast<char>(std::tolower(c));
      const char kind = std::isupper(c) ? 'X' : std::islower(c) ? 'x' : std::isdigit(c) ? 'd' : c;
      if (shape.empty() || shape.back() != kind) shape += kind;
    }
    const std::string last = lower.substr(lower.size() - std::min<std::size_t>(3, lower.size()));
    result.sentence.words.push_back({{'w', hash(lower)},
                                     {'s', hash(shape)},
                                     {'p', hash(lower.substr(0, 3))},
                                     {'x', hash(last)},
                                     {'t', hash(tag)}});
  }
  return result;
}

std::uint32_t span_key(const std::string& pattern, const Sentence& sentence, int begin, int end) {
  const int n = end - begin;
  if (pattern == "z") {
    std::uint64_t x = hash(pattern);
    for (int k = begin; k < end && n <= 6; ++k) x = mix(x ^ sentence.sees(k, 't'));
    return fold(x);
  }
  const std::map<char, int> places{{'f', begin}, {'b', begin - 1}, {'l', end - 1}, {'a', end}};
  std::uint32_t key = part(hash(pattern), sentence, looks_of(pattern, "fb"), places) ^
                      part_or_0(~hash(pattern), sentence, looks_of(pattern, "la"), places);
  if (pattern == "n" || pattern.ends_with(" n")) key ^= fold(n <= 5 ? n : n <= 10 ? 6 : n <= 20 ? 7 : 8);
  return key;
}

TEST(Hashing, OfSpansIsThatOfTheDocuments) {
  const std::pair<std::string, const SpanTemplates*> kinds[] = {
      {"Templates of spans, for each label of a phrase:", &span_templates()},
      {"of splits, where `f` is the first word", &split_templates()},
      {"and of words, where `f` is the word, for its tag:", &tag_templates()},
  };
  std::vector<std::pair<std::string, std::string>> rows;
  for (int k = 0; k < 24; ++k)
    rows.emplace_back(k % 3 ? fmt::format("Word{}-Xy", k % 19) : fmt::format("a{}", k),
                      fmt::format("T{}", k % 4));
  const Phrases of = phrases(rows);
  const std::size_t m = of.words.size();
  for (const auto& [marker, templates] : kinds) {
    const std::vector<std::string> patterns = templates_after(marker);
    ASSERT_EQ(patterns.size(), templates->size()) << marker;
    std::vector<std::uint32_t> begins((m + 1) * patterns.size()), ends(begins), keys(patterns.size());
    templates->keys(of.words, begins, ends);
    for (std::size_t begin = 0; begin < m; ++begin) {
      for (std::size_t end = begin + 1; end <= m; ++end) {
        templates->span_keys(of.words, begin, end, begins, ends, keys);
        for (std::size_t t = 0; t < patterns.size(); ++t)
          ASSERT_EQ(keys[t],
                    span_key(patterns[t], of.sentence, static_cast<int>(begin), static_cast<int>(end)))
              << patterns[t] << ' ' << begin << ' ' << end;
      }
    }
  }
}

// The vectors on the page, which are those of whoever wants to know where another program goes wrong.
TEST(Hashing, VectorsAreThoseOfTheDocuments) {
  const Tree of = dogs();
  const Phrases brackets = phrases({{"The", "DT"}, {"dog", "NN"}, {"barked", "VBD"}});
  std::string text;
  const auto add = [&](const std::string& what, std::uint64_t value, int digits) {
    text += fmt::format("    {:<50} 0x{:0{}x}\n", what, value, digits);
  };
  add("mix(1)", mix(1), 16);
  add("fold(1)", fold(1), 8);
  add("hash of nothing", hash(""), 16);
  add("hash of 'dog'", hash("dog"), 16);
  add("hash of 'hp hp+1 dp'", hash("hp hp+1 dp"), 16);
  for (const char* pattern : {"hf", "dp", "hf hp df dp", "hp hp+1 dp"})
    add(fmt::format("key of '{}', from 2 (dog) to 1 (The)", pattern),
        arc_keys(pattern, of.sentence, 2, 1).at(0), 8);
  add("key of 'hp bp dp', from 0 (the root) to 2", arc_keys("hp bp dp", of.sentence, 0, 2).at(0), 8);
  add("key of 'hp sp dp', 3 to 1, sibling 2", part_key("hp sp dp", of.sentence, 3, 1, 2, 2), 8);
  add("key of 'hp sp dp', 3 to 2, no sibling", part_key("hp sp dp", of.sentence, 3, 2, 3, 4), 8);
  add("key of 'gp hp dp', 0 to 3 to 2", part_key("gp hp dp", of.sentence, 3, 2, 0, 0), 8);
  for (const char* pattern : {"n", "z", "fw", "ft lt n", "bw fw"})
    add(fmt::format("key of '{}', of the span of words 0 and 1", pattern),
        span_key(pattern, brackets.sentence, 0, 2), 8);
  text.pop_back();
  EXPECT_EQ(block_after("Test vectors, which the tests compute anew"), text);
}

}  // namespace
}  // namespace espalier::hashing_test
