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
#include <utility>
#include <vector>

#include "espalier/base/input_files.h"
#include "espalier/features/dictionary.h"
#include "espalier/features/weights.h"
#include "espalier/learning/loss.h"
#include "espalier/tasks/named_rows.h"
#include "espalier/tasks/task.h"

namespace espalier {

class Communicator;

// The files that tagging reads. docs/formats.md describes them for users.
//   columns   one token per line, fields separated by spaces and tabs, blank lines between sequences (CoNLL,
//             CRF++)
//   crfsuite  one token per line, "label TAB attribute TAB attribute:value ...", blank lines between
//             sequences
//   wapiti    one token per line, "attribute attribute ... label", blank lines between sequences; attributes
//             begin with u (of the token), b (of the step into it) or * (of both)
enum class TagFormat { columns, crfsuite, wapiti };
const char* to_string(TagFormat format);

// Tagging: one label per token, where neighbours interact; accuracy, and F1 of the chunks that labels spell.
struct TagOptions {
  std::optional<std::string> format;        // default: columns, whatever the file looks like
  std::string templates;                    // columns: a file of templates; empty: the built-in attributes
  std::optional<std::size_t> label_column;  // columns: counted from 1; default: the last
  std::optional<std::string> separator;     // columns: tab, space (any white space) or auto, the default
  std::optional<std::size_t> first;         // only the first N training sequences
  std::size_t min_count = 1;                // attributes seen less often in training are dropped
  std::optional<std::string>
      encoding;  // what labels are converted to: iob1, bio (iob2), bioes (iobes), bilou; default: as they are
  // How much a training sequence counts: "comment" (a line "# weight: NUMBER" before it) or a column, counted
  // from 1.
  std::optional<std::string> example_weights;
  // Which sequences belong together: "boundary" (-DOCSTART- lines are between them) or a column, counted from
  // 1, which has the same text at the first token of each; empty: nobody asks.
  std::string group_by;
  std::vector<std::string> gazetteers;  // columns: files of phrases
  // Which pairs of an attribute and a label, and which of neighbouring labels, have weights: all, observed
  // (those that training saw), observed-attributes (of the former, and all of the latter) or
  // observed-transitions.
  std::string features = "all";
  double min_freq = 0;  // of these, only pairs whose values add up to at least this in training; 0: whatever
  std::size_t order = 1;    // how many labels before one it depends on: 1 to 4
  std::string valid;        // an encoding, whose well-formed label sequences alone are allowed; empty: all
  std::string transitions;  // a file of pairs of labels that do not follow one another
  std::vector<std::pair<std::string, std::string>> forbidden;  // more of these, of a program
  std::string invalid = "refuse";  // sequences that break these: refuse (an error) or drop
  std::string costs;               // a file with the cost of each gold and predicted label; empty: 1 each
  // What l1 is not for, where there is one: names of attributes, and "transitions" for all steps and n-grams.
  std::vector<std::string> l1_except;
  bool partial = false;  // labels ? (any) and A|B|C (one of these)
  std::string kernel;    // of tokens, as docs/kernels.md has them; empty: none, and weights of attributes
  std::size_t kernel_memory = std::size_t{1} << 30;  // bytes for its matrix
  std::function<void(std::string_view)> notice;      // told what looks like a mistake
  std::size_t threads = 1;        // that read; what they make of the files does not depend on it
  Communicator* fleet = nullptr;  // ranks that read the same files, each its share
};

// What labels come with.
enum class TagMarginals {
  none,
  label,   // the probability of every label
  entity,  // the probability of the chunk that a token is in
};
struct TagPredictOptions {
  std::optional<std::string>
      format{};  // default: the one that the model was trained on, which is the only one
  TagMarginals marginals = TagMarginals::none;
  std::size_t kbest = 0;  // the k best label sequences with their scores; 0: just the best
  // Outputs drawn from the distribution of the model, with the seed, in place of the best one; 0: none.
  std::size_t samples = 0;
  std::uint64_t seed = 1;
  bool entropy = false;       // of that distribution, in nats
  double min_confidence = 0;  // chunks that are less probable are left out
  // Where the input has labels that are to be kept: a column from 1, or "label".
  std::optional<std::string> forced{};
  // The encoding to write labels of chunks in; default: the model's.
  std::optional<std::string> encoding{};
  bool json = false;        // JSON Lines, an object for each sequence
  std::size_t threads = 0;  // 0: one for each processor; the output does not depend on it
};

inline constexpr int kTagVersion = 3;        // with a kernel
inline constexpr int kLinearTagVersion = 2;  // 1: weights of all features, of order 1, without constraints

// Both throw Error for what they cannot read.
std::unique_ptr<TrainingSet> read_tag_training(const InputFiles& files, const TagOptions& options);
std::unique_ptr<Predictor> load_tag_predictor(const StoredTask& stored);

// Labelled sentences in memory, to train a tagger on: what a file has, added token by token. All tokens have
// columns, which templates or the built-in attributes look at, or all have attributes. Text is copied.
class TagData {
 public:
  using Attribute = NamedRows::Attribute;

