#pragma once

#include <cstddef>
#include <cstdint>

namespace espalier::kernels {

// Scratch memory that the functions below need, in elements; it starts on a cache line.
std::size_t eisner_scratch(std::size_t words);

// The probability of each arc of a projective tree and log Z, in probability space. Scores and probabilities are arc matrices
// (structures/arc_set.h). False where the range of the scores is too wide for that, or no tree is possible: then nothing is
// known.
bool eisner_marginals(std::size_t words, bool single_root, const double* s, double* mu, double* log_z,
                      double* scratch);

// The best tree; of equal ones, the one whose heads the traceback meets first. heads[d - 1] is the head of word d.
void eisner_best(std::size_t words, bool single_root, const double* s, std::uint32_t* heads, double* scratch);

}  // namespace espalier::kernels
