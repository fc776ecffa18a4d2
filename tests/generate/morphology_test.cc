#include "generate/morphology.h"

#include <gtest/gtest.h>

namespace espalier::morphology_test {
namespace {

TEST(Morphology, Plural) {
  EXPECT_EQ(with_s("goal"), "goals");
  EXPECT_EQ(with_s("dish"), "dishes");
  EXPECT_EQ(with_s("box"), "boxes");
  EXPECT_EQ(with_s("city"), "cities");
  EXPECT_EQ(with_s("day"), "days");
}

TEST(Morphology, Past) {
  EXPECT_EQ(with_ed("watch"), "watched");
  EXPECT_EQ(with_ed("score"), "scored");
  EXPECT_EQ(with_ed("agree"), "agreed");
  EXPECT_EQ(with_ed("plan"), "planned");
  EXPECT_EQ(with_ed("travel"), "travelled");
  EXPECT_EQ(with_ed("visit"), "visited");
  EXPECT_EQ(with_ed("mix"), "mixed");
  EXPECT_EQ(with_ed("rain"), "rained");
  EXPECT_EQ(with_ed("try"), "tried");
  EXPECT_EQ(with_ed("stay"), "stayed");
}

TEST(Morphology, Ing) {
  EXPECT_EQ(with_ing("score"), "scoring");
  EXPECT_EQ(with_ing("see"), "seeing");
  EXPECT_EQ(with_ing("stop"), "stopping");
  EXPECT_EQ(with_ing("try"), "trying");
  EXPECT_EQ(with_ing("boil"), "boiling");
}

TEST(Morphology, Suffix) {
  EXPECT_EQ(with_suffix("happy", "ness"), "happiness");
  EXPECT_EQ(with_suffix("quick", "ly"), "quickly");
  EXPECT_EQ(with_suffix("gentle", "ly"), "gently");
  EXPECT_EQ(with_suffix("magnetic", "ly"), "magnetically");
  EXPECT_EQ(with_suffix("small", "ly"), "smally");
  EXPECT_EQ(with_suffix("costly", "ly"), "costly");
  EXPECT_EQ(with_suffix("goal", "less"), "goalless");
}

TEST(Morphology, Capital) {
  EXPECT_EQ(with_capital("watch"), "Watch");
  EXPECT_EQ(with_capital("Marlow"), "Marlow");
  EXPECT_EQ(with_capital("12"), "12");
}

}  // namespace
}  // namespace espalier::morphology_test