  // Adds a token to the sentence at the end: its columns, and the label that a file has after them. Throws
  // Error where it has no columns, another number of them than the tokens before, or an empty label.
  void add_columns(std::span<const std::string_view> columns, std::string_view label);
  void add_columns(std::initializer_list<std::string_view> columns, std::string_view label) {
    add_columns(std::span(columns.begin(), columns.size()), label);
  }
  // The same by attributes. Throws Error for an empty name or label, and for a value that is not finite.
  void add_attributes(std::span<const Attribute> attributes, std::string_view label);
  void add_attributes(std::initializer_list<Attribute> attributes, std::string_view label) {
    add_attributes(std::span(attributes.begin(), attributes.size()), label);
  }
  // Ends the sentence, and says how much it counts. Throws Error if it has no tokens, and for a weight
  // that is not positive and finite.
  void end_sentence(double weight = 1);

  // Sentences that were ended; tokens begin(i) to begin(i + 1) - 1 are those of sentence i.
  std::size_t size() const { return weights_.size(); }
  std::size_t begin(std::size_t i) const { return begins_[i]; }
  double weight(std::size_t i) const { return weights_[i]; }
  // Of every token, without the label; 0: tokens have attributes.
  std::size_t num_columns() const { return num_columns_; }
  std::string_view column(std::size_t token, std::size_t column) const {
    return texts_.name(columns_[token * num_columns_ + column]);
  }
  const NamedRows& attributes() const { return attributes_; }  // of all tokens
  std::string_view label(std::size_t token) const { return names_of_labels_.name(labels_[token]); }

 private:
  void check_label(std::string_view label) const;

  std::size_t num_columns_ = 0;
  std::vector<std::uint32_t> columns_, labels_;  // of all tokens
  Dictionary texts_, names_of_labels_;
  NamedRows attributes_;
  std::vector<std::size_t> begins_{0};
  std::vector<double> weights_;
};

// What read_tag_training() makes of a file. The format and where labels, weights and groups are is the data's
// own affair: options that say otherwise are refused. `dev` is held-out data, of tokens of the same kind; its
// labels may be new. None of them need outlive the result.
std::unique_ptr<TrainingSet> make_tag_training(const TagData& data, const TagOptions& options = {},
                                               const TagData* dev = nullptr);

// How good predicted labels are: accuracy, and precision, recall and F1 of the chunks that they spell, as
// conlleval counts them.
class TagEvaluator {
 public:
  // With an encoding, such as bioes, labels are converted from any to BIO before chunks are counted:
  // conlleval takes neighbouring chunks of one type for one in others.
  explicit TagEvaluator(const std::optional<std::string>& encoding = {});
  ~TagEvaluator();
  // One sentence. Throws Error where the numbers of labels differ.
  void add(std::span<const std::string_view> gold, std::span<const std::string_view> predicted);
  // What `eval` says.
  Evaluation evaluate() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

struct TagModel;
struct Sequences;
class ChunkLabels;
struct ChainShape;

// Labels sentences with a tagging model: what `espalier predict` does, for programs that have sentences in
// memory. A model has one (Model::tagger()), const and thread-safe; each thread that tags has a Sentence of
// its own.
class Tagger {
 public:
  class Sentence;
  using Attribute = NamedRows::Attribute;  // a name and a value

  // Tokens that the labels make one chunk: tokens begin to end - 1.
  struct Chunk {
    std::size_t begin, end;
    std::string_view type;  // "PER" of B-PER; the whole label if labels are not chunk tags
    double probability;     // that the sentence has exactly this chunk, with exactly these labels
  };

  // Keeps a reference to the model.
  Tagger(const TagModel& model, WeightsView theta, const Loss& loss);
  ~Tagger();

