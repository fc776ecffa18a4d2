// Replaces the allocator of the test program by one that counts.

#include "espalier/tasks/tag.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>
#include <cmath>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "support/counting_allocator.h"
#include "support/error_message.h"
#include "support/temporary_folder.h"
#include "tasks/tag/chunk_labels.h"
#include "tasks/trained.h"

namespace espalier::tagger_test {
namespace {

using testing::error_message;
using testing::TemporaryFolder;
using testing::Trained;
using Labels = std::vector<std::uint32_t>;

constexpr const char* kSchemes[] = {"B-A I-A B-C I-C O", "I-A B-A I-C O", "B-A I-A E-A S-A O", "NN VB DT",
                                    "B I O"};

// A model with random weights, its labels those of a line of words.
struct RandomModel {
  explicit RandomModel(const std::string& labels, std::uint64_t seed, bool columns = false,
                       const std::string& templates = "U:%x[0,0]\nB\n", Loss loss = {0.7, 0})
      : trained(train(labels, seed, columns, templates, loss)), tagger(*trained.predictor->tagger()) {}

  static Trained train(const std::string& labels, std::uint64_t seed, bool columns,
                       const std::string& templates, Loss loss) {
    static TemporaryFolder folder;
    std::string text;
    std::size_t word = 0;
    for (std::size_t begin = 0, end; begin < labels.size(); begin = end + 1) {
      end = std::min(labels.find(' ', begin), labels.size());
      const std::string label = labels.substr(begin, end - begin);
      const std::string name = "w" + std::to_string(word++ % 3);
      text += columns ? name + ' ' + label + '\n' : label + '\t' + name + "\tbias\n";
    }
    TagOptions options;
    if (columns) options.templates = folder.file("template", templates);
    options.format = columns ? "columns" : "crfsuite";
    static std::vector<std::unique_ptr<TrainingSet>> sets;  // the sections are views of them
    sets.push_back(read_tag_training(folder.file("train.txt", text), options));
    Weights theta(sets.back()->problem().weight_shape());
    Random random(seed);
    for (std::size_t row = 0; row < theta.shape().rows; ++row) {
      for (std::size_t j = 0; j < theta.shape().width; ++j) {
        theta.row(row)[j] = static_cast<float>(4 * random.uniform() - 2);
      }
    }
    return Trained(load_tag_predictor, sets.back()->sections(), std::move(theta), loss);
  }

  Labels ids(const std::vector<std::string>& names) const {
    Labels all;
    for (const std::string& name : names) all.push_back(tagger.find_label(name).value());
    return all;
  }
  // Adds words to a sentence of a model of attributes.
  static void add(Tagger::Sentence& sentence, const std::vector<std::string>& words) {
    sentence.clear();
    for (const std::string& word : words) {
      const Tagger::Attribute attributes[] = {{word, 1}, {"bias", 0.5f}};
      sentence.add_attributes(attributes);
    }
  }

