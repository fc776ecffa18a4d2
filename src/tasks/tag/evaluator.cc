#include <fmt/format.h>

#include "espalier/base/error.h"
#include "espalier/tasks/tag.h"
#include "tasks/tag/scores.h"

namespace espalier {

struct TagEvaluator::State {
  TagScores scores;
};

TagEvaluator::TagEvaluator(const std::optional<std::string>& encoding)
    : state_(std::make_unique<State>(
          State{TagScores(encoding ? std::optional(parse_encoding(*encoding)) : std::nullopt)})) {}
TagEvaluator::~TagEvaluator() = default;

void TagEvaluator::add(std::span<const std::string_view> gold, std::span<const std::string_view> predicted) {
  if (gold.size() != predicted.size()) {
    throw Error(
        fmt::format("{} predicted labels for {} gold ones; expected as many", predicted.size(), gold.size()));
  }
  state_->scores.add(gold, predicted);
}

Evaluation TagEvaluator::evaluate() const { return state_->scores.evaluate(); }

}  // namespace espalier
