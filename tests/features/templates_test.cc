#include "espalier/features/templates.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "support/error_message.h"

namespace espalier {
namespace {

using testing::error_message;
using Names = std::vector<std::string>;

// "He saw cats", with tags and chunks.
const std::vector<std::string_view> kFields{"He",   "PRP", "B-NP",  //
                                            "saw",  "VBD", "B-VP",  //
                                            "cats", "NNS", "B-NP"};
const TokenTable kTable{kFields, 3};

Names expanded(std::span<const Template> lines, const TokenTable& table, std::size_t t) {
  Names names;
  for (const Template& line : lines) {
    std::string name;
    line.expand(table, t, name);
    names.push_back(name);
  }
  return names;
}
Names expanded(std::string_view text, std::size_t t) {
  return expanded(Templates(text, "template").tokens(), kTable, t);
}

TEST(Templates, MacrosAreReplaced) {
  const std::string_view text =
      "U01:%x[0,0]\nU02:%x[-1,1]/%x[0,1]\nU:%x[0,0]%x[1,0]!\nUany text, even U%x[0,1]";
  EXPECT_EQ(expanded(text, 1), (Names{"U01:saw", "U02:PRP/VBD", "U:sawcats!", "Uany text, even UVBD"}));
}

TEST(Templates, ALineWithoutMacrosIsItself) { EXPECT_EQ(expanded("U\nUbias\n", 0), (Names{"U", "Ubias"})); }

TEST(Templates, BeyondTheSequenceTokensAreCounted) {
  const std::string_view text = "U%x[-1,0]\nU%x[-12,0]\nU%x[1,0]\nU%x[3,1]\nU%x[-2,0]/%x[2,0]";
  EXPECT_EQ(expanded(text, 0), (Names{"U_B-1", "U_B-12", "Usaw", "U_B+1", "U_B-2/cats"}));
  EXPECT_EQ(expanded(text, 2), (Names{"Usaw", "U_B-10", "U_B+1", "U_B+3", "UHe/_B+2"}));
}

TEST(Templates, LinesAreOfTokensOrOfTransitions) {
  const Templates templates("\xef\xbb\xbf# comment %x[\n\nB\r\nU1:%x[0,0]\r\n \t\nB01:%x[-1,0]/%x[0,0]\nU2",
                            "t");
  EXPECT_EQ(expanded(templates.tokens(), kTable, 1), (Names{"U1:saw", "U2"}));
  EXPECT_EQ(expanded(templates.transitions(), kTable, 1), (Names{"B", "B01:He/saw"}));
}

TEST(Templates, ExpansionAppends) {
  const Templates templates("U%x[0,0]", "t");
  std::string name = "before ";
  templates.tokens()[0].expand(kTable, 2, name);
  EXPECT_EQ(name, "before Ucats");
}

std::string parse_error(std::string_view text) {
  return error_message([&] { Templates(text, "my.tpl"); });
}

TEST(Templates, OtherLinesAreErrors) {
  const std::string expected = "; expected a line of CRF++'s templates, which begins with U, B or #";
  EXPECT_EQ(parse_error("# one\nU1\n\nW01:%x[0,0]\n"), "my.tpl:4: 'W01:%x[0,0]'" + expected);
  EXPECT_EQ(parse_error(" U01:%x[0,0]\n"), "my.tpl:1: ' U01:%x[0,0]'" + expected);
  EXPECT_EQ(parse_error("u:1\n"), "my.tpl:1: 'u:1'" + expected);
  EXPECT_EQ(parse_error("*\n"), "my.tpl:1: '*', a line of Wapiti's templates" + expected);
}

TEST(Templates, MalformedMacrosAreErrors) {
  const std::string expected = "; expected %x[row,column], as in %x[-1,0]";
  for (const std::string macro :
       {"%x[0]", "%x[0,0", "%x[0,-1]", "%x[,0]", "%x[0,]", "%x 0,0]", "%x[ 0,0]", "%x[0,0.5]", "%x[+1,0]",
        "%x[9999999999,0]", "%x[0,99999999999999999999]", "%y[0,0]", "%", "%%x[0,0]", "%x"}) {
    EXPECT_EQ(parse_error("U1:%x[0,0]\nU2:%x[0,0]/" + macro),
              fmt::format("my.tpl:2: '{0}' in 'U2:%x[0,0]/{0}'{1}", macro, expected));
  }
  for (const std::string macro : {"%X", "%t", "%m"}) {
    EXPECT_EQ(parse_error("U1:" + macro + "[0,0,\"a\"]"),
              fmt::format("my.tpl:1: '{0}' in 'U1:{0}[0,0,\"a\"]', a macro of Wapiti{1}", macro, expected));
  }
}

TEST(Templates, NoLinesAtAllIsAnError) {
  const std::string message = "my.tpl: no templates; expected at least one line that begins with U or B";
  EXPECT_EQ(parse_error(""), message);
  EXPECT_EQ(parse_error("# U01:%x[0,0]\n\n"), message);
}

TEST(Templates, ColumnsAreThoseOfTheDataWithoutTheLabel) {
  const auto check = [](std::string_view text, std::size_t num_columns, std::size_t label_column) {
    return error_message([&] { Templates(text, "my.tpl").check_columns(num_columns, label_column); });
  };
  EXPECT_EQ(check("U1:%x[0,0]\nB:%x[0,1]", 3, 2), "(no error)");
  EXPECT_EQ(check("U1:%x[0,1]\nU2:%x[0,2]", 3, 0), "(no error)");
  EXPECT_EQ(check("U1:%x[0,0]\n\nU2:%x[0,1]/%x[-1,2]", 3, 2),
            "my.tpl:3: %x[-1,2] looks at the label; expected another column; the first one is column 0");
  EXPECT_EQ(check("U1:%x[0,0]\nB1:%x[1,0]", 3, 0),
            "my.tpl:1: %x[0,0] looks at the label; expected another column; the first one is column 0");
  EXPECT_EQ(check("U1\nB1:%x[0,3]", 3, 2),
            "my.tpl:2: %x[0,3] in data of 3 columns; expected a column that the data has; the first one is "
            "column 0");
}

// The definition, by searching and replacing every macro in the text of the line.
std::string naive_expansion(std::string line, const TokenTable& table, int t) {
  const int size = static_cast<int>(table.size());
  for (int row = -4; row <= 4; ++row) {
    const int at = t + row;
    for (std::size_t column = 0; column < table.num_columns; ++column) {
      const std::string macro = fmt::format("%x[{},{}]", row, column);
      const std::string value = at < 0       ? "_B-" + std::to_string(-at)
                                : at >= size ? "_B+" + std::to_string(at - size + 1)
                                             : std::string(table.at(static_cast<std::size_t>(at), column));
      for (std::size_t found; (found = line.find(macro)) != std::string::npos;) {
        line.replace(found, macro.size(), value);
      }
    }
  }
  return line;
}

RC_GTEST_PROP(Templates, ExpandAsTheirDefinitionSays, ()) {
  const auto piece = rc::gen::oneOf(
      rc::gen::element<std::string>("/", "a", "x[0,0]", " ", "\xc3\xa4", "[", "]"),
      rc::gen::map(rc::gen::pair(rc::gen::inRange(-4, 5), rc::gen::inRange(0, 3)),
                   [](const auto& at) { return fmt::format("%x[{},{}]", at.first, at.second); }));
  std::string line = "U";
  for (const std::string& text : *rc::gen::container<std::vector<std::string>>(piece)) line += text;
  const auto length = *rc::gen::inRange<std::size_t>(1, 5);
  const auto words = *rc::gen::container<std::vector<std::string>>(
      length * 3, rc::gen::element<std::string>("b", "cd", "e\xc3\xa9"));
  const std::vector<std::string_view> fields(words.begin(), words.end());
  const TokenTable table{fields, 3};
  const Templates templates(line, "t");
  for (std::size_t t = 0; t < length; ++t) {
    RC_ASSERT(expanded(templates.tokens(), table, t) ==
              Names{naive_expansion(line, table, static_cast<int>(t))});
  }
}

}  // namespace
}  // namespace espalier
