// Dependency trees and bracketed trees in memory: training gives the model that a file of the same contents
// gives, to the byte, and what a model says of sentences in memory is what it writes for a file of them.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>
#include <string>
#include <thread>
#include <vector>

#include "base/input.h"
#include "espalier/tasks/parse.h"
#include "espalier/tasks/treebank.h"
#include "espalier/train/read.h"
#include "espalier/train/train.h"
#include "support/error_message.h"
#include "support/generated_data.h"
#include "support/model_bytes.h"
#include "support/random_problem.h"
#include "support/temporary_folder.h"
#include "tasks/parse/dependency_writer.h"
#include "tasks/treebank/bracket_reader.h"

namespace espalier::trees_in_memory_test {
namespace {

using testing::error_message;
using testing::generated_sentences;
using testing::model_bytes;
using testing::TemporaryFolder;

// A word for each head, with or without relations.
ParseData small_trees(bool relations) {
  ParseData data;
  for (const std::vector<std::uint32_t>& heads :
       {std::vector<std::uint32_t>{2, 0, 2}, {0, 1}, {3, 3, 0, 3}, {0}}) {
    for (std::size_t d = 1; d <= heads.size(); ++d) {
      const std::string form = fmt::format("w{}", (d + heads.size()) % 4);
      data.add({.form = form,
                .coarse = heads[d - 1] == 0 ? "V" : "N",
                .relation = !relations          ? ""
                            : heads[d - 1] == 0 ? "root"
                                                : "dep",
                .head = heads[d - 1]});
    }
    data.end_sentence();
  }
  return data;
}

std::string conll(const ParseData& data) {
  std::string text;
  for (std::size_t i = 0; i < data.size(); ++i) text += data.sentence(i).text + '\n';
  return text;
}

// Heads that make a tree: a word's head is the root, or a word that comes before it in some order.
std::vector<std::uint32_t> random_heads(std::size_t words) {
  std::vector<std::uint32_t> order(words), heads(words);
  for (std::size_t d = 0; d < words; ++d) {
    order[d] = static_cast<std::uint32_t>(d + 1);
    std::swap(order[d], order[*rc::gen::inRange<std::size_t>(0, d + 1)]);
  }
  for (std::size_t k = 0; k < words; ++k) {
    const auto head = *rc::gen::inRange<std::size_t>(0, k + 1);
    heads[order[k] - 1] = head == 0 ? 0 : order[head - 1];
  }
  return heads;
}

RC_GTEST_PROP(ParseData, SentencesAreThoseOfAFile, ()) {
  const auto word = rc::gen::element<std::string>("we", "Walk", "naïve", "", "_", "2");
  const auto relation = rc::gen::element<std::string>("root", "nsubj", "det", "_");
  ParseData data;
  std::string text;
  const auto count = *rc::gen::inRange(1, 6);
  for (int i = 0; i < count; ++i) {
    const bool document = *rc::gen::arbitrary<bool>();
    if (document) {
      data.begin_document();
      text += "# newdoc\n";
    }
    const auto heads = random_heads(*rc::gen::inRange<std::size_t>(1, 6));
    for (std::size_t d = 1; d <= heads.size(); ++d) {
      const std::string form = "f" + *word, lemma = *word, coarse = *word, fine = *word, feats = *word,
                        label = *relation;
      data.add({form, lemma, coarse, fine, feats, label, heads[d - 1]});
      const auto field = [](const std::string& name) { return name.empty() ? "_" : name; };
      text += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", d, form, field(lemma), field(coarse),
                          field(fine), field(feats), heads[d - 1], label);
    }
    data.end_sentence();
    text += '\n';
  }
  RC_ASSERT(conll(data) == text);
  const TemporaryFolder folder;
  const std::string file = folder.file("train.conll", text);
  ParseOptions options;
  options.hash_bits = 8;
  options.structure = *rc::gen::element<std::string>("projective", "nonprojective");
  options.order = *rc::gen::inRange<std::size_t>(1, 3);
  options.unlabelled = *rc::gen::arbitrary<bool>();
  options.group_by = "boundary";
  if (*rc::gen::arbitrary<bool>()) options.first = 3;
  ParseData of_file;  // a file that a program reads itself
  DependencyReader reader(file, true);
  for (DependencySentence sentence; reader.next(sentence);) of_file.add(sentence);
  const auto one = make_parse_training(data, options), other = read_parse_training(file, options),
             third = make_parse_training(of_file, options);
  RC_ASSERT(one->describe() == other->describe());
  RC_ASSERT(one->fingerprint() == other->fingerprint());
  RC_ASSERT(third->fingerprint() == other->fingerprint());
  RC_ASSERT(std::vector(one->groups().begin(), one->groups().end()) ==
            std::vector(other->groups().begin(), other->groups().end()));
  const TrainOptions until{.l2 = 0.5, .gap = 0.05, .passes = 20};
  const bool same = model_bytes(train(*one, until)) == model_bytes(train(*other, until));
  RC_ASSERT(same);
}

TEST(ParseData, RefusesWhatIsNoTree) {
  ParseData data;
  EXPECT_EQ(error_message([&] { data.end_sentence(); }),
            "data in memory:1: the end of a sentence without words; expected some");
  EXPECT_EQ(error_message([&] { data.add({.form = ""}); }),
            "data in memory:1: a word without a form; expected one");
  EXPECT_EQ(error_message([&] { data.add({.form = "a", .lemma = "b\tc"}); }),
            "data in memory:1: the field 'b\\x09c'; expected one without TABs and ends of lines");
  data.add({.form = "fine", .head = 0});
  data.end_sentence();
  const auto message_of = [&](const std::vector<std::uint32_t>& heads) {
    for (const std::uint32_t head : heads) data.add({.form = "word", .head = head});
    return error_message([&] { data.end_sentence(); });
  };
  EXPECT_EQ(message_of({0, 3}),
            "data in memory:3: the head 3; expected another word, 1 to 2, or 0 for the root");
  EXPECT_EQ(message_of({1, 0}),
            "data in memory:2: word 1 as its own head; expected another word, 1 to 2, or 0 for the root");
  EXPECT_EQ(message_of({2, 1}), "data in memory:2: a sentence without a root; expected a word with head 0");
  EXPECT_EQ(
      message_of({0, 3, 2}),
      "data in memory:3: a cycle of heads, 2 <- 3 <- 2; expected heads that lead every word to the root, 0");
  EXPECT_EQ(data.size(), 1u);  // what was wrong is gone
  data.add({.form = "open", .head = 0});
  EXPECT_EQ(
      error_message([&] { data.begin_document(); }),
      "data in memory:3: the beginning of a document within a sentence; expected the end of the sentence "
      "before");
  EXPECT_EQ(error_message([&] { data.add(data.sentence(0)); }),
            "data in memory:3: a whole sentence within another one; expected the end of that one first");
  data.end_sentence();

  EXPECT_EQ(
      error_message([&] { make_parse_training(data); }),
      "data in memory:1: a word without a relation; expected one, or a parser without them (unlabelled)");
  ParseOptions unlabelled;
  unlabelled.unlabelled = true;
  unlabelled.hash_bits = 8;
  EXPECT_EQ(make_parse_training(data, unlabelled)->describe(), "2 sentences, 2 words");
  EXPECT_EQ(error_message([&] { make_parse_training(ParseData(), unlabelled); }),
            "data in memory: no sentences; expected some");
  const ParseData none;
  EXPECT_EQ(error_message([&] { make_parse_training(data, unlabelled, &none); }),
            "data in memory: no sentences; expected some");
  DependencySentence without_heads = data.sentence(0);
  without_heads.words[0].has_head = false;
  EXPECT_EQ(error_message([&] { data.add(without_heads); }),
            "data in memory:3: a word without a head; expected the number of a word, or 0 for the root");
}

class ParserTest : public ::testing::Test {
 protected:
  static Model trained(const ParseOptions& options, const Loss& loss = Loss::crf()) {
    const TemporaryFolder folder;
    const auto set =
        read_parse_training(folder.file("train.conllu", generated_sentences(1, 25, append_parse)), options);
    return train(*set, {.loss = loss, .gap = 0.05, .passes = 10});
  }
  static std::string predicted(const Model& model, const std::string& file, const PredictOptions& options) {
    std::string text;
    model.predictor().predict(file, options, [&](std::string_view piece) { text += piece; });
    return text;
  }

