// Models of earlier versions are read, and say what they said.

#include "support/golden.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "espalier/model/model.h"
#include "model/model_file.h"

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
  EXPECT_EQ(tasks, (std::set<std::string>{"align", "classify", "graph", "parse", "tag", "treebank"}));
}

// Of the table in docs/formats.md, without the parts of dictionaries.
TEST(GoldenModelTest, ThereIsOneWithEachKindOfSection) {
  std::set<std::string> sections;
  for (const std::string& name : golden_names()) {
    ModelFile(golden(name + ".esp")).for_each_section([&](const std::string& section, std::string_view) {
      sections.insert(section);
    });
  }
  for (const char* const section : {"model",
                                    "weights",
                                    "weights.values",
                                    "weights.gaps",
                                    "labels.bytes",
                                    "attributes.bytes",
                                    "transitions.bytes",
                                    "pairs.labels",
                                    "step_pairs.labels",
                                    "ngrams",
                                    "nodes.ids",
                                    "nodes.0.ids",
                                    "templates",
                                    "first_allowed",
                                    "last_allowed",
                                    "steps_allowed",
                                    "gazetteer",
                                    "idf",
                                    "costs",
                                    "relations.bytes",
                                    "pruner",
                                    "tags.bytes",
                                    "symbols.bytes",
                                    "binaries",
                                    "unaries",
                                    "between",
                                    "coarse.binaries",
                                    "coarse.unaries",
                                    "coarse.probabilities",
                                    "words.tags",
                                    "classes.tags"})
    EXPECT_TRUE(sections.contains(section)) << section;
}

}  // namespace
}  // namespace espalier::testing::golden_test
