// Training that starts from another model: for every task its weights are found again by their names, and the
// duals that they imply are where the run begins.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/text.h"
#include "espalier/tasks/classify.h"
#include "espalier/tasks/graph.h"
#include "espalier/tasks/parse.h"
#include "espalier/tasks/tag.h"
#include "espalier/tasks/treebank.h"
#include "espalier/train/read.h"
#include "espalier/train/trainer.h"
#include "model/make_model.h"
#include "support/error_message.h"
#include "support/generated_data.h"
#include "support/temporary_folder.h"
#include "train/initial_model.h"

namespace espalier::init_test {
namespace {

using testing::error_message;
using testing::generated_graphs;
using testing::generated_sentences;

ParseOptions parser(const std::string& structure, std::size_t order, bool unlabelled = false) {
  ParseOptions options;
  options.structure = structure;
  options.order = order;
  options.unlabelled = unlabelled;
  options.hash_bits = 18;
  return options;
}

TreebankOptions treebank(const std::string& tags) {
  TreebankOptions options;
  options.tags = tags;
  options.hash_bits = 12;
  return options;
}

struct Case {
  std::string name;
  // The first so many sentences, or graphs, of a treebank without end.
  std::string (*text)(int count);
  std::unique_ptr<TrainingSet> (*read)(const std::string& file);
  int count = 60;
  double l2 = 1;
  bool tells_new_apart = true;  // else too many examples look new, and the run begins as without a model
};

const Case kCases[] = {
    {"Classify", [](int count) { return generated_sentences(1, count, append_classify); },
     [](const std::string& file) {
       ClassifyOptions options;
       options.format = "crfsuite";
       return read_classify_training(file, options);
     }},
    {"Tag", [](int count) { return generated_sentences(1, count, append_tag); },
     [](const std::string& file) { return read_tag_training(file, {}); }},
    {"Parse", [](int count) { return generated_sentences(1, count, append_parse); },
     [](const std::string& file) { return read_parse_training(file, parser("projective", 1)); }},
    {"ParseUnlabelled", [](int count) { return generated_sentences(1, count, append_parse); },
     [](const std::string& file) { return read_parse_training(file, parser("nonprojective", 1, true)); }},
    {"ParseOfSecondOrder", [](int count) { return generated_sentences(1, count, append_parse); },
     [](const std::string& file) { return read_parse_training(file, parser("projective", 2)); }},
    {"Treebank", [](int count) { return generated_sentences(1, count, append_treebank); },
     [](const std::string& file) { return read_treebank_training(file, treebank("gold")); }},
    {"TreebankWithTags", [](int count) { return generated_sentences(1, count, append_treebank); },
     [](const std::string& file) { return read_treebank_training(file, treebank("predicted")); }, 60, 1,
     false},
    {"Graph", [](int count) { return generated_graphs(1, count); },
     [](const std::string& file) { return read_graph_training(file, {}); }, 20, 4},
};

class InitTest : public ::testing::TestWithParam<Case> {
 protected:
  std::unique_ptr<TrainingSet> data(int count) const {
    return GetParam().read(folder.file("train", GetParam().text(count)));
  }
  TrainOptions options(double gap = 1e-3) const {
    return {.l2 = GetParam().l2, .solver = "eg", .gap = gap, .report_every = 0.5};
  }
  // Of data(count) with options(), trained once for all tests.
  Model cold_model() const {
    static std::map<std::string, Model> models;
    const auto found = models.find(GetParam().name);
    if (found != models.end()) return found->second;
    return models.emplace(GetParam().name, train(*data(GetParam().count), options())).first->second;
  }