  TemporaryFolder folder;
  std::string file = folder.file("test.conllu", generated_sentences(2, 15, append_parse));
};

// Trees, the k best and probabilities are those that a file of predictions has.
TEST_F(ParserTest, ParsesAsPredictDoes) {
  for (const bool unlabelled : {false, true}) {
    ParseOptions options;
    options.hash_bits = 14;
    options.unlabelled = unlabelled;
    const Model model = trained(options);
    const Parser& parser = model.parser();
    EXPECT_EQ(parser.labelled(), !unlabelled);
    EXPECT_EQ(parser.num_relations() > 0, !unlabelled);
    ParsePredictOptions with_probabilities, three;
    with_probabilities.marginals = true;
    three.kbest = 3;
    std::string best, kbest;
    std::vector<std::string> probabilities;
    Parser::Sentence parsed(parser);
    DependencyReader reader(file, true);
    for (DependencySentence sentence; reader.next(sentence);) {
      parsed.clear();
      for (const DependencyWord& word : sentence.words) parsed.add(word);
      ASSERT_EQ(parsed.size(), sentence.words.size());
      append_tree(sentence, parsed.heads(), parsed.relations(), best);
      std::size_t rank = 0;
      for (const auto& [heads, numbers, score] : parsed.kbest(3)) {
        kbest += fmt::format("# {} {:.6f}\n", rank++, parsed.probability(score));
        std::vector<std::string_view> relations;
        for (const std::uint32_t number : numbers) relations.push_back(parser.relation(number));
        EXPECT_EQ(relations.size(), unlabelled ? 0 : heads.size());
        append_tree(sentence, heads, relations, kbest);
      }
      for (std::size_t d = 1; d <= parsed.size(); ++d) {
        const auto of_word = parsed.head_probabilities(d);
        ASSERT_EQ(of_word.size(), parsed.size() + 1);
        double sum = 0;
        for (const double p : of_word) sum += p;
        EXPECT_NEAR(sum, 1, 1e-9);
        EXPECT_EQ(of_word[d], 0);
        const std::uint32_t head = parsed.heads()[d - 1];
        if (of_word[head] >= 1e-3) probabilities.push_back(fmt::format(" {}:{:.4f}", head, of_word[head]));
      }
    }
    EXPECT_EQ(predicted(model, file, {}), best);
    EXPECT_EQ(predicted(model, file, three), kbest);
    const std::string all = predicted(model, file, with_probabilities);
    for (const std::string& one : probabilities) EXPECT_NE(all.find(one), std::string::npos) << one;
  }
}

TEST_F(ParserTest, ThreadsShareAParser) {
  ParseOptions options;
  options.hash_bits = 14;
  const Model model = trained(options);
  std::vector<std::string> texts(4);
  {
    std::vector<std::jthread> threads;
    for (std::string& text : texts) {
      threads.emplace_back([&] {
        Parser::Sentence parsed(model.parser());
        DependencyReader reader(file, true);
        for (DependencySentence sentence; reader.next(sentence);) {
          parsed.set(sentence);
          append_tree(sentence, parsed.heads(), parsed.relations(), text);
        }
      });
    }
  }
  for (const std::string& text : texts) EXPECT_EQ(text, predicted(model, file, {}));
}

TEST_F(ParserTest, RefusesWhatIsNotThere) {
  ParseOptions options;
  options.hash_bits = 12;
  options.order = 2;
  const Model model = trained(options, Loss::svm());
  Parser::Sentence parsed(model.parser());
  EXPECT_EQ(error_message([&] { parsed.heads(); }), "a sentence without words; expected some to parse");
  parsed.add({.form = "one"});
  EXPECT_EQ(parsed.heads()[0], 0u);
  EXPECT_EQ(error_message([&] { parsed.kbest(2); }),
            "the k best trees with a parser of order 2; expected a model of order 1");
  EXPECT_EQ(error_message([&] { parsed.head_probabilities(1); }),
            "a model of loss svm has no probabilities; expected one with a finite beta");
  EXPECT_EQ(error_message([&] { model.treebank_parser(); }),
            "the model in memory: a model of parse; expected a model of treebank");
  EXPECT_EQ(error_message([&] { model.graph_labeller(); }),
            "the model in memory: a model of parse; expected a model of graph");
}

// Held-out data in memory rates weights as a file of it does.
TEST(DevTreesInMemory, RateAsAFileDoes) {
  const TemporaryFolder folder;
  const ParseData train = small_trees(true);
  ParseData dev(true);
  dev.add({.form = "w1", .coarse = "N", .relation = "new", .head = 2});
  dev.add({.form = "w9", .coarse = "V", .relation = "root", .head = 0});
  dev.end_sentence();
  ParseOptions options;
  options.hash_bits = 8;
  const auto in_memory = make_parse_training(train, options, &dev),
             of_file = make_parse_training(train, options);
  EXPECT_EQ(in_memory->dev(), "data in memory");
  of_file->read_dev(folder.file("dev.conllu", "# text = w1 w9\n" + conll(dev)));
  TreebankData trees;
  trees.add("(S (NP (DT the) (NN dog)) (VP (VBD ran)))");
  trees.add("(S (VP (VBD ran)))");
  TreebankOptions of_trees;
  of_trees.hash_bits = 8;
  const auto trees_in_memory = make_treebank_training(trees, of_trees, &trees),
             trees_of_file = make_treebank_training(trees, of_trees);
  trees_of_file->read_dev(
      folder.file("dev.mrg", "(S (NP (DT the) (NN dog)) (VP (VBD ran)))\n(S (VP (VBD ran)))\n"));
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const Weights theta = test_support::random_weights(seed, in_memory->problem().weight_shape());
    EXPECT_EQ(in_memory->evaluate_dev(theta).text, of_file->evaluate_dev(theta).text);
    const Weights of_rules = test_support::random_weights(seed, trees_in_memory->problem().weight_shape());
    EXPECT_EQ(trees_in_memory->evaluate_dev(of_rules).text, trees_of_file->evaluate_dev(of_rules).text);
    const std::vector<std::uint32_t> all{0, 1};
    EXPECT_EQ(trees_in_memory->evaluate_examples(of_rules, all).text,
              trees_of_file->evaluate_dev(of_rules).text);
  }
}

