#include "learning/sweep.h"

#include <algorithm>
#include <atomic>

#include "learning/rank_problem.h"

namespace espalier {
namespace {

// Then it changes no weights. Of maxima that is most examples near the optimum: all mass is on the gold
// output.
bool all_zero(DoubleIn delta) {
  return std::all_of(delta.begin(), delta.end(), [](double d) { return d == 0; });
}

}  // namespace

Sweep::Sweep(std::size_t threads, Communicator* fleet)
    : team_(threads),
      fleet_(fleet),
      // One rank cannot leave the others alone in a sweep.
      deadline_(fleet ? nullptr : Deadline::current()),
      workspaces_(team_.size()) {}

// Calls call(i, ws) for begin <= i < end, on whichever thread is free.
template <class Call>
void Sweep::share_out(std::size_t begin, std::size_t end, const Call& call) {
  // That one thread takes, one after the other. Of few, long ones each is worth a thread.
  const std::size_t together = std::clamp<std::size_t>((end - begin) / (8 * team_.size()), 1, 4);
  std::atomic<std::size_t> next{begin};
  team_.run([&](std::size_t k) {
    for (;;) {
      const std::size_t first = next.fetch_add(together, std::memory_order_relaxed);
      for (std::size_t i = first; i < std::min(first + together, end); ++i) {
        if (given_up()) throw SweepGivenUp();
        call(i, workspaces_[k]);
      }
      if (first + together >= end) return;
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
  const RankBlocks& blocks = RankProblem::of(problem).blocks();
  blocks.begin(w);
  const double sum = accumulate_own(problem, w, fill, {});
  blocks.add_up(w);
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
    if (given_up()) throw SweepGivenUp();
    Workspace::Frame frame(ws);
    const auto delta = frame.take<double>(problem.num_statistics(i));
    sum += fill(i, delta, ws);
    if (!all_zero(delta)) problem.accumulate(i, delta, w, ws);
  }
  return sum;
}

// Block by block: first everybody fills in the deltas of some examples and lists what they change, then
// everybody makes the changes that are its own. So a weight takes in its changes in the order of the
// examples, as it does with one thread, and nobody writes where another one does.
double Sweep::accumulate_together(const Problem& problem, DoubleWeights& w, const Fill& fill,
                                  const std::function<bool(std::size_t examples)>& go_on) {
  const Sharing* sharing = problem.sharing();
  if (!sharing) return accumulate_in_turns(problem, w, fill, go_on);
  // A block should stay in the caches between its two halves, and be long enough to be worth two meetings.
  constexpr std::size_t kFewBytes = std::size_t{1} << 21, kManyBytes = std::size_t{1} << 23;
  constexpr std::size_t kManyLists = 1 << 14;
  const std::size_t few_lists = 4 * team_.size();
  if (lists_.empty()) lists_.resize(few_lists);
  double sum = 0;
  for (std::size_t begin = 0, end = 0; begin < problem.size(); begin = end) {
    if (go_on && !go_on(begin)) break;
    end = std::min(problem.size(), begin + lists_.size());
    values_.resize(end - begin);
    share_out(begin, end, [&](std::size_t i, Workspace& ws) {
      RowChanges<double>& list = lists_[i - begin];
      list.start(team_.size());
      Workspace::Frame frame(ws);
      const auto delta = frame.take<double>(problem.num_statistics(i));
      values_[i - begin] = fill(i, delta, ws);
      if (!all_zero(delta)) sharing->list_changes(i, delta, list, ws);
    });
    const std::size_t lists = end - begin;
    team_.run([&](std::size_t k) {
      using Step = RowChanges<double>::Step;
      const double* values = w.values().data();
      const auto ask = [&](std::size_t j, Step step) {
        if (j < lists) lists_[j].prefetch(k, step, values);
      };
      for (std::size_t j = 0; j < lists; ++j) {
        ask(j + 3, Step::size);
        ask(j + 2, Step::changes);
        ask(j + 1, Step::weights);
        lists_[j].add_to(k, w);
      }
    });
    for (const double v : values_) sum += v;
    std::size_t bytes = 0;
    for (const auto& list : lists_) bytes += list.bytes();
    if (bytes > kManyBytes && lists_.size() > few_lists) {
      lists_.resize(lists_.size() / 2);
    } else if (bytes < kFewBytes && lists == lists_.size() && lists < kManyLists) {
      lists_.resize(2 * lists_.size());
    }
  }
  return sum;
}

// Without lists: everybody fills in, and one thread adds.
double Sweep::accumulate_in_turns(const Problem& problem, DoubleWeights& w, const Fill& fill,
                                  const std::function<bool(std::size_t examples)>& go_on) {
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
    for (std::size_t i = begin; i < end; ++i) {
      if (!all_zero(delta(i))) problem.accumulate(i, delta(i), w, workspaces_.front());
    }
    for (const double v : values_) sum += v;
  }
  return sum;
}

}  // namespace espalier
