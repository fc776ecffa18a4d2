#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "structures/factor_graph.h"

namespace espalier {

// A model in the format of the UAI competitions (MARKOV or BAYES): a graph, and the logarithms of its tables
// one after another, -infinity for 0.
struct UaiModel {
  std::shared_ptr<const FactorGraph> graph;
  std::vector<double> scores;
};

// Throws Error::at for what the format does not allow.
UaiModel read_uai(const std::string& path);

struct UaiObservation {
  std::uint32_t variable, label;
};

// The number of observations, then variable and label of each (the evidence files of the 2014 competition).
// An empty file has none. Throws Error::at if they do not go with the graph.
std::vector<UaiObservation> read_uai_evidence(const std::string& path, const FactorGraph& graph);

// The model of what was not observed. Every one of its variables has a clique of its own, with scores of 0
// after all others, so that there is a table of its marginals.
struct UaiConditional {
  static constexpr std::uint32_t kObserved = ~std::uint32_t{0};

  std::shared_ptr<const FactorGraph> graph;
  std::vector<double> scores;
  double constant = 0;                  // the scores of cliques that were observed whole
  std::vector<std::uint32_t> variable;  // of each of the model's: its number here, or kObserved
  std::vector<std::uint32_t> observed;  // of each of the model's: its label, where it was observed

  // Where the marginals of variable v of this graph begin, among the statistics.
  std::size_t marginals_of(std::size_t v) const {
    return graph->begin(graph->num_cliques() - graph->num_variables() + v);
  }
};
UaiConditional condition(const UaiModel& model, std::span<const UaiObservation> evidence);

}  // namespace espalier
