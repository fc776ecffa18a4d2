#include "features/span_features.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "features/sinks.h"
#include "support/allocations.h"
#include "support/feature_checks.h"

namespace espalier::span_features_test {
namespace {

// X -> X X, and X over each of two tags; X has a label. Any words, in any way.
GrammarIndex any_brackets() {
  Grammar grammar;
  grammar.num_tags = 2;
  grammar.num_symbols = 4;
  grammar.start = 3;
  grammar.num_labels = grammar.num_constituents = 1;
  grammar.labels = {kNoLabel, kNoLabel, 0, kNoLabel};
  grammar.binaries = {{2, 2, 2}};
  grammar.unaries = {{2, 0, {}}, {2, 1, {}}, {3, 2, {}}};
  return GrammarIndex(grammar);
}

std::vector<SpanWord> words_of(const std::vector<std::string>& forms) {
  std::vector<SpanWord> words;
  for (const std::string& form : forms) words.push_back(span_word(form, "N" + form.substr(0, 1)));
  return words;
}

// Scores by one set of random weights.
struct Scores {
  explicit Scores(const CfgFeatureOptions& options = {.bits = 16, .tag_bits = 12})
      : features(index, options) {
    Random random(5);
    w.assign(test_support::random_double_weights(random, features.weight_shape()));
  }
  std::vector<double> operator()(const std::vector<SpanWord>& words, const Cfg& forest) {
    std::vector<double> s(forest.num_statistics());
    features.score(words, forest, w.row(0), 1.0, std::span(s), ws);
    return s;
  }

