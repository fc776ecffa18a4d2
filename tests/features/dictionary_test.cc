#include "espalier/features/dictionary.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <unordered_map>
#include <vector>

#include "support/error_message.h"

namespace espalier::dictionary_test {
namespace {

using testing::error_message;

// Short names over few letters, so that repetitions and common prefixes occur; any byte may occur too.
rc::Gen<std::vector<std::string>> names() {
  return rc::gen::container<std::vector<std::string>>(rc::gen::oneOf(
      rc::gen::container<std::string>(rc::gen::element('a', 'b', '\0')), rc::gen::arbitrary<std::string>()));
}

Dictionary dictionary_of(const std::vector<std::string>& names) {
  Dictionary dictionary;
  for (const std::string& name : names) dictionary.add(name);
  return dictionary;
}

RC_GTEST_PROP(Dictionary, AgreesWithAMapThatNumbersNamesAsTheyAppear, ()) {
  const auto added = *names(), others = *names();
  std::unordered_map<std::string, std::uint32_t> map;
  Dictionary dictionary;
  for (const std::string& name : added) {
    const auto expected = map.emplace(name, static_cast<std::uint32_t>(map.size())).first->second;
    RC_ASSERT(dictionary.add(name) == expected);
  }
  const Dictionary frozen(dictionary.bytes(), dictionary.offsets(), dictionary.table(), "model");
  for (const Dictionary* each : {static_cast<const Dictionary*>(&dictionary), &frozen}) {
    RC_ASSERT(each->size() == map.size());
    for (const auto& entry : map) {
      RC_ASSERT(each->find(entry.first) == entry.second);
      RC_ASSERT(each->name(entry.second) == entry.first);
    }
    for (const std::string& name : others) {
      RC_ASSERT(each->find(name).has_value() == (map.count(name) == 1));
    }
  }
}

RC_GTEST_PROP(Dictionary, InStepsIsTheSame, ()) {
  const auto added = *names(), others = *names();
  Dictionary at_once, in_steps;
  std::vector<std::uint32_t> hashes;
  for (const std::string& name : added) hashes.push_back(Dictionary::hash(name));
  for (const std::uint32_t hash : hashes) in_steps.prefetch(hash);
  for (std::size_t i = 0; i < added.size(); ++i) {
    RC_ASSERT(in_steps.add(added[i], hashes[i]) == at_once.add(added[i]));
  }
  for (const std::string& name : others) {
    RC_ASSERT(in_steps.find(name, Dictionary::hash(name)) == at_once.find(name));
  }
}

TEST(Dictionary, HoldsManyNames) {
  constexpr std::uint32_t kNames = 300'000;
  Dictionary dictionary;
  for (std::uint32_t i = 0; i < kNames; ++i) ASSERT_EQ(dictionary.add("w[0]=" + std::to_string(i)), i);
  ASSERT_EQ(dictionary.size(), kNames);
  for (std::uint32_t i = 0; i < kNames; ++i) {
    const std::string name = "w[0]=" + std::to_string(i);
    ASSERT_EQ(dictionary.find(name), i);
    ASSERT_EQ(dictionary.name(i), name);
    ASSERT_EQ(dictionary.find("w[1]=" + std::to_string(i)), std::nullopt);
  }
}

TEST(Dictionary, AnEmptyOneFindsNothingAlsoFrozen) {
  const Dictionary empty;
  EXPECT_EQ(empty.size(), 0u);
  EXPECT_EQ(empty.find(""), std::nullopt);
  const Dictionary frozen(empty.bytes(), empty.offsets(), empty.table(), "model");
  EXPECT_EQ(frozen.size(), 0u);
  EXPECT_EQ(frozen.find("a"), std::nullopt);
}

TEST(Dictionary, TheEmptyNameIsAName) {
  Dictionary dictionary;
  EXPECT_EQ(dictionary.add("a"), 0u);
  EXPECT_EQ(dictionary.add(""), 1u);
  EXPECT_EQ(dictionary.find(""), 1u);
  EXPECT_EQ(dictionary.name(1), "");
}

TEST(Dictionary, IsMovedWithWhatItsViewsShow) {
  static_assert(!std::is_copy_constructible_v<Dictionary> && !std::is_copy_assignable_v<Dictionary>);
  Dictionary first = dictionary_of({"one", "two", "three"});
  Dictionary second = std::move(first);
  EXPECT_EQ(second.add("four"), 3u);
  EXPECT_EQ(second.find("two"), 1u);
  first = dictionary_of({"other"});
  EXPECT_EQ(first.add("names"), 1u);
  EXPECT_EQ(second.name(2), "three");
  EXPECT_EQ(second.size(), 4u);
}

struct Arrays {
  std::vector<char> bytes;
  std::vector<std::uint64_t> offsets, table;
};

class HostileArrays : public ::testing::Test {
 protected:
  HostileArrays() {
    const Dictionary good = dictionary_of({"one", "two", "three"});
    arrays_ = {{good.bytes().begin(), good.bytes().end()},
               {good.offsets().begin(), good.offsets().end()},
               {good.table().begin(), good.table().end()}};
  }
  std::string message() const {
    return error_message([&] { Dictionary(arrays_.bytes, arrays_.offsets, arrays_.table, "m.esp"); });
  }
  Arrays arrays_;
  static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};
  const std::string place_ =
      "m.esp: damaged dictionary: its names do not fill their place; retrain the model";
  const std::string overlap_ = "m.esp: damaged dictionary: its names overlap; retrain the model";
  const std::string size_ = "m.esp: damaged dictionary: its table has the wrong size; retrain the model";
  const std::string table_ =
      "m.esp: damaged dictionary: its table does not hold its names; retrain the model";
};

TEST_F(HostileArrays, OffsetsAreChecked) {
  EXPECT_EQ(message(), "(no error)");
  const auto good = arrays_.offsets;
  arrays_.offsets = {};
  EXPECT_EQ(message(), place_);
  arrays_.offsets = {1, 3, 6, 11};
  EXPECT_EQ(message(), place_);
  arrays_.offsets = {0, 3, 6, 12};
  EXPECT_EQ(message(), place_);
  arrays_.offsets = {0, 7, 6, 11};
  EXPECT_EQ(message(), overlap_);
  arrays_.offsets = {0, ~std::uint64_t{0}, 6, 11};
  EXPECT_EQ(message(), overlap_);
  arrays_.offsets = good;
  arrays_.bytes.pop_back();
  EXPECT_EQ(message(), place_);
}

TEST_F(HostileArrays, TheTableIsChecked) {
  const auto good = arrays_.table;
  arrays_.table = {};
  EXPECT_EQ(message(), size_);
  arrays_.table.assign(15, kEmpty);
  EXPECT_EQ(message(), size_);
  arrays_.table.assign(2, kEmpty);
  EXPECT_EQ(message(), size_);
  arrays_.table.assign(16, kEmpty);
  EXPECT_EQ(message(), table_);
  arrays_.table.assign(16, 0);
  EXPECT_EQ(message(), table_);
  arrays_.table = good;
  for (std::uint64_t& slot : arrays_.table) {
    if (slot != kEmpty) slot += 3;  // an id that no name has
  }
  EXPECT_EQ(message(), table_);
  // As many names as slots: a search would never end.
  arrays_.offsets = {0, 3, 6, 8, 11};
  arrays_.table = {0, 1, 2, 3};
  EXPECT_EQ(message(), size_);
}

}  // namespace
}  // namespace espalier::dictionary_test
