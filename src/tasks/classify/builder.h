#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/input.h"
#include "espalier/features/dictionary.h"
#include "tasks/classify/reader.h"

namespace espalier {

inline constexpr std::uint32_t kUnknownAttribute = ~std::uint32_t{0};

// What the readers of all formats share: turns names into ids, and collects the examples.
class ClassifyBuilder {
 public:
  // Dictionaries that take in what they see.
  ClassifyBuilder(const ClassifyReadOptions& options, Dictionary& attributes, Dictionary& labels);
  // Dictionaries in which names are only looked up.
  ClassifyBuilder(const ClassifyReadOptions& options, const Dictionary& attributes, const Dictionary& labels);

  // As many examples as were asked for.
  bool full() const { return options_.first && examples_.labels.size() == *options_.first; }
  std::size_t size() const { return examples_.labels.size(); }

  std::uint32_t attribute(std::string_view name) {
    if (growing_attributes_) return growing_attributes_->add(name);
    return attributes_.find(name).value_or(kUnknownAttribute);
  }
  // The same of many names at once.
  void attributes(std::span<const std::string_view> names, std::vector<std::uint32_t>& ids) const;
  // Appends to the example that is being built.
  void add(std::uint32_t attribute, float value) {
    if (attribute != kUnknownAttribute && value != 0) examples_.rows.add(attribute, value);
  }
  void finish_example(std::optional<std::string_view> label, double weight = 1);

  void set_num_bad_bytes(std::size_t number) { examples_.num_bad_bytes = number; }

  // Hands over the examples so far, with labels as this builder has numbered them, and begins anew with the
  // same names.
  ClassifyExamples take_examples() { return std::exchange(examples_, {}); }
  // Takes these in place of its own: of labels that grow, the numbers in seen_labels().
  void set_examples(ClassifyExamples examples) { examples_ = std::move(examples); }
  Dictionary& seen_labels() { return seen_; }
  bool grows() const { return growing_attributes_ != nullptr; }

  // All examples, labels numbered in their order. `name` is the file's, for messages.
  ClassifyExamples finish(const std::string& name);

 private:
  void number_labels();
  void drop_rare();
  void weigh_by_idf();

  const ClassifyReadOptions& options_;
  const Dictionary& attributes_;
  const Dictionary& labels_;
  Dictionary* growing_attributes_ = nullptr;
  Dictionary* growing_labels_ = nullptr;
  std::uint32_t bias_ = kUnknownAttribute;
  Dictionary seen_;  // labels by first appearance, while growing
  ClassifyExamples examples_;
};

// Reads lines into a builder until it is full or the lines end. One class per format (libsvm: named, too).
class ClassifyLines {
 public:
  // Of all rows of a file that have values without indices, the first.
  struct DenseRow {
    std::uint64_t width = 0;  // 0: none
    std::string file{};
    std::size_t line = 0;
  };

  virtual ~ClassifyLines() = default;
  virtual void read(LineReader& lines) = 0;
  virtual std::size_t num_bad_bytes() const { return 0; }
  // Of the rows since the last call of expect(), the first; and what all that follow have to be like.
  virtual DenseRow first_dense() const { return {}; }
  virtual void expect(const DenseRow&) {}
};
std::unique_ptr<ClassifyLines> make_libsvm_lines(const ClassifyReadOptions& options,
                                                 ClassifyBuilder& builder);
std::unique_ptr<ClassifyLines> make_crfsuite_lines(const ClassifyReadOptions& options,
                                                   ClassifyBuilder& builder);
std::unique_ptr<ClassifyLines> make_text_lines(const ClassifyReadOptions& options, ClassifyBuilder& builder);
// Throws Error as a row of another width than the first one does.
[[noreturn]] void fail_at_width(const ClassifyLines::DenseRow& found, const ClassifyLines::DenseRow& first);

void read_idx(const std::string& path, const ClassifyReadOptions& options, ClassifyBuilder& builder);
void take_texts(const ClassifyData& data, const ClassifyReadOptions& options, ClassifyBuilder& builder);
void take_matrix(const ClassifyMatrix& data, ClassifyBuilder& builder);

// Whether a path looks like IDX; see guess_classify_format.
bool looks_like_idx(const std::string& path);

}  // namespace espalier
