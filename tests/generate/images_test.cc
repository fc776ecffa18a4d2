#include "generate/images.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "espalier/base/json.h"

namespace espalier::images_test {
namespace {

TEST(NoisyImages, AreTheSameForTheSameSeedAndWrongInOnePixelOfFive) {
  NoisyImages images(1), same(1), other(2);
  std::size_t wrong = 0, ink = 0, different = 0;
  constexpr std::size_t kImages = 500, kPixels = NoisyImage::kSide * NoisyImage::kSide;
  for (std::size_t i = 0; i < kImages; ++i) {
    const NoisyImage image = images.next(), again = same.next();
    EXPECT_EQ(image.ink, again.ink);
    EXPECT_EQ(image.dark, again.dark);
    different += image.ink != other.next().ink ? 1 : 0;
    ink += static_cast<std::size_t>(std::count(image.ink.begin(), image.ink.end(), true));
    for (std::size_t v = 0; v < kPixels; ++v) wrong += image.ink[v] != image.dark[v] ? 1 : 0;
  }
  EXPECT_GT(different, kImages * 9 / 10);
  EXPECT_NEAR(static_cast<double>(wrong) / (kImages * kPixels), 0.2, 0.01);
  EXPECT_GT(ink, kImages * kPixels / 5);
  EXPECT_LT(ink, kImages * kPixels * 4 / 5);
}

TEST(NoisyImages, AreGraphsWithAnEdgeForEachPairOfNeighbours) {
  const NoisyImage image = NoisyImages(3).next();
  std::string text;
  append_graph(image, text);
  ASSERT_EQ(text.back(), '\n');
  const auto json = Json::parse(text);
  EXPECT_EQ(json.at("nodes").size(), 64u);
  EXPECT_EQ(json.at("labels").size(), 64u);
  EXPECT_EQ(json.at("cliques").size(), 2 * 7 * 8u);
  for (std::size_t v = 0; v < 64; ++v) {
    EXPECT_EQ(json["labels"][v], image.ink[v] ? "ink" : "paper");
    EXPECT_EQ(json["nodes"][v]["features"][0], image.dark[v] ? "dark" : "light");
  }
  for (const auto& clique : json["cliques"]) {
    const auto a = clique["nodes"][0].get<std::size_t>(), b = clique["nodes"][1].get<std::size_t>();
    EXPECT_EQ(b - a, clique["type"] == "right" ? 1u : 8u);
    if (clique["type"] == "right") {
      EXPECT_NE(b % 8, 0u);
    }
  }
}

}  // namespace
}  // namespace espalier::images_test
