// Examples that a program has in memory: the same as those of a file that says the same.

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "fuzzing/seen.h"
#include "fuzzing/targets.h"
#include "tasks/classify/reader.h"
#include "tasks/tag/reader.h"

namespace espalier::fuzz {
namespace {

// Short words from bytes, which need no escapes in any format.
class Words {
 public:
  explicit Words(std::string_view bytes) : bytes_(bytes) {}
  bool empty() const { return bytes_.empty(); }
  std::size_t below(std::size_t n) {
    if (bytes_.empty()) return 0;
    const std::size_t value = static_cast<unsigned char>(bytes_.front()) % n;
    bytes_.remove_prefix(1);
    return value;
  }
  std::string next() { return {static_cast<char>('a' + below(7)), static_cast<char>('k' + below(3))}; }
  // What is exact however it is written.
  float value() { return static_cast<float>(below(9)) / 4 - 1; }

 private:
  std::string_view bytes_;
};

std::string seen_of(const TagExamples& examples, const TagDictionaries& names) {
  Seen seen;
  // Where comments could say so, all weights are 1; where nobody could, there are none.
  std::vector<double> weights = examples.weights;
  if (std::ranges::count(weights, 1.0) == std::ssize(weights)) weights.clear();
  seen.add(names.attributes, names.transitions, names.labels, examples.sequences.tokens,
           examples.sequences.transitions, examples.sequences.offsets, examples.sequences.transition_of,
           examples.labels, weights, std::vector{examples.num_rare});
  return seen.text;
}

void tags(Words words, bool columns, std::size_t min_count) {
  TagData data;
  std::string file;
  while (!words.empty()) {
    const double weight = words.below(3) == 0 ? 2 : 1;
    if (weight != 1) file += "# weight: 2\n";
    for (std::size_t left = 1 + words.below(4); left > 0; --left) {
      const std::string label = words.next(), first = words.next(), second = words.next();
      if (columns) {
        data.add_columns({first, second}, label);
        file += first + '\t' + second + '\t' + label + '\n';
      } else {
        const float value = words.value();
        data.add_attributes({{first, value}, {second, 1.0f}}, label);
        file += label + '\t' + first + ':' + std::to_string(value) + '\t' + second + '\n';
      }
    }
    data.end_sentence(weight);
    file += '\n';
  }
  TagInput in_memory, in_file;
  in_memory.format = in_file.format = columns ? TagFormat::columns : TagFormat::crfsuite;
  in_memory.tabs = in_file.tabs = columns;
  in_file.weight_comments = true;
  const std::string path = memory_file().write(file);
  std::string taken, read, taken_again, read_again;
  const std::string first = message_of([&] {
    TagDictionaries names;
    taken = seen_of(take_tag_growing(data, in_memory, {}, names, min_count), names);
    Dictionary labels;
    taken_again = seen_of(take_tag(data, in_memory, names, labels), names);
  });
  const std::string second = message_of([&] {
    TagDictionaries names;
    read = seen_of(read_tag_growing(path, in_file, {}, {}, names, min_count, {1}), names);
    Dictionary labels;
    read_again = seen_of(read_tag(path, in_file, names, labels, {1}), names);
  });
  expect(first.empty() == second.empty(), "an error in memory and in a file");
  expect(taken == read && taken_again == read_again, "sentences in memory as in a file");
}

std::string seen_of(const ClassifyExamples& examples) {
  Seen seen;
  seen.add(examples.rows, examples.labels, examples.idf, std::vector{examples.num_rare});
  return seen.text;
}

// What training makes of examples, and then what a model of them does.
template <class Grow, class Keep>
std::string seen_by(ClassifyReadOptions options, const Grow& grow, const Keep& keep) {
  std::string seen;
  const std::string message = message_of([&] {
    Dictionary attributes, labels;
    const ClassifyExamples train = grow(options, attributes, labels);
    Seen names;
    names.add(attributes, labels);
    options.idf = train.idf;
    seen = names.text + seen_of(train) + seen_of(keep(options, attributes, labels));
  });
  return message.empty() ? seen : "error";
}

template <class Data>
std::string take(const Data& data, const ClassifyReadOptions& options) {
  return seen_by(
      options,
      [&](const auto& now, auto& attributes, auto& labels) {
        return take_classify_growing(data, now, attributes, labels);
      },
      [&](const auto& now, auto& attributes, auto& labels) {
        return take_classify(data, now, attributes, labels);
      });
}

std::string read(const std::string& file, const ClassifyReadOptions& options) {
  const std::string path = memory_file().write(file);
  return seen_by(
      options,
      [&](const auto& now, auto& attributes, auto& labels) {
        return read_classify_growing(path, now, attributes, labels);
      },
      [&](const auto& now, auto& attributes, auto& labels) {
        return read_classify(path, now, attributes, labels);
      });
}

void classes(Words words, bool texts, const ClassifyReadOptions& options) {
  ClassifyData data;
  std::string file;
  while (!words.empty()) {
    const std::string label = words.next(), first = words.next(), second = words.next();
    if (texts) {
      data.add_text(first + ' ' + second, label);
      file += label + '\t' + first + ' ' + second + '\n';
    } else {
      const float value = words.value();
      data.add({{first, value}, {second, 1.0f}}, label);
      file += label + '\t' + first + ':' + std::to_string(value) + '\t' + second + '\n';
    }
  }
  expect(take(data, options) == read(file, options), "examples in memory as in a file");
}

// A matrix with three columns.
class Rows final : public NumberedRows {
 public:
  std::vector<std::vector<float>> values;
  std::size_t size() const override { return values.size(); }
  std::size_t num_columns() const override { return 3; }
  void get(std::size_t i, std::vector<std::uint32_t>& columns, std::vector<float>& of_row) const override {
    columns = {0, 1, 2};
    of_row = values[i];
  }
};

void matrix(Words words, bool named, ClassifyReadOptions options) {
  const std::vector<std::string> columns{"x", "y", "z"}, label_names{"10", "20", "30"};
  Rows rows;
  std::vector<std::uint32_t> labels;
  std::string file;
  while (!words.empty()) {
    labels.push_back(static_cast<std::uint32_t>(words.below(3)));
    file += label_names[labels.back()];
    auto& row = rows.values.emplace_back();
    for (std::size_t c = 0; c < 3; ++c) {
      row.push_back(words.value());
      file += ' ' + (named ? columns[c] : std::to_string(c + 1)) + ':' + std::to_string(row.back());
    }
    file += '\n';
  }
  options.format = named ? ClassifyFormat::named : ClassifyFormat::libsvm;
  ClassifyMatrix data{rows, {}, labels, label_names, {}};
  if (named) data.columns = columns;
  expect(take(data, options) == read(file, options), "a matrix as in a file");
}

}  // namespace

void taken(std::string_view bytes) {
  Choices choices(bytes);
  const std::size_t kind = choices.below(6);
  ClassifyReadOptions options;
  options.min_count = 1 + choices.below(2);
  options.bias = choices.flag();
  switch (kind) {
    case 0:
    case 1:
      tags(Words(bytes), kind == 0, options.min_count);
      break;
    case 2:
    case 3:
      options.format = kind == 2 ? ClassifyFormat::crfsuite : ClassifyFormat::text;
      options.text.weighting = choices.flag() ? TextWeighting::tf_idf : TextWeighting::count;
      classes(Words(bytes), kind == 3, options);
      break;
    default:
      matrix(Words(bytes), kind == 4, options);
  }
}

}  // namespace espalier::fuzz
