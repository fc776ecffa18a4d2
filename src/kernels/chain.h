#pragma once

#include <cstddef>
#include <cstdint>

namespace espalier::kernels {

// The scores of a chain, laid out as in structures/chain.h: a row of `labels` scores for each of `length` >=
// 1 positions, then `num_tables` tables of transition scores, row = the label before.
template <class Real>
struct ChainScores {
  std::size_t length, labels, num_tables;
  const std::uint32_t* tables;  // of each step; nullptr: all have table 0
  const Real* s;
  const std::uint8_t *first, *last, *step;  // what is allowed (ChainConstraints); nullptr: everything
};

// Elements from one row of labels to the next in scratch memory: whole vectors.
constexpr std::size_t chain_stride(std::size_t labels) { return labels <= 4 ? 4 : (labels + 7) / 8 * 8; }

// Scratch memory that the functions below need, in elements; it starts on a cache line.
std::size_t chain_scratch(std::size_t length, std::size_t labels, std::size_t num_tables);

// Expected statistics mu and log Z, in scaled probability space. False where the range of the scores is too
// wide for that, or no sequence is possible: then nothing is known.
bool chain_marginals(const ChainScores<float>& chain, float* mu, double* log_z, float* scratch);
bool chain_marginals(const ChainScores<double>& chain, double* mu, double* log_z, double* scratch);

// The same, and in `pairs` the marginals of each pair of neighbours: length - 1 tables of labels x labels,
// row = the label before, without padding.
bool chain_pair_marginals(const ChainScores<float>& chain, float* mu, float* pairs, double* log_z,
                          float* scratch);

// log Z alone, in half of the time. Also false for long chains, of which it cannot tell whether their range
// is too wide.
bool chain_log_partition(const ChainScores<double>& chain, double* log_z, double* scratch);

// The best sequence of labels; of equal ones the first, compared from the end.
void chain_best(const ChainScores<float>& chain, std::uint32_t* y, float* scratch);
void chain_best(const ChainScores<double>& chain, std::uint32_t* y, double* scratch);

}  // namespace espalier::kernels
