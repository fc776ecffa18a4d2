// Several threads make of a file what one makes of it, whatever the size of chunks: the same ids, rows and
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
#include "tasks/tag/reader.h"

namespace espalier::testing::parallel_reading_test {

using Texts = std::vector<std::string>;

class ChunkBytes {
 public:
  explicit ChunkBytes(std::size_t bytes) : before_(ChunkOptions::usual_bytes) {
    ChunkOptions::usual_bytes = bytes;
  }
  ~ChunkBytes() { ChunkOptions::usual_bytes = before_; }
  ChunkBytes(const ChunkBytes&) = delete;
  ChunkBytes& operator=(const ChunkBytes&) = delete;

 private:
  std::size_t before_;
};

void add(const Dictionary& names, std::string& to) {
  for (std::uint32_t id = 0; id < names.size(); ++id) to.append(names.name(id)).append("|");
  // Where names are in the table is part of a model.
  for (const std::uint64_t slot : names.table()) to += std::to_string(slot) + ' ';
  to += '\n';
}
void add(const SparseRows& rows, std::string& to) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const SparseRows::Row row = rows.row(i);
    for (std::size_t j = 0; j < row.ids.size(); ++j)
      to += std::to_string(row.ids[j]) + ':' + std::to_string(row.value(j)) + ' ';
    to += row.values.empty() ? "ones\n" : "\n";
  }
}
template <class T>
void add(const std::vector<T>& values, std::string& to) {
  for (const T value : values) to += std::to_string(value) + ' ';
  to += '\n';
}

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
  add(examples.first_lines, text);
  add(examples.weights, text);
  add(examples.groups, text);
  return text + std::to_string(examples.num_rare);
}

// What there is to see of a file, or the message: read(path, threads).
using Read = std::function<std::string(const std::string& path, std::size_t threads)>;

// Files of random fragments, in which some are wrong, read in all ways.
void check(const Texts& right, const Texts& wrong, const Read& read) {
  const TemporaryFolder folder;
  Texts fragments = *rc::gen::container<Texts>(rc::gen::elementOf(right));
  const Texts faults = *rc::gen::resize(3, rc::gen::container<Texts>(rc::gen::elementOf(wrong)));
  for (const std::string& fault : faults) {
    const auto at = *rc::gen::inRange<std::size_t>(0, 2 * fragments.size() + 1);
    if (at <= fragments.size()) fragments.insert(fragments.begin() + static_cast<std::ptrdiff_t>(at), fault);
  }
  std::string text;
  for (const std::string& fragment : fragments) text += fragment;
  if (!text.empty() && *rc::gen::arbitrary<bool>()) text.pop_back();  // a last line without its end
  const std::string path = folder.file("data", text);
  const auto outcome = [&](std::size_t threads) {
    std::string seen;
    const std::string message = error_message([&] { seen = read(path, threads); });
    return message + '\n' + seen;
  };
  const std::string expected = outcome(1);
  for (const std::size_t threads : {2, 3, 16}) {
    const ChunkBytes bytes(*rc::gen::element<std::size_t>(1, 7, 40, 300, 100000));
    RC_ASSERT(outcome(threads) == expected);
  }
}

// error_message() of what need not throw.
std::string read_tag_in_both_ways(const std::string& path, TagInput input, std::size_t min_count,
                                  std::size_t threads) {
  TagDictionaries names;
  const TagExamples train = read_tag_growing(path, input, {}, {}, names, min_count, {threads});
  std::string text = text_of(train, names, names.labels);
  Dictionary labels;
  const TagExamples dev = read_tag(path, input, names, labels, {threads});
  return text + text_of(dev, names, labels);
}

const Texts kColumns{"the DT O\n", "Anna NNP B\n", "saw VB O\n",   "x1 CD B\n",          "\n",           "\n",
                     "\r\n",       " \t\n",        "dog NN O\r\n", "-DOCSTART- -X- O\n", "# weight: 2\n"};
const Texts kWrongColumns{"only\n", "one two three four\n", std::string("a\0b c\n", 6), "# weight: -1\n"};

RC_GTEST_PROP(ParallelReading, columns_with_built_in_attributes, ()) {
  TagInput input;
  input.separator_assumed = true;
  input.weight_comments = *rc::gen::arbitrary<bool>();
  input.group_documents = *rc::gen::arbitrary<bool>();
  const auto min_count = *rc::gen::element<std::size_t>(1, 2);
  check(kColumns, kWrongColumns, [&](const std::string& path, std::size_t threads) {
    return read_tag_in_both_ways(path, input, min_count, threads);
  });
}