  TagFormat format() const;
  // Of a token, without the label, where the model is one of columns.
  std::size_t num_columns() const;
  std::size_t num_labels() const;
  std::string_view label(std::uint32_t id) const;
  std::optional<std::uint32_t> find_label(std::string_view name) const;
  // Labels such as B-PER, which spell chunks; otherwise every token is a chunk.
  bool labels_are_chunk_tags() const;
  // False for models of beta = infinity, which have scores alone.
  bool has_probabilities() const { return loss_.smooth(); }

  // A sentence of a file, with the labels that it has there, in the model's encoding; they may be others than
  // the model's. Words are the first column that is no label, or the first attribute of each token.
  struct Labelled {
    std::span<const std::string_view> words, gold;
  };
  // Reads labelled data as `eval` does, and hands over each sentence, in the order of the file, until `visit`
  // returns false. What it gets is valid during the call. Throws Error for what is no labelled data of the
  // model's format.
  void for_each_labelled(const std::string& path,
                         const std::function<bool(Sentence&, const Labelled&)>& visit) const;

 private:
  ChainShape shape() const;

  const TagModel& model_;
  Weights rows_;       // of a model of pairs whose weights are used by rows,
  WeightsView theta_;  // which are these then
  Loss loss_;
  std::unique_ptr<const ChunkLabels> chunks_;
};

// A sentence after the other, in memory that they share: once it has seen long ones, only kbest() allocates.
// What it returns is valid until the next call of clear() or set(). Functions of probabilities throw Error if
// the model has none; those that look for labels throw Error if allow() left no labelling that the model
// allows.
class Tagger::Sentence {
 public:
  struct Scored {
    std::vector<std::uint32_t> labels;
    double score;
  };

  // A weight with what it is multiplied by. Its names are valid during the call.
  struct Contribution {
    std::string_view attribute;             // of the token or step
    std::span<const std::uint32_t> before;  // labels before that it looks at; none: it is one of the token
    double value, weight;
  };

  // The tagger has to outlive it.
  explicit Sentence(const Tagger& tagger);
  ~Sentence();
  Sentence(Sentence&&) noexcept;

  // Begins a new sentence.
  void clear();
  // Adds a token: its columns as in the training data, without the label; or its attributes, for a model of
  // such. The text has to stay where it is until the next sentence. Throws Error if the model is one of the
  // other format or the number of columns is another one.
  void add_columns(std::span<const std::string_view> columns);
  void add_columns(std::initializer_list<std::string_view> columns) {
    add_columns(std::span(columns.begin(), columns.size()));
  }
  void add_attributes(std::span<const Attribute> attributes);
  void add_attributes(std::initializer_list<Attribute> attributes) {
    add_attributes(std::span(attributes.begin(), attributes.size()));
  }
  // A sentence that was read already, by the model's own dictionaries: the only one in `sequence`, which has
  // to stay as it is.
  void set(const Sequences& sequence);

  // Token t has one of these labels; everything below is then given that. A second call for the token takes
  // the place of the first. Requires at least one label, below num_labels().
  void allow(std::size_t t, std::span<const std::uint32_t> labels);
  // Whether there is a labelling left.
  bool possible();

  std::size_t size() const;
  // The best labels.
  std::span<const std::uint32_t> labels();
  // The probability of every label at every token: num_labels() for each token.
  std::span<const double> marginals();
  // The chunks of the best labels, or of other ones.
  std::span<const Chunk> chunks() { return chunks(labels()); }
  std::span<const Chunk> chunks(std::span<const std::uint32_t> labels);
  // The score of these labels; -infinity where the model or allow() forbid them.
  double score(std::span<const std::uint32_t> labels);
  // What token t adds to it: its attributes with its label, and the labels up to it. Throws Error for a model
  // of a kernel, which has no weights of attributes.
  void for_each_contribution(std::size_t t, std::span<const std::uint32_t> labels,
                             const std::function<void(const Contribution&)>& visit);
  // The k best labellings with their scores, best first; and how probable one with such a score is.
  std::vector<Scored> kbest(std::size_t k);
  double probability(double score);
  // Labellings drawn from the distribution of the model, independently of each other, with their scores; the
  // first of many are those of few. And the entropy of the distribution, in nats.
  std::vector<Scored> samples(std::size_t n, std::uint64_t seed);
  double entropy();
  // The k best one at a time, without a list of them all. Throws Error where finding them takes more than 1
  // GiB.
  void for_each_best(std::size_t k,
                     const std::function<void(std::span<const std::uint32_t> labels, double score)>& visit);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace espalier
