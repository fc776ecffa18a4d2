#include "features/kernel.h"

#include <gtest/gtest.h>

#include "support/error_message.h"

namespace espalier::kernel_test {
namespace {

using espalier::testing::error_message;

std::string refusal(std::string_view text) {
  return error_message([&] { Kernel::parse(text); });
}

TEST(Kernel, Parse) {
  EXPECT_EQ(Kernel::parse("linear").kind, Kernel::Kind::linear);
  EXPECT_EQ(Kernel::parse("poly,3"), (Kernel{Kernel::Kind::poly, 3, 1, 1}));
  EXPECT_EQ(Kernel::parse("poly,2,0"), (Kernel{Kernel::Kind::poly, 2, 0, 1}));
  EXPECT_EQ(Kernel::parse("poly,10,2.5,0.125"), (Kernel{Kernel::Kind::poly, 10, 2.5f, 0.125f}));
  EXPECT_EQ(Kernel::parse("rbf,0.1"), (Kernel{Kernel::Kind::rbf, 1, 1, 1, 0.1f}));
}

TEST(Kernel, NamesAreReadAgain) {
  for (const char* text : {"linear", "poly,3", "poly,2,0,0.03125", "rbf,0.1", "rbf,1e-07"}) {
    const Kernel kernel = Kernel::parse(text);
    EXPECT_EQ(Kernel::parse(kernel.name()), kernel) << kernel.name();
  }
  EXPECT_EQ(Kernel::parse("poly,3").name(), "poly,3,1,1");
  EXPECT_EQ(Kernel::parse("rbf,0.5").name(), "rbf,0.5");
}

TEST(Kernel, Refusals) {
  constexpr const char* kAny =
      "; expected linear, poly,DEGREE[,CONSTANT[,SCALE]] or rbf,GAMMA, such as poly,3";
  EXPECT_EQ(refusal("cubic"), std::string("kernel: 'cubic'") + kAny);
  EXPECT_EQ(refusal(""), std::string("kernel: ''") + kAny);
  EXPECT_EQ(refusal("linear,1"), std::string("kernel: 'linear,1'") + kAny);
  EXPECT_EQ(refusal("poly"), "kernel: 'poly'; expected poly,DEGREE[,CONSTANT[,SCALE]]");
  EXPECT_EQ(refusal("poly,1,1,1,1"), "kernel: 'poly,1,1,1,1'; expected poly,DEGREE[,CONSTANT[,SCALE]]");
  for (const char* text : {"poly,0", "poly,11", "poly,2.5", "poly,x", "poly,"}) {
    EXPECT_EQ(refusal(text),
              "kernel: '" + std::string(text) + "'; expected a whole number from 1 to 10 as the degree");
  }
  EXPECT_EQ(refusal("poly,2,-1"), "kernel: 'poly,2,-1'; expected a number >= 0 as the constant");
  EXPECT_EQ(refusal("poly,2,1,0"), "kernel: 'poly,2,1,0'; expected a number > 0 as the scale");
  for (const char* text : {"rbf", "rbf,0", "rbf,-1", "rbf,nan", "rbf,1,2"}) {
    EXPECT_EQ(refusal(text), "kernel: '" + std::string(text) + "'; expected rbf,GAMMA with a number > 0");
  }
}

}  // namespace
}  // namespace espalier::kernel_test
