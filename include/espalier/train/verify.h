#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <optional>

#include "espalier/learning/certificate.h"
#include "espalier/model/model.h"
#include "espalier/tasks/task.h"

namespace espalier {

struct VerifyOptions {
  double passes = 200;  // of block steps over the data at most, until the gap is as small as the claimed one
  std::size_t threads = 0;                    // 0: one for each processor
  const std::atomic<bool>* stop = nullptr;    // ends it early, with what is proven by then
  std::function<void(double passes)> tick{};  // called now and then
};

// What a verification says of a model, the first of these that holds.
enum class Verdict {
  other_data,       // the data are not those that the model says it was trained on
  other_objective,  // its weights have another objective than it says
  false_bound,      // there are weights with a lower objective than it says is possible
  unproven,         // all is as it says, but the gap that was proven is more than kProvenEnough times its own
  nothing_claimed,  // it states nothing to compare with
  agrees,           // all is as it says, and nearly as small a gap was proven anew
};
// "other_data"
const char* to_string(Verdict verdict);

inline constexpr double kProvenEnough = 3;

// What a model says of itself, and what was proven from its weights and its data alone.
struct Verification {
  std::optional<double> claimed_objective;
  // None where the model has none, or one of a problem that its last weights do not tell (gold outputs that
  // were not all known, or a difference of losses).
  std::optional<Certificate> claimed;
  double objective = 0;  // at the weights, in double precision
  // Of the weights. Its dual is that of the best of the dual points that were looked at, its primal the
  // objective, except where that is not convex (gold outputs that are not all known, a difference of losses):
  // there it is that of the convex problem which the weights imply.
  Certificate proven;
  double rounding = 0;            // what objectives may be apart by rounding alone
  double lowest = 0;              // objective of any weights that were looked at: no bound is above it
  std::optional<bool> same_data;  // none: the model does not say what it was trained on
  Verdict verdict = Verdict::nothing_claimed;
};

// Proves the duality gap of a model anew: `data` is what it was trained on, read with the same options
// (read_training_of(), train/read.h). Nothing is taken from the model but weights, loss and regulariser. The
// primal is that of the weights. The dual is that of the distributions which the weights imply, or, where its
// gap is larger than the claimed one, that of a dual solver which goes on from them, until the gap is as
// small as the claimed one or the passes are used up; whatever it does on the way, any bound is a bound.
// Throws Error for models that have no objective or other weights than the data.
Verification verify(const Model& model, TrainingSet& data, const VerifyOptions& options = {});

}  // namespace espalier
