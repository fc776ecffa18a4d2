// Ranks that read a share each make of files what one process makes of them: the same dictionaries, byte for
// byte, the same examples one rank after the other, and the same messages.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "fleet/file_share.h"
#include "fleet/threads.h"
#include "support/error_message.h"
#include "tasks/random_files.h"
#include "tasks/tag/reader.h"

namespace espalier::testing::shared_reading_test {

// Shares of little files.
class FirstLook {
 public:
  FirstLook() : before_(FileShare::first_look) { FileShare::first_look = 1; }
  ~FirstLook() { FileShare::first_look = before_; }
  FirstLook(const FirstLook&) = delete;
  FirstLook& operator=(const FirstLook&) = delete;

 private:
  std::size_t before_;
};

// What is the same on all ranks, and what each has for itself.
struct Seen {
  std::string common, own;
  bool shared = false;
};
// nullptr: one process.
using Read = std::function<Seen(const InputFiles& files, std::size_t threads, Communicator* fleet)>;

void check(const Texts& right, const Texts& wrong, const Read& read) {
  const TemporaryFolder folder;
  // Often without faults, so that there are examples for every rank.
  const InputFiles files = random_files(folder, right, *rc::gen::element(wrong, Texts(), Texts()));
  Seen alone;
  const std::string expected = error_message([&] { alone = read(files, 1, nullptr); });
  const FirstLook look;
  for (const std::size_t ranks : {2, 3, 5}) {
    const ChunkBytes bytes(*rc::gen::element<std::size_t>(1, 40, 100000));
    const auto threads = *rc::gen::element<std::size_t>(1, 2);
    std::vector<Seen> seen(ranks);
    const std::string message = error_message([&] {
      run_ranks(ranks, [&](Communicator& fleet) { seen[fleet.rank()] = read(files, threads, &fleet); });
    });
    RC_ASSERT(message == expected);
    if (message != "(no error)") continue;
    RC_CLASSIFY(seen[0].shared, "shared");
    std::string together;
    for (const Seen& of_rank : seen) {
      RC_ASSERT(of_rank.common == alone.common);
      RC_ASSERT(of_rank.shared == seen[0].shared);
      together += of_rank.own;
    }
    RC_ASSERT((seen[0].shared ? together : seen[0].own) == alone.own);
  }
}

// Everything about sequence i that does not say where it is in memory.
void add_sequence(const TagExamples& examples, std::size_t i, std::string& to) {
  const Sequences& sequences = examples.sequences;
  const auto add_row = [&](const SparseRows::Row& row) {
    for (std::size_t j = 0; j < row.ids.size(); ++j)
      to += std::to_string(row.ids[j]) + ':' + std::to_string(row.value(j)) + ' ';
    to += '/';
  };
  to += examples.places.file(i) + ':' + std::to_string(examples.places.line(i)) + ' ';
  // Whether all steps are alike decides on the statistics of an example.
  to += sequences.transition_of.empty() ? "tied " : "";
  if (!examples.weights.empty()) to += std::to_string(examples.weights[i]) + ' ';
  for (std::size_t t = sequences.offsets[i]; t < sequences.offsets[i + 1]; ++t) {
    to += std::to_string(examples.labels[t]) + ' ';
    add_row(sequences.tokens.row(t));
    if (t > sequences.offsets[i])
      add_row(sequences.transitions.row(sequences.transition_of.empty() ? 0 : sequences.transition_of[t]));
  }
  to += '\n';
}

Read tag_reader(const TagInput& requested, std::size_t min_count) {
  return [=](const InputFiles& files, std::size_t threads, Communicator* fleet) {
    Seen seen;
    TagInput input = requested;
    TagDictionaries names;
    names.attributes.add("w[0]=dog");  // as of l1_except
    std::optional<TagExamples> examples;
    if (fleet != nullptr) examples = read_tag_share(files, input, {}, names, min_count, {threads}, *fleet);
    seen.shared = examples.has_value();
    if (!examples) examples = read_tag_growing(files, input, {}, {}, names, min_count, {threads});
    EXPECT_EQ(examples->fleet, seen.shared ? fleet : nullptr);
    add(names.attributes, seen.common);
    add(names.transitions, seen.common);
    add(names.labels, seen.common);
    seen.common += std::to_string(examples->num_rare) + ' ' + std::to_string(input.num_columns) + ' ' +
                   std::to_string(input.tabs);
    for (std::size_t i = 0; i < examples->sequences.size(); ++i) add_sequence(*examples, i, seen.own);
    return seen;
  };
}

RC_GTEST_PROP(SharedReading, columns_with_built_in_attributes, ()) {
  TagInput input;
  input.separator_assumed = true;
  input.weight_comments = *rc::gen::arbitrary<bool>();
  check(kColumns, kWrongColumns, tag_reader(input, *rc::gen::element<std::size_t>(1, 2)));
}

RC_GTEST_PROP(SharedReading, columns_with_templates, ()) {
  TagInput input;
  input.templates = *rc::gen::element<std::string>("U:%x[0,0]\nU:%x[-1,1]\nB\n",
                                                   "U:%x[0,0]\nB:%x[0,1]\nB:%x[-1,1]\nB:%x[0,1]\n");
  check(kColumns, kWrongColumns, tag_reader(input, *rc::gen::element<std::size_t>(1, 2)));
}

RC_GTEST_PROP(SharedReading, crfsuite_files, ()) {
  TagInput input;
  input.format = TagFormat::crfsuite;
  check(kCrfsuite, kWrongCrfsuite, tag_reader(input, *rc::gen::element<std::size_t>(1, 2)));
}

RC_GTEST_PROP(SharedReading, wapiti_files, ()) {
  TagInput input;
  input.format = TagFormat::wapiti;
  check(kWapiti, kWrongWapiti, tag_reader(input, *rc::gen::element<std::size_t>(1, 2)));
}

RC_GTEST_PROP(SharedReading, examples_to_classify, ()) {
  ClassifyReadOptions options;
  options.format = *rc::gen::element(ClassifyFormat::libsvm, ClassifyFormat::crfsuite, ClassifyFormat::named,
                                     ClassifyFormat::text);
  options.bias = *rc::gen::arbitrary<bool>();
  options.min_count = *rc::gen::element<std::size_t>(1, 2);
  options.text.weighting =
      *rc::gen::element(TextWeighting::count, TextWeighting::binary, TextWeighting::tf_idf);
  const auto [right, wrong] = classify_lines(options.format);
  check(right, wrong, [&](const InputFiles& files, std::size_t threads, Communicator* fleet) {
    ClassifyReadOptions reading = options;
    reading.chunks = {threads};
    reading.fleet = fleet;
    Seen seen;
    Dictionary attributes, labels;
    attributes.add("b");  // as of l1_except
    const ClassifyExamples train = read_classify_growing(files, reading, attributes, labels);
    seen.shared = train.fleet != nullptr;
    add(attributes, seen.common);
    add(labels, seen.common);
    add(train.idf, seen.common);
    seen.common += std::to_string(train.num_rare) + ' ' + std::to_string(train.num_bad_bytes);
    for (std::size_t i = 0; i < train.rows.size(); ++i) {
      const SparseRows::Row row = train.rows.row(i);
      seen.own += std::to_string(train.labels[i]) + ' ';
      for (std::size_t j = 0; j < row.ids.size(); ++j)
        seen.own += std::to_string(row.ids[j]) + ':' + std::to_string(row.value(j)) + ' ';
      seen.own += '\n';
    }
    return seen;
  });
}

}  // namespace espalier::testing::shared_reading_test
