#include "learning/forwarding_problem.h"

#include <algorithm>
#include <utility>

#include "espalier/base/error.h"

namespace espalier {

// What the whole problem can do, for the examples of a subset. Kernels know nothing of examples.
class ForwardingProblem::Subset final : private Factored,
                                        private SlackRescaling,
                                        private Ranking,
                                        private BlockMaximisation,
                                        private Sharing {
 public:
  Subset(const Capabilities& whole, std::span<const std::uint32_t> examples)
      : whole_(whole), examples_(examples) {}

  Capabilities capabilities() const {
    return {.factored = whole_.factored ? this : nullptr,
            .kernel = whole_.kernel,
            .slack_rescaling = whole_.slack_rescaling ? this : nullptr,
            .ranking = whole_.ranking ? this : nullptr,
            .block_maximisation = whole_.block_maximisation ? this : nullptr,
            .sharing = whole_.sharing ? this : nullptr};
  }

 private:
  std::size_t num_clique_marginals(std::size_t i) const override {
    return whole_.factored->num_clique_marginals(examples_[i]);
  }
  double clique_marginals(std::size_t i, In s, Out clique_mu, Out mu, Workspace& ws) const override {
    return whole_.factored->clique_marginals(examples_[i], s, clique_mu, mu, ws);
  }
  DivergenceAlong divergence_along(std::size_t i, const CliqueMeans& from, const CliqueMeans& to,
                                   float step) const override {
    return whole_.factored->divergence_along(examples_[i], from, to, step);
  }
  double rebuild(std::size_t i, In clique_mu, DoubleOut mu) const override {
    return whole_.factored->rebuild(examples_[i], clique_mu, mu);
  }
  std::size_t num_cliques(std::size_t i) const override { return whole_.factored->num_cliques(examples_[i]); }
  void cliques_of(std::size_t i, In chi, std::span<std::uint32_t> cliques) const override {
    whole_.factored->cliques_of(examples_[i], chi, cliques);
  }
  bool lowest(std::size_t i, In s, In clique_mu, std::span<std::uint32_t> cliques,
              Workspace& ws) const override {
    return whole_.factored->lowest(examples_[i], s, clique_mu, cliques, ws);
  }
  void add_output(std::size_t i, std::span<const std::uint32_t> cliques, float scale,
                  Out out) const override {
    whole_.factored->add_output(examples_[i], cliques, scale, out);
  }
  double probability(std::size_t i, In clique_mu, std::span<const std::uint32_t> cliques) const override {
    return whole_.factored->probability(examples_[i], clique_mu, cliques);
  }

  double slack_argmax(std::size_t i, DoubleIn s, double gamma, DoubleOut chi, Workspace& ws) const override {
    return whole_.slack_rescaling->slack_argmax(examples_[i], s, gamma, chi, ws);
  }
  std::size_t kbest(std::size_t i, DoubleIn s, std::size_t k, std::vector<double>& chis,
                    Workspace& ws) const override {
    return whole_.ranking->kbest(examples_[i], s, k, chis, ws);
  }
  BlockMaximum maximise_block(std::size_t i, double gamma, double l2, Out mu, Weights& w,
                              Workspace& ws) const override {
    return whole_.block_maximisation->maximise_block(examples_[i], gamma, l2, mu, w, ws);
  }
  BlockMaximum propose_block(std::size_t i, double gamma, double l2, double crowding, Out mu,
                             const Weights& w, Out delta, Workspace& ws) const override {
    return whole_.block_maximisation->propose_block(examples_[i], gamma, l2, crowding, mu, w, delta, ws);
  }
  double overlap(std::size_t i) const override { return whole_.sharing->overlap(examples_[i]); }
  double score_work(std::size_t i) const override { return whole_.sharing->score_work(examples_[i]); }
  void list_changes(std::size_t i, In delta, RowChanges<float>& changes, Workspace& ws) const override {
    whole_.sharing->list_changes(examples_[i], delta, changes, ws);
  }
  bool lists_with_norm() const override { return whole_.sharing->lists_with_norm(); }
  double list_with_norm(std::size_t i, In delta, ChangeLists& lists, Workspace& ws) const override {
    return whole_.sharing->list_with_norm(examples_[i], delta, lists, ws);
  }
  void list_changes(std::size_t i, DoubleIn delta, RowChanges<double>& changes,
                    Workspace& ws) const override {
    whole_.sharing->list_changes(examples_[i], delta, changes, ws);
  }

  const Capabilities whole_;
  std::span<const std::uint32_t> examples_;
};

ForwardingProblem::ForwardingProblem(const Problem& inner) : inner_(inner), all_(true) {}

ForwardingProblem::ForwardingProblem(const Problem& inner, std::vector<std::uint32_t> examples)
    : inner_(inner), examples_(std::move(examples)), all_(false) {
  ESPALIER_EXPECT(std::all_of(examples_.begin(), examples_.end(),
                              [&](std::uint32_t example) { return example < inner.size(); }));
  subset_ = std::make_unique<Subset>(inner.capabilities(), examples_);
}

ForwardingProblem::~ForwardingProblem() = default;

Capabilities ForwardingProblem::capabilities() const {
  return subset_ ? subset_->capabilities() : inner_.capabilities();
}

}  // namespace espalier
