// Several threads make of files what one makes of them, whatever the size of chunks: the same ids, rows and
// messages.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/fingerprint.h"
#include "base/text_chunks.h"
#include "espalier/tasks/parse.h"
#include "espalier/tasks/treebank.h"
#include "support/error_message.h"
#include "support/temporary_folder.h"
#include "tasks/classify/reader.h"
#include "tasks/parse/training.h"
#include "tasks/random_files.h"
#include "tasks/tag/reader.h"

namespace espalier::testing::parallel_reading_test {

std::string text_of(const TagExamples& examples, const TagDictionaries& dictionaries,
                    const Dictionary& labels) {
  std::string text;
  add(dictionaries.attributes, text);
  add(dictionaries.transitions, text);
  add(labels, text);
  add(examples.sequences.tokens, text);
  add(examples.sequences.transitions, text);
  add(examples.sequences.offsets, text);
  add(examples.sequences.transition_of, text);
  add(examples.labels, text);
  add(examples.places, text);
  add(examples.weights, text);
  add(examples.groups, text);
  return text + std::to_string(examples.num_rare);
}

// What there is to see of files, or the message: read(files, threads).
using Read = std::function<std::string(const InputFiles& files, std::size_t threads)>;

// Files of random fragments, in which some are wrong, read in all ways.
void check(const Texts& right, const Texts& wrong, const Read& read) {
  const TemporaryFolder folder;
  const InputFiles files = random_files(folder, right, wrong);
  const auto outcome = [&](std::size_t threads) {
    std::string seen;
    const std::string message = error_message([&] { seen = read(files, threads); });
    return message + '\n' + seen;
  };
  const std::string expected = outcome(1);
  for (const std::size_t threads : {2, 3, 16}) {
    const ChunkBytes bytes(*rc::gen::element<std::size_t>(1, 7, 40, 300, 100000));
    RC_ASSERT(outcome(threads) == expected);
  }
}

// error_message() of what need not throw.
std::string read_tag_in_both_ways(const InputFiles& files, TagInput input, std::size_t min_count,
                                  std::size_t threads) {
  TagDictionaries names;
  const TagExamples train = read_tag_growing(files, input, {}, {}, names, min_count, {threads});
  std::string text = text_of(train, names, names.labels);
  Dictionary labels;
  const TagExamples dev = read_tag(files.first(), input, names, labels, {threads});
  return text + text_of(dev, names, labels);
}

RC_GTEST_PROP(ParallelReading, columns_with_built_in_attributes, ()) {
  TagInput input;
  input.separator_assumed = true;
  input.weight_comments = *rc::gen::arbitrary<bool>();
  input.group_documents = *rc::gen::arbitrary<bool>();
  const auto min_count = *rc::gen::element<std::size_t>(1, 2);
  check(kColumns, kWrongColumns, [&](const InputFiles& files, std::size_t threads) {
    return read_tag_in_both_ways(files, input, min_count, threads);
  });
}

RC_GTEST_PROP(ParallelReading, columns_with_templates, ()) {
  TagInput input;
  input.templates = *rc::gen::element<std::string>("U:%x[0,0]\nU:%x[-1,1]\nB\n",
                                                   "U:%x[0,0]\nB:%x[0,1]\nB:%x[-1,1]\nB:%x[0,1]\n");
  input.group_column = *rc::gen::arbitrary<bool>() ? std::optional<std::size_t>(1) : std::nullopt;
  const auto min_count = *rc::gen::element<std::size_t>(1, 2);
  check(kColumns, kWrongColumns, [&](const InputFiles& files, std::size_t threads) {
    return read_tag_in_both_ways(files, input, min_count, threads);
  });
}

RC_GTEST_PROP(ParallelReading, crfsuite_and_wapiti_files, ()) {
  TagInput input;
  input.format = *rc::gen::element(TagFormat::crfsuite, TagFormat::wapiti);
  const bool is_crfsuite = input.format == TagFormat::crfsuite;
  check(is_crfsuite ? kCrfsuite : kWapiti, is_crfsuite ? kWrongCrfsuite : kWrongWapiti,
        [&](const InputFiles& files, std::size_t threads) {
          return read_tag_in_both_ways(files, input, 1, threads);
        });
}

RC_GTEST_PROP(ParallelReading, examples_to_classify, ()) {
  ClassifyReadOptions options;
  options.format = *rc::gen::element(ClassifyFormat::libsvm, ClassifyFormat::crfsuite, ClassifyFormat::named,
                                     ClassifyFormat::text);
  options.bias = *rc::gen::arbitrary<bool>();
  options.min_count = *rc::gen::element<std::size_t>(1, 2);
  options.text.weighting =
      *rc::gen::element(TextWeighting::count, TextWeighting::binary, TextWeighting::tf_idf);
  const auto [right, wrong] = classify_lines(options.format);
  check(right, wrong, [&](const InputFiles& files, std::size_t threads) {
    ClassifyReadOptions reading = options;
    reading.chunks = {threads};
    std::string text;
    Dictionary attributes, labels;
    const ClassifyExamples train = read_classify_growing(files, reading, attributes, labels);
    reading.idf = train.idf;
    reading.labels_required = false;
    const ClassifyExamples dev = read_classify(files.first(), reading, attributes, labels);
    add(attributes, text);
    add(labels, text);
    for (const ClassifyExamples* examples : {&train, &dev}) {
      add(examples->rows, text);
      add(examples->labels, text);
      add(examples->idf, text);
      text += std::to_string(examples->num_rare) + ' ' + std::to_string(examples->num_bad_bytes) + '\n';
    }
    return text;
  });
}

std::string text_of(const TrainingSet& set) {
  std::string text = set.describe() + '\n' + std::to_string(set.fingerprint()) + '\n';
  for (const std::uint32_t group : set.groups()) text += std::to_string(group) + ' ';
  const TaskSections sections = set.sections();
  text += sections.settings.dump();
  for (const auto& [name, bytes] : sections.arrays)
    text += name + ' ' + std::to_string(fingerprint_of(bytes)) + '\n';
  return text;
}

RC_GTEST_PROP(ParallelReading, dependencies, ()) {
  ParseOptions options;
  options.unlabelled = true;
  options.hash_bits = 10;
  options.group_by = "boundary";
  options.crossing = *rc::gen::element<std::string>("lift", "drop", "refuse");
  const auto line = [](int id, int head) {
    return std::to_string(id) + "\tw" + std::to_string(head) + "\tl\tC\tF\t_\t" + std::to_string(head) +
           "\tr\n";
  };
  const std::string two = line(1, 2) + line(2, 0);
  check({two + "\n", line(1, 0) + "\r\n", "# newdoc\n", "# text\n\n", "\n",
         line(1, 3) + line(2, 4) + line(3, 0) + line(4, 3) + " \n", two + "2.1\t_\n\n"},
        {two, line(2, 0), line(1, 1) + "\n", "1\tw\n"}, [&](const InputFiles& files, std::size_t threads) {
          options.threads = threads;
          const auto set = read_parse_training(files, options, RoughTrainer());
          set->read_dev(files.first());
          return text_of(*set);
        });
}

RC_GTEST_PROP(ParallelReading, trees, ()) {
  TreebankOptions options;
  check({"( (S (NP (D the) (N dog)) (VP (V sat))) )\n", "(S (NP (N Anna))\n  (VP (V sat)\n (NP (N it))))\n",
         "\n", "(S (N x) (V y)) (S (N y) (V x))\r\n"},
        {"(S (N x)\n", ")\n", "word\n", "(S ())\n"}, [&](const InputFiles& files, std::size_t threads) {
          options.threads = threads;
          const auto set = read_treebank_training(files, options);
          set->read_dev(files.first());
          return text_of(*set);
        });
}

}  // namespace espalier::testing::parallel_reading_test
