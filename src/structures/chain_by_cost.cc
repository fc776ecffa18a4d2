// A product of two sums over positions has no recursion over labels alone. For each cost c that a sequence
// may have so far,
//   a_t(j, c) = s_t(j) + max_i [ a_{t-1}(i, c - cost_t(j)) + T_t(i, j) ],
//       max_y = max_{j,c} c (margin + a_{m-1}(j, c)),
// takes time O(m L^2 C) and memory O(m L C), C - 1 the highest cost of a sequence.

#include "structures/chain_by_cost.h"

#include <algorithm>

#include "espalier/base/error.h"
#include "structures/log_scores.h"

namespace espalier {

double best_by_cost(const Chain& chain, std::span<const double> s, std::span<const std::uint32_t> costs,
                    double margin, std::span<double> chi, Workspace& ws) {
  ESPALIER_EXPECT(!chain.ngrams() && costs.size() == chain.length() * chain.num_labels());
  const std::size_t length = chain.length(), labels = chain.num_labels();
  const LogScores<double> scores(chain, chain.constraints(), s);
  std::size_t levels = 1;
  for (std::size_t t = 0; t < length; ++t) {
    const auto first = costs.begin() + static_cast<std::ptrdiff_t>(t * labels);
    levels += *std::max_element(first, first + static_cast<std::ptrdiff_t>(labels));
  }

  Workspace::Frame frame(ws);
  const std::size_t layer = labels * levels;
  auto before = frame.take<double>(layer), now = frame.take<double>(layer);
  const auto from = frame.take<std::uint32_t>(length * layer);  // the label before
  std::fill(now.begin(), now.end(), kExcluded);
  for (std::size_t j = 0; j < labels; ++j) now[j * levels + costs[j]] = scores.node(0, j);
  for (std::size_t t = 1; t < length; ++t) {
    std::swap(before, now);
    std::fill(now.begin(), now.end(), kExcluded);
    for (std::size_t j = 0; j < labels; ++j) {
      const std::size_t cost = costs[t * labels + j];
      const double node = scores.node(t, j);
      double* best = &now[j * levels + cost];
      std::uint32_t* label = &from[t * layer + j * levels + cost];
      for (std::size_t i = 0; i < labels; ++i) {
        const double step = scores.step(t, i, j) + node;
        const double* so_far = &before[i * levels];
        for (std::size_t c = 0; c + cost < levels; ++c) {
          if (so_far[c] + step > best[c]) {
            best[c] = so_far[c] + step;
            label[c] = static_cast<std::uint32_t>(i);
          }
        }
      }
    }
  }

  double highest = kExcluded;
  std::size_t label = 0, level = 0;
  for (std::size_t c = 0; c < levels; ++c) {
    for (std::size_t j = 0; j < labels; ++j) {
      const double score = now[j * levels + c];
      if (score == kExcluded) continue;
      const double value = c == 0 ? 0 : static_cast<double>(c) * (margin + score);
      if (value > highest) {
        highest = value;
        label = j;
        level = c;
      }
    }
  }
  const auto y = frame.take<std::uint32_t>(length);
  for (std::size_t t = length; t-- > 0;) {
    y[t] = static_cast<std::uint32_t>(label);
    if (t == 0) break;
    const std::size_t cost = costs[t * labels + label];
    label = from[t * layer + label * levels + level];
    level -= cost;
  }
  std::fill(chi.begin(), chi.end(), 0.0);
  chain.add_indicator(y, 1.0, chi);
  return highest;
}

}  // namespace espalier
