// Tagging models of observed features and of higher order, from training data to prediction.

#include "tasks/tag/layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/random.h"
#include "support/error_message.h"
#include "support/random_problem.h"
#include "support/temporary_folder.h"
#include "tasks/tag/model.h"
#include "tasks/tag/weights.h"
#include "tasks/trained.h"

namespace espalier::tag_layout_test {
namespace {

using testing::error_message;
using testing::TemporaryFolder;
using testing::Trained;

constexpr const char* kColumns = "x A\ny B\nx A\n\nx A\nx A\nz C\ny B\n\nz A\n";

struct Layout {
  const char* name;
  const char* features;
  std::size_t order;
  const char* templates;  // empty: the built-in attributes
};
const std::vector<Layout> kLayouts{
    {"all", "all", 1, ""},
    {"observed", "observed", 1, ""},
    {"order 2", "all", 2, ""},
    {"all transitions", "observed-attributes", 1, ""},
    {"all attributes", "observed-transitions", 1, ""},
    {"all transitions, order 2", "observed-attributes", 2, ""},
    {"all steps that look at the input", "observed-attributes", 1, "U:%x[0,0]\nB\nB:%x[0,0]\n"},
    {"observed, order 3", "observed", 3, "U:%x[0,0]\nB\n"},
    {"steps that look at the input", "observed", 1, "U:%x[0,0]\nB\nB:%x[0,0]\n"},
    {"order 2, steps that look at the input", "observed", 2, "U:%x[0,0]\nB:%x[-1,0]/%x[0,0]\n"},
    {"no transitions", "observed", 1, "U:%x[0,0]\n"},
    {"no transitions, but triples", "observed", 2, "U:%x[0,0]\n"},
};

class TagLayoutTest : public ::testing::Test {
 protected:
  std::unique_ptr<TrainingSet> read(const Layout& layout, const char* text = kColumns) {
    TagOptions options;
    options.features = layout.features;
    options.order = layout.order;
    if (*layout.templates) options.templates = folder.file("template", layout.templates);
    return read_tag_training(folder.file("columns.txt", text), options);
  }
  static TagModel load(const Trained& tagger) {
    return TagModel::load({tagger.sections.settings,
                           [&](std::string_view name) -> std::string_view {
                             for (const auto& [array, bytes] : tagger.sections.arrays) {
                               if (array == name) return bytes;
                             }
                             throw Error("no array " + std::string(name));
                           },
                           tagger.theta, Loss::crf(), "model.esp"});
  }

