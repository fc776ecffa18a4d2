// Matrices in memory: training gives the model that a LIBSVM file of the same rows gives, to the byte, and
// what a model says of rows is what it says of the same attributes by name.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "espalier/learning/certificate.h"
#include "espalier/learning/objective.h"
#include "espalier/tasks/classify.h"
#include "espalier/train/train.h"
#include "support/error_message.h"
#include "support/model_bytes.h"
#include "support/temporary_folder.h"

namespace espalier::matrices_in_memory_test {
namespace {

using testing::error_message;
using testing::model_bytes;
using testing::TemporaryFolder;

// Rows of all columns, zeros as well.
class Table final : public NumberedRows {
 public:
  explicit Table(std::vector<std::vector<float>> rows) : rows_(std::move(rows)) {}
  std::size_t size() const override { return rows_.size(); }
  std::size_t num_columns() const override { return rows_.empty() ? 0 : rows_[0].size(); }
  void get(std::size_t i, std::vector<std::uint32_t>& columns, std::vector<float>& values) const override {
    columns.clear();
    values = rows_[i];
    for (std::uint32_t c = 0; c < values.size(); ++c) columns.push_back(c);
  }
  float at(std::size_t i, std::size_t c) const { return rows_[i][c]; }

 private:
  std::vector<std::vector<float>> rows_;
};

const std::vector<std::string> kLabels{"2", "10", "-1"};

Table random_table(std::size_t columns, std::size_t rows) {
  const auto value = rc::gen::element<float>(0.0f, 0.0f, 1.0f, -2.0f, 0.25f);
  std::vector<std::vector<float>> table(rows);
  for (auto& row : table) {
    for (std::size_t c = 0; c < columns; ++c) row.push_back(*value);
  }
  table[0][columns - 1] = 1;  // there is an attribute
  return Table(std::move(table));
}

RC_GTEST_PROP(ClassifyMatrix, IsWhatAFileHas, ()) {
  const auto columns = *rc::gen::inRange<std::size_t>(1, 12);
  const auto rows = *rc::gen::inRange<std::size_t>(3, 20);
  const Table table = random_table(columns, rows);
  const bool named = *rc::gen::arbitrary<bool>();
  std::vector<std::string> names;
  for (std::size_t c = 0; named && c < columns; ++c) names.push_back(fmt::format("c{}", c));
  std::vector<std::uint32_t> labels;
  std::string text;
  for (std::size_t i = 0; i < rows; ++i) {
    labels.push_back(i < 2 ? static_cast<std::uint32_t>(i) : *rc::gen::inRange<std::uint32_t>(0, 3));
    text += kLabels[labels.back()];
    for (std::size_t c = 0; c < columns; ++c) {
      if (table.at(i, c) != 0)
        text += fmt::format(" {}:{}", named ? names[c] : std::to_string(c + 1), table.at(i, c));
    }
    text += '\n';
  }
  ClassifyOptions options;
  options.bias = *rc::gen::arbitrary<bool>();
  options.min_count = *rc::gen::inRange<std::size_t>(1, 3);
  if (options.min_count > 1) options.bias = true;  // so that something is left
  const TemporaryFolder folder;
  const std::string file = folder.file("train.svm", text);
  const ClassifyMatrix data{table, names, labels, kLabels};
  const auto one = make_classify_training(data, options, &data);
  if (named) options.format = "named";
  const auto other = read_classify_training(file, options);
  other->read_dev(file);
  RC_ASSERT(one->describe() == other->describe());
  RC_ASSERT(one->fingerprint() == other->fingerprint());
  const TrainOptions until{.l2 = 0.5, .gap = 1e-4, .passes = 50};
  const Model model = train(*one, until);
  const bool same = model_bytes(model) == model_bytes(train(*other, until));
  RC_ASSERT(same);

  const Classifier& classifier = model.classifier();
  std::vector<double> scores(rows * classifier.num_labels());
  classifier.score_rows(table, names, scores);
  std::vector<double> probabilities = scores;
  classifier.rows_to_probabilities(probabilities);
  for (std::size_t i = 0; i < rows; ++i) {
    std::vector<std::string> texts;
    std::vector<Classifier::Attribute> attributes;
    for (std::size_t c = 0; c < columns; ++c) texts.push_back(named ? names[c] : std::to_string(c + 1));
    for (std::size_t c = 0; c < columns; ++c) attributes.push_back({texts[c], table.at(i, c)});
    const auto begin = static_cast<std::ptrdiff_t>(i * classifier.num_labels()),
               end = begin + static_cast<std::ptrdiff_t>(classifier.num_labels());
    RC_ASSERT(classifier.scores(attributes) == std::vector(scores.begin() + begin, scores.begin() + end));
    RC_ASSERT(classifier.probabilities(attributes) ==
              std::vector(probabilities.begin() + begin, probabilities.begin() + end));
  }
}

// At the same weights, an example of weight 2 costs what two of them cost.
TEST(ClassifyMatrix, WeightsCountExamplesSeveralTimes) {
  const Table once({{1, 0}, {0, 1}, {1, 1}}), twice({{1, 0}, {0, 1}, {0, 1}, {1, 1}});
  const std::vector<std::uint32_t> labels{0, 1, 2}, labels_twice{0, 1, 1, 2};
  const std::vector<double> weights{1, 2, 1};
  const auto weighted = make_classify_training({once, {}, labels, kLabels, weights});
  const auto repeated = make_classify_training({twice, {}, labels_twice, kLabels});
  ClassifyData named;
  named.add(std::vector<ClassifyData::Attribute>{{"1", 1}}, "2");
  named.add(std::vector<ClassifyData::Attribute>{{"2", 1}}, "10", 2);
  named.add(std::vector<ClassifyData::Attribute>{{"1", 1}, {"2", 1}}, "-1");
  const auto by_name = make_classify_training(named);
  Weights theta(weighted->problem().weight_shape());
  for (std::size_t a = 0; a < 2; ++a) {
    for (std::size_t y = 0; y < 3; ++y)
      theta.row(a)[y] = static_cast<float>(a + 1) * (y == 1 ? 0.5f : -0.25f);
  }
  const auto primal = [&](const TrainingSet& set) {
    return evaluate_primal({set.problem(), Loss::crf(), Regularizer(0.5)}, theta);
  };
  EXPECT_DOUBLE_EQ(primal(*weighted), primal(*repeated));
  EXPECT_DOUBLE_EQ(primal(*weighted), primal(*by_name));
  EXPECT_NE(weighted->fingerprint(), make_classify_training({once, {}, labels, kLabels})->fingerprint());
}

TEST(ClassifyMatrix, RefusesWhatDoesNotFit) {
  const Table table({{1, 0}, {0, 1}});
  const std::vector<std::uint32_t> labels{0, 1}, unknown{0, 3};
  const std::vector<std::string> names{"a"};
  const auto message = [](const ClassifyMatrix& data, const ClassifyOptions& options = {}) {
    return error_message([&] { make_classify_training(data, options); });
  };
  EXPECT_EQ(
      message({table, {}, std::span(labels).first(1), kLabels}),
      "data in memory: 2 rows, 1 labels and 0 weights; expected a label for each row, and as many weights "
      "or none");
  EXPECT_EQ(message({table, {}, unknown, kLabels}),
            "data in memory:2: no label; expected one for each example");
  EXPECT_EQ(message({table, names, labels, kLabels}),
            "data in memory: 1 names for 2 columns; expected one for each");
  const std::vector<double> weights{1, 0};
  EXPECT_EQ(message({table, {}, labels, kLabels, weights}),
            "data in memory:2: the weight 0; expected a finite number above 0");
  const Table nan({{1, 0}, {0, std::numeric_limits<float>::quiet_NaN()}});
  EXPECT_EQ(message({nan, {}, labels, kLabels}),
            "data in memory:2: the value nan in column 1; expected a finite number");
  ClassifyOptions of_crfsuite;
  of_crfsuite.format = "crfsuite";
  EXPECT_EQ(message({table, {}, labels, kLabels}, of_crfsuite),
            "format: crfsuite given with data in memory; expected none, or libsvm");
  ClassifyData data;
  EXPECT_EQ(error_message([&] { data.add({}, "yes", -1); }),
            "data in memory:1: the weight -1; expected a finite number above 0");
}

}  // namespace
}  // namespace espalier::matrices_in_memory_test
