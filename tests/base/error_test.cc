#include "espalier/base/error.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <type_traits>

namespace espalier::error_test {
namespace {

TEST(Error, SaysWhereWhatAndWhatWasExpected) {
  EXPECT_STREQ(Error::at("a.txt", 3, "this", "that").what(), "a.txt:3: this; that");
  EXPECT_STREQ(Error::in("a.bin", "this", "that").what(), "a.bin: this; that");
  EXPECT_STREQ(Error::system("a", "open", ENOENT, "that").what(),
               "a: cannot open: No such file or directory; that");
}

// As the command line would.
std::string with_dashes(std::string_view name) { return "--" + std::string(name); }

TEST(Error, NamesSettingsAsItsReadersDo) {
  const Error error =
      Error::in(setting("hash_bits"), "7", fmt::format("as {} tag, {}", setting("l2"), setting("x")));
  EXPECT_STREQ(error.what(), "hash_bits: 7; as l2 tag, x");
  EXPECT_EQ(spelled(error.marked(), with_dashes), "--hash_bits: 7; as --l2 tag, --x");
  const Error copy = error, outer(fmt::format("a.txt: {}", copy.marked()));
  EXPECT_STREQ(outer.what(), "a.txt: hash_bits: 7; as l2 tag, x");
  EXPECT_EQ(spelled(outer.marked(), with_dashes), "a.txt: --hash_bits: 7; as --l2 tag, --x");
  static_assert(std::is_nothrow_copy_constructible_v<Error>);
}

TEST(Error, WithoutSettingsIsWhatWasWritten) {
  const Error error("l2: --x");
  EXPECT_STREQ(error.what(), "l2: --x");
  EXPECT_EQ(spelled(error.marked(), with_dashes), "l2: --x");
  EXPECT_EQ(spelled("", with_dashes), "");
  // Nor do users write settings: what they wrote is quoted.
  EXPECT_EQ(spelled(in_quotes(setting("l2")), with_dashes), "'\\x1fl2'");
}

TEST(Error, QuotedTextIsFitForOneLine) {
  EXPECT_EQ(espalier::in_quotes(""), "''");
  EXPECT_EQ(espalier::in_quotes("word"), "'word'");
  EXPECT_EQ(espalier::in_quotes("a\tb\n\x7f"), "'a\\x09b\\x0a\\x7f'");
  EXPECT_EQ(espalier::in_quotes(std::string_view("\0", 1)), "'\\x00'");
  EXPECT_EQ(espalier::in_quotes("gro\xc3\x9f"), "'gro\xc3\x9f'");
}

TEST(Error, QuotedTextIsShortenedBetweenCharacters) {
  const std::string x38(38, 'x'), x39(39, 'x'), x40(40, 'x'), sharp_s = "\xc3\x9f";
  EXPECT_EQ(espalier::in_quotes(x40), fmt::format("'{}'", x40));
  EXPECT_EQ(espalier::in_quotes(x40 + "y"), fmt::format("'{}...'", x40));
  // Byte 40 is the second of a two-byte character, which goes as a whole.
  EXPECT_EQ(espalier::in_quotes(x39 + sharp_s + "y"), fmt::format("'{}...'", x39));
  EXPECT_EQ(espalier::in_quotes(x38 + sharp_s + "y"), fmt::format("'{}{}...'", x38, sharp_s));
}

#ifdef ESPALIER_CHECKED
TEST(ErrorDeathTest, AFailedExpectationNamesItself) {
  EXPECT_DEATH(ESPALIER_EXPECT(1 + 1 == 3), "expectation failed: 1 \\+ 1 == 3");
}
#endif

}  // namespace
}  // namespace espalier::error_test