  TemporaryFolder folder;
};

TEST_F(TagLayoutTest, AModelHasTheShapeOfItsTraining) {
  for (const Layout& layout : kLayouts) {
    const auto set = read(layout);
    const WeightShape weights = set->problem().weight_shape();
    const Trained tagger(load_tag_predictor, set->sections(), test_support::random_weights(1, weights));
    const TagModel model = load(tagger);
    EXPECT_EQ(model.shape().weights(), weights) << layout.name;
    EXPECT_EQ(model.shape().observed(), layout.features != std::string("all")) << layout.name;
    const TaskSections again = model.sections();
    EXPECT_EQ(again.settings, tagger.sections.settings) << layout.name;
    EXPECT_EQ(again.arrays, tagger.sections.arrays) << layout.name;
  }
}

// The chain of a stream is that of a problem.
TEST_F(TagLayoutTest, PredictsAsTrainingEvaluates) {
  const std::string dev = folder.file("dev.txt", "y B\nx A\ny B\nz C\n\nx A\nq B\n\nz C\n\nx A\nx C\nx B\n");
  for (const Layout& layout : kLayouts) {
    const auto set = read(layout);
    set->read_dev(dev);
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const Weights theta = test_support::random_weights(seed, set->problem().weight_shape());
      const Trained tagger(load_tag_predictor, set->sections(), theta);
      EXPECT_EQ(tagger.predictor->evaluate(dev, {}).report, set->evaluate_dev(theta).report) << layout.name;
    }
  }
}

TEST_F(TagLayoutTest, ShowsTheWeightsThatThereAre) {
  const auto observed = read({"", "observed", 2, "U:%x[0,0]\nB\n"});
  EXPECT_EQ(
      observed->sections().settings.dump(),
      R"({"format":"columns","columns":2,"label_column":2,"order":2,"features":"observed","step_pairs":false})");
  const auto weights_of = [](const TrainingSet& set) {
    Weights theta(set.problem().weight_shape());
    for (std::size_t e = 0; e < theta.shape().rows; ++e) *theta.row(e) = static_cast<float>(e + 1);
    return theta;
  };
  const Trained tagger(load_tag_predictor, observed->sections(), weights_of(*observed));
  EXPECT_EQ(tagger.predictor->all_weights(),
            "U:x\tA\t1\nU:y\tB\t2\nU:z\tA\t3\nU:z\tC\t4\n"
            "B\tA\tA\t5\nB\tA\tB\t6\nB\tA\tC\t7\nB\tB\tA\t8\nB\tC\tB\t9\n"
            "B\tA\tA\tC\t10\nB\tA\tB\tA\t11\nB\tA\tC\tB\t12\n");
  EXPECT_EQ(tagger.predictor->strongest(2),
            "A\n    +3.0000  U:z\n    +1.0000  U:x\nB\n    +2.0000  U:y\nC\n    +4.0000  U:z\n"
            "transitions\n   +12.0000  A -> C -> B\n   +11.0000  A -> B -> A\n");

  const auto steps = read({"", "observed", 1, "U:%x[0,0]\nB:%x[0,0]\n"});
  const Trained untied(load_tag_predictor, steps->sections(), weights_of(*steps));
  EXPECT_TRUE(untied.predictor->all_weights().ends_with(
      "B:y\tA\tB\t5\nB:y\tC\tB\t6\nB:x\tA\tA\t7\nB:x\tB\tA\t8\nB:z\tA\tC\t9\n"))
      << untied.predictor->all_weights();
  EXPECT_TRUE(untied.predictor->strongest(1).ends_with("transitions\n    +9.0000  A -> C  B:z\n"));
}

// A sentence of two tokens has one kind of step, but is no sentence of a model whose steps are all alike.
TEST_F(TagLayoutTest, StepsOfShortSentencesLookAtTheInput) {
  const auto set = read({"", "observed", 1, "U:%x[0,0]\nB:%x[0,0]\n"});
  const Trained zero(load_tag_predictor, set->sections(), Weights(set->problem().weight_shape()));
  const TagModel model = load(zero);
  Weights theta = zero.theta;
  const auto label = [&](const char* name) { return model.dictionaries.labels.find(name).value(); };
  const auto place =
      model.shape().step_weight(model.dictionaries.transitions.find("B:y").value(), label("C"), label("B"));
  theta.row(place.value().row)[place->column] = 3;
  const Trained tagger(load_tag_predictor, set->sections(), theta);
  EXPECT_EQ(tagger.predict(folder.file("two.txt", "x\ny\n\nx\nx\n\ny\n")),
            "x\tC\ny\tB\n\nx\tA\nx\tA\n\ny\tA\n\n");
}

// With every pair, features have the optimum that all features have.
TEST_F(TagLayoutTest, ObservedOnOneSideAreAllOnTheOther) {
  const auto count = [&](const char* features, double min_freq = 0) {
    TagOptions options;
    options.format = "crfsuite";
    options.features = features;
    options.min_freq = min_freq;
    const auto set = read_tag_training(
        folder.file("train.txt", "A\tx\ty:0.5\nB\ty\n\nA\tx\ty:0.5\nC\tx\n\nB\tz\n"), options);
    const TagModel model =
        load(Trained(load_tag_predictor, set->sections(), Weights(set->problem().weight_shape())));
    std::size_t tokens = 0, steps = 0;
    for_each_weight(model, Weights(model.shape().weights()),
                    [&](const WeightName& name, float) { ++(name.before.empty() ? tokens : steps); });
    return std::pair(tokens, steps);
  };
  using Counts = std::pair<std::size_t, std::size_t>;
  EXPECT_EQ(count("all"), Counts(9, 9));
  EXPECT_EQ(count("observed"), Counts(5, 2));
  EXPECT_EQ(count("observed-attributes"), Counts(5, 9));
  EXPECT_EQ(count("observed-transitions"), Counts(9, 2));
  // x A twice, y A adds up to 1, y B, x C, z B; A B and A C once.
  EXPECT_EQ(count("observed", 1), Counts(5, 2));
  EXPECT_EQ(count("all", 1), Counts(5, 2));
  EXPECT_EQ(count("observed", 1.5), Counts(1, 0));
  EXPECT_EQ(error_message([&] { count("observed", -1); }), "min_freq: -1; expected a number >= 0");
}

TEST_F(TagLayoutTest, RefusesWhatIsNoLayout) {
  const auto message = [&](const char* features, std::size_t order) {
    return error_message([&] { read({"", features, order, ""}); });
  };
  EXPECT_EQ(message("some", 1),
            "features: unknown set of features 'some'; expected all, observed, observed-attributes or "
            "observed-transitions");
  EXPECT_EQ(message("all", 0), "order: 0; expected 1 to 4");
  EXPECT_EQ(message("all", 5), "order: 5; expected 1 to 4");
}

TEST_F(TagLayoutTest, RefusesModelsThatDoNotFit) {
  const auto set = read({"", "observed", 2, "U:%x[0,0]\nB\n"});
  const Weights theta(set->problem().weight_shape());
  const auto refusal = [&](TaskSections sections) {
    return error_message([&] { Trained(load_tag_predictor, std::move(sections), theta); });
  };
  EXPECT_EQ(refusal(set->sections()), "(no error)");
  const auto with_setting = [&](const char* key, const Json& value) {
    TaskSections sections = set->sections();
    sections.settings[key] = value;
    return refusal(std::move(sections));
  };
  EXPECT_EQ(with_setting("features", "few"), "model.esp: a model of the features 'few'; retrain the model");
  EXPECT_EQ(with_setting("order", 5), "model.esp: a model of order 5; retrain the model");
  EXPECT_EQ(with_setting("order", 1), "model.esp: an n-gram of 3 labels for order 1; retrain the model");
  EXPECT_EQ(with_setting("features", "all"),
            "model.esp: 12 x 1 weights for 3 labels, 3 attributes, 1 of transitions; expected one for each "
            "label, or "
            "pair of them; retrain the model");

  const auto with_array = [&]<class T>(const char* name, const std::vector<T>& values) {
    TaskSections sections = set->sections();
    for (auto& [array, bytes] : sections.arrays) {
      if (array == name) bytes = {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
    }
    return refusal(std::move(sections));
  };
  using Offsets = std::vector<std::uint64_t>;
  using Labels = std::vector<std::uint32_t>;
  EXPECT_EQ(with_array("pairs.offsets", Offsets{0, 1, 2, 4}), "(no error)");
  const std::string misfit = "model.esp: pairs that do not fit 3 attributes; retrain the model";
  for (const Offsets& bad :
       {Offsets{0, 1, 4}, Offsets{0, 1, 2, 3}, Offsets{1, 1, 2, 4}, Offsets{0, 3, 2, 4}, Offsets{}}) {
    EXPECT_EQ(with_array("pairs.offsets", bad), misfit) << bad.size();
  }
  EXPECT_EQ(with_array("pairs.labels", Labels{0, 1, 0, 3}),
            "model.esp: pairs: label 3 out of order; retrain the model");
  EXPECT_EQ(with_array("pairs.labels", Labels{0, 1, 2, 2}),
            "model.esp: pairs: label 2 out of order; retrain the model");
  EXPECT_EQ(with_array("ngrams", Labels{2, 0}),
            "model.esp: an n-gram of 2 labels for order 2; retrain the model");
  EXPECT_EQ(with_array("ngrams", Labels{1, 0}),
            "model.esp: an n-gram of 1 label for order 2; retrain the model");
  EXPECT_EQ(with_array("ngrams", Labels{2, 0, 3}), "model.esp: label 3 of 3 in an n-gram; retrain the model");
  EXPECT_EQ(with_array("ngrams", Labels{2, 0, 1, 2, 0, 1}), "model.esp: an n-gram twice; retrain the model");
}

}  // namespace
}  // namespace espalier::tag_layout_test
