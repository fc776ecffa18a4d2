// Models of weights many of which are zero: what they leave out changes nothing that they say.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "base/input.h"
#include "espalier/tasks/classify.h"
#include "espalier/tasks/graph.h"
#include "espalier/tasks/parse.h"
#include "espalier/tasks/registry.h"
#include "espalier/tasks/tag.h"
#include "espalier/tasks/treebank.h"
#include "espalier/train/read.h"
#include "model/make_model.h"
#include "model/model_file.h"
#include "support/error_message.h"
#include "support/generated_data.h"
#include "support/model_bytes.h"
#include "support/temporary_folder.h"

namespace espalier::sparse_model_test {
namespace {

using testing::error_message;
using testing::generated_graphs;
using testing::generated_sentences;
using testing::model_bytes;
using testing::TemporaryFolder;

constexpr int kSentences = 8;

TagOptions tagging(const std::string& features, std::size_t order) {
  TagOptions options;
  options.features = features;
  options.order = order;
  return options;
}

std::string tag_text() { return generated_sentences(1, kSentences, append_tag); }
std::string parse_text() { return generated_sentences(1, kSentences, append_parse); }
std::string treebank_text() { return generated_sentences(1, kSentences, append_treebank); }

// Attributes with values, so that rows are not sums of weights alone.
std::string valued_text() {
  std::string text;
  for (int i = 0; i < 40; ++i) {
    text += fmt::format("{}\tx{}:{}\ty{}\tz{}:-0.5\n", i % 3, i % 7, i % 4 - 1.5, i % 5, i % 11);
    if (i % 6 == 5) text += '\n';
  }
  return text;
}

struct Case {
  std::string name;
  std::string (*text)();
  std::unique_ptr<TrainingSet> (*read)(const TemporaryFolder& folder, const std::string& file);
  std::vector<std::map<std::string, std::string>> predictions{{}};  // by the options of `predict`
};

using Options = std::vector<std::map<std::string, std::string>>;
const Options kTagPredictions{{}, {{"marginals", "label"}}, {{"kbest", "4"}}};

template <int order, bool observed>
std::unique_ptr<TrainingSet> read_tag_columns(const TemporaryFolder&, const std::string& file) {
  return read_tag_training(file, tagging(observed ? "observed" : "all", order));
}
// Transitions that look at the input.
template <int order, bool observed>
std::unique_ptr<TrainingSet> read_tag_untied(const TemporaryFolder& folder, const std::string& file) {
  TagOptions options = tagging(observed ? "observed" : "all", order);
  options.templates = folder.file("template", "U0:%x[0,0]\nU1:%x[0,1]\nU2:%x[-1,1]\nB\nB1:%x[0,1]\n");
  return read_tag_training(file, options);
}

const Case kCases[] = {
    {"Tag", tag_text, read_tag_columns<1, false>, kTagPredictions},
    {"TagOfOrder2", tag_text, read_tag_columns<2, false>, kTagPredictions},
    {"TagObserved", tag_text, read_tag_columns<1, true>, kTagPredictions},
    {"TagObservedOfOrder3", tag_text, read_tag_columns<3, true>, kTagPredictions},
    {"TagUntied", tag_text, read_tag_untied<1, false>, kTagPredictions},
    {"TagUntiedObserved", tag_text, read_tag_untied<1, true>, kTagPredictions},
    {"TagUntiedOfOrder2", tag_text, read_tag_untied<2, true>, kTagPredictions},
    {"TagValues", valued_text,
     [](const TemporaryFolder&, const std::string& file) {
       TagOptions options;
       options.format = "crfsuite";
       return read_tag_training(file, options);
     },
     kTagPredictions},
    {"Classify",
     valued_text,
     [](const TemporaryFolder&, const std::string& file) {
       ClassifyOptions options;
       options.format = "crfsuite";
       return read_classify_training(file, options);
     },
     {{}, {{"marginals", "label"}}, {{"kbest", "2"}}}},
    {"ClassifyWithBias",
     valued_text,
     [](const TemporaryFolder&, const std::string& file) {
       ClassifyOptions options;
       options.format = "crfsuite";
       options.bias = true;
       return read_classify_training(file, options);
     },
     {{}, {{"marginals", "label"}}}},
    {"Text",
     [] { return std::string("a\tgood old days\nb\tbad old nights\nc\tno days at all\n"); },
     [](const TemporaryFolder&, const std::string& file) {
       ClassifyOptions options;
       options.format = "text";
       options.weighting = "tf-idf";
       return read_classify_training(file, options);
     },
     {{}, {{"marginals", "label"}}}},
    {"Parse",
     parse_text,
     [](const TemporaryFolder&, const std::string& file) {
       ParseOptions options;
       options.hash_bits = 10;
       return read_parse_training(file, options);
     },
     {{}, {{"marginals", "label"}}, {{"kbest", "3"}}}},
    {"ParseOfSecondOrder", parse_text,
     [](const TemporaryFolder&, const std::string& file) {
       ParseOptions options;
       options.hash_bits = 10;
       options.order = 2;
       return read_parse_training(file, options);
     }},
    {"Treebank", treebank_text,
     [](const TemporaryFolder&, const std::string& file) {
       TreebankOptions options;
       options.hash_bits = 10;
       return read_treebank_training(file, options);
     }},
    {"Graph",
     [] { return generated_graphs(1, 5); },
     [](const TemporaryFolder&, const std::string& file) { return read_graph_training(file, {}); },
     {{}, {{"marginals", "label"}}}},
};

// Multiples of 2^-6, whose sums are exact in whichever order they are added. Rapidcheck would take long to
// make as many.
Weights random_weights(WeightShape shape, int percent, std::uint32_t seed) {
  std::mt19937 random(seed);
  Weights theta(shape);
  for (std::size_t r = 0; r < shape.rows; ++r) {
    for (std::size_t j = 0; j < shape.width; ++j) {
      if (static_cast<int>(random() % 100) < percent)
        theta.row(r)[j] = static_cast<float>(static_cast<int>(random() % 129) - 64) / 64;
    }
  }
  return theta;
}

// The lines "# RANK PROBABILITY".
std::string ranks(const std::string& text) {
  std::string found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# ")) found += line + '\n';
  }
  EXPECT_NE(found, "");
  return found;
}

class SparseModelTest : public ::testing::TestWithParam<Case> {
 protected:
  SparseModelTest() : set(GetParam().read(folder, file)) {}

