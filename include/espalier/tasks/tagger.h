#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "espalier/features/weights.h"
#include "espalier/learning/loss.h"
#include "espalier/tasks/named_rows.h"
#include "espalier/tasks/tag.h"

namespace espalier {

struct TagModel;
struct Sequences;
class ChunkLabels;

// Labels sentences with a tagging model: what `espalier predict` does, for programs that have sentences in memory. A model has
// one (Model::tagger()), const and thread-safe; each thread that tags has a Sentence of its own.
class Tagger {
 public:
  class Sentence;
  using Attribute = NamedRows::Attribute;  // a name and a value

  // Tokens that the labels make one chunk: tokens begin to end - 1.
  struct Chunk {
    std::size_t begin, end;
    std::string_view type;  // "PER" of B-PER; the whole label where labels are no chunk tags
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

 private:
  const TagModel& model_;
  WeightsView theta_;
  Loss loss_;
  std::unique_ptr<const ChunkLabels> chunks_;
};

// A sentence after the other, in memory that they share: once it has seen long ones, only kbest() allocates. What it
// returns is valid until the next call of clear() or set(). Functions of probabilities throw Error where the model has
// none; those that look for labels throw Error where allow() left no labelling that the model allows.
class Tagger::Sentence {
 public:
  struct Scored {
    std::vector<std::uint32_t> labels;
    double score;
  };

  // The tagger has to outlive it.
  explicit Sentence(const Tagger& tagger);
  ~Sentence();
  Sentence(Sentence&&) noexcept;

  // Begins a new sentence.
  void clear();
  // Adds a token: its columns as in the training data, without the label; or its attributes, for a model of such. The text
  // has to stay where it is until the next sentence. Throws Error where the model is one of the other format or the number of
  // columns is another one.
  void add_columns(std::span<const std::string_view> columns);
  void add_columns(std::initializer_list<std::string_view> columns) {
    add_columns(std::span(columns.begin(), columns.size()));
  }
  void add_attributes(std::span<const Attribute> attributes);
  void add_attributes(std::initializer_list<Attribute> attributes) {
    add_attributes(std::span(attributes.begin(), attributes.size()));
  }
  // A sentence that was read already, by the model's own dictionaries: the only one in `sequence`, which has to stay as it is.
  void set(const Sequences& sequence);

  // Token t has one of these labels; everything below is then given that. A second call for the token takes the place of the
  // first. Requires at least one label, below num_labels().
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
  // The k best labellings with their scores, best first; and how probable one with such a score is.
  std::vector<Scored> kbest(std::size_t k);
  double probability(double score);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace espalier
