#pragma once

#include <string>
#include <vector>

#include "espalier/features/dictionary.h"

namespace espalier {

// Reads a cost file: lines "GOLD PREDICTED COST" (white space between, '#' starts a comment). Pairs that it
// does not name cost 1, a right answer costs 0. Returns L x L costs, row = gold. Throws Error::at for labels
// that the data does not have, costs that are negative or not finite, a cost for a right answer, and a pair
// named twice.
std::vector<float> read_costs(const std::string& path, const Dictionary& labels);

}  // namespace espalier
