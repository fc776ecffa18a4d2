// What is left out of a page is what it says, and the rest is right.

#include "report/tallies.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "report/attribute_templates.h"

namespace espalier::tallies_test {
namespace {

TEST(Tallies, CalibrationByHand) {
  Calibration calibration;
  calibration.add(0.05, false);
  calibration.add(0.1, true);  // the end of a bin is in it
  calibration.add(1, true);
  calibration.add(0.95, false);
  EXPECT_EQ(calibration.json(), Json::parse(R"({"bins":[
      {"from":0.0,"to":0.1,"count":2,"confidence":0.075,"accuracy":0.5},
      {"from":0.9,"to":1.0,"count":2,"confidence":0.975,"accuracy":0.5}],"error":0.45})"));
  Calibration zero;
  zero.add(0, false);
  EXPECT_EQ(zero.json().at("bins")[0].at("from"), 0.0);
}

TEST(Tallies, WhatIsLikelyIsFirst) {
  const std::vector<double> probabilities{0.001, 0.5, 0.2, 0.1, 0.1, 0.099};
  EXPECT_EQ(most_likely(probabilities), Json::parse("[[1,0.5],[2,0.2],[3,0.1],[4,0.1]]"));
  EXPECT_EQ(most_likely(probabilities, 0), Json::parse("[[1,0.5],[2,0.2],[3,0.1],[0,0.001]]"));
  EXPECT_EQ(most_likely(probabilities, 2), most_likely(probabilities));
  EXPECT_EQ(most_likely(std::vector<double>{0.002, 0.998}), Json::parse("[[1,0.998]]"));
}

TEST(Tallies, LengthsAreInTheirRanges) {
  LengthTally lengths;
  lengths.add(5, 5);
  lengths.add(6, 4);
  lengths.add(10, 10);
  lengths.add(61, 0);
  lengths.add(500, 500);
  EXPECT_EQ(lengths.json(), Json::parse(R"([
      {"from":1,"to":5,"sentences":1,"exact":1,"tokens":5,"correct":5},
      {"from":6,"to":10,"sentences":2,"exact":1,"tokens":16,"correct":14},
      {"from":61,"to":null,"sentences":2,"exact":1,"tokens":561,"correct":500}])"));
}

TEST(Tallies, ConfusionsOfManyLabels) {
  LabelPairs pairs;
  for (std::size_t y = 0; y < 40; ++y) {
    const std::string label = "L" + std::to_string(y);
    for (std::size_t k = 0; k < 100 - y; ++k) pairs.add(label, label);
    for (std::size_t k = 0; k < y; ++k) pairs.add(label, "L" + std::to_string((y + 1) % 40));
  }
  const Json json = pairs.json();
  EXPECT_EQ(json.at("labels").size(), LabelPairs::kMostShown);
  EXPECT_EQ(json.at("left_out"), 40 - LabelPairs::kMostShown);
  const auto labels = json.at("labels").get<std::vector<std::string>>();
  // Errors with y as gold or predicted label: 2 y - 1, and of label 0: 39.
  EXPECT_EQ(std::ranges::count(labels, "L0"), 1);
  EXPECT_EQ(std::ranges::count(labels, "L39"), 1);
  EXPECT_EQ(std::ranges::count(labels, "L1"), 0);
  EXPECT_EQ(pairs.most_confused(2), Json::parse(R"([{"gold":"L39","predicted":"L0","count":39},
      {"gold":"L38","predicted":"L39","count":38}])"));
}

// Pruning on the way changes nothing: the surest errors and the surest of each kind are there.
RC_GTEST_PROP(Tallies, ErrorsThatAreKept, ()) {
  const std::size_t size = *rc::gen::inRange<std::size_t>(0, 6000);
  const std::uint32_t seed = *rc::gen::arbitrary<std::uint32_t>();
  std::uint32_t state = seed | 1u;
  const auto random = [&](std::uint32_t below) {
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % below;
  };
  ErrorList errors;
  struct One {
    double sureness;
    std::size_t number;
    std::string kind;
  };
  std::vector<One> all;
  for (std::size_t i = 0; i < size; ++i) {
    const double sureness = random(1000);
    const std::string kind = "k" + std::to_string(random(60));
    all.push_back({sureness, i, kind});
    errors.add(sureness, {kind}, Json{{"i", i}});
  }
  std::ranges::stable_sort(all, [](const One& a, const One& b) { return a.sureness > b.sureness; });
  std::map<std::string, std::size_t> seen;
  std::vector<std::size_t> wanted;
  for (std::size_t place = 0; place < all.size(); ++place) {
    const bool of_kind = seen[all[place].kind]++ < ErrorList::kOfEachKind;
    if (place < ErrorList::kSurest || of_kind) wanted.push_back(all[place].number);
  }
  const Json json = errors.json();
  std::vector<std::size_t> found;
  for (const Json& one : json.at("list")) found.push_back(one.at("i").get<std::size_t>());
  RC_ASSERT(found == wanted);
  RC_ASSERT(json.at("all").get<std::size_t>() == size);
}

TEST(Tallies, TemplatesOfAttributes) {
  const auto parts = [](std::string_view attribute) {
    const TemplateParts of = template_parts(attribute);
    return std::pair{std::string(of.name), std::string(of.value)};
  };
  using Pair = std::pair<std::string, std::string>;
  EXPECT_EQ(parts("w[0]=The"), Pair("w[0]", "The"));
  EXPECT_EQ(parts("U02:The=a"), Pair("U02", "The=a"));
  EXPECT_EQ(graph_template("cell:0,1=B"), "cell:0,1");
  EXPECT_EQ(graph_template("pixel:dark"), "pixel");
  for (const std::string plain : {"suffix", "=", ":", "a=", "=a", "3,4"})
    EXPECT_EQ(parts(plain), Pair("", plain));
}

}  // namespace
}  // namespace espalier::tallies_test
