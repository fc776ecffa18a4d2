#include "espalier/base/options.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <limits>

#include "base/parse_number.h"
#include "espalier/base/error.h"
#include "support/error_message.h"

namespace espalier::options_test {
namespace {

enum class Colour { red, green };

struct Inner {
  double depth = 0.5;
};

struct Everything {
  bool flag = false;
  std::size_t whole = 3;
  std::uint64_t seed = 1;
  int rounds = 20;
  std::size_t kbest = 0;
  std::optional<std::size_t> first;
  double real = 1e-4;
  std::optional<double> eta;
  std::size_t memory = std::size_t{2} << 30;
  std::string text = "some";
  std::string file;
  std::optional<std::string> format;
  std::vector<std::string> files;
  Colour colour = Colour::green;
  Inner inner;
};

using Row = OptionOf<Everything>;

const OptionTable& table() {
  static const OptionTable table{
      Row("flag", &Everything::flag, "a flag").logged_if_changed(),
      Row("whole", &Everything::whole, "from 2 to 30").between(2, 30),
      Row("seed", &Everything::seed, "any whole number"),
      Row("rounds", &Everything::rounds, "an int").from(1).logged_if_changed(),
      Row("kbest", &Everything::kbest, "0: off").from(1).logged_if_changed(),
      Row("first", &Everything::first, "maybe a whole number").from(1),
      Row("real", &Everything::real, "a probability").between(0, 1),
      Row("eta", &Everything::eta, "maybe a number").above(0),
      Row("memory", &Everything::memory, "bytes")
          .bytes()
          .only_if([](const Everything& options) { return options.flag; }, setting("flag")),
      Row("text", &Everything::text, "one of three").choices({"some", "more", "most"}),
      Row("file", &Everything::file, "any text").file("the file"),
      Row("format", &Everything::format, "maybe one of two").choices({"long", "short"}).implied("long"),
      Row("file_of_many", &Everything::files, "texts").logged_as("files"),
      Row("colour", &Everything::colour,
          std::vector<std::pair<std::string, Colour>>{{"red", Colour::red}, {"green", Colour::green}},
          "an enum"),
      Row(
          "depth", [](Everything& options) -> double& { return options.inner.depth; }, "of a member's member")
          .from(0),
  };
  return table;
}

TEST(Options, RowsDescribeMembers) {
  const OptionTable& all = table();
  ASSERT_EQ(all.rows().size(), 15u);
  const auto row = [&](std::string_view name) { return *all.find(name); };
  EXPECT_EQ(all.find("colours"), nullptr);
  EXPECT_EQ(row("file_of_many").argument(), "--file-of-many");
  EXPECT_EQ(row("file_of_many").help, "texts");

  EXPECT_EQ(row("flag").kind, OptionKind::flag);
  EXPECT_EQ(row("whole").kind, OptionKind::whole);
  EXPECT_EQ(row("seed").kind, OptionKind::whole);
  EXPECT_EQ(row("rounds").kind, OptionKind::whole);
  EXPECT_EQ(row("first").kind, OptionKind::whole);
  EXPECT_EQ(row("eta").kind, OptionKind::real);
  EXPECT_EQ(row("memory").kind, OptionKind::bytes);
  EXPECT_EQ(row("format").kind, OptionKind::text);
  EXPECT_EQ(row("colour").kind, OptionKind::text);
  EXPECT_EQ(row("file_of_many").kind, OptionKind::texts);
  EXPECT_TRUE(row("eta").may_be_unset);
  EXPECT_FALSE(row("real").may_be_unset);
  EXPECT_EQ(row("format").implied, "long");
  EXPECT_EQ(row("file").file, "the file");
  EXPECT_EQ(row("text").file, "");
}

TEST(Options, DefaultsAreThoseOfTheStruct) {
  const auto text = [](std::string_view name) { return table().find(name)->default_text(); };
  EXPECT_EQ(text("flag"), "");
  EXPECT_EQ(text("whole"), "3");
  EXPECT_EQ(text("rounds"), "20");
  EXPECT_EQ(text("kbest"), "");
  EXPECT_EQ(text("first"), "");
  EXPECT_EQ(text("real"), "0.0001");
  EXPECT_EQ(text("eta"), "");
  EXPECT_EQ(text("memory"), "2G");
  EXPECT_EQ(text("text"), "some");
  EXPECT_EQ(text("file"), "");
  EXPECT_EQ(text("format"), "");
  EXPECT_EQ(text("file_of_many"), "");
  EXPECT_EQ(text("colour"), "green");
  EXPECT_EQ(text("depth"), "0.5");
}

TEST(Options, SaysWhatIsExpected) {
  const auto expected = [](std::string_view name) { return table().find(name)->expected(); };
  EXPECT_EQ(expected("flag"), "true or false");
  EXPECT_EQ(expected("whole"), "a whole number from 2 to 30");
  EXPECT_EQ(expected("seed"), "a whole number >= 0");
  EXPECT_EQ(expected("rounds"), "a whole number >= 1");
  EXPECT_EQ(expected("real"), "a probability, a number from 0 to 1");
  EXPECT_EQ(expected("eta"), "a number > 0");
  EXPECT_EQ(expected("depth"), "a number >= 0");
  EXPECT_EQ(expected("memory"), "a number of bytes > 0, such as 500M or 1.5G");
  EXPECT_EQ(expected("text"), "some, more or most");
  EXPECT_EQ(expected("colour"), "red or green");
  EXPECT_EQ(expected("file"), "");
}

TEST(Options, SetsMembersFromText) {
  OptionValues values(table());
  for (const auto& [name, text] : std::vector<std::pair<std::string, std::string>>{{"flag", "true"},
                                                                                   {"whole", "30"},
                                                                                   {"first", "7"},
                                                                                   {"rounds", "2"},
                                                                                   {"real", "1e-2"},
                                                                                   {"eta", "0.25"},
                                                                                   {"memory", "1.5K"},
                                                                                   {"text", "most"},
                                                                                   {"file", "-"},
                                                                                   {"format", "short"},
                                                                                   {"file_of_many", "a"},
                                                                                   {"file_of_many", "b"},
                                                                                   {"colour", "red"},
                                                                                   {"depth", "2"}}) {
    values.set(name, text);
  }
  ASSERT_TRUE(values.holds<Everything>());
  EXPECT_FALSE(values.holds<Inner>());
  const Everything& set = std::as_const(values).as<Everything>();
  EXPECT_TRUE(set.flag);
  EXPECT_EQ(set.whole, 30u);
  EXPECT_EQ(set.first, 7u);
  EXPECT_EQ(set.rounds, 2);
  EXPECT_EQ(set.real, 1e-2);
  EXPECT_EQ(set.eta, 0.25);
  EXPECT_EQ(set.memory, 1536u);
  EXPECT_EQ(set.text, "most");
  EXPECT_EQ(set.file, "-");
  EXPECT_EQ(set.format, "short");
  EXPECT_EQ(set.files, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(set.colour, Colour::red);
  EXPECT_EQ(set.inner.depth, 2);
  EXPECT_EQ(values.get("colour"), Json("red"));
  EXPECT_TRUE(OptionValues(table()).get("eta").is_null());
}

TEST(Options, RefusesWhatIsNoValue) {
  const auto message = [](const std::string& name, const std::string& text) {
    OptionValues values(table());
    return testing::error_message([&] { values.set(name, text); });
  };
  EXPECT_EQ(message("whole", "31"), "whole: found '31'; expected a whole number from 2 to 30");
  EXPECT_EQ(message("whole", "1"), "whole: found '1'; expected a whole number from 2 to 30");
  EXPECT_EQ(message("whole", "3.0"), "whole: found '3.0'; expected a whole number from 2 to 30");
  EXPECT_EQ(message("rounds", "4000000000"), "rounds: found '4000000000'; expected a whole number >= 1");
  EXPECT_EQ(message("seed", "-1"), "seed: found '-1'; expected a whole number >= 0");
  EXPECT_EQ(message("first", ""), "first: found ''; expected a whole number >= 1");
  EXPECT_EQ(message("eta", "0"), "eta: found '0'; expected a number > 0");
  EXPECT_EQ(message("eta", "nan"), "eta: found 'nan'; expected a number > 0");
  EXPECT_EQ(message("memory", "0"),
            "memory: found '0'; expected a number of bytes > 0, such as 500M or 1.5G");
  EXPECT_EQ(message("flag", "yes"), "flag: found 'yes'; expected true or false");
  EXPECT_EQ(message("text", "mst"), "text: found 'mst'; did you mean most?");
  EXPECT_EQ(message("text", "none"), "text: found 'none'; expected some, more or most");
  EXPECT_EQ(message("colour", "blue"), "colour: found 'blue'; expected red or green");
  EXPECT_EQ(message("hue", "red").substr(0, 52), "unknown option 'hue'; expected flag, whole, seed, ro");
}

TEST(Options, SuggestsWhatWasMeant) {
  OptionValues values(table());
  EXPECT_EQ(testing::error_message([&] { values.set("text", "mots"); }),
            "text: found 'mots'; did you mean most?");
  EXPECT_EQ(testing::error_message([&] { values.set("memroy", "1G"); }),
            "unknown option 'memroy'; did you mean memory?");
}

TEST(Options, ThatHaveNoEffectAreFound) {
  OptionValues values(table());
  values.check_effective();
  values.set("memory", "1G");
  EXPECT_EQ(testing::error_message([&] { values.check_effective(); }),
            "memory: no effect; expected flag, or no memory");
  values.set("flag", "true");
  values.check_effective();
}

TEST(Options, NameTheirValues) {
  const auto metavar = [](const char* name) { return table().find(name)->metavar(); };
  EXPECT_EQ(metavar("flag"), "");
  EXPECT_EQ(metavar("whole"), "N");
  EXPECT_EQ(metavar("real"), "X");
  EXPECT_EQ(metavar("memory"), "SIZE");
  EXPECT_EQ(metavar("text"), "NAME");
  EXPECT_EQ(metavar("file"), "FILE");
  EXPECT_EQ(metavar("format"), "[long|short]");
  const OptionRow named = Row("whole", &Everything::whole, "").value("K").basic().row();
  EXPECT_EQ(named.metavar(), "K");
  EXPECT_TRUE(named.basic);
}

TEST(Options, AreValues) {
  Everything nine;
  nine.whole = 9;
  OptionValues first(table(), nine);
  OptionValues second = first;
  second.set("whole", "5");
  EXPECT_EQ(first.get("whole"), Json(9));
  EXPECT_EQ(second.get("whole"), Json(5));
  EXPECT_THROW(first.as<Inner>(), std::bad_any_cast);
  EXPECT_THROW(OptionValues(table(), Inner()), std::bad_any_cast);
}

TEST(Options, LogsWhatMatters) {
  OptionValues values(table());
  EXPECT_EQ(values.log().dump(),
            R"({"whole":3,"seed":1,"real":0.0001,"text":"some","colour":"green","depth":0.5})");
  values.set("flag", "true");
  values.set("rounds", "7");
  values.set("format", "long");
  values.set("file_of_many", "a");
  EXPECT_EQ(values.log().dump(), R"({"flag":true,"whole":3,"seed":1,"rounds":7,"real":0.0001,)"
                                 R"("memory":2147483648,"text":"some","format":"long","files":["a"],)"
                                 R"("colour":"green","depth":0.5})");
}

// Whatever is in range goes in and comes out the same, and nothing else goes in.
RC_GTEST_PROP(OptionsProperty, WholeNumbers, (std::uint64_t value)) {
  OptionValues values(table());
  const std::string text = std::to_string(value);
  values.set("seed", text);
  RC_ASSERT(values.as<Everything>().seed == value);
  const OptionRow& row = *table().find("whole");
  RC_ASSERT(row.refuse(text).empty() == (value >= 2 && value <= 30));
  RC_ASSERT(!row.refuse("-" + text).empty());
  RC_ASSERT(!row.refuse(text + "x").empty());
}

RC_GTEST_PROP(OptionsProperty, RealNumbers, (double value)) {
  OptionValues values(table());
  const std::string text = Json(value).dump();
  const std::optional<double> read = parse_double(text);
  RC_ASSERT(table().find("real")->refuse(text).empty() == (read && *read >= 0 && *read <= 1));
  RC_ASSERT(table().find("eta")->refuse(text).empty() == (read && *read > 0));
  if (!read || !(*read > 0)) return;
  values.set("eta", text);
  RC_ASSERT(values.as<Everything>().eta == read);
}

RC_GTEST_PROP(OptionsProperty, Texts, (std::vector<std::string> texts)) {
  OptionValues values(table());
  for (const std::string& text : texts) {
    values.set("file_of_many", text);
    values.set("file", text);
    RC_ASSERT(values.as<Everything>().file == text);
    RC_ASSERT(table().find("text")->refuse(text).empty() ==
              (text == "some" || text == "more" || text == "most"));
  }
  RC_ASSERT(values.as<Everything>().files == texts);
}

}  // namespace
}  // namespace espalier::options_test
