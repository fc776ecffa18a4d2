// The best labelling by its linear-programming dual (MPLP: Globerson and Jaakkola 2007, section 5; Sontag,
// Globerson and Jaakkola 2011, figure 1.4). Messages d_ai move scores from cliques a to their variables;
// whatever they are,
//   max_y s.chi(y) <= D = sum_i max S_i + sum_a max ( s_a - sum_{i in a} d_ai ),     S_i = s_i + sum_a d_ai
// since the maxima on the right may disagree. A visit to a clique sets all of its messages to the best ones
// with all others as they are, so that D never rises:
//   d_ai(x_i) = 1/|a| max over x_a with x_i of ( s_a + sum_{j in a} (S_j - d_aj) )  -  (S_i - d_ai)(x_i)
// After each sweep a labelling is read off the S_i, variable by variable with what is decided before, and
// improved by changing one label at a time. Where its score is D, it is the best. Coordinate descent may stop
// above the least D; then the best labelling seen is improved once more, many labels at a time
// (forest_moves.h).

#include "structures/dual_decomposition.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "structures/contraction.h"
#include "structures/forest_moves.h"

namespace espalier {
namespace {

constexpr double kExcluded = -std::numeric_limits<double>::infinity();
constexpr std::size_t kMostVariables = CliqueMessages::kMostVariables;
constexpr std::uint32_t kOpen = ~std::uint32_t{0};

}  // namespace

DualDecomposition::DualDecomposition(const FactorGraph& graph, std::size_t iterations, double tolerance)
    : layout_(graph), iterations_(iterations), tolerance_(tolerance) {}

struct DualDecomposition::State {
  std::span<double> s, node;   // of all statistics, and of all labels in cliques of one variable
  std::span<double> sums;      // S_i, of all labels
  std::span<double> messages;  // d
  std::span<double> vectors;   // of one clique's variables
  std::span<double> fresh, buffer;
  std::array<const double*, kMostVariables> vector_of;
};

void DualDecomposition::visit(State& state, const Clique& clique) const {
  const std::size_t d = clique.variables.size();
  std::size_t at = 0;
  for (std::size_t j = 0; j < d; ++j) {
    const double *sum = state.sums.data() + layout_.label_begin[clique.variables[j]],
                 *message = state.messages.data() + clique.messages[j];
    for (std::size_t x = 0; x < clique.labels[j]; ++x) state.vectors[at + x] = sum[x] - message[x];
    state.vector_of[j] = state.vectors.data() + at;
    at += clique.labels[j];
  }
  for (std::size_t i = 0; i < d; ++i) {
    contract<MaxSum>(state.s.data() + clique.begin, clique.size, clique.labels, i,
                     {state.vector_of.data(), d}, state.buffer, state.fresh.data());
    double *sum = state.sums.data() + layout_.label_begin[clique.variables[i]],
           *message = state.messages.data() + clique.messages[i];
    for (std::size_t x = 0; x < clique.labels[i]; ++x) {
      if (sum[x] == kExcluded) continue;  // its message stays 0
      const double others = state.vector_of[i][x];
      sum[x] = (state.fresh[x] + others) / static_cast<double>(d);
      message[x] = sum[x] - others;
    }
  }
}

double DualDecomposition::bound(State& state) const {
  double bound = 0;
  for (std::size_t v = 0; v + 1 < layout_.label_begin.size(); ++v) {
    bound += *std::max_element(state.sums.begin() + static_cast<std::ptrdiff_t>(layout_.label_begin[v]),
                               state.sums.begin() + static_cast<std::ptrdiff_t>(layout_.label_begin[v + 1]));
  }
  for (const Clique& clique : layout_.cliques) {
    const std::size_t d = clique.variables.size();
    std::size_t at = 0;
    for (std::size_t j = 0; j < d; ++j) {
      const double* message = state.messages.data() + clique.messages[j];
      for (std::size_t x = 0; x < clique.labels[j]; ++x) state.vectors[at + x] = -message[x];
      state.vector_of[j] = state.vectors.data() + at;
      at += clique.labels[j];
    }
    contract<MaxSum>(state.s.data() + clique.begin, clique.size, clique.labels, 0,
                     {state.vector_of.data(), d}, state.buffer, state.fresh.data());
    double highest = kExcluded;
    for (std::size_t x = 0; x < clique.labels[0]; ++x) {
      highest = std::max(highest, state.fresh[x] + state.vector_of[0][x]);
    }
    bound += highest;
  }
  return bound;
}

// One variable after another takes its best label, where variables of its cliques that have none yet may
// still take any.
void DualDecomposition::round(State& state, std::span<std::uint32_t> y) const {
  std::fill(y.begin(), y.end(), kOpen);
  for (std::size_t v = 0; v < y.size(); ++v) {
    const std::size_t begin = layout_.label_begin[v], labels = layout_.label_begin[v + 1] - begin;
    const auto total = state.fresh.first(labels), part = state.fresh.subspan(labels, labels);
    std::copy_n(state.node.begin() + static_cast<std::ptrdiff_t>(begin), labels, total.begin());
    for (const auto& end : layout_.ends[v]) {
      const Clique& clique = layout_.cliques[end.clique];
      std::size_t at = 0;
      for (std::size_t j = 0; j < clique.variables.size(); ++j) {
        const std::uint32_t u = clique.variables[j];
        const double *sum = state.sums.data() + layout_.label_begin[u],
                     *message = state.messages.data() + clique.messages[j];
        for (std::size_t x = 0; x < clique.labels[j]; ++x) {
          state.vectors[at + x] = y[u] == kOpen ? sum[x] - message[x] : y[u] == x ? 0 : kExcluded;
        }
        state.vector_of[j] = state.vectors.data() + at;
        at += clique.labels[j];
      }
      contract<MaxSum>(state.s.data() + clique.begin, clique.size, clique.labels, end.position,
                       {state.vector_of.data(), clique.variables.size()}, state.buffer, part.data());
      for (std::size_t x = 0; x < labels; ++x) total[x] += part[x];
    }
    y[v] = static_cast<std::uint32_t>(std::max_element(total.begin(), total.end()) - total.begin());
  }
}

// Changes single labels for better ones until there are none.
void DualDecomposition::improve(State& state, std::span<std::uint32_t> y) const {
  constexpr int kMostRounds = 20;
  bool changed = true;
  for (int sweep = 0; changed && sweep < kMostRounds; ++sweep) {
    changed = false;
    for (std::size_t v = 0; v < y.size(); ++v) {
      const std::size_t begin = layout_.label_begin[v], labels = layout_.label_begin[v + 1] - begin;
      const auto total = state.fresh.first(labels);
      std::copy_n(state.node.begin() + static_cast<std::ptrdiff_t>(begin), labels, total.begin());
      for (const auto& end : layout_.ends[v]) {
        const Clique& clique = layout_.cliques[end.clique];
        std::size_t entry = clique.begin, stride = 0, size = 1;
        for (std::size_t j = clique.variables.size(); j-- > 0;) {
          if (j == end.position) {
            stride = size;
          } else {
            entry += size * y[clique.variables[j]];
          }
          size *= clique.labels[j];
        }
        for (std::size_t x = 0; x < labels; ++x) total[x] += state.s[entry + x * stride];
      }
      const auto best =
          static_cast<std::uint32_t>(std::max_element(total.begin(), total.end()) - total.begin());
      if (total[best] > total[y[v]]) {
        y[v] = best;
        changed = true;
      }
    }
  }
}

MarkovGraph::Best DualDecomposition::best(std::span<const double> s, std::size_t moves,
                                          std::span<std::uint32_t> y, Workspace& ws) const {
  Workspace::Frame frame(ws);
  State state;
  const std::size_t num_labels = layout_.label_begin.back();
  std::size_t most = layout_.most_labels;
  for (std::size_t v = 0; v < y.size(); ++v) {
    most = std::max(most, 2 * (layout_.label_begin[v + 1] - layout_.label_begin[v]));
  }
  state.s = frame.take<double>(s.size());
  state.node = frame.take<double>(num_labels);
  state.sums = frame.take<double>(num_labels);
  state.messages = frame.take<double>(layout_.num_messages);
  state.vectors = frame.take<double>(layout_.most_labels);
  state.fresh = frame.take<double>(most);
  state.buffer = frame.take<double>(layout_.buffer);
  const auto trial = frame.take<std::uint32_t>(y.size());

  std::copy(s.begin(), s.end(), state.s.begin());
  layout_.node_scores(s, state.node);
  std::fill(y.begin(), y.end(), 0u);
  if (!layout_.take_out_impossible(state.node, state.s, ws)) return {kExcluded, kExcluded, true};
  std::copy(state.node.begin(), state.node.end(), state.sums.begin());
  std::fill(state.messages.begin(), state.messages.end(), 0.0);

  // Labellings are looked at after sweeps 1, 2, 4, 8, ... and at the end.
  constexpr std::size_t kPatience = 5;
  MarkovGraph::Best best{kExcluded, -kExcluded, false};
  double before = -kExcluded;
  std::size_t stalled = 0;
  for (std::size_t sweep = 1; sweep <= iterations_ && stalled < kPatience && !best.optimal; ++sweep) {
    for (std::size_t k = 0; k < layout_.cliques.size(); ++k) {
      visit(state, layout_.cliques[sweep % 2 == 1 ? k : layout_.cliques.size() - 1 - k]);
    }
    best.bound = std::min(best.bound, bound(state));
    const double scale = 1 + std::abs(best.bound);
    stalled = before - best.bound > tolerance_ * scale ? 0 : stalled + 1;
    before = best.bound;
    const bool last = stalled >= kPatience || sweep == iterations_;
    if (!std::has_single_bit(sweep) && !last) continue;
    round(state, trial);
    improve(state, trial);
    const double reached = layout_.score(state.node, state.s, trial);
    if (reached > best.value || sweep == 1) {
      best.value = reached;
      std::copy(trial.begin(), trial.end(), y.begin());
    }
    best.optimal = best.value >= best.bound - 1e-9 * scale;
  }
  if (best.optimal || best.value == kExcluded) return best;
  improve_by_forests(layout_, state.node, state.s, moves, y, ws);
  best.value = layout_.score(state.node, state.s, y);
  best.optimal = best.value >= best.bound - 1e-9 * (1 + std::abs(best.bound));
  return best;
}

}  // namespace espalier
