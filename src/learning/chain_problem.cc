#include "learning/chain_problem.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "espalier/base/error.h"
#include "features/kernel_matrix.h"
#include "features/sequences.h"
#include "kernels/divergence.h"
#include "structures/chain_by_cost.h"

namespace espalier {
namespace {

// Cliques are pairs of neighbours.
class ChainFactored final : public Factored {
 public:
  ChainFactored(std::shared_ptr<const ChainFeatures> features, const ChainConstraints* constraints)
      : features_(std::move(features)), constraints_(constraints) {}
  std::size_t num_clique_marginals(std::size_t i) const override { return chain(i).num_clique_marginals(); }
  double clique_marginals(std::size_t i, In s, Out clique_mu, Out mu, Workspace& ws) const override {
    return chain(i).clique_marginals(s, clique_mu, mu, ws);
  }
  // Of pairs, less that of the nodes that two pairs share, which lie side by side.
  DivergenceAlong divergence_along(std::size_t i, const CliqueMeans& from, const CliqueMeans& to,
                                   float step) const override {
    const auto pairs =
        kernels::divergence_along(from.cliques.data(), to.cliques.data(), step, from.cliques.size());
    const std::size_t length = features_->length(i), labels = features_->shape().num_labels;
    if (length <= 2) return {pairs.value, pairs.first, pairs.second};
    const auto nodes = kernels::divergence_along(from.mu.data() + labels, to.mu.data() + labels, step,
                                                 (length - 2) * labels);
    return {pairs.value - nodes.value, pairs.first - nodes.first, pairs.second - nodes.second};
  }
  double rebuild(std::size_t i, In clique_mu, DoubleOut mu) const override {
    return chain(i).markov_chain(clique_mu, mu);
  }
  std::size_t num_cliques(std::size_t i) const override { return chain(i).num_cliques(); }
  void cliques_of(std::size_t i, In chi, std::span<std::uint32_t> cliques) const override {
    chain(i).cliques_of(chi, cliques);
  }
  bool lowest(std::size_t i, In s, In clique_mu, std::span<std::uint32_t> cliques,
              Workspace& ws) const override {
    return chain(i).lowest(s, clique_mu, cliques, ws);
  }
  void add_output(std::size_t i, std::span<const std::uint32_t> cliques, float scale,
                  Out out) const override {
    chain(i).add_output(cliques, scale, out);
  }
  double probability(std::size_t i, In clique_mu, std::span<const std::uint32_t> cliques) const override {
    return chain(i).probability(clique_mu, cliques);
  }

 private:
  Chain chain(std::size_t i) const { return chain_of(*features_, i, constraints_); }

  std::shared_ptr<const ChainFeatures> features_;
  const ChainConstraints* constraints_;
};

}  // namespace

ChainExamples::ChainExamples(const Sequences& sequences, const ChainShape& shape,
                             std::vector<std::uint32_t> gold, const ChainConstraints* constraints,
                             std::vector<double> omega, std::shared_ptr<const KernelMatrix> kernel,
                             std::size_t threads)
    : sequences_(&sequences),
      features_(std::make_shared<ChainFeatures>(sequences, shape, std::move(kernel), threads)),
      gold_(std::move(gold)),
      constraints_(constraints),
      omega_(std::move(omega)) {
  if (!shape.ngrams) factored_ = std::make_shared<ChainFactored>(features_, constraints);
  ESPALIER_EXPECT(gold_.size() == sequences.num_tokens());
  ESPALIER_EXPECT(
      std::all_of(gold_.begin(), gold_.end(), [&](std::uint32_t y) { return y < shape.num_labels; }));
  ESPALIER_EXPECT(omega_.empty() || omega_.size() == size());
}

void ChainExamples::set_costs(std::vector<float> costs) {
  const std::size_t labels = features_->shape().num_labels;
  ESPALIER_EXPECT(costs.empty() || costs.size() == labels * labels);
  costs_ = std::move(costs);
}

bool ChainExamples::rescales_slack() const {
  constexpr float kHighest = 16;  // time and memory grow with the highest cost of a sequence
  const auto small = [](float cost) { return cost >= 0 && cost <= kHighest && cost == std::floor(cost); };
  return !partial_ && !features_->shape().ngrams && std::all_of(costs_.begin(), costs_.end(), small);
}

double ChainExamples::slack_argmax(std::size_t i, std::span<const double> s, double gamma,
                                   std::span<double> chi, Workspace& ws) const {
  Workspace::Frame frame(ws);
  const Chain chain = structure(i);
  const std::size_t labels = chain.num_labels();
  const auto costs = frame.take<double>(chain.length() * labels);
  std::fill(costs.begin(), costs.end(), 0.0);
  add_cost(i, 1.0, costs);
  const auto levels = frame.take<std::uint32_t>(costs.size());
  for (std::size_t k = 0; k < costs.size(); ++k) levels[k] = static_cast<std::uint32_t>(costs[k]);

  // s.z_i
  std::fill(chi.begin(), chi.end(), 0.0);
  add_gold(i, 1.0, chi);
  double gold_score = 0;
  for (std::size_t k = 0; k < s.size(); ++k) gold_score += chi[k] > 0 ? s[k] * chi[k] : 0;
  return best_by_cost(chain, s, levels, gamma - gold_score, chi, ws);
}

void ChainExamples::add_near_gold(std::size_t i, float kappa, std::span<float> s) const {
  const std::size_t length = features_->length(i), labels = features_->shape().num_labels;
  const auto* partial = find_partial(i);
  const std::uint32_t* y = gold(i);
  for (std::size_t t = 0; t < length; ++t) {
    for (std::size_t j = 0; j < labels; ++j) {
      const std::size_t k = t * labels + j;
      if (partial) {
        s[k] += std::max(static_cast<float>(std::log(partial->z[k])), -kappa);
      } else {
        s[k] -= j == y[t] ? 0 : kappa;
      }
    }
  }
}

void ChainExamples::prefetch(std::size_t i, Prefetch what) const {
  features_->prefetch(i, what);
  if (what == Prefetch::contents) __builtin_prefetch(gold(i));
}

}  // namespace espalier