BracketTree random_tree(int depth) {
  const auto label = rc::gen::element<std::string>("NP", "VP", "S-TPC", "X=1", "-LRB-", "-NONE-");
  if (depth == 0 || *rc::gen::inRange(0, 3) == 0)
    return {*label, *rc::gen::element<std::string>("dog", "runs", "*T*-1", "naïve"), {}};
  BracketTree tree{*label, "", {}};
  const auto children = *rc::gen::inRange(1, 4);
  for (int k = 0; k < children; ++k) tree.children.push_back(random_tree(depth - 1));
  return tree;
}

RC_GTEST_PROP(TreebankData, TreesAreThoseOfAFile, ()) {
  TreebankData data, of_text;
  std::string text;
  const auto count = *rc::gen::inRange(1, 6);
  for (int i = 0; i < count; ++i) {
    BracketTree tree{"S", "", {{"NN", "rain", {}}, random_tree(3)}};
    std::string brackets;
    append_brackets(tree, brackets);
    data.add(tree);
    of_text.add(brackets);
    RC_ASSERT(of_text.tree(of_text.size() - 1) == tree);
    text += brackets + '\n';
  }
  const TemporaryFolder folder;
  TreebankOptions options;
  options.hash_bits = 8;
  options.keep_traces = *rc::gen::arbitrary<bool>();
  options.keep_functions = *rc::gen::arbitrary<bool>();
  options.tags = *rc::gen::element<std::string>("gold", "predicted");
  if (*rc::gen::arbitrary<bool>()) options.first = 3;
  const auto one = make_treebank_training(data, options),
             other = read_treebank_training(folder.file("train.mrg", text), options);
  RC_ASSERT(one->describe() == other->describe());
  RC_ASSERT(one->fingerprint() == other->fingerprint());
  const TrainOptions until{.l2 = 0.5, .gap = 0.05, .passes = 20};
  const bool same = model_bytes(train(*one, until)) == model_bytes(train(*other, until));
  RC_ASSERT(same);
}