RC_GTEST_PROP(ParallelReading, columns_with_templates, ()) {
  TagInput input;
  input.templates = *rc::gen::element<std::string>("U:%x[0,0]\nU:%x[-1,1]\nB\n",
                                                   "U:%x[0,0]\nB:%x[0,1]\nB:%x[-1,1]\nB:%x[0,1]\n");
  input.group_column = *rc::gen::arbitrary<bool>() ? std::optional<std::size_t>(1) : std::nullopt;
  const auto min_count = *rc::gen::element<std::size_t>(1, 2);
  check(kColumns, kWrongColumns, [&](const std::string& path, std::size_t threads) {
    return read_tag_in_both_ways(path, input, min_count, threads);
  });
}

RC_GTEST_PROP(ParallelReading, crfsuite_and_wapiti_files, ()) {
  TagInput input;
  input.format = *rc::gen::element(TagFormat::crfsuite, TagFormat::wapiti);
  const Texts crfsuite{"A\ta\tb:2\n", "B\tb\tc\n", "A\tc\tc\td:0.5\n", "\n", "\n", "A\n", "B\te\t\tf:0\r\n"};
  const Texts wapiti{"ua bx A\n", "ub *y B\n", "u1 bx bx b2 B\n", "\n", "\n", "*y *z A\r\n"};
  const bool is_crfsuite = input.format == TagFormat::crfsuite;
  check(is_crfsuite ? crfsuite : wapiti, is_crfsuite ? Texts{"\ta\n", "A\ta:x\n", "A b\n"} : Texts{"q A\n"},
        [&](const std::string& path, std::size_t threads) {
          return read_tag_in_both_ways(path, input, 1, threads);
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
  Texts right, wrong;
  switch (options.format) {
    case ClassifyFormat::libsvm:
      right = {"1 3:1 4:0.5\n", "2 1:1 3:2 # comment\n", "+1 9:1\r\n", "\n", "3 1 2 0\n", "1 4 0 6\n"};
      wrong = {"1 3:x\n", "1 3 4\n", "3 1 2 3 4\n", "1:2 3:4\n"};
      break;
    case ClassifyFormat::named:
      right = {"1 a:1 b:0.5\n", "x a:1 a:2\n", "1 z:1\r\n", "\n"};
      wrong = {"1 a\n", "a:1 b:2\n"};
      break;
    case ClassifyFormat::crfsuite:
      right = {"A\ta\tb:2\n", "B\tb\tc\tb\n", "A\tz:-1\r\n", "\n"};
      wrong = {"\ta\n", "A\ta:x\n"};
      break;
    default:
      right = {"A\tone two two\n", "B\ttwo three \xff one\n", "A\tzwei\r\n", "\n", "B\t\n"};
      wrong = {"none\n", "\tnone\n"};
  }
  check(right, wrong, [&](const std::string& path, std::size_t threads) {
    ClassifyReadOptions reading = options;
    reading.chunks = {threads};
    std::string text;
    Dictionary attributes, labels;
    const ClassifyExamples train = read_classify_growing(path, reading, attributes, labels);
    reading.idf = train.idf;
    reading.labels_required = false;
    const ClassifyExamples dev = read_classify(path, reading, attributes, labels);
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
        {two, line(2, 0), line(1, 1) + "\n", "1\tw\n"}, [&](const std::string& path, std::size_t threads) {
          options.threads = threads;
          const auto set = read_parse_training(path, options, RoughTrainer());
          set->read_dev(path);
          return text_of(*set);
        });
}

RC_GTEST_PROP(ParallelReading, trees, ()) {
  TreebankOptions options;
  check({"( (S (NP (D the) (N dog)) (VP (V sat))) )\n", "(S (NP (N Anna))\n  (VP (V sat)\n (NP (N it))))\n",
         "\n", "(S (N x) (V y)) (S (N y) (V x))\r\n"},
        {"(S (N x)\n", ")\n", "word\n", "(S ())\n"}, [&](const std::string& path, std::size_t threads) {
          options.threads = threads;
          const auto set = read_treebank_training(path, options);
          set->read_dev(path);
          return text_of(*set);
        });
}

}  // namespace espalier::testing::parallel_reading_test