  Trained trained;
  const Tagger& tagger;
};

std::vector<std::string> some_words(std::size_t length) {
  std::vector<std::string> words;
  for (std::size_t t = 0; t < length; ++t) words.push_back("w" + std::to_string(t * t % 4));
  return words;
}

// Every labelling with its probability, from the scores that kbest() gives.
std::map<Labels, double> enumerate(Tagger::Sentence& sentence) {
  std::map<Labels, double> all;
  for (const auto& [y, score] : sentence.kbest(1'000'000)) all[y] = sentence.probability(score);
  return all;
}

struct Span {
  std::size_t begin, end;
  bool operator==(const Span&) const = default;
};
// By the definition: a maximal run of tokens that continue with one another.
std::vector<Span> spans(const ChunkLabels& chunks, const Labels& y) {
  std::vector<Span> all;
  for (std::size_t t = 0; t < y.size(); ++t) {
    if (!chunks.in_chunk(y[t])) continue;
    if (t > 0 && chunks.continues(y[t - 1], y[t])) {
      all.back().end = t + 1;
    } else {
      all.push_back({t, t + 1});
    }
  }
  return all;
}

TEST(Tagger, SaysWhatTheModelIs) {
  const RandomModel attributes("B-A I-A O", 1), columns("B I O", 1, true);
  EXPECT_EQ(attributes.tagger.format(), TagFormat::crfsuite);
  EXPECT_EQ(attributes.tagger.num_columns(), 0u);
  EXPECT_EQ(attributes.tagger.num_labels(), 3u);
  EXPECT_EQ(attributes.tagger.label(1), "I-A");
  EXPECT_EQ(attributes.tagger.find_label("O"), 2u);
  EXPECT_EQ(attributes.tagger.find_label("X"), std::nullopt);
  EXPECT_TRUE(attributes.tagger.has_probabilities());
  EXPECT_EQ(columns.tagger.format(), TagFormat::columns);
  EXPECT_EQ(columns.tagger.num_columns(), 1u);
}

TEST(Tagger, TagsAsPredictDoes) {
  const TemporaryFolder folder;
  const RandomModel attributes("B-A I-A B-C I-C O", 2), columns("B-A I-A B-C I-C O", 3, true);
  std::string crfsuite, column;
  const auto words = some_words(12);
  for (const std::string& word : words) {
    crfsuite += '\t' + word + "\tbias:0.5\n";
    column += word + '\n';
  }
  Tagger::Sentence first(attributes.tagger), second(columns.tagger);
  RandomModel::add(first, words);
  for (const std::string& word : words) second.add_columns({word});
  ASSERT_EQ(first.size(), 12u);
  ASSERT_EQ(second.size(), 12u);
  std::string expected_first, expected_second;
  for (std::size_t t = 0; t < words.size(); ++t) {
    expected_first += std::string(attributes.tagger.label(first.labels()[t])) + '\n';
    expected_second += words[t] + '\t' + std::string(columns.tagger.label(second.labels()[t])) + '\n';
  }
  EXPECT_EQ(attributes.trained.predict(folder.file("a.txt", crfsuite)), expected_first + '\n');
  EXPECT_EQ(columns.trained.predict(folder.file("c.txt", column)), expected_second + '\n');
}

TEST(Tagger, TheLabelsColumnMayBeAnyOne) {
  const TemporaryFolder folder;
  TagOptions options;
  options.label_column = 2;
  options.templates = folder.file("template", "U:%x[0,0]/%x[0,2]\n");
  const auto set = read_tag_training(folder.file("train.txt", "a X 1\nb Y 2\n"), options);
  Weights theta(set->problem().weight_shape());
  theta.row(0)[0] = theta.row(1)[1] = 1;
  const Trained trained(load_tag_predictor, set->sections(), std::move(theta));
  const Tagger& tagger = *trained.predictor->tagger();
  Tagger::Sentence sentence(tagger);
  sentence.add_columns({"b", "2"});
  sentence.add_columns({"a", "1"});
  EXPECT_EQ(tagger.label(sentence.labels()[0]), "Y");
  EXPECT_EQ(tagger.label(sentence.labels()[1]), "X");
}

TEST(Tagger, AttributesOfWapitiAreOfTokensAndSteps) {
  const TemporaryFolder folder;
  TagOptions options;
  options.format = "wapiti";
  const auto set = read_tag_training(folder.file("train.txt", "ux b1 A\nuy *z B\nux b1 A\n"), options);
  Weights theta(set->problem().weight_shape());
  for (std::size_t row = 0; row < theta.shape().rows; ++row) {
    for (std::size_t j = 0; j < 2; ++j) theta.row(row)[j] = static_cast<float>((row * 7 + j * 5) % 11) - 5;
  }
  const Trained trained(load_tag_predictor, set->sections(), std::move(theta));
  Tagger::Sentence sentence(*trained.predictor->tagger());
  const auto tag = [&](const std::vector<std::vector<std::string>>& tokens) {
    std::string text, expected;
    sentence.clear();
    for (const auto& names : tokens) {
      std::vector<Tagger::Attribute> attributes;
      for (const std::string& name : names) {
        attributes.push_back({name, 1});
        text += name + ' ';
      }
      text.back() = '\n';
      sentence.add_attributes(attributes);
    }
    const std::string out =
        trained.predict(folder.file("new.txt", text), TagPredictOptions{.marginals = TagMarginals::label});
    std::size_t begin = 0;
    for (std::size_t t = 0; t < tokens.size(); ++t) {
      begin = text.find('\n', begin) + 1;
      expected += text.substr(text.rfind('\n', begin - 2) + 1, begin - text.rfind('\n', begin - 2) - 2);
      expected +=
          fmt::format(" {} A:{:.6f} B:{:.6f}\n", trained.predictor->tagger()->label(sentence.labels()[t]),
                      sentence.marginals()[2 * t], sentence.marginals()[2 * t + 1]);
    }
    EXPECT_EQ(out, expected + '\n');
  };
  tag({{"ux", "b1"}, {"uy", "*z"}, {"uy", "b1"}});
  tag({{"uy", "*z"}, {"ux", "*z", "b1"}, {"ux", "b1"}, {"unew", "bnew"}});
}

TEST(Tagger, ASentenceOfNoTokens) {
  const RandomModel attributes("A B", 1), columns("A B", 1, true);
  for (const Tagger* tagger : {&attributes.tagger, &columns.tagger}) {
    Tagger::Sentence sentence(*tagger);
    EXPECT_EQ(sentence.size(), 0u);
    EXPECT_TRUE(sentence.labels().empty());
    EXPECT_TRUE(sentence.marginals().empty());
    EXPECT_TRUE(sentence.chunks().empty());
    EXPECT_TRUE(sentence.kbest(3).empty());
  }
}

TEST(Tagger, Mistakes) {
  const RandomModel attributes("A B", 1), columns("A B", 1, true);
  const RandomModel svm("A B", 1, false, "", Loss::svm());
  Tagger::Sentence first(attributes.tagger), second(columns.tagger), third(svm.tagger);
  EXPECT_EQ(error_message([&] { first.add_columns({"x"}); }),
            "columns for a model of crfsuite; expected attributes");
  EXPECT_EQ(error_message([&] {
              second.add_attributes({{"x", 1}});
            }),
            "attributes for a model of columns; expected columns");
  EXPECT_EQ(error_message([&] {
              second.add_columns({"x", "y"});
            }),
            "a token of 2 columns; expected 1 as in training, without the label");
  EXPECT_EQ(error_message([&] {
              first.add_attributes({{"x", NAN}});
            }),
            "value nan of attribute 'x'; expected a finite number");
  third.add_attributes({{"w0", 1}});
  EXPECT_EQ(third.labels().size(), 1u);
  EXPECT_FALSE(svm.tagger.has_probabilities());
  EXPECT_EQ(error_message([&] { third.marginals(); }),
            "a model of loss svm has no probabilities; expected one with a finite beta");
}

TEST(ChunkLabels, SchemesOfLabels) {
  const auto read = [](const std::string& labels) {
    Dictionary names;
    Labels y;
    for (std::size_t begin = 0, end; begin < labels.size(); begin = end + 1) {
      end = std::min(labels.find(' ', begin), labels.size());
      y.push_back(names.add(labels.substr(begin, end - begin)));
    }
    return spans(ChunkLabels(names), y);
  };
  using Spans = std::vector<Span>;
  EXPECT_EQ(read("B-A I-A B-A O I-A I-C"), (Spans{{0, 2}, {2, 3}, {4, 5}, {5, 6}}));
  EXPECT_EQ(read("I-A I-A B-A O"), (Spans{{0, 2}, {2, 3}}));                                // IOB1
  EXPECT_EQ(read("S-A S-A B-A E-A B-A I-A E-A"), (Spans{{0, 1}, {1, 2}, {2, 4}, {4, 7}}));  // BIOES
  EXPECT_EQ(read("U-A B-A L-A"), (Spans{{0, 1}, {1, 3}}));
  EXPECT_EQ(read("I-A E-A I-A O"), (Spans{{0, 2}, {2, 3}}));
  EXPECT_EQ(read("B I I O B"), (Spans{{0, 3}, {4, 5}}));
  EXPECT_EQ(read("DT NN NN"), (Spans{{0, 1}, {1, 2}, {2, 3}}));  // no chunk tags
  EXPECT_EQ(read("B-A NN X-A X-A"), (Spans{{0, 1}, {2, 4}}));
}

RC_GTEST_PROP(TaggerProperty, MarginalsAndChunksAreSumsOverLabellings, ()) {
  const std::string scheme =
      *rc::gen::elementOf(std::vector<std::string>(std::begin(kSchemes), std::end(kSchemes)));
  const RandomModel model(scheme, *rc::gen::arbitrary<std::uint64_t>());
  const auto length = *rc::gen::inRange<std::size_t>(1, 6);
  Dictionary names;
  for (std::uint32_t j = 0; j < model.tagger.num_labels(); ++j) names.add(model.tagger.label(j));
  const ChunkLabels chunks(names);

  Tagger::Sentence sentence(model.tagger);
  RandomModel::add(sentence, some_words(length));
  // Some tokens may be restricted.
  for (std::size_t t = 0; t < length; ++t) {
    if (*rc::gen::inRange(0, 3) > 0) continue;
    const auto first = *rc::gen::inRange<std::uint32_t>(0, static_cast<std::uint32_t>(names.size()));
    const Labels allowed{first, static_cast<std::uint32_t>((first + 1) % names.size())};
    sentence.allow(t, allowed);
  }
  const std::map<Labels, double> all = enumerate(sentence);
  double total = 0, best = 0;
  for (const auto& [y, p] : all) {
    total += p;
    best = std::max(best, p);
  }
  RC_ASSERT(std::abs(total - 1) < 1e-9);
  const Labels labels(sentence.labels().begin(), sentence.labels().end());
  RC_ASSERT(std::abs(all.at(labels) - best) < 1e-6);

  for (std::size_t t = 0; t < length; ++t) {
    for (std::uint32_t j = 0; j < names.size(); ++j) {
      double sum = 0;
      for (const auto& [y, p] : all) sum += y[t] == j ? p : 0;
      RC_ASSERT(std::abs(sum - sentence.marginals()[t * names.size() + j]) < 1e-9);
    }
  }

  const auto found = sentence.chunks();
  const std::vector<Span> expected = spans(chunks, labels);
  RC_ASSERT(found.size() == expected.size());
  for (std::size_t c = 0; c < found.size(); ++c) {
    RC_ASSERT((Span{found[c].begin, found[c].end} == expected[c]));
    RC_ASSERT(found[c].type == chunks.type(labels[found[c].begin]));
    double sum = 0;
    for (const auto& [y, p] : all) {
      const std::vector<Span> others = spans(chunks, y);
      const bool same = std::equal(labels.begin() + static_cast<std::ptrdiff_t>(expected[c].begin),
                                   labels.begin() + static_cast<std::ptrdiff_t>(expected[c].end),
                                   y.begin() + static_cast<std::ptrdiff_t>(expected[c].begin));
      if (same && std::find(others.begin(), others.end(), expected[c]) != others.end()) sum += p;
    }
    RC_ASSERT(std::abs(sum - found[c].probability) < 1e-9);
  }
  // Asking for chunks left everything else as it was.
  RC_ASSERT(enumerate(sentence) == all);
}

TEST(Tagger, AllowedLabels) {
  const RandomModel model("A B C", 5);
  Tagger::Sentence sentence(model.tagger);
  RandomModel::add(sentence, some_words(4));
  const auto free = enumerate(sentence);
  const Labels only_b = model.ids({"B"}), a_or_c = model.ids({"A", "C"});
  sentence.allow(1, only_b);
  sentence.allow(3, only_b);
  sentence.allow(3, a_or_c);  // takes its place
  double total = 0;
  std::map<Labels, double> expected;
  for (const auto& [y, p] : free) {
    if (y[1] == only_b[0] && (y[3] == a_or_c[0] || y[3] == a_or_c[1])) {
      expected[y] = p;
      total += p;
    }
  }
  const auto found = enumerate(sentence);
  ASSERT_EQ(found.size(), expected.size());
  for (const auto& [y, p] : expected) EXPECT_NEAR(found.at(y), p / total, 1e-9);
  EXPECT_EQ(sentence.labels()[1], only_b[0]);
  EXPECT_TRUE(sentence.possible());
  // The next sentence is free again.
  RandomModel::add(sentence, some_words(4));
  EXPECT_EQ(enumerate(sentence), free);
}

// Also with transitions of their own for every step, and templates.
TEST(TaggerAllocations, NoneAfterAFewSentences) {
  const auto run = [](Tagger::Sentence& sentence, const std::vector<std::vector<std::string>>& sentences,
                      bool columns) {
    std::size_t labels = 0;
    const std::size_t before = test_support::allocations;
    for (const auto& words : sentences) {
      sentence.clear();
      for (const std::string& word : words) {
        if (columns) {
          sentence.add_columns({word});
        } else {
          sentence.add_attributes({{word, 1}, {"bias", 0.5f}});
        }
      }
      const std::uint32_t first = 0;
      sentence.allow(0, std::span(&first, 1));
      labels += sentence.labels().size() + sentence.marginals().size() + sentence.chunks().size();
    }
    EXPECT_GT(labels, 0u);
    return test_support::allocations - before;
  };
  std::vector<std::vector<std::string>> sentences;
  for (const std::size_t length : {3, 40, 1, 17}) sentences.push_back(some_words(length));
  for (const std::string templates :
       {"", "U:%x[0,0]\nU1:%x[-1,0]/%x[0,0]\nB\n", "U:%x[0,0]\nB:%x[0,0]\nB\n"}) {
    const RandomModel model("B-A I-A B-C I-C O", 7, !templates.empty(), templates);
    Tagger::Sentence sentence(model.tagger);
    EXPECT_GT(run(sentence, sentences, !templates.empty()), 0u) << "the counter does not count";
    EXPECT_EQ(run(sentence, sentences, !templates.empty()), 0u) << templates;
  }
}

// What each token contributes adds up to the score that kbest() has by inference.
TEST(Tagger, ContributionsAddUpToTheScore) {
  for (const std::string templates :
       {"", "U:%x[0,0]\nU1:%x[-1,0]/%x[0,0]\nB\n", "U:%x[0,0]\nB:%x[0,0]\nB\n"}) {
    const RandomModel model("B-A I-A B-C I-C O", 5, !templates.empty(), templates);
    Tagger::Sentence sentence(model.tagger);
    const std::vector<std::string> words = some_words(4);
    if (templates.empty()) {
      RandomModel::add(sentence, words);
    } else {
      for (const std::string& word : words) sentence.add_columns({word});
    }
    std::size_t of_steps = 0;
    for (const auto& [labels, score] : sentence.kbest(20)) {
      double sum = 0;
      for (std::size_t t = 0; t < labels.size(); ++t) {
        sentence.for_each_contribution(t, labels, [&](const Tagger::Sentence::Contribution& one) {
          sum += one.value * one.weight;
          of_steps += one.before.size();
        });
      }
      EXPECT_NEAR(sum, score, 1e-12 * std::abs(score)) << templates;
      EXPECT_NEAR(sentence.score(labels), score, 1e-12 * std::abs(score)) << templates;
    }
    EXPECT_EQ(of_steps, 20u * 3 * (templates.find("B:%x") == std::string::npos ? 1 : 2)) << templates;
    const std::uint32_t first[] = {0};
    sentence.allow(1, first);
    EXPECT_EQ(sentence.score(Labels{0, 1, 0, 0}), -std::numeric_limits<double>::infinity());
  }
}

TEST(Tagger, ManyThreadsShareIt) {
  const RandomModel model("B-A I-A B-C I-C O", 11);
  const auto tag = [&](std::vector<double>& to) {
    Tagger::Sentence sentence(model.tagger);
    for (std::size_t length = 1; length < 30; ++length) {
      RandomModel::add(sentence, some_words(length));
      to.insert(to.end(), sentence.labels().begin(), sentence.labels().end());
      for (const Tagger::Chunk& chunk : sentence.chunks()) to.push_back(chunk.probability);
    }
  };
  std::vector<double> expected;
  tag(expected);
  std::vector<std::vector<double>> found(4);
  {
    std::vector<std::jthread> threads;
    for (auto& to : found) threads.emplace_back([&tag, &to] { tag(to); });
  }
  for (const auto& one : found) EXPECT_EQ(one, expected);
}

}  // namespace
}  // namespace espalier::tagger_test