TEST(TreebankData, RefusesWhatIsNoTree) {
  TreebankData data;
  data.add("(TOP\n  (S (NN dogs)))");
  const auto message_of = [&](const BracketTree& tree) { return error_message([&] { data.add(tree); }); };
  EXPECT_EQ(message_of({"", "", {{"NN", "dogs", {}}}}),
            "data in memory:2: a phrase without a label; expected one");
  EXPECT_EQ(message_of({"S", "", {{"", "dogs", {}}}}),
            "data in memory:2: the word 'dogs' without a label; expected one, its tag");
  EXPECT_EQ(message_of({"S", "", {{"NP", "", {}}}}),
            "data in memory:2: the phrase 'NP' without contents; expected words or phrases");
  EXPECT_EQ(message_of({"S", "dogs", {{"NN", "cats", {}}}}),
            "data in memory:2: the word 'dogs' with something below it; expected a phrase or a word");
  EXPECT_EQ(message_of({"NN", "hot dogs", {}}),
            "data in memory:2: 'hot dogs'; expected labels and words without white space and brackets");
  BracketTree deep{"NN", "dogs", {}};
  for (std::size_t k = 0; k < BracketReader::kDeepest; ++k) deep = {"X", "", {deep}};
  EXPECT_EQ(message_of(deep),
            "data in memory:2: phrases within 1,000 phrases; expected trees that are less deeply nested");

  const auto message_of_text = [&](const char* text) { return error_message([&] { data.add(text); }); };
  EXPECT_EQ(message_of_text(""), "data in memory:2: no tree; expected one");
  EXPECT_EQ(message_of_text("(NN dogs) (NN cats)"), "data in memory:2: two trees; expected one per call");
  EXPECT_EQ(message_of_text("(S (NN dogs)"),
            "data in memory:2: a tree that does not end; expected 1 more ')'");
  EXPECT_EQ(message_of_text("dogs"),
            "data in memory:2: 'dogs' outside of brackets; expected '(', the beginning of a tree");
  EXPECT_EQ(data.size(), 1u);
  data.add("(S (-NONE- *))");
  EXPECT_EQ(error_message([&] { make_treebank_training(data); }),
            "data in memory:2: a tree that has only traces; expected words");
  EXPECT_EQ(error_message([] { make_treebank_training(TreebankData()); }),
            "data in memory: no trees; expected some");
  TreebankData wide;
  wide.add(BracketTree{"S", "", std::vector<BracketTree>(2001, {"NN", "dogs", {}})});
  TreebankOptions options;
  options.longest = 2000;
  EXPECT_EQ(error_message([&] { make_treebank_training(wide, options); }),
            "data in memory: no sentences of at most 2,000 words; expected some");
}

