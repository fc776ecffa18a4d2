#pragma once

#include <optional>
#include <span>
#include <string>

#include "espalier/base/progress.h"
#include "espalier/learning/objective.h"
#include "espalier/model/model.h"

namespace espalier::cli {

// How a run ended that may have missed the gap that was asked for.
struct Miss {
  Status status;
  std::span<const Progress> history;  // of the solver at work in the end
  double gap;                         // that was asked for
  Objective objective;
  std::string_view solver;
  std::string_view l2_option = "l2";  // what makes the problem easier, as its user calls it
};

// A run's message with the option that ended it: "out of passes (--passes): ..." for "out of passes: ...".
std::string with_limit(const std::string& message);

// By how much it missed, how long it would take, and what to try, to follow "relative gap 0.31 after 1000
// passes". Empty for other endings, and where nothing can be said: the gap asked for is 0, or certifies
// nothing.
std::string describe_miss(const Miss& miss);

// Why a model has none: "no certificate (weights were rounded to 16 bits)".
std::string no_certificate(const ModelInfo& info);

// What is said of a model that is far from its optimum when it is used; nullopt where it is not, as far as is
// known.
std::optional<std::string> far_from_optimum(const ModelInfo& info);
// The same on standard error, with the model's name.
void warn_if_far(const std::string& path, const ModelInfo& info);

}  // namespace espalier::cli
