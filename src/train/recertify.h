#pragma once

#include "espalier/learning/certificate.h"
#include "espalier/learning/objective.h"
#include "learning/sweep.h"

namespace espalier {

// The certificate of weights that were rounded, with a dual value that bounds the optimum of this objective.
Certificate certificate_of_rounded(const Objective& objective, const Weights& theta, double dual,
                                   double passes, Sweep& sweep);

}  // namespace espalier
