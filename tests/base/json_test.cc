#include "espalier/base/json.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace espalier::json_test {
namespace {

Json random_json(int depth) {
  switch (*rc::gen::inRange(0, depth > 0 ? 8 : 6)) {
    case 0:
      return nullptr;
    case 1:
      return *rc::gen::arbitrary<bool>();
    case 2:
      return *rc::gen::arbitrary<std::int64_t>();
    case 3:
      return *rc::gen::arbitrary<std::uint64_t>();
    case 4:
      return *rc::gen::arbitrary<double>();
    case 5:
      return *rc::gen::string<std::string>();
    case 6: {
      Json array = Json::array();
      for (int n = *rc::gen::inRange(0, 4); n > 0; --n) array.push_back(random_json(depth - 1));
      return array;
    }
    default: {
      Json object = Json::object();
      for (int n = *rc::gen::inRange(0, 4); n > 0; --n)
        object[*rc::gen::string<std::string>()] = random_json(depth - 1);
      return object;
    }
  }
}

template <class Error, class Function>
std::string message_of(const Function& function) {
  try {
    function();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

RC_GTEST_PROP(Json, TextHasTheWholeValue, ()) {
  const Json json = random_json(3);
  const std::string text = json.dump();
  RC_ASSERT(text.find('\n') == std::string::npos);
  // Bytes that are no UTF-8 are replaced, once and for all.
  const Json again = Json::parse(text);
  RC_ASSERT(again.dump() == text);
  RC_ASSERT(Json::parse(again.dump()) == again);
}

RC_GTEST_PROP(Json, NumbersSurvive, (double real, std::int64_t whole, std::uint64_t natural)) {
  RC_ASSERT(Json::parse(Json(real).dump()).get<double>() == real);
  RC_ASSERT(Json::parse(Json(whole).dump()).get<std::int64_t>() == whole);
  RC_ASSERT(Json::parse(Json(natural).dump()).get<std::uint64_t>() == natural);
}

TEST(Json, WritesInTheOrderOfTheMembers) {
  Json json{{"b", 1}, {"a", {1, 2.5, -3}}, {"c", {{"x", true}, {"y", nullptr}}}};
  EXPECT_EQ(json.dump(), R"({"b":1,"a":[1,2.5,-3],"c":{"x":true,"y":null}})");
  json.update({{"a", "new"}, {"d", std::vector<std::string>{"one", "two"}}});
  json.erase("c");
  EXPECT_EQ(json.dump(), R"({"b":1,"a":"new","d":["one","two"]})");
  // Two lists of two names would be an object.
  const std::vector<std::string> pair{"x", "y"};
  EXPECT_EQ(Json::array({pair, pair}).dump(), R"([["x","y"],["x","y"]])");
}

TEST(Json, WritesWhatJsonHasNoWordsFor) {
  EXPECT_EQ(Json({std::nan(""), std::numeric_limits<double>::infinity()}).dump(), "[null,null]");
  EXPECT_EQ(Json("tab\t\"quoted\" \\ caf\xc3\xa9").dump(), "\"tab\\t\\\"quoted\\\" \\\\ caf\xc3\xa9\"");
  EXPECT_EQ(Json("bad \xff").dump(), "\"bad \xef\xbf\xbd\"");
  EXPECT_EQ(Json(1.0).dump(), "1.0");
  EXPECT_EQ(Json(0.1f).dump(), "0.10000000149011612");
}

TEST(Json, OfMembersOfOneNameTheLastCounts) {
  EXPECT_EQ(Json::parse(R"({"a":1,"b":2,"a":3})").dump(), R"({"a":3,"b":2})");
  EXPECT_EQ(Json::parse(R"([{"a":{"b":1,"b":[2]},"c":3,"a":4,"c":5,"a":{"b":6}}])").dump(),
            R"([{"a":{"b":6},"c":5}])");
}

// A search for each among those before would take minutes.
TEST(Json, MayHaveMillionsOfMembers) {
  std::string text = "{";
  for (int k = 0; k < 1000000; ++k) text += fmt::format("\"{}\":{},", k, k % 7);
  const Json json = Json::parse(text + "\"5\":8}");
  EXPECT_EQ(json.size(), 1000000u);
  EXPECT_EQ(json.at("5").get<int>(), 8);
}

TEST(Json, EqualsByValue) {
  EXPECT_EQ(Json(1), 1.0);
  EXPECT_EQ(Json(std::uint64_t{7}), 7);
  EXPECT_FALSE(Json(1) == Json("1"));
  EXPECT_FALSE(Json(0) == Json());
  EXPECT_FALSE(Json(false) == Json(0));
}

TEST(Json, RefusesOtherTypes) {
  const Json json{{"name", "x"}, {"half", 0.5}, {"big", 300}, {"negative", -1}};
  EXPECT_EQ(message_of<JsonError>([&] { json.at("none"); }), "no entry 'none'");
  EXPECT_EQ(message_of<JsonError>([&] { json["name"].get<double>(); }),
            "'\"x\"' where a number was expected");
  EXPECT_EQ(message_of<JsonError>([&] { json["half"].get<int>(); }),
            "'0.5' where a whole number in range was expected");
  EXPECT_EQ(message_of<JsonError>([&] { json["big"].get<std::uint8_t>(); }),
            "'300' where a whole number >= 0, in range was expected");
  EXPECT_EQ(message_of<JsonError>([&] { json["negative"].get<std::size_t>(); }),
            "'-1' where a whole number >= 0, in range was expected");
  EXPECT_EQ(json["negative"].get<std::int8_t>(), -1);
  EXPECT_EQ(Json(-128).get<std::int8_t>(), -128);
  EXPECT_NE(message_of<JsonError>([&] { Json(-129).get<std::int8_t>(); }), "no error");
  EXPECT_EQ(message_of<JsonError>([&] { Json::parse("[1,2]")[2]; }), "element 2 of a list of 2");
  EXPECT_EQ(message_of<JsonError>([&] { Json::array().at("x"); }), "'[]' where an object was expected");
  EXPECT_EQ(json.value("none", 5), 5);
  EXPECT_NE(message_of<JsonError>([&] { json.value("name", 5); }), "no error");
}

TEST(Json, RefusesBadText) {
  for (const char* bad : {"", "{", "[1,]", "nul", "{\"a\" 1}", "\"\xff\"", "1 2"}) {
    EXPECT_NE(message_of<JsonSyntaxError>([&] { Json::parse(bad); }), "no error") << bad;
  }
  try {
    Json::parse("[1, x]");
    FAIL();
  } catch (const JsonSyntaxError& e) {
    EXPECT_EQ(e.column, 5u);
  }
  EXPECT_EQ(message_of<JsonLimitError>([] { Json::parse("1e999"); }),
            "a number out of range; expected numbers that a double holds");
}

TEST(Json, RefusesWhatIsNestedTooDeep) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_EQ(Json::parse(nested(500)).dump(), nested(500));
  EXPECT_EQ(message_of<JsonLimitError>([&] { Json::parse(nested(1000000)); }),
            "lists and objects nested more than 500 deep; expected shallower ones");
}

}  // namespace
}  // namespace espalier::json_test