  testing::TemporaryFolder folder;
};

INSTANTIATE_TEST_SUITE_P(Tasks, InitTest, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

// The first report of a run that starts from its own model is that of the model.
TEST_P(InitTest, BeginsWhereTheModelIs) {
  const auto set = data(GetParam().count);
  const Model cold = cold_model();
  for (const bool keep_marginals : {true, false}) {
    TrainOptions warm_options = options(2e-3);
    warm_options.init = cold;
    warm_options.solver_options.eg.recompute = !keep_marginals;
    std::vector<Progress> history;
    const Model warm = train(*set, warm_options, [&](const Progress& progress, const Weights&) {
      history.push_back(progress);
      return Control::go_on;
    });
    EXPECT_NEAR(history.at(0).primal, cold.certificate().primal, 0.02 * cold.certificate().primal);
    EXPECT_LT(warm.certificate().passes, 0.4 * cold.certificate().passes);
  }
  // Without duals: the very weights.
  TrainOptions weights = options();
  weights.solver = "lbfgs";
  weights.init = cold;
  weights.passes = 1e-9;
  EXPECT_EQ(train(*set, weights).predictor().all_weights(), cold.predictor().all_weights());
}

// Solvers on clique marginals take those of the same distributions.
TEST_P(InitTest, HandsOverToSdca) {
  const auto set = data(GetParam().count);
  if (set->problem().factored() == nullptr) return;  // a structure that sdca is not for
  TrainOptions sdca = options();
  sdca.solver = "sdca";
  const Model cold = train(*set, sdca);
  sdca.init = cold_model();
  EXPECT_LT(train(*set, sdca).certificate().passes, 0.4 * cold.certificate().passes);
}

// A few examples are new.
TEST_P(InitTest, SavesPassesWithMoreData) {
  const int count = GetParam().count;
  const auto set = data(count + count / (GetParam().tells_new_apart ? 20 : 10));
  TrainOptions warm = options();
  warm.init = cold_model();
  const std::string beginning = Trainer(*set, warm, warm.l2).beginning();
  if (!GetParam().tells_new_apart) {
    EXPECT_EQ(beginning, "the model in memory: not a good starting point for eg here; started from scratch");
    return;
  }
  EXPECT_TRUE(beginning.starts_with("started from the model in memory: ")) << beginning;
  EXPECT_LT(train(*set, warm).certificate().passes, 0.9 * train(*set, options()).certificate().passes);
}

TEST_P(InitTest, RecomputedMarginalsAreNotKept) {
  const auto set = data(GetParam().count);
  const Model model = cold_model();
  const Objective objective{set->problem(), Loss::crf(), GetParam().l2};
  for (const bool keep : {true, false}) {
    SolverSettings settings;
    settings.eg.recompute = !keep;
    const auto start =
        start_from_model(model, *set, objective, find_solver("eg", objective.loss), settings).training;
    ASSERT_TRUE(start.dual);
    EXPECT_EQ(start.dual->keeps_marginals(), keep);
  }
}

// Attributes that a model left out, since their weights are zero, look like new ones. All others are found
// again, and so is the place where the model was.
TEST(InitSparse, StartsFromAModelWithoutZeros) {
  const testing::TemporaryFolder folder;
  for (const char* features : {"all", "observed"}) {
    TagOptions tagging;
    tagging.features = features;
    const auto set = read_tag_training(folder.file("train", generated_sentences(1, 60, append_tag)), tagging);
    TrainOptions options{.l2 = 1, .solver = "eg", .gap = 1e-3, .report_every = 0.5};
    const Model cold = train(*set, options);
    // The lighter half of the weights is zero.
    Weights theta(set->problem().weight_shape());
    std::vector<float> sizes;
    cold.predictor().for_each_weight([&](const WeightName& name, float weight) {
      *set->find_weight(name, theta) = weight;
      sizes.push_back(std::abs(weight));
    });
    std::ranges::sort(sizes);
    for (float& weight : theta.values()) weight = std::abs(weight) < sizes[sizes.size() / 2] ? 0 : weight;
    const Model sparse = make_model(cold.info(), *set, theta);
    const std::size_t left = sparse.predictor().attributes().size(), all = set->attributes().size();
    ASSERT_LT(left, all);

    options.init = sparse;
    EXPECT_EQ(
        Trainer(*set, options, 1.0).beginning(),
        fmt::format("started from the model in memory: 9 of its 9 labels, {0} of its {0} attributes ({1} "
                    "new or without weights there)",
                    grouped(left), grouped(all - left)));
    EXPECT_LT(train(*set, options).certificate().passes, cold.certificate().passes);
    options.solver = "lbfgs";
    options.passes = 1e-9;
    const Model again = train(*set, options);
    EXPECT_EQ(again.predictor().all_weights(), sparse.predictor().all_weights());
  }
}

// With l1 alone there are no duals to start from: the very weights.
TEST(InitSparse, StartsFromTheWeightsWithoutL2) {
  const testing::TemporaryFolder folder;
  const auto set = read_tag_training(folder.file("train", generated_sentences(1, 60, append_tag)), {});
  TrainOptions options{.l2 = 0, .l1 = 1, .gap = 1e-2, .passes = 60};
  const Model cold = train(*set, options);
  options.init = cold;
  options.passes = 1e-9;
  EXPECT_EQ(train(*set, options).predictor().all_weights(), cold.predictor().all_weights());
}

// Labels, tags and rules of another treebank have other numbers: what counts is what they are called.
TEST(InitTreebank, WeightsAreFoundByNameInAnotherGrammar) {
  const testing::TemporaryFolder folder;
  const std::string some = generated_sentences(1, 20, append_treebank),
                    others = generated_sentences(2, 20, append_treebank), odd = "(TOP (X (FRAG (UH oh))))\n";
  for (const char* tags : {"gold", "predicted"}) {
    const auto before = read_treebank_training(folder.file("old.mrg", some + others + odd), treebank(tags)),
               now = read_treebank_training(folder.file("new.mrg", odd + others + some), treebank(tags));
    TrainOptions options{.l2 = 0.1, .solver = "lbfgs"};
    const Model model = train(*before, options);
    options.init = model;
    options.passes = 1e-9;
    const Model moved = train(*now, options);
    std::size_t found = 0;
    moved.predictor().for_each_weight([&](const WeightName& name, float weight) {
      ASSERT_EQ(model.predictor().find_weight(name), weight) << name.attribute << ' ' << name.label;
      found += weight != 0 ? 1 : 0;
    });
    EXPECT_GT(found, 100u);
    // The same trees, whatever their order: so the same objective.
    EXPECT_NEAR(moved.certificate().primal, model.certificate().primal, 1e-3 * model.certificate().primal);
  }
}

TEST(InitTreebank, RefusesWeightsThatMeanSomethingElse) {
  const testing::TemporaryFolder folder;
  const std::string file = folder.file("train.mrg", generated_sentences(1, 20, append_treebank));
  TrainOptions options{.gap = 0.1};
  options.init = train(*read_treebank_training(file, treebank("gold")), options);
  const auto message_with = [&](const auto& change) {
    TreebankOptions other = treebank("gold");
    change(other);
    const auto set = read_treebank_training(file, other);
    return error_message([&] { train(*set, options); });
  };
  EXPECT_EQ(message_with([](TreebankOptions& other) { other.hash_bits = 11; }),
            "the model in memory: a model with hash_bits 12; expected hash_bits 11, as in this run");
  EXPECT_EQ(message_with([](TreebankOptions& other) { other.tags = "predicted"; }),
            "the model in memory: a model with tags \"gold\"; expected tags \"predicted\", as in this run");
  EXPECT_EQ(message_with([](TreebankOptions& other) { other.vertical = 2; }),
            "the model in memory: a model with vertical 1; expected vertical 2, as in this run");
  EXPECT_EQ(message_with([](TreebankOptions& other) { other.keep_functions = true; }),
            "the model in memory: a model with functions false; expected functions true, as in this run");
  EXPECT_EQ(message_with([](TreebankOptions& other) { other.prune_below = 1e-5; }), "(no error)");
}

}  // namespace
}  // namespace espalier::init_test
