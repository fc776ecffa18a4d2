// How tokens that list their attributes, as Wapiti reads them, are read.

#include <gtest/gtest.h>

#include <string>

#include "tasks/tag_reading.h"

namespace espalier::tag_wapiti_test {
namespace {

using testing::Names;
using testing::names_of;
using testing::TagReader;
using testing::Tokens;

class TagWapiti : public TagReader {
 protected:
  TagWapiti() { input_.format = TagFormat::wapiti; }
};

TEST_F(TagWapiti, FieldsAreAttributes) {
  EXPECT_EQ(train("uw=a *p bq X\n u1 u1 u2\tY\r\n*p bq uw=a\vX\n\nX\n"),
            (Tokens{{{"X", {{"uw=a", 1.0f}, {"*p", 1.0f}}, {}},
                     {"Y", {{"u1", 2.0f}, {"u2", 1.0f}}, {}},
                     {"X", {{"uw=a", 1.0f}, {"*p", 1.0f}}, {{"*p", 1.0f}, {"bq", 1.0f}}}},
                    {{"X", {}, {}}}}));
  EXPECT_EQ(names_of(dictionaries_.transitions), (Names{"*p", "bq"}));
}

TEST_F(TagWapiti, PredictionMayLackTheLabel) {
  train("uw=a b X\nuw=b b b-Y\n");
  EXPECT_EQ(stream("uw=a X\nuw=b b\nuw=a b-Y\n"), (Tokens{{{"X", {{"uw=a", 1.0f}}, {{"b", 1.0f}}},
                                                           {"", {{"uw=b", 1.0f}}, {{"b", 1.0f}}},
                                                           {"", {{"uw=a", 1.0f}}, {}}}}));
  EXPECT_EQ(evaluate("uw=a b-Y\n"), (Tokens{{{"b-Y", {{"uw=a", 1.0f}}, {}}}}));
}

TEST_F(TagWapiti, OtherFieldsAreErrors) {
  const std::string expected =
      "; expected 'attribute attribute ... label', where attributes begin with u, b or *";
  EXPECT_EQ(train_error("uw=a X\n\nw=a X\n"), "data:3: the attribute 'w=a'" + expected);
  EXPECT_EQ(train_error("U1 X\n"), "data:1: the attribute 'U1'" + expected);
  input_.templates = "u1";
  EXPECT_EQ(train_error("u1 X\n"), "template: given for format wapiti; expected format columns");
}

}  // namespace
}  // namespace espalier::tag_wapiti_test
