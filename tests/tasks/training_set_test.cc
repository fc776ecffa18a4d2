// What every task's training data offer to cross-validation, --init and checkpoints.

#include <gtest/gtest.h>

#include <numeric>

#include "espalier/tasks/classify.h"
#include "espalier/tasks/tag.h"
#include "support/random_problem.h"
#include "support/temporary_folder.h"

namespace espalier::training_set_test {
namespace {

using testing::TemporaryFolder;

class TrainingSetTest : public ::testing::Test {
 protected:
  TemporaryFolder folder;
  std::string tags = folder.file("train.txt", "a B-X\nb I-X\n\nc O\na B-Y\na O\n\nb O\n\n");
  std::string rows = folder.file("train.svm", "x 1:1 2:0.5\ny 2:1\nz 3:2\nx 1:0.1\n");
  std::unique_ptr<TrainingSet> tag = read_tag_training(tags, {});
  std::unique_ptr<TrainingSet> classify = read_classify_training(rows, {});
};

TEST_F(TrainingSetTest, EvaluatesExamplesLikeADevSetOfThem) {
  tag->read_dev(folder.file("dev.txt", "c O\na B-Y\na O\n\nb O\n\n"));
  classify->read_dev(folder.file("dev.svm", "y 2:1\nz 3:2\n"));
  const std::vector<std::uint32_t> chosen{1, 2};
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    for (const TrainingSet* data : {tag.get(), classify.get()}) {
      const Weights theta = test_support::random_weights(seed, data->problem().weight_shape());
      const Evaluation some = data->evaluate_examples(theta, chosen), dev = data->evaluate_dev(theta);
      EXPECT_EQ(some.report.dump(), dev.report.dump());
      EXPECT_EQ(some.dev_error, dev.dev_error);
      EXPECT_EQ(some.metric, data == tag.get() ? "F1 %" : "error %");
      EXPECT_NEAR(some.value, data == tag.get() ? 100 * (1 - some.dev_error) : 100 * some.dev_error, 1e-9);
    }
  }
}

// conlleval takes two neighbouring chunks S-X for one. They are two, for whoever looks.
TEST_F(TrainingSetTest, EvaluatesExamplesInTheirEncoding) {
  const auto options = [] {
    TagOptions bioes;
    bioes.encoding = "bioes";
    return bioes;
  }();
  const std::string text = "a S-X\na S-X\n\nb O\n\n";
  const auto encoded = read_tag_training(folder.file("encoded.txt", text), options);
  encoded->read_dev(folder.file("dev.txt", text));
  const std::vector<std::uint32_t> all{0, 1};
  const Weights theta(encoded->problem().weight_shape());
  const Evaluation some = encoded->evaluate_examples(theta, all), dev = encoded->evaluate_dev(theta);
  EXPECT_EQ(some.report.at("chunks").at("gold"), 2);
  EXPECT_EQ(some.report.dump(), dev.report.dump());
}

TEST_F(TrainingSetTest, FindsWeightsByName) {
  Weights theta(classify->problem().weight_shape());
  float* place = classify->find_weight({"2", {}, "y"}, theta);
  ASSERT_NE(place, nullptr);
  EXPECT_EQ(place, theta.row(*classify->attributes().find("2")) + *classify->labels().find("y"));
  const std::string_view before[] = {"x"};
  EXPECT_EQ(classify->find_weight({"4", {}, "y"}, theta), nullptr);
  EXPECT_EQ(classify->find_weight({"2", {}, "w"}, theta), nullptr);
  EXPECT_EQ(classify->find_weight({"2", before, "y"}, theta), nullptr);

  theta = Weights(tag->problem().weight_shape());
  const std::size_t attributes = tag->attributes().size(), labels = tag->labels().size();
  const std::string_view outside[] = {"O"}, unknown[] = {"Q"}, two[] = {"O", "O"};
  place = tag->find_weight({"(transition)", outside, "B-Y"}, theta);
  ASSERT_NE(place, nullptr);
  EXPECT_EQ(place, theta.row(attributes + *tag->labels().find("O")) + *tag->labels().find("B-Y"));
  EXPECT_EQ(theta.shape().rows, attributes + labels);
  const std::string_view name = tag->attributes().name(3);
  EXPECT_EQ(tag->find_weight({name, {}, "O"}, theta), theta.row(3) + *tag->labels().find("O"));
  EXPECT_EQ(tag->find_weight({"(transition)", unknown, "O"}, theta), nullptr);
  EXPECT_EQ(tag->find_weight({"(transition)", two, "O"}, theta), nullptr);
  EXPECT_EQ(tag->find_weight({"(transition)", {}, "O"}, theta), nullptr);
  EXPECT_EQ(tag->find_weight({name, outside, "O"}, theta), nullptr);
}

TEST_F(TrainingSetTest, FingerprintsAreThoseOfTheFeatures) {
  const auto of = [&](const std::string& text) {
    return read_classify_training(folder.file("other.svm", text), {})->fingerprint();
  };
  EXPECT_EQ(of("x 1:1 2:0.5\ny 2:1\nz 3:2\nx 1:0.1\n"), classify->fingerprint());
  EXPECT_NE(of("x 1:1 2:0.5\ny 2:1\nz 3:2\nx 1:0.2\n"), classify->fingerprint());
  EXPECT_NE(of("x 1:1 2:0.5\ny 2:1\nz 3:2\nx 2:0.1\n"), classify->fingerprint());
  EXPECT_NE(of("x 1:1 2:0.5\ny 2:1\nz 3:2\n"), classify->fingerprint());
  EXPECT_EQ(read_tag_training(tags, {})->fingerprint(), tag->fingerprint());
  const auto joined = folder.file("joined.txt", "a B-X\nb I-X\nc O\na B-Y\na O\n\nb O\n\n");
  EXPECT_NE(read_tag_training(joined, {})->fingerprint(), tag->fingerprint());
}

}  // namespace
}  // namespace espalier::training_set_test
