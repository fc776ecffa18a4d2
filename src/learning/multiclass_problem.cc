#include "learning/multiclass_problem.h"

#include <algorithm>

#include "espalier/base/error.h"
#include "features/as_kernel.h"
#include "features/kernel_matrix.h"
#include "kernels/divergence.h"
#include "kernels/simplex.h"

namespace espalier {
namespace {

// One clique an example: the label itself.
class MulticlassFactored final : public Factored {
 public:
  explicit MulticlassFactored(std::size_t num_labels) : structure_(num_labels) {}
  std::size_t num_clique_marginals(std::size_t) const override { return structure_.num_clique_marginals(); }
  double clique_marginals(std::size_t, In s, Out clique_mu, Out mu, Workspace& ws) const override {
    const double log_z = structure_.log_partition(s, mu, ws);
    std::copy(mu.begin(), mu.end(), clique_mu.begin());
    return log_z;
  }
  DivergenceAlong divergence_along(std::size_t, const CliqueMeans& from, const CliqueMeans& to,
                                   float step) const override {
    const auto sum = kernels::divergence_along(from.mu.data(), to.mu.data(), step, from.mu.size());
    return {sum.value, sum.first, sum.second};
  }
  double rebuild(std::size_t, In clique_mu, DoubleOut mu) const override {
    // The largest is what the others leave: divided by their sum, all would be off by the rounding of the
    // largest.
    const auto largest =
        static_cast<std::size_t>(std::max_element(clique_mu.begin(), clique_mu.end()) - clique_mu.begin());
    double others = 0;
    for (std::size_t k = 0; k < mu.size(); ++k) {
      mu[k] = clique_mu[k];
      if (k != largest) others += mu[k];
    }
    mu[largest] = 1 - others;
    return structure_.clique_entropy(mu);
  }
  std::size_t num_cliques(std::size_t) const override { return 1; }
  void cliques_of(std::size_t, In chi, std::span<std::uint32_t> cliques) const override {
    cliques[0] = static_cast<std::uint32_t>(std::max_element(chi.begin(), chi.end()) - chi.begin());
  }
  bool lowest(std::size_t, In s, In clique_mu, std::span<std::uint32_t> cliques, Workspace&) const override {
    bool found = false;
    for (std::uint32_t k = 0; k < s.size(); ++k) {
      if (!(clique_mu[k] > 0) || (found && s[k] >= s[cliques[0]])) continue;
      cliques[0] = k;
      found = true;
    }
    return found;
  }
  void add_output(std::size_t, std::span<const std::uint32_t> cliques, float scale, Out out) const override {
    out[cliques[0]] += scale;
  }
  double probability(std::size_t, In clique_mu, std::span<const std::uint32_t> cliques) const override {
    return clique_mu[cliques[0]];
  }

