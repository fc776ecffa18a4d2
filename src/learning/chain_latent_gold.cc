#include "learning/chain_latent_gold.h"

#include <limits>
#include <utility>

#include "espalier/base/error.h"

namespace espalier {

ChainLatentGold::ChainLatentGold(const ChainProblem& problem, std::shared_ptr<PartialGold> gold)
    : problem_(problem), gold_(std::move(gold)) {
  for (PartialGold::Sequence& sequence : gold_->sequences()) {
    sequence.z.assign(problem_.num_statistics(sequence.example), 0.0);
  }
  // Smooth, whatever the loss is: at theta = 0 all outputs are best ones, and so is any mean of them.
  complete(Weights(problem.weight_shape()), Loss::crf());
}

double ChainLatentGold::infer(const PartialGold::Sequence& sequence, const Weights& theta, const Loss& loss,
                              DoubleOut s, DoubleOut z, Workspace& ws) const {
  Workspace::Frame frame(ws);
  const auto scores = frame.take<double>(s.size());
  problem_.score(sequence.example, theta, 1.0, s, ws);
  const double beta = loss.smooth() ? loss.beta : 1;
  for (std::size_t k = 0; k < s.size(); ++k) scores[k] = beta * s[k];
  // Statistics of nodes come first.
  for (std::size_t k = 0; k < sequence.allowed.size(); ++k) {
    if (sequence.allowed[k] == 0) scores[k] = -std::numeric_limits<double>::infinity();
  }
  return loss.smooth() ? problem_.log_partition(sequence.example, scores, z, ws) / beta
                       : problem_.argmax(sequence.example, scores, z, ws);
}

double ChainLatentGold::surplus(const Weights& theta, const Loss& loss) const {
  Workspace ws;
  double sum = 0;
  for (const PartialGold::Sequence& sequence : std::as_const(*gold_).sequences()) {
    Workspace::Frame frame(ws);
    const auto s = frame.take<double>(sequence.z.size()), z = frame.take<double>(sequence.z.size());
    double surplus = infer(sequence, theta, loss, s, z, ws);
    for (std::size_t k = 0; k < s.size(); ++k) surplus -= s[k] * sequence.z[k];
    sum += problem_.weight(sequence.example) * surplus;
  }
  return sum;
}

void ChainLatentGold::complete(const Weights& theta, const Loss& loss) {
  Workspace ws;
  for (PartialGold::Sequence& sequence : gold_->sequences()) {
    Workspace::Frame frame(ws);
    infer(sequence, theta, loss, frame.take<double>(sequence.z.size()), sequence.z, ws);
  }
}

}  // namespace espalier