  // All weights, where and as training has them.
  Model full(const Weights& theta) const {
    return make_model(info(), set->version(), set->sections(), theta);
  }
  // Tests with several of them, of which this percentage may not be zero.
  void for_random_weights(std::initializer_list<int> percentages,
                          const std::function<void(const Weights&)>& test) const {
    for (const int percent : percentages) {
      for (std::uint32_t seed = 0; seed < 2 && !HasFatalFailure(); ++seed) {
        SCOPED_TRACE(fmt::format("{} %, seed {}", percent, seed));
        // The last row of n-grams may have places that belong to none.
        const Weights everywhere = random_weights(set->problem().weight_shape(), percent, seed);
        Weights theta(everywhere.shape());
        full(everywhere).predictor().for_each_weight([&](const WeightName& name, float weight) {
          *set->find_weight(name, theta) = weight;
        });
        test(theta);
      }
    }
  }
  Model sparse(const Weights& theta) const { return make_model(info(), *set, theta); }
  ModelInfo info() const { return {std::string(set->task()), Loss::crf(), 1, "eg", Certificate{5, 4, 3}}; }

  // In memory: files take long.
  static std::string open_message(const std::string& bytes) {
    return error_message([&] { ModelFile("model.esp", AlignedVector<char>(bytes.begin(), bytes.end())); });
  }

  std::string predict(const Model& model, const std::map<std::string, std::string>& given,
                      std::vector<std::string>* warnings = nullptr) const {
    OptionValues values(find_task(set->task())->predict_options());
    for (const auto& [name, value] : given) values.set(name, value);
    PredictOptions options = values;
    options.warning = [&](const std::string& text) {
      if (warnings != nullptr) warnings->push_back(text);
    };
    std::string text;
    model.predictor().predict(file, options, [&](std::string_view piece) { text += piece; });
    return text;
  }

