#include "espalier/learning/loss.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <string>

#include "espalier/base/error.h"

namespace espalier::loss_test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Loss, Presets) {
  EXPECT_EQ(Loss::parse("crf"), (Loss{1, 0}));
  EXPECT_EQ(Loss::parse("svm"), (Loss{kInfinity, 1}));
  EXPECT_EQ(Loss::parse("softmax-margin"), (Loss{1, 1}));
  EXPECT_EQ(Loss::parse("perceptron"), (Loss{kInfinity, 0}));
  EXPECT_EQ(Loss(), Loss::crf());
}

TEST(Loss, NumbersOfAPresetHaveItsName) {
  EXPECT_EQ(Loss::parse("1,0").name(), "crf");
  EXPECT_EQ(Loss::parse("inf,1").name(), "svm");
  EXPECT_EQ(Loss::parse("1,1").name(), "softmax-margin");
  EXPECT_EQ(Loss::parse("infinity,0").name(), "perceptron");
}

TEST(Loss, NumbersOfNoPreset) {
  EXPECT_EQ(Loss::parse("0.5,2"), (Loss{0.5, 2}));
  EXPECT_EQ(Loss::parse("inf,0.25"), (Loss{kInfinity, 0.25}));
  EXPECT_EQ(Loss::parse("1e-3,1e3"), (Loss{0.001, 1000}));
  EXPECT_EQ((Loss{0.5, 2}).name(), "0.5,2");
  EXPECT_EQ((Loss{kInfinity, 0.25}).name(), "inf,0.25");
  EXPECT_EQ((Loss{0.1, 1}).name(), "0.1,1");
}

RC_GTEST_PROP(Loss, NamesAreReadBackExactly, (double beta, double gamma)) {
  const Loss loss{std::abs(beta), std::abs(gamma)};
  RC_PRE(loss.beta > 0);
  RC_ASSERT(Loss::parse(loss.name()) == loss);
  const Loss maximum{kInfinity, std::abs(gamma)};
  RC_ASSERT(Loss::parse(maximum.name()) == maximum);
  RC_PRE(loss.gamma > 0);
  const Loss difference{loss.beta, loss.gamma, true};
  RC_ASSERT(Loss::parse(difference.name()) == difference);
}

TEST(Loss, Differences) {
  EXPECT_EQ(Loss::parse("ramp"), (Loss{kInfinity, 1, true}));
  EXPECT_EQ(Loss::parse("risk"), (Loss{1, 1, true}));
  EXPECT_EQ(Loss::parse("delta,0.5,2"), (Loss{0.5, 2, true}));
  EXPECT_EQ(Loss::parse("delta,inf,1").name(), "ramp");
  EXPECT_EQ(Loss::parse("delta,1,1").name(), "risk");
  EXPECT_EQ((Loss{kInfinity, 0.25, true}).name(), "delta,inf,0.25");
  EXPECT_NE(Loss::parse("risk"), Loss::softmax_margin());
  EXPECT_EQ(Loss::ramp().convex(), Loss::svm());
  EXPECT_EQ(Loss::risk().convex(), Loss::softmax_margin());
  EXPECT_EQ(Loss::crf().convex(), Loss::crf());
}

TEST(Loss, SmoothOnlyWithAFiniteBeta) {
  EXPECT_TRUE((Loss{2, 1}).smooth());
  EXPECT_EQ((Loss{2, 1}).inverse_beta(), 0.5);
  EXPECT_FALSE(Loss::svm().smooth());
  EXPECT_EQ(Loss::svm().inverse_beta(), 0);
}

std::string message_of(const std::string& text) {
  try {
    return "read as " + Loss::parse(text).name();
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Loss, AnythingElseIsRefused) {
  for (const std::string text : {"",           "hinge",    "1",
                                 ",",          "1,",       ",1",
                                 "0,0",        "-1,0",     "-0,1",
                                 "1,-1",       "1,inf",    "nan,0",
                                 "1,nan",      "inf,inf",  "-inf,0",
                                 "1,1,1",      "1, 1",     "1 ,1",
                                 " 1,1",       "1,1 ",     "delta",
                                 "delta,",     "delta,1",  "delta,0,1",
                                 "delta,1,-1", "delta1,1", "delta,delta,1,1",
                                 "1;1",        "one,1",    "1,x",
                                 "1x,1",       "+1,0",     "0x1,0",
                                 "1e999,0",    "1,1e999",  "1e-999,0",
                                 "inf"}) {
    EXPECT_EQ(message_of(text),
              "loss: unknown loss '" + text +
                  "'; expected crf, svm, softmax-margin, perceptron, ramp, risk, or [delta,]BETA,GAMMA with "
                  "BETA in (0, inf] and GAMMA >= 0");
  }
}

TEST(Loss, ADifferenceOfALossAndItselfIsRefused) {
  EXPECT_EQ(message_of("delta,1,0"),
            "loss: 'delta,1,0', which is zero for all weights; expected a GAMMA > 0");
}

TEST(Loss, AMisspeltNameIsSuggested) {
  for (const std::string text : {"CRF", "crf ", " crf", "cfr", "crf,1"})
    EXPECT_EQ(message_of(text), "loss: unknown loss '" + text + "'; did you mean crf?");
  EXPECT_EQ(message_of("softmax_margin"),
            "loss: unknown loss 'softmax_margin'; did you mean softmax-margin?");
}

TEST(Loss, TheMessageIsOneLine) {
  EXPECT_EQ(message_of("c\nrf"), "loss: unknown loss 'c\\x0arf'; did you mean crf?");
  EXPECT_EQ(message_of(std::string(50, 'x')), "loss: unknown loss '" + std::string(40, 'x') +
                                                  "...'; expected crf, svm, softmax-margin, "
                                                  "perceptron, ramp, risk, or [delta,]BETA,GAMMA with BETA "
                                                  "in (0, inf] and GAMMA >= 0");
}

}  // namespace
}  // namespace espalier::loss_test
