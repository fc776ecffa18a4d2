#include "tasks/treebank/lexicon.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "support/error_message.h"

namespace espalier::treebank_lexicon_test {
namespace {

using testing::error_message;
using Names = std::vector<std::string>;

// Words with their tags, each some times.
struct Seen {
  std::string word, tag;
  std::size_t times;
};

class TagLexiconTest : public ::testing::Test {
 protected:
  TagLexiconTest() {
    std::vector<Seen> all = {{"the", "DT", 20}, {"plans", "NNS", 8}, {"plans", "VBZ", 2}, {"tree", "NN", 1}};
    for (const char* stem :
         {"walk", "jump", "turn", "look", "cook", "pack", "pick", "kick", "lock", "park"}) {
      all.push_back({std::string(stem) + "ing", "VBG", 2});
      all.push_back({std::string(stem) + "s", "NNS", 1});
    }
    all.push_back({"string", "NN", 1});
    for (int number = 100; number < 112; ++number) all.push_back({std::to_string(number), "CD", 1});
    for (const Seen& seen : all) {
      tags_.add(seen.tag);
      for (std::size_t k = 0; k < seen.times; ++k) sentences_.push_back({{seen.word, seen.tag}});
    }
    lexicon_ = TagLexicon(sentences_, tags_);
  }
  Names tags(const TagLexicon& lexicon, std::string_view word) const {
    Names names;
    for (const std::uint32_t tag : lexicon.tags(word)) names.emplace_back(tags_.name(tag));
    return names;
  }
  Names tags(std::string_view word) const { return tags(lexicon_, word); }

  Dictionary tags_;
  std::vector<std::vector<TaggedWord>> sentences_;
  TagLexicon lexicon_;
};

TEST_F(TagLexiconTest, WordsSeenOftenHaveTheirTags) {
  EXPECT_EQ(tags("the"), Names{"DT"});
  EXPECT_EQ(tags("plans"), (Names{"NNS", "VBZ"}));
}

TEST_F(TagLexiconTest, OthersHaveThoseOfTheirClass) {
  EXPECT_EQ(tags("barking"), (Names{"VBG", "NN"}));  // of 20 gerunds and a string
  EXPECT_EQ(tags("walking"), (Names{"VBG", "NN"}));  // seldom seen
  EXPECT_EQ(tags("clocks"), Names{"NNS"});
  EXPECT_EQ(tags("999"), Names{"CD"});
  EXPECT_EQ(tags("tree"), (Names{"NN", "VBG", "NNS"}));  // its own, then by its shape
  EXPECT_EQ(tags("?"), (Names{"VBG", "CD", "NNS", "NN"}));
  EXPECT_TRUE(std::ranges::equal(lexicon_.open_tags(), lexicon_.tags("?")));
}

TEST_F(TagLexiconTest, IsTheSameFromAModel) {
  TaskSections sections;
  lexicon_.add_sections(sections);
  std::map<std::string, std::string_view, std::less<>> arrays(sections.arrays.begin(), sections.arrays.end());
  const Json settings;
  const Weights theta;
  const StoredTask stored{
      settings, [&](std::string_view name) { return arrays.find(name)->second; }, theta, {}, "model"};
  const TagLexicon loaded = TagLexicon::load(stored, tags_.size());
  for (const char* word : {"the", "plans", "barking", "999", "?"}) EXPECT_EQ(tags(loaded, word), tags(word));
  EXPECT_EQ(error_message([&] { TagLexicon::load(stored, tags_.size() - 1); }),
            "model: section 'words.tags' does not fit the tags; retrain the model");
  arrays["classes.tag_ends"] = {};
  EXPECT_EQ(error_message([&] { TagLexicon::load(stored, tags_.size()); }),
            "model: section 'classes.tags' does not fit the tags; retrain the model");
}

}  // namespace
}  // namespace espalier::treebank_lexicon_test
