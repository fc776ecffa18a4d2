#include "espalier/learning/subset_problem.h"

#include <algorithm>
#include <span>
#include <utility>

#include "espalier/base/error.h"

namespace espalier {
namespace {

class SubsetFactored final : public Factored {
 public:
  SubsetFactored(const Factored& whole, std::span<const std::uint32_t> examples)
      : whole_(whole), examples_(examples) {}
  std::size_t num_clique_marginals(std::size_t i) const override {
    return whole_.num_clique_marginals(examples_[i]);
  }
  void clique_marginals(std::size_t i, DoubleIn s, DoubleOut clique_mu, Workspace& ws) const override {
    whole_.clique_marginals(examples_[i], s, clique_mu, ws);
  }
  void statistics(std::size_t i, DoubleIn clique_mu, DoubleOut mu) const override {
    whole_.statistics(examples_[i], clique_mu, mu);
  }
  double clique_marginals(std::size_t i, In s, Out clique_mu, Out mu, Workspace& ws) const override {
    return whole_.clique_marginals(examples_[i], s, clique_mu, mu, ws);
  }
  DivergenceAlong divergence_along(std::size_t i, const CliqueMeans& from, const CliqueMeans& to,
                                   float step) const override {
    return whole_.divergence_along(examples_[i], from, to, step);
  }
  double rebuild(std::size_t i, In clique_mu, DoubleOut mu) const override {
    return whole_.rebuild(examples_[i], clique_mu, mu);
  }
  double clique_entropy(std::size_t i, DoubleIn clique_mu) const override {
    return whole_.clique_entropy(examples_[i], clique_mu);
  }
  void log_conditionals(std::size_t i, DoubleIn clique_mu, DoubleOut clique_s) const override {
    whole_.log_conditionals(examples_[i], clique_mu, clique_s);
  }
  std::size_t num_cliques(std::size_t i) const override { return whole_.num_cliques(examples_[i]); }
  void cliques_of(std::size_t i, In chi, std::span<std::uint32_t> cliques) const override {
    whole_.cliques_of(examples_[i], chi, cliques);
  }
  bool lowest(std::size_t i, In s, In clique_mu, std::span<std::uint32_t> cliques,
              Workspace& ws) const override {
    return whole_.lowest(examples_[i], s, clique_mu, cliques, ws);
  }
  void add_output(std::size_t i, std::span<const std::uint32_t> cliques, float scale,
                  Out out) const override {
    whole_.add_output(examples_[i], cliques, scale, out);
  }
  double probability(std::size_t i, In clique_mu, std::span<const std::uint32_t> cliques) const override {
    return whole_.probability(examples_[i], clique_mu, cliques);
  }

 private:
  const Factored& whole_;
  std::span<const std::uint32_t> examples_;
};

}  // namespace

SubsetProblem::SubsetProblem(const Problem& whole, std::vector<std::uint32_t> examples)
    : whole_(whole), examples_(std::move(examples)) {
  ESPALIER_EXPECT(std::all_of(examples_.begin(), examples_.end(),
                              [&](std::uint32_t example) { return example < whole.size(); }));
  if (const Factored* factored = whole.factored()) {
    factored_ = std::make_unique<SubsetFactored>(*factored, examples_);
  }
}

}  // namespace espalier
