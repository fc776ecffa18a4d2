#pragma once

#include "espalier/learning/objective.h"
#include "solvers/online_options.h"

namespace espalier {

// The averaged structured perceptron (Collins 2002). Its updates know neither loss nor l2, which only the
// certificate is for: the scale of perceptron weights is arbitrary, so a large gap may say no more than that.
// Starts from theta and leaves the averaged weights there.
Summary perceptron(const Objective& objective, const OnlineOptions& options, Weights& theta,
                   const Observer& observer = {});

}  // namespace espalier
