#include "features/templates.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "support/error_message.h"

namespace espalier::templates_test {
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
}

TEST(Templates, MalformedMacrosAreErrors) {
  const std::string expected = "; expected %x[row,column], as in %x[-1,0]";
  for (const std::string macro :
       {"%x[0]", "%x[0,0", "%x[0,-1]", "%x[,0]", "%x[0,]", "%x 0,0]", "%x[ 0,0]", "%x[0,0.5]", "%x[+1,0]",
        "%x[9999999999,0]", "%x[0,99999999999999999999]", "%y[0,0]", "%", "%%x[0,0]", "%x"}) {
    EXPECT_EQ(parse_error("U1:%x[0,0]\nU2:%x[0,0]/" + macro),
              fmt::format("my.tpl:2: '{0}' in 'U2:%x[0,0]/{0}'{1}", macro, expected));
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
            "my.tpl:3: %x[-1,2] uses the label; expected another column; the first one is column 0");
  EXPECT_EQ(check("U1:%x[0,0]\nB1:%x[1,0]", 3, 0),
            "my.tpl:1: %x[0,0] uses the label; expected another column; the first one is column 0");
  EXPECT_EQ(check("U1\nB1:%x[0,3]", 3, 2),
            "my.tpl:2: %x[0,3] in data of 3 columns; expected a column that the data has; the first one is "
            "column 0");
}

TEST(Templates, TheLanguageIsToldByWhatOnlyWapitiKnows) {
  for (const char* text :
       {"U01:%x[0,0]\nB\n", "# u:%t[0,0,\"a\"]\nU\n", "B01:%x[-1,0]#*\n", "W\n", "U:%v[0,0]\n"}) {
    EXPECT_EQ(template_language(text), TemplateLanguage::crfpp) << text;
  }
  for (const char* text : {"U1\n*\n", "u:%x[0,0]", "U:%x[0,0]\nb\n", "U:%X[0,0]", "U:%t[0,0,\"a\"]",
                           "U:%M[0,0,\"a\"]", "B:%x[@1,0]"}) {
    EXPECT_EQ(template_language(text), TemplateLanguage::wapiti) << text;
  }
}

TEST(WapitiPatterns, MacrosAreReplaced) {
  const std::string_view text =
      "u:%x[0,0]\nU:%X[0,0] %x[-1,1]  # comment\nu:t=%t[0,0,\"^\\u\"]/%T[0,1,\"B\"]\n"
      "u:%m[+1,0,\".?.?$\"]|%M[ 1, 1,\"\\u*$\"]|%m[0,0,\"\\d\"]\r\nu:%x[@1,0]%x[@-1,0]\n  # nothing\n";
  EXPECT_EQ(expanded(text, 1), (Names{"u:saw", "u:saw PRP", "u:t=false/true", "u:ts|nns|", "u:Hecats"}));
}

TEST(WapitiPatterns, BeyondTheSequenceTokensAreCountedToFour) {
  const std::string_view text =
      "u%x[-1,0]\nu%X[-4,0]\nu%x[-5,0]\nu%x[3,0]\nu%x[6,0]\nu%x[9,1]\nu%t[-2,0,\"x-2\"]%m[3,0,\"+.\"]";
  EXPECT_EQ(expanded(text, 0), (Names{"u_x-1", "u_x-4", "u_x-#", "u_x+1", "u_x+4", "u_x+#", "utrue+1"}));
  EXPECT_EQ(expanded("u%x[@4,0]%x[@-4,0]%x[@0,0]", 1), (Names{"u_x+1_x-1_x-1"}));
}

TEST(WapitiPatterns, AStarIsBoth) {
  const Templates templates("u1\n*:%x[0,0]\nB2\n", "t");
  EXPECT_EQ(expanded(templates.tokens(), kTable, 1), (Names{"u1", "*:saw"}));
  EXPECT_EQ(expanded(templates.transitions(), kTable, 1), (Names{"*:saw", "b2"}));
}

TEST(WapitiPatterns, MalformedLinesAreErrors) {
  EXPECT_EQ(parse_error("u1\nW:%x[0,0]\n"),
            "my.tpl:2: 'W:%x[0,0]'; expected a line of Wapiti's patterns, which begins with u, b, * or #");
  EXPECT_EQ(parse_error("u1\n u\n"),
            "my.tpl:2: ' u'; expected a line of Wapiti's patterns, which begins with u, b, * or #");
  const std::string macro = "; expected %x[row,column], %t[row,column,\"regex\"] or %m[row,column,\"regex\"]";
  for (const std::string bad : {"%y[0,0]", "%", "%x", "%x[0]", "%x[0,0", "%x[0,-1]", "%x[@,0]", "%t[0,0]",
                                "%X[0,0,\"a\"]", "%t[0,0,a]", "%m[0,0,\"a\"", "%V[0,0]", "%x[+-1,0]"}) {
    EXPECT_EQ(parse_error("u1\nu2:%x[0,0]/" + bad),
              fmt::format("my.tpl:2: '{0}' in 'u2:%x[0,0]/{0}'{1}", bad, macro));
  }
  EXPECT_EQ(parse_error("u:%t[0,0,\"a#b\"]"),
            "my.tpl:1: '%t[0,0,\"a' in 'u:%t[0,0,\"a#b\"]'; expected a \" after the regular expression; '#' "
            "starts a "
            "comment even there");
  EXPECT_EQ(parse_error("u:%t[0,0,\"" + std::string(1000, 'a') + "\"]"), "(no error)");
  EXPECT_EQ(parse_error("u:%t[0,0,\"" + std::string(400000, 'a') + "\"]"),
            "my.tpl:1: a regular expression of 400000 bytes in 'u:%t[0,0,\"" + std::string(30, 'a') +
                "...'; expected one of at most 1000");
  EXPECT_EQ(parse_error("u:%m[0,0,\"^*a\"]"),
            "my.tpl:1: the regular expression '^*a' in 'u:%m[0,0,\"^*a\"]'; expected a character before each "
            "* and ?, or "
            "\\* and \\? for the characters themselves");
}

TEST(Templates, AValueIsNoPartOfTheName) {
  const Templates templates("U:a%v[0,1]b%x[0,0]\nUc\nB%v[-1,0]", "t");
  EXPECT_EQ(expanded(templates.tokens(), kTable, 1), (Names{"U:absaw", "Uc"}));
  const Template& line = templates.tokens()[0];
  ASSERT_TRUE(line.has_value());
  EXPECT_FALSE(templates.tokens()[1].has_value());
  EXPECT_EQ(line.value_token(1, 3), 1u);
  EXPECT_EQ(line.value_column(), 1u);
  EXPECT_EQ(line.value_written(), "%v[0,1]");
  EXPECT_EQ(templates.transitions()[0].value_token(1, 3), 0u);
  EXPECT_EQ(templates.transitions()[0].value_token(0, 3), std::nullopt);
  EXPECT_EQ(Templates("u%v[@-1,0]", "t").tokens()[0].value_token(0, 3), 2u);
  EXPECT_EQ(Templates("u%v[2,0]", "t").tokens()[0].value_token(1, 3), std::nullopt);
  EXPECT_EQ(parse_error("U%v[0,0]%v[1,0]"),
            "my.tpl:1: '%v[1,0]' in 'U%v[0,0]%v[1,0]'; expected at most one %v per line");
  EXPECT_EQ(error_message([] { Templates("U%v[0,2]", "t").check_columns(3, 2); }),
            "t:1: %v[0,2] uses the label; expected another column; the first one is column 0");
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
}  // namespace espalier::templates_test
