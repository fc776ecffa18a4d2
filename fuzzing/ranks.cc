// Training files read by ranks, a share each: the same dictionaries, examples and messages as by one process.

#include <algorithm>
#include <string>
#include <vector>

#include "fleet/file_share.h"
#include "fleet/threads.h"
#include "fuzzing/seen.h"
#include "fuzzing/targets.h"
#include "tasks/classify/reader.h"
#include "tasks/tag/reader.h"

namespace espalier::fuzz {
namespace {

// What is the same on all ranks, and what each has for itself.
struct OfRank {
  Seen common, own;
  bool shared = false;
};

void add_row(const SparseRows::Row& row, Seen& to) {
  to.add(std::vector(row.ids.begin(), row.ids.end()));
  for (std::size_t j = 0; j < row.ids.size(); ++j) to.text += std::to_string(row.value(j)) + ' ';
}

OfRank read_tags(const std::string& path, TagFormat format, std::size_t min_count, Communicator* fleet) {
  OfRank seen;
  TagInput input;
  input.format = format;
  input.separator_assumed = true;
  input.weight_comments = true;
  TagDictionaries names;
  std::optional<TagExamples> examples;
  if (fleet != nullptr) examples = read_tag_share(path, input, {}, names, min_count, {1}, *fleet);
  seen.shared = examples.has_value();
  if (!examples) examples = read_tag_growing(path, input, {}, {}, names, min_count, {1});
  seen.common.add(names.attributes, names.transitions, names.labels, std::vector{examples->num_rare});
  const Sequences& sequences = examples->sequences;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    seen.own.add(std::vector{examples->places.line(i)});
    if (!examples->weights.empty()) seen.own.add(std::vector{examples->weights[i]});
    for (std::size_t t = sequences.offsets[i]; t < sequences.offsets[i + 1]; ++t) {
      seen.own.add(std::vector{examples->labels[t]});
      add_row(sequences.tokens.row(t), seen.own);
      const std::size_t step = sequences.transition_of.empty() ? 0 : sequences.transition_of[t];
      if (t > sequences.offsets[i]) add_row(sequences.transitions.row(step), seen.own);
    }
  }
  return seen;
}

OfRank read_classes(const std::string& path, ClassifyFormat format, std::size_t min_count,
                    Communicator* fleet) {
  OfRank seen;
  ClassifyReadOptions options;
  options.format = format;
  options.min_count = min_count;
  options.text.weighting = TextWeighting::tf_idf;
  options.fleet = fleet;
  Dictionary attributes, labels;
  const ClassifyExamples train = read_classify_growing(path, options, attributes, labels);
  seen.shared = train.fleet != nullptr;
  seen.common.add(attributes, labels, train.idf, std::vector{train.num_rare, train.num_bad_bytes});
  for (std::size_t i = 0; i < train.rows.size(); ++i) {
    seen.own.add(std::vector{train.labels[i]});
    add_row(train.rows.row(i), seen.own);
  }
  return seen;
}

}  // namespace

void ranks(std::string_view bytes) {
  Choices choices(bytes);
  const std::size_t format = choices.below(7), min_count = 1 + choices.below(2),
                    number = 2 + choices.below(3);
  const std::string path = memory_file().write(bytes);
  const auto read = [&](Communicator* fleet) {
    constexpr TagFormat kTag[] = {TagFormat::columns, TagFormat::crfsuite, TagFormat::wapiti};
    constexpr ClassifyFormat kClassify[] = {ClassifyFormat::libsvm, ClassifyFormat::crfsuite,
                                            ClassifyFormat::named, ClassifyFormat::text};
    return format < 3 ? read_tags(path, kTag[format], min_count, fleet)
                      : read_classes(path, kClassify[format - 3], min_count, fleet);
  };
  OfRank alone;
  const std::string expected = message_of([&] { alone = read(nullptr); });
  FileShare::first_look = 1;  // shares of little files
  std::vector<OfRank> seen(number);
  const std::string message =
      message_of([&] { run_ranks(number, [&](Communicator& fleet) { seen[fleet.rank()] = read(&fleet); }); });
  expect(message == expected, "the same message by several ranks");
  if (!message.empty()) return;
  std::string together;
  for (const OfRank& of_rank : seen) {
    expect(of_rank.common.text == alone.common.text, "the same dictionaries on every rank");
    expect(of_rank.shared == seen[0].shared, "all ranks share, or none");
    together += of_rank.own.text;
  }
  expect((seen[0].shared ? together : seen[0].own.text) == alone.own.text, "the examples of all ranks");
}

}  // namespace espalier::fuzz
