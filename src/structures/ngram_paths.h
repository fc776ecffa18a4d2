#pragma once

#include <cstddef>
#include <span>

#include "base/random.h"
#include "espalier/base/workspace.h"
#include "structures/chain.h"
#include "structures/chain_kbest.h"

namespace espalier {

// What Chain does in logarithms and doubles, for chains with n-grams.
double ngram_log_partition(const Chain& chain, std::span<const double> s, std::span<double> mu,
                           Workspace& ws);
void for_each_best_of_ngrams(const Chain& chain, std::span<const double> s, std::size_t k,
                             const VisitSequence& visit);
std::vector<Chain::Output> ngram_samples(const Chain& chain, std::span<const double> s, std::size_t n,
                                         Random& random, Workspace& ws);
double ngram_entropy(const Chain& chain, std::span<const double> s, Workspace& ws);

}  // namespace espalier
