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

TEST(Error, IsALineThatTerminalsCanShow) {
  const Error error = Error::at("a\x1b[2J.txt", 3, "b\nc", setting("l2") + " \xff");
  EXPECT_STREQ(error.what(), "a\\x1b[2J.txt:3: b\\x0ac; l2 \\xff");
  EXPECT_EQ(spelled(error.marked(), with_dashes), "a\\x1b[2J.txt:3: b\\x0ac; --l2 \\xff");
  EXPECT_EQ(one_line("a\n\xc3\xa9\xe4\xb8\xad\x7f"), "a\\x0a\xc3\xa9\xe4\xb8\xad\\x7f");
}

TEST(Error, LeavesOutTheMiddleOfWhatIsLong) {
  const std::string longest(Error::kLongest, 'x');
  EXPECT_EQ(Error(longest).what(), longest);
  // Characters stay whole; what is escaped counts as it is shown.
  for (const std::string part : {"x", "\xe4\xb8\xad", "\x1b", "\xff", "ab\xc3\xa9"}) {
    std::string text = "begin";
    while (text.size() < 1000000) text += part;
    for (const std::string& message : {text + "end", text.substr(0, 1997) + "end"}) {
      const std::string shown = Error(message).what();
      EXPECT_LE(shown.size(), Error::kLongest);
      EXPECT_GE(shown.size(), Error::kLongest - 10);
      EXPECT_EQ(one_line(shown), shown);
      EXPECT_TRUE(shown.starts_with("begin") && shown.ends_with("end")) << shown;
    }
  }
}

TEST(Error, QuotedTextIsFitForOneLine) {
  EXPECT_EQ(espalier::in_quotes(""), "''");
  EXPECT_EQ(espalier::in_quotes("word"), "'word'");
  EXPECT_EQ(espalier::in_quotes("a\tb\n\x7f"), "'a\\x09b\\x0a\\x7f'");
  EXPECT_EQ(espalier::in_quotes(std::string_view("\0", 1)), "'\\x00'");
  EXPECT_EQ(espalier::in_quotes("gro\xc3\x9f"), "'gro\xc3\x9f'");
  // What a terminal may take for commands: escapes of ASCII and of Latin-1; and what turns lines around.
  EXPECT_EQ(espalier::in_quotes("\x1b[31m"), "'\\x1b[31m'");
  EXPECT_EQ(espalier::in_quotes("\xc2\x9b"
                                "31m"),
            "'\\u009b31m'");
  EXPECT_EQ(espalier::in_quotes("a\xe2\x80\xae"
                                "b\xe2\x81\xa6"),
            "'a\\u202eb\\u2066'");
  EXPECT_EQ(espalier::in_quotes("\xe2\x80\xa8"), "'\\u2028'");
  // No UTF-8: a byte of Latin-1, half a character, a surrogate.
  EXPECT_EQ(espalier::in_quotes("gro\xdf"), "'gro\\xdf'");
  EXPECT_EQ(espalier::in_quotes("\xe2\x82"), "'\\xe2\\x82'");
  EXPECT_EQ(espalier::in_quotes("\xed\xa0\x80"), "'\\xed\\xa0\\x80'");
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
