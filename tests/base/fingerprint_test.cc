#include "base/fingerprint.h"

#include <gtest/gtest.h>
#include <xxhash.h>

#include <string>
#include <vector>

namespace espalier::fingerprint_test {
namespace {

TEST(Fingerprint, IsThatOfAllBytesHoweverTheyCome) {
  const std::string text(1000, 'x');
  Fingerprint whole, pieces;
  whole.add_bytes(text);
  for (std::size_t i = 0; i < text.size(); i += 40) pieces.add_bytes(std::string_view(text).substr(i, 40));
  EXPECT_EQ(whole.value(), XXH3_64bits(text.data(), text.size()));
  EXPECT_EQ(pieces.value(), whole.value());
}

TEST(Fingerprint, ListsDoNotRunTogether) {
  const std::vector<int> one{1}, two{2}, both{1, 2}, none;
  const auto of = [](const std::vector<std::vector<int>>& lists) {
    Fingerprint fingerprint;
    for (const auto& list : lists) fingerprint.add_list(std::span<const int>(list));
    return fingerprint.value();
  };
  EXPECT_EQ(of({one, two}), of({one, two}));
  EXPECT_NE(of({one, two}), of({both}));
  EXPECT_NE(of({one, two}), of({two, one}));
  EXPECT_NE(of({both, none}), of({none, both}));
}

}  // namespace
}  // namespace espalier::fingerprint_test
