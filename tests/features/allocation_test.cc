// What runs for every token allocates nothing once it has seen its data. Replaces the allocator of the test
// program by one that counts.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "espalier/base/memory.h"
#include "features/dependency_features.h"
#include "features/gazetteer.h"
#include "features/templates.h"
#include "features/word_attributes.h"
#include "support/counting_allocator.h"

namespace espalier::allocation_test {
namespace {

const std::vector<std::string_view> kFields{
    "The", "DT", "a-much-longer-word-than-others", "JJ", "McDonald", "NN", "\xc3\x84rger", "NN", "1984", "CD",
    ".",   "."};
const TokenTable kTable{kFields, 2};

// Allocations of a second run over the same data.
template <class Run>
std::size_t allocations_of(const Run& run) {
  run();
  const std::size_t before = test_support::allocations;
  run();
  return test_support::allocations - before;
}

std::size_t allocations_of_templates(std::string_view text) {
  const Templates templates(text, "template");
  std::string name;
  return allocations_of([&] {
    for (std::size_t t = 0; t < kTable.size(); ++t) {
      for (const Template& line : templates.tokens()) {
        name.clear();
        line.expand(kTable, t, name);
      }
    }
  });
}

TEST(Allocations, AreCounted) {
  EXPECT_EQ(allocations_of([] { EXPECT_NE(std::make_unique<int>(1), nullptr); }), 1u);
}

TEST(Allocations, OfTemplates) {
  EXPECT_EQ(allocations_of_templates("U:%x[0,0]/%x[-1,1]/%x[12,0]\nU%x[-2,0]%v[0,1]"), 0u);
}

TEST(Allocations, OfWapitiPatterns) {
  EXPECT_EQ(
      allocations_of_templates("u:%X[0,0]/%x[-1,1]/%x[@-1,0]/%x[9,0]\nu:%t[0,0,\"^\\u\"]%T[-1,0,\"\\d$\"]\n"
                               "u:%m[0,0,\".?.?$\"]%M[1,0,\"\\a*-\\a*$\"]%m[0,0,\"^.?\"]"),
      0u);
}

TEST(Allocations, OfBuiltInAttributes) {
  WordAttributes attributes(2, 1);
  StringBuffer names;
  EXPECT_EQ(allocations_of([&] {
              attributes.set(kTable);
              for (std::size_t t = 0; t < kTable.size(); ++t) {
                names.clear();
                attributes.append(t, names);
              }
            }),
            0u);
}

TEST(Allocations, OfGazetteers) {
  const Gazetteer gazetteer = Gazetteer::from_text("T\tThe\nT\tMcDonald \xc3\x84rger\nU\tThe\n", "g");
  const std::vector<std::string_view> words{"The", "McDonald", "\xc3\x84rger", "McDonald"};
  std::vector<Gazetteer::Match> matches;
  EXPECT_EQ(allocations_of([&] { gazetteer.find(words, matches); }), 0u);
  EXPECT_EQ(matches.size(), 3u);
}

// Sentences that are as long as the first, or shorter.
TEST(Allocations, OfFeaturesOfTrees) {
  constexpr std::size_t kLabels = 3;
  const std::vector<WordAtoms> words(20, word_atoms("form", "lemma", "c", "p", "m"));
  const DependencyFeatures features(10, 6, kLabels);
  AlignedVector<float> w(features.weight_shape().rows), s(20 * 20 * kLabels);
  std::vector<double> exact(s.size());
  Workspace ws;
  EXPECT_EQ(allocations_of([&] {
              for (const std::size_t length : {20, 7}) {
                const std::span<const WordAtoms> sentence(words.data(), length);
                const ArcSet all(length);
                const std::size_t size = length * length * kLabels;
                features.score(sentence, all, w.data(), 1.0, std::span(exact.data(), size), ws);
                features.score(sentence, all, w.data(), 1.0f, std::span(s.data(), size), ws);
                std::fill(s.begin(), s.end(), 0.5f);
                const std::span<const float> delta(s.data(), size);
                features.squared_norm(sentence, all, delta, 0.0f, ws);
                features.accumulate(sentence, all, delta, 0.0f, WeightsSink(w.data()), ws);
              }
            }),
            0u);
}

}  // namespace
}  // namespace espalier::allocation_test