TEST(TreebankParser, ParsesAsPredictDoes) {
  const TemporaryFolder folder;
  const std::string train_file = folder.file("train.mrg", generated_sentences(1, 60, append_treebank)),
                    test_file = folder.file("test.mrg", generated_sentences(2, 20, append_treebank) +
                                                            "(S (NN no) (NN such) (UNKNOWN tree))\n");
  for (const std::string tags : {"gold", "predicted"}) {
    TreebankOptions options;
    options.hash_bits = 10;
    options.tags = tags;
    const Model model = train(*read_treebank_training(train_file, options), {.gap = 0.05});
    EXPECT_EQ(model.treebank_parser().predicts_tags(), tags == "predicted");
    TreebankParser::Sentence parsed(model.treebank_parser());
    std::string best, kbest;
    BracketReader reader(test_file);
    std::size_t unparsed = 0;
    for (BracketTree tree; reader.next(tree);) {
      std::vector<TaggedWord> words;
      append_words(tree, words);
      parsed.clear();
      for (const TaggedWord& word : words) parsed.add(word.word, tags == "gold" ? word.tag : "");
      ASSERT_EQ(parsed.size(), words.size());
      append_brackets(parsed.tree(), best);
      best += '\n';
      unparsed += parsed.parsed() ? 0 : 1;
      std::size_t rank = 0;
      double sum = 0;
      for (const auto& [of_rank, score] : parsed.kbest(3)) {
        const double p = parsed.probability(score);
        sum += p;
        kbest += fmt::format("# {} {:.6f}\n", rank++, p);
        append_brackets(of_rank, kbest);
        kbest += '\n';
      }
      EXPECT_LE(sum, 1 + 1e-9);
    }
    EXPECT_LT(unparsed, 10u);
    std::string written, written_kbest;
    TreebankPredictOptions three;
    three.kbest = 3;
    model.predictor().predict(test_file, {}, [&](std::string_view piece) { written += piece; });
    model.predictor().predict(test_file, three, [&](std::string_view piece) { written_kbest += piece; });
    EXPECT_EQ(written, best);
    EXPECT_EQ(written_kbest, kbest);

    parsed.clear();
    EXPECT_EQ(error_message([&] { parsed.tree(); }), "a sentence without words; expected some to parse");
    EXPECT_EQ(error_message([&] { parsed.add(""); }), "an empty word; expected one");
    if (tags == "gold") {
      EXPECT_EQ(error_message([&] { parsed.add("dog"); }),
                "the word 'dog' without a tag; expected one: the model does not predict tags");
    }
  }
}

