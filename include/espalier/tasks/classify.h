#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/features/dictionary.h"
#include "espalier/tasks/named_rows.h"
#include "espalier/tasks/task.h"

namespace espalier {

// Classification: one label per example, scored by theta_y.x; the error rate, or the mean cost where a file
// gives costs.
struct ClassifyOptions {
  std::optional<std::string> format;  // default: what the path looks like
  std::optional<std::size_t> first;   // only the first N training examples
  bool bias = false;                  // a constant attribute
  std::size_t min_count = 1;          // attributes that fewer training examples have are dropped
  // Of the format text; docs/formats.md says what becomes of a text.
  std::size_t ngrams = 1;           // words and sequences of up to so many; 0: none
  std::size_t char_ngrams = 0;      // sequences of 2 to so many characters inside words; 0: none
  bool keep_case = false;           // else upper and lower case are the same
  std::string weighting = "count";  // or binary, or tf-idf
  std::string costs;                // a file with the cost of each gold and predicted label; empty: 0/1
  std::vector<std::string>
      l1_except;       // attributes that l1 is not for, where there is one; "bias" is that of `bias`
  std::string kernel;  // as docs/kernels.md has them; empty: none, and weights of attributes
  std::size_t kernel_memory = std::size_t{1} << 30;  // bytes for its matrix
};

struct ClassifyPredictOptions {
  std::optional<std::string> format{};  // default: the one that the model was trained on
  bool marginals = false;               // the probability of every label
  std::size_t kbest = 0;                // the k best labels with their scores; 0: just the best
  bool json = false;                    // JSON Lines, an object for each example
  std::size_t threads = 1;              // at least 1; one is used: reading takes longer than labelling
};

// Of what a model file has, by what a model needs; each version includes those before it.
inline constexpr int kLinearClassifyVersion = 1;
inline constexpr int kKernelClassifyVersion = 2;
inline constexpr int kTextClassifyVersion = 3;
inline constexpr int kClassifyVersion = kTextClassifyVersion;  // the latest

// Both throw Error for what they cannot read.
std::unique_ptr<TrainingSet> read_classify_training(const std::string& path, const ClassifyOptions& options);
std::unique_ptr<Predictor> load_classify_predictor(const StoredTask& stored);

// Labelled examples in memory, to train a classifier on: what a file in CRFsuite's format has, or one of
// texts. Everything is copied.
class ClassifyData {
 public:
  using Attribute = NamedRows::Attribute;  // those that are not given are 0

  // Adds an example. Values of an attribute that is named twice add up. Throws Error for an empty name or
  // label, and for a value that is not finite.
  void add(std::span<const Attribute> attributes, std::string_view label);
  void add(std::initializer_list<Attribute> attributes, std::string_view label) {
    add(std::span(attributes.begin(), attributes.size()), label);
  }

  // Adds an example that is text. Throws Error for an empty label, and where examples of the other kind are
  // there.
  void add_text(std::string_view text, std::string_view label);

  std::size_t size() const { return labels_.size(); }
  bool has_texts() const { return !texts_.empty(); }
  const std::string& text(std::size_t i) const { return texts_[i]; }
  const NamedRows& attributes() const { return attributes_; }
  std::string_view label(std::size_t i) const { return names_of_labels_.name(labels_[i]); }

 private:
  void check(std::string_view label, bool is_text) const;

  NamedRows attributes_;
  std::vector<std::string> texts_;
  std::vector<std::uint32_t> labels_;
  Dictionary names_of_labels_;
};

// What read_classify_training() makes of a file. An option that names another format is refused. `dev` is
// held-out data of the same kind, whose labels may be new. None of them need outlive the result.
std::unique_ptr<TrainingSet> make_classify_training(const ClassifyData& data,
                                                    const ClassifyOptions& options = {},
                                                    const ClassifyData* dev = nullptr);

// Labels examples with a model of classification: what `espalier predict` does, for programs that have
// examples in memory. A model has one (Model::classifier()), const and thread-safe. Attributes that training
// never saw are skipped, and values of one that is named twice add up. Throws Error for a value that is not
// finite.
class Classifier {
 public:
  using Attribute = NamedRows::Attribute;

  virtual ~Classifier() = default;
  virtual std::size_t num_labels() const = 0;
  virtual std::string_view label(std::uint32_t id) const = 0;
  virtual std::optional<std::uint32_t> find_label(std::string_view name) const = 0;
  // False for models of beta = infinity, which have scores alone.
  virtual bool has_probabilities() const = 0;

  // The best label, by its id.
  virtual std::uint32_t classify(std::span<const Attribute> attributes) const = 0;
  std::uint32_t classify(std::initializer_list<Attribute> attributes) const {
    return classify(std::span(attributes.begin(), attributes.size()));
  }
  // The score of every label; and its probability. Throws Error if the model has none.
  virtual std::vector<double> scores(std::span<const Attribute> attributes) const = 0;
  virtual std::vector<double> probabilities(std::span<const Attribute> attributes) const = 0;
  std::vector<double> probabilities(std::initializer_list<Attribute> attributes) const {
    return probabilities(std::span(attributes.begin(), attributes.size()));
  }

  // The same of a text, for models that were trained on texts. Throw Error where the model was not.
  virtual std::uint32_t classify_text(std::string_view text) const = 0;
  virtual std::vector<double> text_scores(std::string_view text) const = 0;
  virtual std::vector<double> text_probabilities(std::string_view text) const = 0;
};

}  // namespace espalier
