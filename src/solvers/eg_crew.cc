#include "solvers/eg_crew.h"

#include <algorithm>

namespace espalier {
namespace {

// Between two looks at the clock.
constexpr std::size_t kVisits = 256;

// Workers beyond one in this many examples would mostly wait for one another, or undo what the others do.
constexpr std::size_t kExamplesPerWorker = 8;

}  // namespace

EgCrew::EgCrew(EgShared& shared, const EgOptions& options, Work work)
    : shared_(shared),
      work_(work),
      team_(work == Work::in_turns ? 1
                                   : std::clamp<std::size_t>(shared.problem.size() / kExamplesPerWorker, 1,
                                                             std::max<std::size_t>(options.threads, 1))),
      taken_(shared.problem.size()) {
  const std::size_t workers = work == Work::in_turns ? options.threads : team_.size();
  workers_.reserve(workers);
  for (std::size_t k = 0; k < workers; ++k) workers_.emplace_back(shared);
  shared.others = static_cast<double>(workers - 1);
}

std::size_t EgCrew::trials() const {
  std::size_t sum = 0;
  for (const EgWorker& worker : workers_) sum += worker.trials();
  return sum;
}

std::size_t EgCrew::skipped() const {
  std::size_t sum = 0;
  for (const EgWorker& worker : workers_) sum += worker.skipped();
  return sum;
}

double EgCrew::gain() const {
  double sum = 0;
  for (const EgWorker& worker : workers_) sum += worker.gain();
  return sum;
}

void EgCrew::visit(std::span<const std::uint32_t> round, const Over& over) {
  if (workers_.size() == 1) return visit_alone(round, over);
  if (work_ == Work::in_turns) return visit_in_turns(round, over);
  visit_together(round, over);
}

void EgCrew::visit_alone(std::span<const std::uint32_t> round, const Over& over) {
  EgWorker& worker = workers_.front();
  for (std::size_t r = 0; r < round.size(); ++r) {
    prefetch(round, r, 1);
    worker.look(round[r]);
    worker.step(round[r]);
    if (over(worker.trials(), r % kVisits == 0)) return;
  }
}

void EgCrew::visit_together(std::span<const std::uint32_t> round, const Over& over) {
  std::atomic<std::size_t> next{0};
  std::atomic<bool> stop{false};
  const std::size_t before = trials();
  team_.run([&](std::size_t k) {
    EgWorker& worker = workers_[k];
    const std::size_t own_before = worker.trials();
    for (std::size_t visits = 0; !stop.load(std::memory_order_relaxed); ++visits) {
      const std::size_t r = next.fetch_add(1, std::memory_order_relaxed);
      if (r >= round.size()) return;
      prefetch(round, r, workers_.size());
      const std::size_t i = round[r];
      while (taken_[i].exchange(1, std::memory_order_acquire) != 0) std::this_thread::yield();
      worker.look(i);
      worker.step(i);
      taken_[i].store(0, std::memory_order_release);
      // The others have done about as much. Only the first, which is the caller, may look at the clock and
      // show it.
      const std::size_t trials = before + workers_.size() * (worker.trials() - own_before);
      if (over(trials, k == 0 && visits % kVisits == 0)) stop.store(true, std::memory_order_relaxed);
    }
  });
}

// Everybody looks, then everybody steps: what one sees misses the steps of all the others, which is the most
// that can happen where visits take equally long, and nothing of it is left to chance.
void EgCrew::visit_in_turns(std::span<const std::uint32_t> round, const Over& over) {
  for (std::size_t r = 0; r < round.size();) {
    std::size_t together = 0;
    for (; together < workers_.size() && r + together < round.size(); ++together) {
      const std::uint32_t i = round[r + together];
      const auto begin = round.begin() + static_cast<std::ptrdiff_t>(r);
      if (std::find(begin, begin + static_cast<std::ptrdiff_t>(together), i) !=
          begin + static_cast<std::ptrdiff_t>(together)) {
        break;
      }
      workers_[together].look(i);
    }
    for (std::size_t k = 0; k < together; ++k) workers_[k].step(round[r + k]);
    r += together;
    if (over(trials(), true)) return;
  }
}

// The examples to come, in two steps: where the next but one of each worker lies, then what the next one has.
void EgCrew::prefetch(std::span<const std::uint32_t> round, std::size_t r, std::size_t workers) const {
  const auto ask = [&](std::size_t ahead, Prefetch what) {
    if (r + ahead >= round.size()) return;
    shared_.problem.prefetch(round[r + ahead], what);
    shared_.dual.prefetch(round[r + ahead], what);
  };
  ask(6 * workers, Prefetch::location);
  ask(3 * workers, Prefetch::contents);
}

}  // namespace espalier
