#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/base/input_files.h"
#include "espalier/features/dictionary.h"
#include "espalier/tasks/named_rows.h"
#include "espalier/tasks/task.h"

namespace espalier {

class Communicator;

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
  std::size_t threads = 1;        // that read; what they make of the files does not depend on it
  Communicator* fleet = nullptr;  // ranks that read the same files, each its share
};

struct ClassifyPredictOptions {
  std::optional<std::string> format{};  // default: the one that the model was trained on
  bool marginals = false;               // the probability of every label
  std::size_t kbest = 0;                // the k best labels with their scores; 0: just the best
  // Outputs drawn from the distribution of the model, with the seed, in place of the best one; 0: none.
  std::size_t samples = 0;
  std::uint64_t seed = 1;
  bool entropy = false;     // of that distribution, in nats
  bool json = false;        // JSON Lines, an object for each example
  std::size_t threads = 0;  // to read with, which takes longer than labelling; 0: one for each processor
};

// Of what a model file has, by what a model needs; each version includes those before it.
inline constexpr int kLinearClassifyVersion = 1;
inline constexpr int kKernelClassifyVersion = 2;
inline constexpr int kTextClassifyVersion = 3;
inline constexpr int kClassifyVersion = kTextClassifyVersion;  // the latest

// Both throw Error for what they cannot read.
std::unique_ptr<TrainingSet> read_classify_training(const InputFiles& files, const ClassifyOptions& options);
std::unique_ptr<Predictor> load_classify_predictor(const StoredTask& stored);

// Labelled examples in memory, to train a classifier on: what a file in CRFsuite's format has, or one of
// texts. Everything is copied.
class ClassifyData {
 public:
  using Attribute = NamedRows::Attribute;  // those that are not given are 0

  // Adds an example, which counts `weight` times in training. Values of an attribute that is named twice add
  // up. Throws Error for an empty name or label, for a value that is not finite, and for a weight that is not
  // a finite number above 0.
  void add(std::span<const Attribute> attributes, std::string_view label, double weight = 1);
  void add(std::initializer_list<Attribute> attributes, std::string_view label) {
    add(std::span(attributes.begin(), attributes.size()), label);
  }

  // Adds an example that is text. Throws Error for an empty label or such a weight, and where examples of the
  // other kind are there.
  void add_text(std::string_view text, std::string_view label, double weight = 1);

  std::size_t size() const { return labels_.size(); }
  bool has_texts() const { return !texts_.empty(); }
  const std::string& text(std::size_t i) const { return texts_[i]; }
  const NamedRows& attributes() const { return attributes_; }
  std::string_view label(std::size_t i) const { return names_of_labels_.name(labels_[i]); }
  double weight(std::size_t i) const { return weights_[i]; }

 private:
  void check(std::string_view label, double weight, bool is_text) const;

  NamedRows attributes_;
  std::vector<std::string> texts_;
  std::vector<std::uint32_t> labels_;
  std::vector<double> weights_;
  Dictionary names_of_labels_;
};

// Rows of numbers by their columns, as matrices have them. A program makes one that looks into its own
// memory, so that nothing is copied but what training keeps. Const and thread-safe.
class NumberedRows {
 public:
  virtual ~NumberedRows() = default;
  virtual std::size_t size() const = 0;
  virtual std::size_t num_columns() const = 0;
  // Row i in place of what is there; each column at most once, and columns that are not there are 0.
  virtual void get(std::size_t i, std::vector<std::uint32_t>& columns, std::vector<float>& values) const = 0;
};

// Labelled examples that are rows of a matrix. Attributes are called as in LIBSVM's files, after columns that
// count from 1, so that models are the same as those of such files; or as the program says.
struct ClassifyMatrix {
  const NumberedRows& rows;
  std::span<const std::string> columns{};   // their names, all different; none: 1, 2, ...
  std::span<const std::uint32_t> labels{};  // of each row, from 0
  std::span<const std::string> label_names{};
  std::span<const double> weights{};  // of each row, above 0; none: 1
};

// What read_classify_training() makes of a file. An option that names another format is refused. `dev` is
// held-out data of the same kind, whose labels may be new. None of them need outlive the result.
std::unique_ptr<TrainingSet> make_classify_training(const ClassifyData& data,
                                                    const ClassifyOptions& options = {},
                                                    const ClassifyData* dev = nullptr);
// The same of a matrix: what a file in LIBSVM's format has, or, with names of columns, one of the format
// named. Throws Error for labels, names and weights that do not fit, and for values that are not finite.
std::unique_ptr<TrainingSet> make_classify_training(const ClassifyMatrix& data,
                                                    const ClassifyOptions& options = {},
                                                    const ClassifyMatrix* dev = nullptr);

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

  // The score of every label for each row of a matrix, one row after the other; and the probabilities.
  // `columns` are their names, as in ClassifyMatrix. Requires room for all of them.
  virtual void score_rows(const NumberedRows& rows, std::span<const std::string> columns,
                          std::span<double> scores) const = 0;
  virtual void rows_to_probabilities(std::span<double> scores) const = 0;

  // The same of a text, for models that were trained on texts. Throw Error where the model was not.
  virtual std::uint32_t classify_text(std::string_view text) const = 0;
  virtual std::vector<double> text_scores(std::string_view text) const = 0;
  virtual std::vector<double> text_probabilities(std::string_view text) const = 0;

  // An example of a file: its label there (empty: one that the model does not have), the attributes that the
  // model knows, and the score of every label.
  struct Labelled {
    std::string_view gold;
    std::span<const std::uint32_t> attributes;      // ids in Predictor::attributes()
    std::span<const float> values;                  // empty: all are 1
    std::span<const double> scores, probabilities;  // probabilities: empty where the model has none
  };
  // Reads labelled data as `eval` does, and hands over each example, in the order of the file, until `visit`
  // returns false. What it gets is valid during the call.
  virtual void for_each_labelled(const std::string& path,
                                 const std::function<bool(const Labelled&)>& visit) const = 0;
};

}  // namespace espalier
