#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "tasks/tag/chunks.h"
#include "tasks/tag/encoding.h"

namespace espalier {

// How good predicted labels are, for all who ask: eval, held-out data and the folds of cross-validation.
// Where labels were turned into an encoding, chunks count as BIO has them: conlleval takes neighbouring
// chunks of one type for one in BIOES.
class TagScores {
 public:
  explicit TagScores(std::optional<Encoding> encoding) : encoded_(encoding.has_value()) {}

  // One sequence: its gold and its predicted labels.
  void add(std::span<const std::string_view> gold, std::span<const std::string_view> predicted) {
    if (encoded_) {
      gold = convert_encoding(gold, Encoding::bio, gold_);
      predicted = convert_encoding(predicted, Encoding::bio, predicted_);
    }
    scores_.add(gold, predicted);
  }

  Evaluation evaluate() const { return scores_.evaluate(); }

 private:
  bool encoded_;
  ConvertedTags gold_, predicted_;
  ChunkScores scores_;
};

}  // namespace espalier
