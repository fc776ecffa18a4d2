#include "learning/sweep.h"

#include <algorithm>
#include <atomic>

namespace espalier {
namespace {

// Then it changes no weights. Of maxima that is most examples near the optimum: all mass is on the gold
// output.
bool all_zero(DoubleIn delta) {
  return std::all_of(delta.begin(), delta.end(), [](double d) { return d == 0; });
}

}  // namespace

Sweep::Sweep(std::size_t threads, Communicator* fleet)
    : team_(threads), fleet_(fleet), workspaces_(team_.size()) {}

// Calls call(i, ws) for begin <= i < end, on whichever thread is free.
template <class Call>
void Sweep::share_out(std::size_t begin, std::size_t end, const Call& call) {
  constexpr std::size_t kTogether = 4;
  std::atomic<std::size_t> next{begin};
  team_.run([&](std::size_t k) {
    for (;;) {
      const std::size_t first = next.fetch_add(kTogether, std::memory_order_relaxed);
      for (std::size_t i = first; i < std::min(first + kTogether, end); ++i) call(i, workspaces_[k]);
      if (first + kTogether >= end) return;
    }
  });
}

double Sweep::sum(std::size_t n, const std::function<double(std::size_t i, Workspace& ws)>& value) {
  values_.resize(n);
  share_out(0, n, [&](std::size_t i, Workspace& ws) { values_[i] = value(i, ws); });
  double sum = 0;
  for (const double v : values_) sum += v;
  return sum_over(fleet_, sum);
}

double Sweep::accumulate(const Problem& problem, DoubleWeights& w, const Fill& fill,
                         const std::function<bool(std::size_t examples)>& go_on) {
  if (!fleet_) return accumulate_own(problem, w, fill, go_on);
  // What is there already is the same on all ranks, and counts once.
  if (fleet_->rank() != 0) w.fill(0);
  const double sum = accumulate_own(problem, w, fill, {});
  fleet_->add_up(w.values());
  return fleet_->sum(sum);
}

double Sweep::accumulate_own(const Problem& problem, DoubleWeights& w, const Fill& fill,
                             const std::function<bool(std::size_t examples)>& go_on) {
  return team_.size() == 1 ? accumulate_alone(problem, w, fill, go_on)
                           : accumulate_together(problem, w, fill, go_on);
}

double Sweep::accumulate_alone(const Problem& problem, DoubleWeights& w, const Fill& fill,
                               const std::function<bool(std::size_t examples)>& go_on) {
  double sum = 0;
  Workspace& ws = workspaces_.front();  // the caller's
  for (std::size_t i = 0; i < problem.size(); ++i) {
    if (go_on && !go_on(i)) break;
    Workspace::Frame frame(ws);
    const auto delta = frame.take<double>(problem.num_statistics(i));
    sum += fill(i, delta, ws);
    if (!all_zero(delta)) problem.accumulate(i, delta, w, ws);
  }
  return sum;
}

// Block by block: first everybody fills in the deltas of some examples, then everybody adds all of them to
// the rows that are its share. So a row takes in its changes in the order of the examples, as it does with
// one thread, and nobody writes where another one does.
double Sweep::accumulate_together(const Problem& problem, DoubleWeights& w, const Fill& fill,
                                  const std::function<bool(std::size_t examples)>& go_on) {
  const Sharing* sharing = problem.sharing();
  constexpr std::size_t kStatistics = 1 << 20;  // of a block: 8 MB
  double sum = 0;
  for (std::size_t begin = 0, end = 0; begin < problem.size(); begin = end) {
    if (go_on && !go_on(begin)) break;
    offsets_.assign(1, 0);
    do {
      offsets_.push_back(offsets_.back() + problem.num_statistics(end++));
    } while (end < problem.size() && offsets_.back() < kStatistics);
    deltas_.resize(offsets_.back());
    values_.resize(end - begin);
    const auto delta = [&](std::size_t i) {
      return DoubleOut(deltas_).subspan(offsets_[i - begin], offsets_[i - begin + 1] - offsets_[i - begin]);
    };
    share_out(begin, end, [&](std::size_t i, Workspace& ws) { values_[i - begin] = fill(i, delta(i), ws); });
    team_.run([&](std::size_t k) {
      if (!sharing && k != 0) return;
      for (std::size_t i = begin; i < end; ++i) {
        if (all_zero(delta(i))) continue;
        if (sharing) {
          sharing->accumulate(i, delta(i), RowShare{k, team_.size()}, w, workspaces_[k]);
        } else {
          problem.accumulate(i, delta(i), w, workspaces_[k]);
        }
      }
    });
    for (const double v : values_) sum += v;
  }
  return sum;
}

}  // namespace espalier
