#include "model/model_difference.h"

#include <gtest/gtest.h>

#include <cmath>

#include "espalier/tasks/classify.h"
#include "espalier/tasks/tag.h"
#include "model/make_model.h"
#include "support/error_message.h"
#include "support/temporary_folder.h"

namespace espalier {
namespace {

using testing::error_message;
using testing::TemporaryFolder;

class ModelDifferenceTest : public ::testing::Test {
 protected:
  // Weights 1, 2, 3, ... times `scale`, by row and label.
  std::string save(const std::string& name, const TrainingSet& data, float scale, double l2 = 1) const {
    Weights theta(data.problem().weight_shape());
    float next = 0;
    for (std::size_t r = 0; r < theta.shape().rows; ++r) {
      for (std::size_t c = 0; c < theta.shape().width; ++c) theta.row(r)[c] = scale * ++next;
    }
    make_model({std::string(data.task()), Loss::crf(), l2, "eg", Certificate{5, 4, 3}}, data, theta)
        .save(folder.path(name));
    return folder.path(name);
  }
  std::unique_ptr<TrainingSet> classify(const std::string& text) const {
    return read_classify_training(folder.file("data.svm", text), {});
  }

  TemporaryFolder folder;
};

TEST_F(ModelDifferenceTest, EqualModelsHaveNone) {
  const auto data = classify("a 1:1\nb 2:1\n");
  const Model one(save("one.esp", *data, 1)), two(save("two.esp", *data, 1));
  const ModelDifference difference = compare_models(one, two, 3);
  EXPECT_TRUE(difference.settings.empty());
  EXPECT_TRUE(difference.labels_only_first.empty());
  EXPECT_TRUE(difference.labels_only_second.empty());
  EXPECT_EQ(difference.attributes_common, 2u);
  EXPECT_EQ(difference.norm_of_difference, 0);
  EXPECT_DOUBLE_EQ(difference.norm_first, std::sqrt(1 + 4 + 9 + 16));
  EXPECT_TRUE(difference.groups.empty());
}

TEST_F(ModelDifferenceTest, WeightsAreMatchedByName) {
  // first: attributes 1 2, labels a b; rows (1 2) (3 4). second: attributes 2 3, labels b c; rows (2 4) (6
  // 8).
  const auto first = classify("a 1:1\nb 2:1\n"), second = classify("b 2:1\nc 3:1\n");
  const Model one(save("one.esp", *first, 1, 1)), two(save("two.esp", *second, 2, 4));
  const ModelDifference difference = compare_models(one, two, 2);
  ASSERT_EQ(difference.settings.size(), 1u);
  EXPECT_EQ(difference.settings[0].name, "l2");
  EXPECT_EQ(difference.settings[0].first, 1.0);
  EXPECT_EQ(difference.settings[0].second, 4.0);
  EXPECT_EQ(difference.labels_only_first, std::vector<std::string>{"a"});
  EXPECT_EQ(difference.labels_only_second, std::vector<std::string>{"c"});
  EXPECT_EQ(difference.attributes_first, 2u);
  EXPECT_EQ(difference.attributes_second, 2u);
  EXPECT_EQ(difference.attributes_common, 1u);
  // The one weight in common is that of 2 with b: 4 before, 2 now.
  EXPECT_DOUBLE_EQ(difference.norm_of_difference, std::sqrt(1.0 + 4 + 9 + (4 - 2) * (4 - 2) + 16 + 36 + 64));
  ASSERT_EQ(difference.groups.size(), 3u);
  EXPECT_EQ(difference.groups[0].name, "a");
  EXPECT_EQ(difference.groups[0].changes[0].attribute, "2");
  EXPECT_EQ(difference.groups[0].changes[0].first, 3);
  EXPECT_EQ(difference.groups[0].changes[0].second, 0);
  EXPECT_EQ(difference.groups[1].name, "b");
  ASSERT_EQ(difference.groups[1].changes.size(), 2u);
  EXPECT_EQ(difference.groups[1].changes[0].attribute, "3");  // 0 -> 6
  EXPECT_EQ(difference.groups[1].changes[1].attribute, "1");  // 2 -> 0; as large as 4 -> 2, which comes later
  EXPECT_EQ(difference.groups[2].name, "c");
  EXPECT_EQ(difference.groups[2].changes[0].second, 8);
}

TEST_F(ModelDifferenceTest, TransitionsAreAGroupOfTheirOwn) {
  const auto data = read_tag_training(folder.file("data.txt", "a x\nb y\n\n"), {});
  const Model one(save("one.esp", *data, 1)), two(save("two.esp", *data, 2));
  const ModelDifference difference = compare_models(one, two, 1);
  ASSERT_EQ(difference.groups.size(), 3u);
  EXPECT_EQ(difference.groups[0].name, "x");
  EXPECT_EQ(difference.groups[1].name, "y");
  EXPECT_EQ(difference.groups[2].name, "transitions");
  const auto& change = difference.groups[2].changes.at(0);
  EXPECT_EQ(change.attribute, "(transition)");
  EXPECT_EQ(change.before, "y");
  EXPECT_EQ(change.label, "y");
  EXPECT_EQ(change.second, 2 * change.first);
}

TEST_F(ModelDifferenceTest, NeedsModelsOfOneTask) {
  const auto data = classify("a 1:1\nb 2:1\n");
  const auto tagged = read_tag_training(folder.file("data.txt", "a x\nb y\n\n"), {});
  const Model one(save("one.esp", *data, 1)), two(save("two.esp", *tagged, 1));
  EXPECT_EQ(error_message([&] { compare_models(one, two, 1); }),
            "diff: a model of classify and one of tag; expected two of one task");
}

}  // namespace
}  // namespace espalier
