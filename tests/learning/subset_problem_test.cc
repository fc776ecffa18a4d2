#include "learning/subset_problem.h"

#include <rapidcheck/gtest.h>

#include "espalier/learning/certificate.h"
#include "espalier/learning/objective.h"
#include "features/row_changes.h"
#include "support/random_graph_problem.h"
#include "support/random_objective.h"

namespace espalier::subset_problem_test {
namespace {

using test_support::ChainData;
using test_support::MulticlassData;
using test_support::OwnedChainProblem;
using test_support::OwnedProblem;

std::vector<std::uint32_t> any_subset(std::size_t n) {
  std::vector<std::uint32_t> chosen;
  for (std::uint32_t i = 0; i < n; ++i) {
    if (*rc::gen::arbitrary<bool>()) chosen.push_back(i);
  }
  if (chosen.empty()) chosen.push_back(*rc::gen::inRange<std::uint32_t>(0, static_cast<std::uint32_t>(n)));
  return chosen;
}

MulticlassData part_of(const MulticlassData& data, const std::vector<std::uint32_t>& chosen) {
  MulticlassData part;
  part.attributes = data.attributes;
  part.labels = data.labels;
  part.costs = data.costs;
  for (const std::uint32_t i : chosen) {
    const SparseRows::Row row = data.rows.row(i);
    for (std::size_t j = 0; j < row.ids.size(); ++j) part.rows.add(row.ids[j], row.value(j));
    part.rows.finish_row();
    part.gold.push_back(data.gold[i]);
    if (!data.omega.empty()) part.omega.push_back(data.omega[i]);
  }
  return part;
}

// Two problems are the same to whoever asks for a certificate, at weights and duals of any kind.
void expect_equal_certificates(const Problem& subset, const Problem& made) {
  ASSERT_EQ(subset.size(), made.size());
  const Loss loss = test_support::any_loss();
  const double l2 = test_support::any_l2();
  const Weights theta = test_support::any_weights(made);
  const DualState dual = test_support::any_dual(made);
  DualState of_subset(subset);
  of_subset.restore(subset, dual.scores(), dual.curvatures());
  const Certificate a = certify({subset, loss, l2}, theta, of_subset);
  const Certificate b = certify({made, loss, l2}, theta, dual);
  RC_ASSERT(a.primal == b.primal);
  RC_ASSERT(a.dual == b.dual);
}

RC_GTEST_PROP(SubsetProblem, CertifiesLikeAProblemOfJustTheseExamples, ()) {
  const MulticlassData data = test_support::any_data();
  const auto chosen = any_subset(data.gold.size());
  const OwnedProblem whole(data), made(part_of(data, chosen));
  expect_equal_certificates(SubsetProblem(whole.problem, chosen), made.problem);
}

// Also what most problems leave as it is.
RC_GTEST_PROP(SubsetProblem, StartsNearGoldLikeTheWhole, ()) {
  const test_support::OwnedGraphProblem owned(*rc::gen::arbitrary<std::uint64_t>());
  const Problem& whole = owned.problem;
  const auto chosen = any_subset(whole.size());
  const SubsetProblem subset(whole, chosen);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    std::vector<float> a(whole.num_statistics(chosen[i]), 0.0f), b = a;
    subset.add_near_gold(i, 3, a);
    whole.add_near_gold(chosen[i], 3, b);
    RC_ASSERT(a == b);
  }
}

// Every call is that of the example it stands for.
RC_GTEST_PROP(SubsetProblem, ForwardsEverything, ()) {
  const OwnedChainProblem owned(test_support::any_chain_data());
  const Problem& whole = owned.problem;
  const auto chosen = any_subset(whole.size());
  const SubsetProblem subset(whole, chosen);
  const Weights w = test_support::any_weights(whole);
  DoubleWeights double_w;
  double_w.assign(w);
  RC_ASSERT(subset.size() == chosen.size());
  RC_ASSERT(subset.weight_shape() == whole.weight_shape());
  RC_ASSERT(subset.squared_norm(w) == whole.squared_norm(w));
  RC_ASSERT(subset.squared_norm(double_w) == whole.squared_norm(double_w));
  Workspace ws;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const std::size_t k = chosen[i], length = whole.num_statistics(k);
    RC_ASSERT(subset.num_statistics(i) == length);
    RC_ASSERT(subset.weight(i) == whole.weight(k));
    RC_ASSERT(subset.cost_offset(i) == whole.cost_offset(k));
    RC_ASSERT(subset.squared_diameter(i) == whole.squared_diameter(k));
    RC_ASSERT(subset.squared_change(i) == whole.squared_change(k));
    subset.prefetch(i, Prefetch::location);
    const auto same = [&](auto zero, const auto& call) {
      std::vector<decltype(zero)> a(length, zero), b(length, zero);
      call(static_cast<const Problem&>(subset), i, std::span(a));
      call(whole, k, std::span(b));
      RC_ASSERT(a == b);
      return a;
    };
    same(0.0f, [](const Problem& p, std::size_t e, Out out) { p.add_gold(e, 2.0f, out); });
    same(0.0, [](const Problem& p, std::size_t e, DoubleOut out) { p.add_gold(e, 2.0, out); });
    same(0.0f, [](const Problem& p, std::size_t e, Out out) { p.add_cost(e, 2.0f, out); });
    same(0.0, [](const Problem& p, std::size_t e, DoubleOut out) { p.add_cost(e, 2.0, out); });
    const auto s =
        same(0.0f, [&](const Problem& p, std::size_t e, Out out) { p.score(e, w, 1.0f, out, ws); });
    const auto d =
        same(0.0, [&](const Problem& p, std::size_t e, DoubleOut out) { p.score(e, w, 1.0, out, ws); });
    same(0.0, [&](const Problem& p, std::size_t e, DoubleOut out) { p.score(e, double_w, 1.0, out, ws); });
    const auto mu =
        same(0.0f, [&](const Problem& p, std::size_t e, Out out) { p.log_partition(e, s, out, ws); });
    same(0.0, [&](const Problem& p, std::size_t e, DoubleOut out) { p.log_partition(e, d, out, ws); });
    same(0.0f, [&](const Problem& p, std::size_t e, Out out) { p.argmax(e, s, out, ws); });
    same(0.0, [&](const Problem& p, std::size_t e, DoubleOut out) { p.argmax(e, d, out, ws); });
    same(0.0f, [&](const Problem& p, std::size_t e, Out out) {
      std::copy(s.begin(), s.end(), out.begin());
      p.centre(e, mu, out);
    });
    RC_ASSERT(subset.squared_norm(i, In(s), ws) == whole.squared_norm(k, In(s), ws));
    RC_ASSERT(subset.squared_norm(i, DoubleIn(d), ws) == whole.squared_norm(k, DoubleIn(d), ws));
    Weights a(whole.weight_shape()), b(whole.weight_shape());
    subset.accumulate(i, In(s), a, ws);
    whole.accumulate(k, In(s), b, ws);
    RC_ASSERT(std::equal(a.values().begin(), a.values().end(), b.values().begin()));
    DoubleWeights double_a(whole.weight_shape()), double_b(whole.weight_shape());
    subset.accumulate(i, DoubleIn(d), double_a, ws);
    whole.accumulate(k, DoubleIn(d), double_b, ws);
    RC_ASSERT(std::equal(double_a.values().begin(), double_a.values().end(), double_b.values().begin()));

    RC_ASSERT(subset.inference() == whole.inference());
    const Sharing &ours = *subset.sharing(), &theirs = *whole.sharing();
    RC_ASSERT(ours.overlap(i) == theirs.overlap(k));
    const auto same_changes = [&](auto zero, auto delta) {
      using Real = decltype(zero);
      RowChanges<Real> changes;
      BasicWeights<Real> part_a(whole.weight_shape()), part_b(whole.weight_shape());
      changes.start(2);
      ours.list_changes(i, delta, changes, ws);
      changes.add_to(1, part_a);
      changes.start(2);
      theirs.list_changes(k, delta, changes, ws);
      changes.add_to(1, part_b);
      RC_ASSERT(std::equal(part_a.values().begin(), part_a.values().end(), part_b.values().begin()));
    };
    same_changes(0.0f, In(s));
    same_changes(0.0, DoubleIn(d));
    std::vector<double> best, whole_best;
    RC_ASSERT(subset.ranking()->kbest(i, d, 3, best, ws) == whole.ranking()->kbest(k, d, 3, whole_best, ws));
    RC_ASSERT(best == whole_best);
    if (whole.slack_rescaling()) {
      same(0.0, [&](const Problem& p, std::size_t e, DoubleOut out) {
        out[0] = p.slack_rescaling()->slack_argmax(e, d, 1.0, out, ws);
      });
    }

    const Factored &f = *subset.factored(), &g = *whole.factored();
    const std::size_t cliques = g.num_clique_marginals(k);
    RC_ASSERT(f.num_clique_marginals(i) == cliques);
    std::vector<float> x(cliques), y(cliques), m(length), n(length);
    RC_ASSERT(f.clique_marginals(i, s, x, m, ws) == g.clique_marginals(k, s, y, n, ws));
    RC_ASSERT(x == y);
    RC_ASSERT(m == n);
    std::vector<double> rebuilt(length), whole_rebuilt(length);
    RC_ASSERT(f.rebuild(i, x, rebuilt) == g.rebuild(k, y, whole_rebuilt));
    RC_ASSERT(rebuilt == whole_rebuilt);
  }
}

}  // namespace
}  // namespace espalier::subset_problem_test
