// A solver from scratch: gradient descent on the primal with a fixed step. docs/adding-a-solver.md goes
// through it.

#include <espalier/espalier.h>
#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace {

//   grad P = l2 theta + sum_i omega_i F_i(pi_i - z_i),
//                                                        theta <- theta - grad P / (l2 + beta sum_i omega_i
//                                                        G_i^2)
// The divisor bounds the curvature of P (a variance within a ball of radius G_i is at most G_i^2), so P never
// increases. A pass costs one inference per example. Memory: two vectors of doubles.
espalier::Summary gradient_descent(const espalier::Objective& objective,
                                   const espalier::StoppingRule& stopping, espalier::Weights& theta,
                                   const espalier::Observer& observer = {}) {
  const espalier::Problem& problem = objective.problem;
  espalier::Run run(objective, stopping, observer);
  espalier::Workspace ws;
  double curvature = objective.regularizer.l2,
         best_dual = 0;  // 0 is the dual of the gold outputs: a bound to begin with
  for (std::size_t i = 0; i < problem.size(); ++i) {
    curvature += objective.loss.beta * problem.weight(i) * problem.squared_diameter(i);
  }

  espalier::DoubleWeights point, gradient;
  point.assign(theta);
  for (double passes = 0;; ++passes) {
    // A report certifies the very weights that the run would leave if it ended here.
    run.pause();
    theta.assign(point);
    espalier::Certificate certificate = espalier::certify_implied(objective, theta);
    best_dual = std::max(best_dual, certificate.dual);  // every dual value stays a bound
    certificate.dual = best_dual;
    certificate.passes = passes;
    if (run.report(certificate, theta)) return run.finish();
    run.resume();

    gradient.assign(point, objective.regularizer.l2);
    for (std::size_t i = 0; i < problem.size(); ++i) {
      espalier::Workspace::Frame frame(ws);
      const auto s = frame.take<double>(problem.num_statistics(i)), pi = frame.take<double>(s.size());
      espalier::example_loss(objective, i, point, s, pi, ws);
      for (double& p : pi) p *= problem.weight(i);
      problem.add_gold(i, -problem.weight(i), pi);
      problem.accumulate(i, pi, gradient, ws);
    }
    const auto from = gradient.values();
    for (std::size_t j = 0; j < from.size(); ++j) point.values()[j] -= from[j] / curvature;
  }
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) throw espalier::Error("own_solver: no file; expected one in LIBSVM's format");
  const auto data = espalier::read_classify_training(argv[1], {});
  const espalier::Objective objective{data->problem(), espalier::Loss::crf(), /*l2=*/1};

  espalier::Weights ours(data->problem().weight_shape());
  const espalier::Summary summary = gradient_descent(objective, {}, ours);
  fmt::print("gradient descent  {}\n", summary.message);

  espalier::Weights theirs;
  espalier::DualState dual(data->problem());
  const espalier::Summary reference = espalier::eg(objective, {}, dual, theirs);
  fmt::print("eg                {}\n", reference.message);

  // Two certified optima of one objective lie within each other's gaps.
  const espalier::Progress &a = summary.history.back(), &b = reference.history.back();
  const bool agree = std::max(a.dual, b.dual) <= std::min(a.primal, b.primal);
  return summary.status == espalier::Status::converged && agree ? 0 : 1;
} catch (const espalier::Error& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 2;
}
