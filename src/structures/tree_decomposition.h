#pragma once

#include "espalier/base/workspace.h"
#include "structures/arc_set.h"
#include "structures/head_factors.h"

namespace espalier {

struct BestTree {
  double value, bound;  // the score of the tree that was found, and what no tree has more than
  bool optimal;         // they are equal but for rounding: no tree is better
  int rounds;           // at most 500
};

// The best tree with scores of parts, siblings adjacent, or where a relaxation to a linear program does not
// find it, a good one. A value of -infinity, if no tree is left.
BestTree best_tree(const SecondOrderArcs& of, Heads heads, Workspace& ws);

}  // namespace espalier
