#include "solvers/violated_output.h"

#include <algorithm>
#include <numeric>

namespace espalier {

template <class Real>
ViolatedOutput most_violated(const Objective& objective, Rescaling rescaling, std::size_t i,
                             const BasicWeights<Real>& theta, DoubleOut s, DoubleOut chi, Workspace& ws) {
  const Problem& problem = objective.problem;
  const double gamma = objective.loss.gamma;
  ViolatedOutput violated;
  if (rescaling == Rescaling::margin) {
    violated.loss = example_loss(objective, i, theta, s, chi, ws);
  } else {
    problem.score(i, theta, 1.0, s, ws);
    violated.loss = problem.slack_rescaling()->slack_argmax(i, s, gamma, chi, ws);
  }
  Workspace::Frame frame(ws);
  const auto p = frame.take<double>(chi.size());
  std::fill(p.begin(), p.end(), 0.0);
  problem.add_cost(i, 1.0, p);
  const double cost = std::inner_product(p.begin(), p.end(), chi.begin(), problem.cost_offset(i));
  violated.demand = {rescaling == Rescaling::margin ? 1 : cost, gamma * cost};
  return violated;
}

template ViolatedOutput most_violated(const Objective&, Rescaling, std::size_t, const Weights&, DoubleOut,
                                      DoubleOut, Workspace&);
template ViolatedOutput most_violated(const Objective&, Rescaling, std::size_t, const DoubleWeights&,
                                      DoubleOut, DoubleOut, Workspace&);

SparseOutput::SparseOutput(DoubleIn chi) {
  counts_.reserve(
      static_cast<std::size_t>(std::count_if(chi.begin(), chi.end(), [](double c) { return c != 0; })));
  for (std::size_t k = 0; k < chi.size(); ++k) {
    if (chi[k] != 0) counts_.push_back({static_cast<std::uint32_t>(k), static_cast<float>(chi[k])});
  }
}

double SparseOutput::dot(DoubleIn x) const {
  double sum = 0;
  for (const Count& count : counts_) sum += count.value * x[count.statistic];
  return sum;
}

void SparseOutput::add_to(double scale, DoubleOut out) const {
  for (const Count& count : counts_) out[count.statistic] += scale * count.value;
}

}  // namespace espalier
