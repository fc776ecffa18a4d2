// Models of earlier versions are read, and say what they said.

#include "support/golden.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "espalier/model/model.h"

namespace espalier::testing::golden_test {
namespace {

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(GoldenModelTest, PredictsAsItDid) {
  for (const std::string& name : golden_names()) {
    const Model model(golden(name + ".esp"));
    std::string written;
    model.predictor().predict(golden(name + ".in"), {}, [&](std::string_view text) { written += text; });
    EXPECT_EQ(written, contents(golden(name + ".out"))) << name;
    EXPECT_FALSE(written.empty()) << name;
  }
}

TEST(GoldenModelTest, ThereIsOneOfEveryTask) {
  std::set<std::string> tasks;
  for (const std::string& name : golden_names()) tasks.insert(Model(golden(name + ".esp")).info().task);
  EXPECT_EQ(tasks, (std::set<std::string>{"classify", "graph", "parse", "tag", "treebank"}));
}

}  // namespace
}  // namespace espalier::testing::golden_test
