#include "features/arc_groups.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace espalier::arc_groups_test {
namespace {

using Sharing = ArcGroups::Sharing;

// Every template is in exactly one group, those of words between behind all others.
TEST(ArcGroups, HaveEveryTemplateOnce) {
  const std::vector<std::string_view> several{"hp bp dp", "hp bc dp", "hc bc dc", "hc dp",
                                              "hp dc",    "hf",       "dl"};
  for (const ArcTemplates& templates : {arc_templates(), ArcTemplates(several)}) {
    for (const Sharing sharing : {Sharing::all, Sharing::apart}) {
      const ArcGroups groups(templates, sharing);
      ASSERT_EQ(groups.size(), templates.size() + templates.num_between());
      std::vector<int> times(groups.size(), 0);
      const auto count = [&](ArcGroups::Range range) {
        for (std::size_t t = range.begin; t < range.end; ++t) ++times[t];
      };
      for (const auto range : {groups.pairs(), groups.head(), groups.modifier(), groups.by_modifier()}) {
        EXPECT_LE(range.end, templates.size());
        count(range);
      }
      for (const auto& group : groups.by_head()) {
        EXPECT_LE(group.plain.end, templates.size());
        EXPECT_LE(group.between.size(), 1u);
        if (group.between.size() > 0) {
          EXPECT_GE(group.between.begin, templates.size());
        }
        count(group.plain);
        count(group.between);
      }
      EXPECT_TRUE(std::ranges::all_of(times, [](int n) { return n == 1; }));
    }
  }
}

TEST(ArcGroups, GoByWhatTheirTemplatesSee) {
  const ArcGroups groups(arc_templates(), Sharing::all);
  const ArcTemplates& templates = groups.templates();
  const ArcTemplates::Looks tag{{0, Atom::fine}};
  for (std::size_t t = groups.head().begin; t < groups.head().end; ++t)
    EXPECT_TRUE(templates.modifier_looks(t).empty());
  for (std::size_t t = groups.modifier().begin; t < groups.modifier().end; ++t)
    EXPECT_TRUE(templates.head_looks(t).empty());
  for (std::size_t t = groups.by_modifier().begin; t < groups.by_modifier().end; ++t)
    EXPECT_EQ(templates.modifier_looks(t), tag);
  EXPECT_EQ(groups.by_head()[0].looks, tag);
  for (const auto& group : groups.by_head()) {
    for (const auto range : {group.plain, group.between}) {
      for (std::size_t t = range.begin; t < range.end; ++t) EXPECT_EQ(templates.head_looks(t), group.looks);
    }
  }
  // What is left is the smaller part.
  EXPECT_LT(2 * groups.pairs().size(), templates.size());
  EXPECT_EQ(ArcGroups(arc_templates(), Sharing::apart).pairs().size(), templates.size());
}

}  // namespace
}  // namespace espalier::arc_groups_test
