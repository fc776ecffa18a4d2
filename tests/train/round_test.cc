// Weights of 16 bits and their certificates: of every task, those of what is saved, and never those of what
// was before.

#include "espalier/train/round.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>

#include "espalier/learning/certificate.h"
#include "espalier/learning/objective.h"
#include "espalier/tasks/classify.h"
#include "espalier/tasks/graph.h"
#include "espalier/tasks/parse.h"
#include "espalier/tasks/tag.h"
#include "espalier/tasks/treebank.h"
#include "espalier/train/read.h"
#include "espalier/train/train.h"
#include "support/error_message.h"
#include "support/generated_data.h"
#include "support/model_bytes.h"
#include "support/temporary_folder.h"

namespace espalier::round_test {
namespace {

using testing::error_message;
using testing::generated_graphs;
using testing::generated_sentences;
using testing::model_bytes;

struct Case {
  std::string name;
  std::string (*text)(int seed);
  std::unique_ptr<TrainingSet> (*read)(const std::string& file);
};

const Case kCases[] = {
    {"Classify", [](int seed) { return generated_sentences(seed, 20, append_classify); },
     [](const std::string& file) {
       ClassifyOptions options;
       options.format = "crfsuite";
       return read_classify_training(file, options);
     }},
    {"Tag", [](int seed) { return generated_sentences(seed, 20, append_tag); },
     [](const std::string& file) { return read_tag_training(file, {}); }},
    {"TagObserved", [](int seed) { return generated_sentences(seed, 20, append_tag); },
     [](const std::string& file) {
       TagOptions options;
       options.features = "observed";
       options.order = 2;
       return read_tag_training(file, options);
     }},
    {"Parse", [](int seed) { return generated_sentences(seed, 10, append_parse); },
     [](const std::string& file) {
       ParseOptions options;
       options.hash_bits = 12;
       return read_parse_training(file, options);
     }},
    {"Treebank", [](int seed) { return generated_sentences(seed, 10, append_treebank); },
     [](const std::string& file) {
       TreebankOptions options;
       options.hash_bits = 10;
       return read_treebank_training(file, options);
     }},
    {"Graph", [](int seed) { return generated_graphs(seed, 5); },
     [](const std::string& file) { return read_graph_training(file, {}); }},
};

class RoundTest : public ::testing::TestWithParam<Case> {
 protected:
  std::unique_ptr<TrainingSet> data(int seed) const {
    return GetParam().read(folder.file(fmt::format("train{}", seed), GetParam().text(seed)));
  }
  static TrainOptions options(const Loss& loss, int bits = 32) {
    TrainOptions options;
    options.loss = loss;
    options.l2 = 2;
    options.gap = 1e-2;
    options.passes = 10;
    options.bits = bits;
    return options;
  }
  static Weights weights_of(const Model& model, const TrainingSet& set) {
    Weights theta(set.problem().weight_shape());
    model.predictor().for_each_weight([&](const WeightName& name, float weight) {
      if (float* place = set.find_weight(name, theta)) *place = weight;
    });
    return theta;
  }