  TemporaryFolder folder;
  std::string file = folder.file("data", GetParam().text());
  std::unique_ptr<TrainingSet> set;
};

INSTANTIATE_TEST_SUITE_P(Tasks, SparseModelTest, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

TEST_P(SparseModelTest, PredictsAsAllWeightsDo) {
  for_random_weights({0, 2, 10, 50, 95}, [&](const Weights& theta) {
    const Model all = full(theta), kept = sparse(theta);
    for (const auto& options : GetParam().predictions) {
      const std::string by_kept = predict(kept, options), by_all = predict(all, options);
      // With fewer n-grams of three labels and more there are fewer states, and of equally good sequences,
      // which such weights have, another one may come first.
      const bool ties = GetParam().name.find("OfOrder") != std::string::npos && options.contains("kbest");
      ASSERT_EQ(ties ? ranks(by_kept) : by_kept, ties ? ranks(by_all) : by_all);
    }
    ASSERT_EQ(kept.predictor().evaluate(file, {}).report.dump(),
              all.predictor().evaluate(file, {}).report.dump());
    ASSERT_EQ(kept.certificate().primal, 5);
  });
}

// Every weight is found by its name, where it is not zero, and what is not found is zero.
TEST_P(SparseModelTest, HasAllWeightsThatAreNotZero) {
  for_random_weights({0, 2, 50}, [&](const Weights& theta) {
    const Model all = full(theta), kept = sparse(theta);
    std::size_t nonzero = 0;
    all.predictor().for_each_weight([&](const WeightName& name, float weight) {
      ASSERT_EQ(kept.predictor().find_weight(name).value_or(0.0f), weight);
      nonzero += weight != 0 ? 1 : 0;
    });
    std::size_t visited = 0;
    kept.predictor().for_each_weight([&](const WeightName& name, float weight) {
      ASSERT_EQ(all.predictor().find_weight(name), std::optional(weight));
      visited += weight != 0 ? 1 : 0;
    });
    ASSERT_EQ(visited, nonzero);
    const WeightCount count = kept.count_weights(), of_all = all.count_weights();
    ASSERT_EQ(count.nonzero, of_all.nonzero);
    // Weights by rows have zeros where there is no weight, as training has them.
    std::size_t weights = 0;
    all.predictor().for_each_weight([&](const WeightName&, float) { ++weights; });
    ASSERT_TRUE(count.all == of_all.all || count.all == weights);
    ASSERT_TRUE(count.all == theta.shape().rows * theta.shape().width || count.all == weights);
    ASSERT_EQ(kept.describe().at("weights").dump(),
              fmt::format(R"({{"nonzero":{},"all":{},"bits":32}})", count.nonzero, count.all));
  });
}

TEST_P(SparseModelTest, IsSavedAndLoadedAsItIs) {
  for_random_weights({2}, [&](const Weights& theta) {
    for (const Model& model : {sparse(theta), sparse(theta).rounded(16)}) {
      const std::string path = folder.path("model.esp");
      model.save(path);
      const Model loaded(path);
      ASSERT_EQ(model_bytes(loaded), model_bytes(model));
      ASSERT_EQ(predict(loaded, {}), predict(model, {}));
      ASSERT_EQ(loaded.predictor().all_weights(), model.predictor().all_weights());
    }
  });
}

// Multiples of 2^-6 up to 1 have so few bits.
TEST_P(SparseModelTest, SixteenBitsAreEnoughForWhatHasFewer) {
  for_random_weights({10}, [&](const Weights& theta) {
    const Model model = sparse(theta), rounded = model.rounded(16);
    ASSERT_EQ(rounded.predictor().all_weights(), model.predictor().all_weights());
    ASSERT_EQ(rounded.info().bits, 16);
    ASSERT_TRUE(!rounded.info().certificate.has_value());
    ASSERT_EQ(rounded.info().l2, std::optional(1.0));
    ASSERT_TRUE(model.info().certificate.has_value());
    ASSERT_LE(model_bytes(rounded).size(),
              model_bytes(model).size() + 64);  // sections begin at multiples of 64
    ASSERT_EQ(model_bytes(rounded.rounded(16)), model_bytes(rounded));
    ASSERT_EQ(model_bytes(model.rounded(32)), model_bytes(model));
  });
}

// Without zeros, nothing is new: the sections of format 1.
TEST_P(SparseModelTest, WithoutZerosItIsAsItWas) {
  Weights theta(set->problem().weight_shape());
  theta.fill(0.5f);
  const Model model = sparse(theta);
  const std::string path = folder.file("model.esp", model_bytes(model));
  const ModelFile written(path);
  // Observed features train by rows where labels are few, and are always kept by pairs.
  if (model.weight_shape().width == theta.shape().width) {
    EXPECT_EQ(model_bytes(model), model_bytes(full(theta)));
    EXPECT_EQ(model.weight_shape(), theta.shape());
    EXPECT_TRUE(std::ranges::equal(written.section<float>("weights"), theta.values()));
  } else {
    EXPECT_EQ(model.weight_shape().width, 1u);
    EXPECT_TRUE(std::ranges::all_of(written.section<float>("weights"), [](float x) { return x == 0.5f; }));
  }
  EXPECT_EQ(written.bytes()[8], 1);
  EXPECT_FALSE(Json::parse(written.section_bytes("model")).contains("trained"));
}

// Whatever byte changes is found out, and so is whatever is cut off.
TEST_P(SparseModelTest, EveryFlippedByteIsCaught) {
  Weights theta(set->problem().weight_shape());
  for (std::size_t r = 0; r < theta.shape().rows; r += 97) theta.row(r)[0] = 1;
  for (const Model& model : {sparse(theta), sparse(theta).rounded(16)}) {
    std::string bytes = model_bytes(model);
    // All of a large file would take long; each section is among the first or last of them.
    const std::size_t step = 1 + bytes.size() / 600;
    for (std::size_t at = 0; at < bytes.size(); at += step) {
      bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
      EXPECT_NE(open_message(bytes), "(no error)") << at;
      bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
    }
    for (std::size_t size = 0; size < bytes.size(); size += 8 * step) {
      EXPECT_NE(open_message(bytes.substr(0, size)), "(no error)");
    }
  }
}

class SparseTagTest : public ::testing::Test {
 protected:
  // Two labels, and as many attributes as words.
  std::unique_ptr<TrainingSet> read(const std::string& text, const std::string& features = "all") {
    TagOptions options;
    options.format = "crfsuite";
    options.features = features;
    return read_tag_training(folder.file("train", text), options);
  }
  static Model model(const TrainingSet& set, const std::map<std::string, float>& weights) {
    Weights theta(set.problem().weight_shape());
    for (const auto& [attribute, weight] : weights) *set.find_weight({attribute, {}, "A"}, theta) = weight;
    return make_model({"tag", Loss::crf(), 1, "eg", Certificate{5, 4, 3}}, set, theta);
  }

  TemporaryFolder folder;
};

TEST_F(SparseTagTest, LeavesOutAttributesWithoutWeights) {
  const auto set = read("A\tx\ty\nB\tz\n");
  const Model some = model(*set, {{"y", 1.0f}});
  EXPECT_EQ(some.predictor().describe(), "2 labels, 1 attribute");
  EXPECT_EQ(some.predictor().attributes().name(0), "y");
  EXPECT_EQ(some.describe().at("trained_attributes"), 3);
  EXPECT_EQ(some.count_weights().nonzero, 1u);
  EXPECT_EQ(some.count_weights().all, 2 * (3u + 2u));
  EXPECT_EQ(some.predictor().all_weights(),
            "y\tA\t1\ny\tB\t0\n(transition)\tA\tA\t0\n(transition)\tA\tB\t0\n"
            "(transition)\tB\tA\t0\n(transition)\tB\tB\t0\n");
  EXPECT_EQ(model(*read("A\tx\ty\nB\tz\n", "observed"), {{"y", 1.0f}}).predictor().all_weights(),
            "y\tA\t1\n");
}

// A file without any of the attributes that are left may be one of the right kind.
TEST_F(SparseTagTest, DoesNotRefuseWhatItMayHaveLeftOut) {
  const auto set = read("A\tx\ty\nB\tz\n");
  std::string unknown;
  for (int t = 0; t < 20; ++t) unknown += "A\tx\n";
  const std::string file = folder.file("new", unknown);
  const std::string expected = "; expected data like that of its training, in the format crfsuite";
  std::vector<std::string> warnings;
  PredictOptions options;
  options.warning = [&](const std::string& text) { warnings.push_back(text); };
  const auto predict = [&](const Model& model) {
    return error_message([&] { model.predictor().predict(file, options, [](std::string_view) {}); });
  };
  const auto evaluate = [&](const Model& model) {
    EvaluateOptions of_eval;
    of_eval.warning = options.warning;
    return error_message([&] { model.predictor().evaluate(file, of_eval); });
  };
  const Model some = model(*set, {{"y", 1.0f}});
  EXPECT_EQ(predict(some), "(no error)");
  EXPECT_EQ(evaluate(some), "(no error)");
  EXPECT_EQ(warnings,
            std::vector<std::string>(2, file + ": no attribute that has a weight in the model" + expected));

  // With all attributes there, the file is one of another kind.
  warnings.clear();
  const auto other = read("A\tv\tw\nB\tv\n");
  const Model all = model(*other, {{"v", 1.0f}, {"w", 2.0f}});
  EXPECT_EQ(predict(all), file + ": no attribute that the model knows" + expected);
  EXPECT_EQ(evaluate(all), file + ": no attribute that the model knows" + expected);
  EXPECT_EQ(warnings, std::vector<std::string>());
}

// So many labels that rows of them would take far more memory.
TEST_F(SparseTagTest, OfManyLabelsItHasPairs) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += fmt::format("{}L{}\tx{}\n", i % 10 == 0 ? "\n" : "", i % 100, i);
  TagOptions options;
  options.format = "crfsuite";
  const auto set = read_tag_training(folder.file("train", text), options);
  Weights theta(set->problem().weight_shape());
  for (int i = 0; i < 300; i += 2) {
    const std::string attribute = fmt::format("x{}", i), label = fmt::format("L{}", i % 100);
    *set->find_weight({attribute, {}, label}, theta) = 1;
  }
  const std::string_view before = "L3";
  *set->find_weight({"(transition)", {&before, 1}, "L4"}, theta) = 2;
  const Model kept = make_model({"tag", Loss::crf(), 1, "eg", Certificate{5, 4, 3}}, *set, theta);
  EXPECT_EQ(kept.weight_shape(), (WeightShape{151, 1}));
  EXPECT_EQ(kept.predictor().describe(), "100 labels, 150 attributes");
  const Model all = make_model(kept.info(), set->version(), set->sections(), theta);
  for (const auto marginals : {TagMarginals::none, TagMarginals::label}) {
    std::string by_pairs, by_rows;
    TagPredictOptions how;
    how.marginals = marginals;
    kept.predictor().predict(folder.path("train"), how, [&](std::string_view piece) { by_pairs += piece; });
    all.predictor().predict(folder.path("train"), how, [&](std::string_view piece) { by_rows += piece; });
    EXPECT_EQ(by_pairs, by_rows);
  }
  // And it is one of all features to whoever asks for a weight.
  EXPECT_EQ(kept.predictor().find_weight({"(transition)", {&before, 1}, "L4"}), 2);
  EXPECT_EQ(kept.predictor().find_weight({"x0", {}, "L1"}), std::nullopt);
}

TEST_F(SparseTagTest, AModelOfNothingButZerosWorks) {
  for (const char* features : {"all", "observed"}) {
    const auto set = read("A\tx\ty\nB\tz\n", features);
    const Model none = model(*set, {});
    none.save(folder.path("none.esp"));
    const Model loaded(folder.path("none.esp"));
    EXPECT_EQ(loaded.predictor().describe(), "2 labels, 0 attributes");
    EXPECT_EQ(loaded.count_weights().nonzero, 0u);
    std::string text;
    loaded.predictor().predict(folder.path("train"), {}, [&](std::string_view piece) { text += piece; });
    EXPECT_EQ(text, "A\nA\n\n");
  }
}

}  // namespace
}  // namespace espalier::sparse_model_test
