#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/chain.h"
#include "kernels/ngram_automaton.h"

namespace espalier::kernels {

// The scores of a chain with label n-grams: those of n-grams follow the tables, of which there may be none.
template <class Real>
struct NgramChainScores {
  ChainScores<Real> chain;
  const NgramAutomaton* automaton;
};

// Scratch memory that the functions below need, in elements; it starts on a cache line.
std::size_t ngram_chain_scratch(std::size_t length, std::size_t num_tables, const NgramAutomaton& automaton);

// As chain_marginals.
bool ngram_chain_marginals(const NgramChainScores<float>& scores, float* mu, double* log_z, float* scratch);
bool ngram_chain_marginals(const NgramChainScores<double>& scores, double* mu, double* log_z,
                           double* scratch);

// As chain_best. `states` has room for 3 * num_states numbers.
void ngram_chain_best(const NgramChainScores<float>& scores, std::uint32_t* y, std::uint32_t* states,
                      float* scratch);
void ngram_chain_best(const NgramChainScores<double>& scores, std::uint32_t* y, std::uint32_t* states,
                      double* scratch);

}  // namespace espalier::kernels
