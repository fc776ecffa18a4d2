#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/tasks/task.h"

namespace espalier {

// The files that tagging reads. docs/formats.md describes them for users.
//   columns   one token a line, fields separated by spaces and tabs, blank lines between sequences (CoNLL, CRF++)
//   crfsuite  one token a line, "label TAB attribute TAB attribute:value ...", blank lines between sequences
//   wapiti    one token a line, "attribute attribute ... label", blank lines between sequences; attributes begin with u (of
//             the token), b (of the step into it) or * (of both)
enum class TagFormat { columns, crfsuite, wapiti };
const char* to_string(TagFormat format);

// Tagging: one label a token, where neighbours interact; accuracy, and F1 of the chunks that labels spell.
struct TagOptions {
  std::optional<std::string> format;        // default: columns, whatever the file looks like
  std::string templates;                    // columns: a file of templates; empty: the built-in attributes
  std::optional<std::size_t> label_column;  // columns: counted from 1; default: the last
  std::optional<std::size_t> first;         // only the first N training sequences
  std::size_t min_count = 1;                // attributes seen less often in training are dropped
  std::optional<std::string> encoding;  // what labels are turned into: iob1, bio, bioes; default: as they are
  // How much a training sequence counts: "comment" (a line "# weight: NUMBER" before it) or a column, counted from 1.
  std::optional<std::string> example_weights;
  // Which sequences belong together: "boundary" (-DOCSTART- lines are between them) or a column, counted from 1, which has the same
  // text at the first token of each; empty: nobody asks.
  std::string group_by;
  std::vector<std::string> gazetteers;  // columns: files of phrases
  std::string features = "all";         // all, or observed: what training saw
  std::size_t order = 1;                // how many labels before one it depends on: 1 to 4
  std::string valid;                    // bio, iob1 or bioes: label sequences that these allow; empty: all
  std::string transitions;              // a file of pairs of labels that do not follow one another
  std::string invalid = "refuse";       // sequences that break these: refuse (an error) or drop
  std::string costs;     // a file with the cost of each gold and predicted label; empty: 1 each
  bool partial = false;  // labels ? (any) and A|B|C (one of these)
  std::string kernel;    // of tokens, as docs/kernels.md has them; empty: none, and weights of attributes
  std::size_t kernel_memory = std::size_t{1} << 30;  // bytes for its matrix
  std::function<void(std::string_view)> notice;      // told what looks like a mistake
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
  std::size_t kbest = 0;      // the k best label sequences with their scores; 0: just the best
  double min_confidence = 0;  // chunks that are less probable are left out
  // Where the input has labels that are to be kept: a column from 1, or "label".
  std::optional<std::string> forced{};
  // How labels of chunks are written: iob1, bio or bioes; default: as the model has them.
  std::optional<std::string> encoding{};
  std::size_t threads = 1;  // at least 1; the output does not depend on it
};

inline constexpr int kTagVersion = 3;        // with a kernel
inline constexpr int kLinearTagVersion = 2;  // 1: weights of all features, of order 1, without constraints

// Both throw Error for what they cannot read.
std::unique_ptr<TrainingSet> read_tag_training(const std::string& path, const TagOptions& options);
std::unique_ptr<Predictor> load_tag_predictor(const StoredTask& stored);

}  // namespace espalier