  testing::TemporaryFolder folder;
};

INSTANTIATE_TEST_SUITE_P(Tasks, RoundTest, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

TEST_P(RoundTest, TheCertificateIsThatOfTheRoundedWeights) {
  for (const Loss& loss : {Loss::crf(), Loss::svm()}) {
    const auto set = data(1);
    const Model before = train(*set, options(loss)), rounded = train(*set, options(loss, 16));
    EXPECT_EQ(rounded.info().bits, 16);
    // Another primal, computed here from the weights that predictions are made by; the dual bounds the same
    // optimum.
    const Weights theta = weights_of(rounded, *set);
    const double primal = evaluate_primal({set->problem(), loss, 2}, theta);
    EXPECT_NE(rounded.certificate().primal, before.certificate().primal);
    EXPECT_DOUBLE_EQ(rounded.certificate().primal, primal);
    EXPECT_NEAR(primal, before.certificate().primal, 2e-3 * primal);
    EXPECT_EQ(rounded.certificate().dual, before.certificate().dual);
    EXPECT_LE(rounded.certificate().dual, primal);
    EXPECT_EQ(rounded.certificate().passes, before.certificate().passes);

    // No weight is further from what it was than 2^-12 of it, or 2^-26 of the largest.
    const Weights full = weights_of(before, *set);
    double largest = 0;
    for (const float weight : full.values()) largest = std::max<double>(largest, std::abs(weight));
    for (std::size_t j = 0; j < full.values().size(); ++j) {
      const double bound =
          std::max(std::ldexp(std::abs(double{full.values()[j]}), -12), std::ldexp(largest, -26));
      ASSERT_LE(std::abs(double{theta.values()[j]} - full.values()[j]), bound);
    }

    // From the model, without data and with them.
    const Model plain = before.rounded(16);
    EXPECT_FALSE(plain.info().certificate.has_value());
    EXPECT_FALSE(plain.describe().contains("certificate"));
    EXPECT_EQ(plain.info().l2, 2);
    EXPECT_EQ(plain.predictor().all_weights(), before.rounded(16).predictor().all_weights());
    EXPECT_EQ(
        error_message([&] { plain.certificate(); }),
        "the model in memory: no certificate (weights were rounded to 16 bits); expected the model before, "
        "or one that was certified after it");
    const Model certified = round_and_certify(before, 16, *set);
    EXPECT_DOUBLE_EQ(certified.certificate().primal, primal);
    EXPECT_GE(certified.certificate().dual, before.certificate().dual);
    EXPECT_LE(certified.certificate().dual, primal);
    EXPECT_TRUE(weights_of(certified, *set).shape() == theta.shape());
    EXPECT_TRUE(std::ranges::equal(weights_of(certified, *set).values(), theta.values()));
  }
}

// Rounding what was rounded is nothing new, and its certificate stays.
TEST_P(RoundTest, SixteenBitsStayAsTheyAre) {
  const auto set = data(1);
  const Model rounded = train(*set, options(Loss::crf(), 16));
  EXPECT_EQ(model_bytes(rounded.rounded(16)), model_bytes(rounded));
  EXPECT_EQ(model_bytes(rounded.rounded(32)), model_bytes(rounded));
}

// What is not the data of the training does not certify anything.
TEST_P(RoundTest, RefusesOtherData) {
  const auto set = data(1), other = data(2);
  const Model model = train(*set, options(Loss::crf()));
  const std::string message = error_message([&] { round_and_certify(model, 16, *other); });
  EXPECT_TRUE(message.starts_with("the model in memory: ")) << message;
  EXPECT_TRUE(message.ends_with("; expected the data and the options of its training")) << message;
  EXPECT_EQ(
      error_message([&] { round_and_certify(model.rounded(16), 16, *set); }),
      "the model in memory: no certificate (weights were rounded to 16 bits); expected the model before, "
      "or one that was certified after it");
}

TEST(Round, RefusesDataThatDifferALittle) {
  const testing::TemporaryFolder folder;
  ClassifyOptions reading;
  reading.format = "crfsuite";
  const std::string text = "a\tx\nb\ty\na\tx\ty\n";
  const auto set = read_classify_training(folder.file("train", text), reading),
             more = read_classify_training(folder.file("more", text + "a\tx\n"), reading);
  const Model model = train(*set);
  EXPECT_EQ(error_message([&] { round_and_certify(model, 16, *set); }), "(no error)");
  const std::string message = error_message([&] { round_and_certify(model, 16, *more); });
  EXPECT_TRUE(message.starts_with("the model in memory: an objective of ")) << message;
  const auto tags = read_tag_training(folder.file("tags", "x A\ny B\n"), {});
  EXPECT_EQ(error_message([&] { round_and_certify(model, 16, *tags); }),
            "the model in memory: a model of the task classify; expected one of the task tag");
}

TEST(Round, KernelsAreRoundedAndCertified) {
  const testing::TemporaryFolder folder;
  ClassifyOptions reading;
  reading.format = "crfsuite";
  reading.kernel = "poly,2,1,1";
  const auto set = read_classify_training(folder.file("train", "a\tx\nb\ty\na\tx\ty\nb\tz\tx\n"), reading);
  TrainOptions options;
  const Model before = train(*set, options);
  options.bits = 16;
  const Model rounded = train(*set, options);
  EXPECT_EQ(rounded.info().bits, 16);
  EXPECT_NEAR(rounded.certificate().primal, before.certificate().primal, 1e-3 * before.certificate().primal);
  const Model certified = round_and_certify(before, 16, *set);
  EXPECT_DOUBLE_EQ(certified.certificate().primal, rounded.certificate().primal);
  EXPECT_EQ(certified.predictor().all_weights(), rounded.predictor().all_weights());
}

TEST(Round, RefusesOtherNumbersOfBitsBeforeItTrains) {
  const testing::TemporaryFolder folder;
  const auto set = read_tag_training(folder.file("train", "x A\ny B\n"), {});
  TrainOptions options;
  options.bits = 8;
  EXPECT_EQ(error_message([&] { train(*set, options); }), "bits: 8; expected 16 or 32");
}

}  // namespace
}  // namespace espalier::round_test
