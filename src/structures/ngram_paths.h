#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/random.h"
#include "espalier/base/workspace.h"
#include "structures/chain.h"

namespace espalier {

// What Chain does in logarithms and doubles, for chains with n-grams.
double ngram_log_partition(const Chain& chain, std::span<const double> s, std::span<double> mu,
                           Workspace& ws);
std::vector<Chain::Scored> ngram_kbest(const Chain& chain, std::span<const double> s, std::size_t k);
Chain::Output ngram_sample(const Chain& chain, std::span<const double> s, Random& random, Workspace& ws);
double ngram_entropy(const Chain& chain, std::span<const double> s, Workspace& ws);

}  // namespace espalier