  GrammarIndex index = any_brackets();
  CfgFeatures features;
  Weights w;
  Workspace ws;
};

double at_span(const Cfg& forest, const std::vector<double>& s, std::uint32_t begin, std::uint32_t end) {
  double score = std::nan("");
  forest.for_each_span([&](const Cfg::Place& span) {
    if (span.begin == begin && span.end == end) score = s[span.first];
  });
  return score;
}

TEST(SpanWord, SeesWhatItsAtomsSay) {
  const SpanWord walked = span_word("Walked", "VBD"), wanted = span_word("wanted", "VBD"),
                 lower = span_word("walked", "VBN");
  EXPECT_EQ(walked[SpanAtom::form], lower[SpanAtom::form]);
  EXPECT_NE(walked[SpanAtom::form], wanted[SpanAtom::form]);
  EXPECT_NE(walked[SpanAtom::shape], lower[SpanAtom::shape]);
  EXPECT_EQ(wanted[SpanAtom::shape], lower[SpanAtom::shape]);
  EXPECT_EQ(walked[SpanAtom::prefix], span_word("Wallet", "NN")[SpanAtom::prefix]);
  EXPECT_NE(walked[SpanAtom::prefix], wanted[SpanAtom::prefix]);
  EXPECT_NE(walked[SpanAtom::suffix], wanted[SpanAtom::suffix]);  // ked, ted
  EXPECT_EQ(walked[SpanAtom::suffix], span_word("poked", "VBD")[SpanAtom::suffix]);
  EXPECT_EQ(walked[SpanAtom::tag], wanted[SpanAtom::tag]);
  EXPECT_NE(walked[SpanAtom::tag], lower[SpanAtom::tag]);
}

// A span sees its ends and their neighbours, and the tags between if they are few; not what is further away.
TEST(CfgFeatures, OfASpanAreThoseOfItsEnds) {
  Scores scores;
  const Cfg forest(scores.index, TagSets(12, {0}));
  const std::vector<std::string> forms{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"};
  const auto before = scores(words_of(forms), forest);
  const std::vector<bool> seen_by_2_10{false, true,  true,  false, false, false,
                                       false, false, false, true,  true,  false};
  for (std::size_t t = 0; t < forms.size(); ++t) {
    auto changed = forms;
    changed[t] = "zz";
    const auto after = scores(words_of(changed), forest);
    EXPECT_EQ(at_span(forest, after, 2, 10) != at_span(forest, before, 2, 10), seen_by_2_10[t]) << t;
    EXPECT_EQ(at_span(forest, after, 2, 7) != at_span(forest, before, 2, 7), t >= 1 && t <= 7) << t;
  }
}

TEST(CfgFeatures, OfASplitAreThoseAroundIt) {
  Scores scores;
  const Cfg forest(scores.index, TagSets(6, {0}));
  const std::vector<std::string> forms{"a", "b", "c", "d", "e", "f"};
  const auto before = scores(words_of(forms), forest);
  ASSERT_EQ(forest.num_splits(), 5u);
  for (std::size_t t = 0; t < forms.size(); ++t) {
    auto changed = forms;
    changed[t] = "zz";
    const auto after = scores(words_of(changed), forest);
    for (std::size_t k = 0; k < forest.num_splits(); ++k) {
      const Cfg::Place split = forest.split(k);
      const bool near = t + 2 >= split.begin && t <= split.begin + 1;
      EXPECT_EQ(after[split.first] != before[split.first], near) << t << " " << split.begin;
    }
  }
}

TEST(CfgFeatures, OfAPlaceAreTheSameInEverySentence) {
  Scores scores;
  const Cfg three(scores.index, TagSets(3, {0})), five(scores.index, TagSets(5, {0}));
  const auto a = scores(words_of({"x", "a", "b"}), three),
             b = scores(words_of({"c", "x", "a", "b", "x"}), five);
  EXPECT_EQ(at_span(three, a, 1, 2), at_span(five, b, 2, 3));
  EXPECT_NE(at_span(three, a, 1, 3), at_span(five, b, 2, 4));  // the word after it is another one
}

TEST(CfgFeatures, OfRulesAreTheirWeights) {
  Scores scores({.spans = false, .bits = 16});
  EXPECT_EQ(scores.features.weight_shape(), (WeightShape{16, 1}));
  EXPECT_EQ(scores.features.typical_size(), 1);
  EXPECT_EQ(scores.features.common_share(), 1);
  const Cfg forest(scores.index, TagSets(3, {0, 1}));
  const auto s = scores(words_of({"a", "b", "c"}), forest);
  for (std::size_t k = 0; k < forest.rules().size(); ++k) {
    const WeightPlace place = scores.features.rule_place(forest.rules()[k]);
    EXPECT_EQ(s[k], scores.w.row(place.row)[place.column]);
  }
  EXPECT_TRUE(std::all_of(s.begin() + static_cast<std::ptrdiff_t>(forest.rules().size()), s.end(),
                          [](double x) { return x == 0; }));
}

TEST(CfgFeatures, OfTagsSeeTheWordAndItsNeighbours) {
  Scores scores;
  const Cfg forest(scores.index, TagSets(7, {0, 1}));
  ASSERT_EQ(forest.num_tagged(), 7u);
  const std::vector<std::string> forms{"a", "b", "c", "d", "e", "f", "g"};
  const auto before = scores(words_of(forms), forest);
  const std::size_t third = forest.tagged(3).first;
  EXPECT_NE(before[third], before[third + 1]);
  for (std::size_t t = 0; t < forms.size(); ++t) {
    auto changed = forms;
    changed[t] = "zz";
    const auto after = scores(words_of(changed), forest);
    EXPECT_EQ(after[third] != before[third], t >= 1 && t <= 5) << t;
  }
}

TEST(CfgFeatures, AllocateNothingOnceWarm) {
  Scores scores;
  const Cfg forest(scores.index, TagSets(9, {0, 1}));
  const auto words = words_of({"a", "b", "c", "d", "e", "f", "g", "h", "i"});
  std::vector<float> s(forest.num_statistics());
  const std::span<const float> delta(s);
  const auto run = [&] {
    scores.features.score(words, forest, scores.w.row(0), 1.0f, std::span(s), scores.ws);
    scores.features.accumulate(words, forest, delta, 0.0f, WeightsSink(scores.w.row(0)), scores.ws);
    return scores.features.squared_norm(words, forest, delta, 0.0f, scores.ws);
  };
  run();
  const auto before = test_support::allocations.load();
  EXPECT_GT(run(), 0);
  EXPECT_EQ(test_support::allocations.load(), before);
}

}  // namespace
}  // namespace espalier::span_features_test
