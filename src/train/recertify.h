#pragma once

#include "espalier/learning/certificate.h"
#include "espalier/learning/objective.h"
#include "espalier/model/model.h"
#include "espalier/solvers/solver_options.h"
#include "espalier/tasks/task.h"
#include "learning/sweep.h"

namespace espalier {

// The weights of a model, on data that have the same names. Throws Error where they have no place for one.
Weights weights_on(const TrainingSet& data, const Model& model);
// What a model's weights minimise on data; of a difference of losses the part that its rounds share, with the
// data's own gold outputs or, on `problem`, those of a round.
Objective objective_of(const Model& model, const TrainingSet& data);
Objective objective_of(const Model& model, const TrainingSet& data, const Problem& problem);

// P(theta), with rescaled margins as the family has them, or with rescaled slacks.
double evaluate_primal(const Objective& objective, Rescaling rescaling, const Weights& theta, Sweep& sweep);
// The certificate of weights that were rounded, with a dual value that bounds the optimum of this objective.
Certificate certificate_of_rounded(const Objective& objective, Rescaling rescaling, const Weights& theta,
                                   double dual, double passes, Sweep& sweep);

}  // namespace espalier
