// Sentence pairs of programs: what files of them do.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "espalier/tasks/align.h"
#include "espalier/train/train.h"
#include "support/error_message.h"
#include "support/generated_data.h"
#include "support/temporary_folder.h"
#include "tasks/align/pair_reader.h"

namespace espalier::align_in_memory_test {
namespace {

using testing::error_message;

AlignData data_of(const std::string& path) {
  AlignData data;
  PairReader reader(path, true);
  for (SentencePair pair; reader.next(pair);) data.add(pair);
  return data;
}

struct Files {
  testing::TemporaryFolder folder;
  std::string train = folder.file("train", testing::generated_sentences(1, 40, append_align));
  std::string test = folder.file("test", testing::generated_sentences(2, 20, append_align));
};

TEST(AlignData, TrainsTheModelThatAFileTrains) {
  const Files files;
  const AlignData data = data_of(files.train), dev = data_of(files.test);
  const auto of_file = read_align_training(files.train, {});
  of_file->read_dev(files.test);
  const auto in_memory = make_align_training(data, {}, &dev);
  EXPECT_EQ(in_memory->dev(), "data in memory");
  EXPECT_EQ(in_memory->describe(), of_file->describe());
  EXPECT_EQ(in_memory->fingerprint(), of_file->fingerprint());
  const Weights theta(of_file->problem().weight_shape());
  EXPECT_EQ(in_memory->evaluate_dev(theta).text, of_file->evaluate_dev(theta).text);

  const Model model = train(*in_memory, {.loss = Loss::crf(), .l2 = 3, .gap = 1e-2});
  const WordAligner aligner(model.predictor());
  EXPECT_TRUE(aligner.has_probabilities());
  EXPECT_EQ(aligner.evaluate(dev).text, model.predictor().evaluate(files.test, {}).text);

  // The same links as `predict` writes, and probabilities that belong together.
  std::string written;
  model.predictor().predict(files.test, AlignPredictOptions{.format = "links"},
                            [&](std::string_view text) { written += text; });
  std::string expected;
  WordAligner::Pair pair(aligner);
  for (std::size_t i = 0; i < dev.size(); ++i) {
    pair.set(dev.pair(i));
    const auto links = pair.links();
    std::string line;
    for (const WordLink& link : links) {
      EXPECT_TRUE(link.sure);
      line += (line.empty() ? "" : " ") + std::to_string(link.source) + "-" + std::to_string(link.target);
      const double p = pair.marginal(link.source, link.target);
      EXPECT_TRUE(p >= 0 && p <= 1);
    }
    expected += line + "\n";
    const auto best = pair.kbest(3);
    ASSERT_FALSE(best.empty());
    EXPECT_EQ(best[0].links, links);
    double sum = 0;
    for (const auto& one : best) sum += pair.probability(one.score);
    EXPECT_LE(sum, 1 + 1e-9);
  }
  EXPECT_EQ(written, expected);
}

TEST(AlignData, RefusesWhatNoFileCouldHave) {
  const auto message = [](SentencePair pair) {
    AlignData data;
    data.add({{"a"}, {"b"}, {{0, 0}}});
    data.add(std::move(pair));
    return error_message([&] { make_align_training(data); });
  };
  EXPECT_EQ(message({{}, {"b"}}), "data in memory:2: no source words; expected some");
  EXPECT_EQ(message({{"a"}, {"b", ""}}),
            "data in memory:2: an empty target word; expected words of at least one character");
  EXPECT_EQ(message({{"a", "b"}, {"c"}, {{0, 0}, {1, 1}}}),
            "data in memory:2: the link 1-1 with 1 target word; expected target words from 0 to 0");
  EXPECT_EQ(message({{"a"}, {"b"}, {{0, 0}, {0, 0, false}}}),
            "data in memory:2: two links of 0 and 0; expected one");
  EXPECT_EQ(error_message([&] { make_align_training(AlignData()); }),
            "data in memory: no sentence pairs; expected some");
}

TEST(WordAligner, RefusesWhatIsNotThere) {
  const Files files;
  AlignOptions options;
  options.maxima = true;
  const Model model =
      train(*make_align_training(data_of(files.train), options), {.loss = Loss::svm(), .gap = 0.1});
  const WordAligner aligner(model.predictor());
  WordAligner::Pair pair(aligner);
  EXPECT_EQ(error_message([&] { pair.links(); }), "no sentence pair; expected one to align");
  EXPECT_EQ(error_message([&] {
              pair.set({{"a"}, {}});
            }),
            "data in memory:1: no target words; expected some");
  EXPECT_EQ(error_message([&] { pair.links(); }), "no sentence pair; expected one to align");
  pair.set({{"a"}, {"a"}});
  EXPECT_LE(pair.links().size(), 1u);
  EXPECT_EQ(error_message([&] { pair.marginal(0, 0); }),
            "a model of loss svm has no probabilities; expected one with a finite beta");
  EXPECT_EQ(error_message([&] { aligner.evaluate({}); }), "data in memory: no sentence pairs; expected some");
}

}  // namespace
}  // namespace espalier::align_in_memory_test