 private:
  Multiclass structure_;
};

}  // namespace

MulticlassExamples::MulticlassExamples(const SparseRows& rows, std::size_t num_attributes,
                                       std::vector<std::uint32_t> gold, std::size_t num_labels,
                                       std::vector<float> costs, std::vector<double> omega)
    : MulticlassExamples(RowFeatures(rows, {num_attributes, num_labels}), std::move(gold), num_labels,
                         std::move(costs), std::move(omega)) {
  ESPALIER_EXPECT(rows.size() == gold_.size());
}

MulticlassExamples::MulticlassExamples(std::shared_ptr<const KernelMatrix> kernel,
                                       std::vector<std::uint32_t> gold, std::size_t num_labels,
                                       std::vector<float> costs, std::vector<double> omega)
    : MulticlassExamples(RowFeatures(std::move(kernel), num_labels), std::move(gold), num_labels,
                         std::move(costs), std::move(omega)) {
  ESPALIER_EXPECT(this->kernel()->inputs().size() == gold_.size());
}

MulticlassExamples::MulticlassExamples(RowFeatures features, std::vector<std::uint32_t> gold,
                                       std::size_t num_labels, std::vector<float> costs,
                                       std::vector<double> omega)
    : features_(std::move(features)),
      gold_(std::move(gold)),
      structure_(num_labels),
      costs_(std::move(costs)),
      omega_(std::move(omega)),
      factored_(std::make_shared<MulticlassFactored>(num_labels)) {
  ESPALIER_EXPECT(std::all_of(gold_.begin(), gold_.end(), [&](std::uint32_t y) { return y < num_labels; }));
  ESPALIER_EXPECT(costs_.empty() || costs_.size() == num_labels * num_labels);
  ESPALIER_EXPECT(omega_.empty() || omega_.size() == gold_.size());
}

double MulticlassExamples::slack_argmax(std::size_t i, std::span<const double> s, double gamma,
                                        std::span<double> chi, Workspace& ws) const {
  Workspace::Frame frame(ws);
  const auto cost = frame.take<double>(s.size());
  std::fill(cost.begin(), cost.end(), 0.0);
  add_cost(i, 1.0, cost);
  // The gold label costs nothing, so that is what every other one has to be above.
  std::size_t best = gold_[i];
  double highest = 0;
  for (std::size_t k = 0; k < s.size(); ++k) {
    const double value = cost[k] > 0 ? cost[k] * (gamma + s[k] - s[gold_[i]]) : 0;
    if (value > highest) {
      highest = value;
      best = k;
    }
  }
  structure_.indicator(static_cast<Multiclass::Output>(best), chi);
  return highest;
}

kernels::LabelCosts MulticlassExamples::label_costs(std::size_t i, double gamma) const {
  return {costs_.empty() ? nullptr : costs_.data() + gold_[i] * structure_.num_statistics(), gold_[i],
          static_cast<float>(gamma)};
}

BlockMaximum MulticlassExamples::maximise_block(std::size_t i, double gamma, double l2, Out mu, Weights& w,
                                                Workspace& ws) const {
  // With u_i alone the dual is, but for a constant, omega_i { s.mu' - q/2 |mu' - mu|^2 }, q = omega_i |x_i|^2
  // / l2.
  const double omega = weight(i);
  const auto q = static_cast<float>(omega * features_.squared_length(i) / l2);
  const std::size_t labels = mu.size();
  Workspace::Frame frame(ws);
  const Out memory = frame.take<float>(2 * labels);
  const auto scale = static_cast<float>(1 / l2), times = static_cast<float>(omega);
  if (!kernel() && !w.threshold().any()) {
    const kernels::SimplexStep step =
        kernels::maximise_over_rows(as_kernel(w), as_kernel(features_.row(i)), scale, label_costs(i, gamma),
                                    q, times, mu.data(), memory.data());
    return {omega * step.gap, omega * step.gain};
  }
  const Out delta = memory.last(labels);
  const BlockMaximum maximum = propose_block(i, gamma, l2, 1, mu, w, delta, ws);
  if (maximum.moved) features_.accumulate(i, delta, w);
  return maximum;
}

BlockMaximum MulticlassExamples::propose_block(std::size_t i, double gamma, double l2, double crowding,
                                               Out mu, const Weights& w, Out delta, Workspace& ws) const {
  const double omega = weight(i);
  const auto q = static_cast<float>(crowding * omega * features_.squared_length(i) / l2);
  Workspace::Frame frame(ws);
  const Out s = frame.take<float>(mu.size());
  features_.score(i, w, static_cast<float>(1 / l2), s, ws);
  label_costs(i, gamma).add_to(s.data(), s.size());
  const kernels::SimplexStep step =
      kernels::maximise_on_simplex(s.data(), q, mu.size(), mu.data(), delta.data());
  if (step.moved) {
    for (float& d : delta) d *= static_cast<float>(omega);
  }
  return {omega * step.gap, omega * step.gain, step.moved};
}

}  // namespace espalier
