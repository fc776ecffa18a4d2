#include "learning/difference_problem.h"

#include <algorithm>
#include <cmath>

namespace espalier {

DifferenceProblem::DifferenceProblem(const Problem& inner, std::size_t threads)
    : ForwardingProblem(inner), offsets_(inner.size() + 1), sweep_(threads) {
  for (std::size_t i = 0; i < inner.size(); ++i) offsets_[i + 1] = offsets_[i] + inner.num_statistics(i);
  z_ = ZeroedArray<double>(offsets_.back());
  for (std::size_t i = 0; i < inner.size(); ++i) inner.add_gold(i, 1.0, z(i));
}

void DifferenceProblem::add_gold(std::size_t i, float scale, Out out) const {
  const DoubleIn gold = z(i);
  for (std::size_t k = 0; k < gold.size(); ++k) out[k] += scale * static_cast<float>(gold[k]);
}

void DifferenceProblem::add_gold(std::size_t i, double scale, DoubleOut out) const {
  const DoubleIn gold = z(i);
  for (std::size_t k = 0; k < gold.size(); ++k) out[k] += scale * gold[k];
}

void DifferenceProblem::add_near_gold(std::size_t i, float kappa, Out s) const {
  if (!completed_) return inner_.add_near_gold(i, kappa, s);
  // log z, as if statistics were independent, from -kappa for those that are next to impossible to 0 for
  // those that are certain.
  const DoubleIn gold = z(i);
  for (std::size_t k = 0; k < gold.size(); ++k) {
    const double nats = gold[k] > 0 ? std::log(gold[k]) : -kappa;
    s[k] += static_cast<float>(std::clamp(nats, -static_cast<double>(kappa), 0.0));
  }
}

Capabilities DifferenceProblem::capabilities() const {
  Capabilities all = ForwardingProblem::capabilities();
  all.slack_rescaling = nullptr;
  return all;
}

double DifferenceProblem::infer(std::size_t i, const Weights& theta, const Loss& loss, DoubleOut s,
                                DoubleOut mean, Workspace& ws) const {
  score(i, theta, 1.0, s, ws);
  if (!loss.smooth()) return argmax(i, s, mean, ws);
  Workspace::Frame frame(ws);
  const auto scaled = frame.take<double>(s.size());
  for (std::size_t k = 0; k < s.size(); ++k) scaled[k] = loss.beta * s[k];
  return log_partition(i, scaled, mean, ws) / loss.beta;
}

double DifferenceProblem::surplus(const Weights& theta, const Loss& loss) const {
  return sweep_.sum(size(), [&](std::size_t i, Workspace& ws) {
    Workspace::Frame frame(ws);
    const DoubleIn gold = z(i);
    const auto s = frame.take<double>(gold.size()), best = frame.take<double>(gold.size());
    double surplus = infer(i, theta, loss, s, loss.smooth() ? DoubleOut() : best, ws);
    // 0 where a score is -infinity: no output of the mean has that statistic
    for (std::size_t k = 0; k < s.size(); ++k) surplus -= s[k] * gold[k];
    return weight(i) * surplus;
  });
}

void DifferenceProblem::complete(const Weights& theta, const Loss& loss) {
  completed_ = true;
  sweep_.sum(size(), [&](std::size_t i, Workspace& ws) {
    Workspace::Frame frame(ws);
    infer(i, theta, loss, frame.take<double>(z(i).size()), z(i), ws);
    return 0.0;
  });
}

}  // namespace espalier