// What files say of sentences that are too long is said of data in memory, too.
TEST(ParseData, LeavesLongSentencesOut) {
  const ParseData data = small_trees(true);
  ParseOptions options;
  options.hash_bits = 8;
  options.longest = 3;
  const auto set = make_parse_training(data, options);
  EXPECT_EQ(set->problem().size(), 3u);
  EXPECT_TRUE(set->describe().ends_with("; 1 sentence of more than 3 words left out")) << set->describe();
  options.longest = 4;
  EXPECT_EQ(make_parse_training(data, options)->problem().size(), 4u);
  const Model model = train(*set, {.l2 = 1, .gap = 0.1});
  Parser::Sentence sentence(model.parser());
  const DependencySentence& four = data.sentence(2);
  sentence.set(four);
  EXPECT_EQ(sentence.pieces(), 2u);
  EXPECT_EQ(sentence.heads().size(), 4u);
  EXPECT_EQ(sentence.kbest(3).size(), 1u);
  double sum = 0;
  for (const double p : sentence.head_probabilities(4)) sum += p;
  EXPECT_NEAR(sum, 1, 1e-9);
  EXPECT_EQ(sentence.head_probabilities(4).size(), 5u);
  sentence.set(data.sentence(0));
  EXPECT_EQ(sentence.pieces(), 1u);
}

TEST(TreebankData, LeavesLongSentencesOut) {
  TreebankData data;
  for (const char* tree : {"(S (NN rain) (VBD fell))", "(S (NP (NN rain) (CC and) (NN snow)) (VBD fell))",
                           "(S (NN snow) (VBD fell))"})
    data.add(tree);
  TreebankOptions options;
  options.hash_bits = 8;
  options.longest = 3;
  const auto set = make_treebank_training(data, options);
  EXPECT_EQ(set->problem().size(), 2u);
  EXPECT_TRUE(set->describe().ends_with("; 1 sentence of more than 3 words left out")) << set->describe();
  const Model model = train(*set, {.l2 = 1, .gap = 0.1});
  TreebankParser::Sentence sentence(model.treebank_parser());
  const std::vector<TaggedWord> long_one{
      {"rain", "NN"}, {"fell", "VBD"}, {",", ","}, {"snow", "NN"}, {"fell", "VBD"}};
  sentence.set(long_one);
  EXPECT_EQ(sentence.pieces(), 2u);
  std::string text;
  append_brackets(sentence.tree(), text);
  // The first piece ends after the comma, for which the grammar has no tree.
  EXPECT_EQ(text, "(S (S (NN rain) (VBD fell) (, ,)) (S (NN snow) (VBD fell)))");
  EXPECT_FALSE(sentence.parsed());
  const auto best = sentence.kbest(2);
  ASSERT_EQ(best.size(), 1u);
  EXPECT_EQ(best[0].tree, sentence.tree());
  EXPECT_GT(sentence.probability(best[0].score), 0);
  EXPECT_LE(sentence.probability(best[0].score), 1 + 1e-12);
  sentence.set(std::span(long_one).first(2));
  EXPECT_EQ(sentence.pieces(), 1u);
  EXPECT_TRUE(sentence.parsed());
}

}  // namespace
}  // namespace espalier::trees_in_memory_test
