// The first passes of EG at a larger l2 (Collins et al. 2008, section 7.1.1).

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "espalier/learning/certificate.h"
#include "support/eg_solution.h"
#include "support/history_checks.h"
#include "support/problems_of_all_kinds.h"

namespace espalier {
namespace {

using test_support::EgSolution;
using test_support::expect_gaps;
using test_support::expect_rising_dual;
using test_support::OwnedProblem;
using test_support::ProblemsOfAllKinds;

constexpr EgStep kSteps[] = {EgStep::automatic, EgStep::paper, EgStep::safe};

EgOptions for_passes(double passes, EgStep step, EgAnneal anneal) {
  EgOptions options;
  options.stopping.gap = -1;
  options.stopping.passes = passes;
  options.step = step;
  options.anneal = anneal;
  options.sampling = Sampling::random;
  options.report_every = 1e9;
  return options;
}

// While nothing but l2 is another, a run is the run of that other l2: 10 l2 up to the fifth pass, and not
// further.
TEST(EgAnneal, PaperStartsWithTenTimesL2) {
  const ProblemsOfAllKinds problems(1);
  for (const auto& named : problems.all()) {
    for (const EgStep step : {EgStep::automatic, EgStep::paper}) {
      const double l2 = named.l2 / 10;
      for (const double passes : {3.0, 5.0, 8.0}) {
        const EgSolution annealed({named.problem, Loss::crf(), l2},
                                  for_passes(passes, step, EgAnneal::paper));
        const EgSolution plain({named.problem, Loss::crf(), 10 * l2},
                               for_passes(passes, step, EgAnneal::none));
        bool same = true;
        for (std::size_t i = 0; i < named.problem.size(); ++i) {
          same = same && std::ranges::equal(annealed.dual.s(i), plain.dual.s(i));
        }
        EXPECT_EQ(same, passes <= 5) << named.name << ", " << passes << " passes";
        // The certificate is that of l2 all the same.
        EXPECT_EQ(annealed.last().primal, evaluate_primal({named.problem, Loss::crf(), l2}, annealed.theta));
      }
    }
  }
}

// In the end l2 is what was asked for: with steps that never lower the dual, it does not fall from there on.
TEST(EgAnneal, PaperComesDownToL2) {
  const ProblemsOfAllKinds problems(2);
  for (const auto& named : problems.all()) {
    for (const Loss& loss : {Loss::crf(), Loss::svm()}) {
      const Objective objective{named.problem, loss, named.l2};
      EgOptions options = for_passes(60, EgStep::paper, EgAnneal::paper);
      options.report_every = 1e-9;
      Summary summary = EgSolution(objective, options).summary;
      expect_gaps(summary, named.name);
      // 9 0.7^(t - 5) < 1e-3 from t = 30.6 on
      std::erase_if(summary.history, [](const Progress& now) { return now.passes < 32; });
      ASSERT_GE(summary.history.size(), 25u) << named.name;
      expect_rising_dual(summary, named.name);
    }
  }
}

TEST(EgAnneal, EveryWayEndsAtTheSameOptimum) {
  const OwnedProblem owned(3, {.examples = 40, .attributes = 20, .labels = 4});
  for (const Loss& loss : {Loss::crf(), Loss::softmax_margin(), Loss::svm()}) {
    double low = 0, high = 1e300;
    for (const EgStep step : kSteps) {
      for (const EgAnneal anneal : {EgAnneal::automatic, EgAnneal::none, EgAnneal::paper}) {
        EgOptions options;
        options.stopping.gap = loss.smooth() ? 1e-6 : 1e-2;
        options.stopping.passes = 3000;
        options.step = step;
        options.anneal = anneal;
        // Maxima are slow with other than automatic steps where l2 is small.
        const EgSolution solution({owned.problem, loss, loss.smooth() ? 0.5 : 5.0}, options);
        EXPECT_EQ(solution.summary.status, Status::converged)
            << loss.name() << ": " << solution.summary.message;
        low = std::max(low, solution.last().dual);
        high = std::min(high, solution.last().primal);
      }
    }
    EXPECT_LE(low, high * (1 + 1e-12)) << loss.name();
  }
}

// What is automatic is for automatic steps; a warm start is never annealed.
TEST(EgAnneal, OnlyWhereItIsAskedForOrHelps) {
  const OwnedProblem owned(4);
  const Objective objective{owned.problem, Loss::crf(), 0.01};
  const auto dual_after = [&](EgOptions options) { return EgSolution(objective, options).last().dual; };
  for (const EgStep step : {EgStep::paper, EgStep::safe}) {
    EXPECT_EQ(dual_after(for_passes(4, step, EgAnneal::automatic)),
              dual_after(for_passes(4, step, EgAnneal::none)));
  }
  EXPECT_NE(dual_after(for_passes(4, EgStep::automatic, EgAnneal::automatic)),
            dual_after(for_passes(4, EgStep::automatic, EgAnneal::none)));
  for (const EgStep step : kSteps) {
    std::vector<double> warm;
    for (const EgAnneal anneal : {EgAnneal::none, EgAnneal::automatic, EgAnneal::paper}) {
      EgOptions options = for_passes(4, step, anneal);
      options.start = EgStart::warm;
      warm.push_back(dual_after(options));
    }
    EXPECT_EQ(warm[0], warm[1]);
    EXPECT_EQ(warm[0], warm[2]);
  }
}

}  // namespace
}  // namespace espalier
