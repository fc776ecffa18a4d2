#include "solvers/crew.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <utility>

#include "kernels/vectors.h"

namespace espalier {
namespace {

// Visits that are sorted by size before they become batches, so that those of one take about as long as each
// other, and fewer wait for the longest sentence. Four times as many cost passes when it was tried: 10.7
// instead of 9.7 on CoNLL-2000 (CRF, l2 = 2), 8.8 instead of 8.0 on Spanish trees (l2 = 10).
constexpr std::size_t kWindow = 4 * Crew::kLargestBatch;
// How many examples of mean reach a batch may be worth. Fewer long ones in a batch leave threads idle. 1, 1.5
// and 2 took 8.4, 8.5 and 10.8 passes on Spanish trees, in 397, 342 and 329 ms each with 16 threads.
constexpr double kMostReach = 1.25;

// A batch has at most one example in this many: more would mostly undo what the others do.
constexpr std::size_t kExamplesPerVisit = 8;

// Work, in multiplications of a score or so, of a batch that is worth meeting twice for, and then of each
// thread: a microsecond or two, which meeting takes, too.
constexpr double kWorkOfBatch = 40000, kWorkOfThread = 5000;
// Of a statistic, for inference.
constexpr float kWorkOfStatistic = 20;
// Of every few batches one is measured, and of its visits one in so many looks at the weights again.
constexpr std::size_t kMeasuredBatchOf = 4, kMeasuredOneIn = 8;
// What a batch's measurements count in the next: some forty are remembered. How much alike steps are taken to
// be before anything was measured.
constexpr double kRemembered = 0.95, kAlikeAtFirst = 0.3;

}  // namespace

Crew::Crew(const Problem& problem, Weights& w, Team& team, bool share_visits, const MakeVisitor& make,
           Follower follower)
    : problem_(problem),
      sharing_(problem.sharing()),
      w_(w),
      team_(team),
      follower_(std::move(follower)),
      alike_(kAlikeAtFirst) {
  const std::size_t threads = team.size() > 1 && share_visits ? choose_batch() : 1;
  for (std::size_t k = 0; k < threads; ++k) visitors_.push_back(make());
  if (threads > 1) {
    shared_work_ = std::vector<SharedWork>(threads);
    for (std::size_t k = 0; k < threads; ++k) visitors_[k]->workspace().set_shared_work(&shared_work_[k]);
  }
  if (by_owners()) owned_ = sharing_->owned_rows(threads, team);
  slots_.resize(alone() ? 1 : 2 * batch_);
  if (alone()) {
    std::size_t longest = 0;
    for (std::size_t i = 0; i < problem.size(); ++i) longest = std::max(longest, problem.num_statistics(i));
    slots_.front().delta.resize(longest);
  } else {
    last_batch_.assign(problem.size(), 0);
    double sum = 0;
    for (std::size_t i = 0; i < problem.size(); ++i)
      sum += reach_.emplace_back(problem.weight(i) * std::sqrt(problem.squared_diameter(i)));
    for (std::size_t i = 0; i < problem.size(); ++i)
      lengths_.push_back(static_cast<std::uint32_t>(problem.num_statistics(i)));
    alike_in_size_ = std::ranges::adjacent_find(lengths_, std::not_equal_to()) == lengths_.end();
    for (double& reach : reach_) reach = sum > 0 ? reach * static_cast<double>(problem.size()) / sum : 1;
  }
}

// By the data alone, never by the number of threads (a batch) nor by the clock (both): the same seed has to
// give the same bytes. Returns how many threads are worth it.
std::size_t Crew::choose_batch() {
  const std::size_t n = problem_.size();
  double work = 0;
  for (std::size_t i = 0; i < n; ++i) {
    work_.push_back(kWorkOfStatistic * static_cast<float>(problem_.num_statistics(i)) +
                    static_cast<float>(sharing_ ? sharing_->score_work(i) : 0));
    work += work_.back();
  }
  work /= static_cast<double>(std::max<std::size_t>(n, 1));
  work *= kLargestBatch;
  const auto worthwhile = static_cast<std::size_t>(work / kWorkOfThread);
  if (work >= kWorkOfBatch) batch_ = std::clamp<std::size_t>(n / kExamplesPerVisit, 1, kLargestBatch);
  return std::clamp<std::size_t>(std::min(worthwhile, batch_), 1, team_.size());
}

void Crew::visit(std::span<const std::uint32_t> round, const Done& done) {
  if (alone()) return visit_alone(round, done);
  plan(round);
  visit_together(done);
  if (follower_.end_round) follower_.end_round();
}

void Crew::visit_alone(std::span<const std::uint32_t> round, const Done& done) {
  Visitor& visitor = *visitors_.front();
  AlignedVector<float>& memory = slots_.front().delta;
  for (std::size_t r = 0; r < round.size(); ++r) {
    prefetch(visitor, round, r);
    const std::size_t i = round[r];
    const Out delta{memory.data(), problem_.num_statistics(i)};
    const BlockStep step = visitor.visit({i, 1, visits_++, true}, delta);
    if (step.moved) problem_.accumulate(i, delta, w_, visitor.workspace());
    visitor.after_change(i, step.moved ? delta : Out{});
    if (done(i, step)) return;
  }
}

// Batches of a round: of examples about as large as each other, none of them twice. Long ones change what all
// share by more, and others miss more of it, so that a batch has fewer of them.
void Crew::plan(std::span<const std::uint32_t> round) {
  order_.clear();
  begins_.assign(1, 0);
  reaches_.clear();
  worker_of_.clear();
  std::vector<std::uint32_t>& waiting = window_;
  for (std::size_t begin = 0; begin < round.size(); begin += kWindow) {
    const auto some = round.subspan(begin, std::min(kWindow, round.size() - begin));
    waiting.assign(some.begin(), some.end());
    if (!alike_in_size_) {
      std::ranges::sort(waiting, [this](std::uint32_t a, std::uint32_t b) {
        return lengths_[a] != lengths_[b] ? lengths_[a] > lengths_[b] : a < b;
      });
    }
    while (!waiting.empty()) {
      ++num_planned_;
      std::size_t left = 0, taken = 0;
      double reach = 0;
      for (const std::uint32_t i : waiting) {
        const bool fits =
            taken == 0 || (taken < batch_ && reach + reach_[i] <= kMostReach * static_cast<double>(batch_));
        if (fits && last_batch_[i] != num_planned_) {
          last_batch_[i] = num_planned_;
          order_.push_back(i);
          reach += reach_[i];
          ++taken;
        } else {
          waiting[left++] = i;
        }
      }
      waiting.resize(left);
      share_out_last_batch();
      begins_.push_back(order_.size());
      reaches_.push_back(reach);
    }
  }
}

// Of the batch that order_ ends with, the longest visit first, each to whoever has the least to do: known
// ahead, so that a worker can ask for what it is going to need.
void Crew::share_out_last_batch() {
  std::array<float, kLargestBatch> loads{};
  for (std::size_t t = begins_.back(); t < order_.size(); ++t) {
    const auto least =
        std::min_element(loads.begin(), loads.begin() + static_cast<std::ptrdiff_t>(threads()));
    worker_of_.push_back(static_cast<std::uint8_t>(least - loads.begin()));
    *least += work_[order_[t]];
  }
}

void Crew::visit_together(const Done& done) {
  const std::size_t workers = visitors_.size(), num_batches = begins_.size() - 1;
  SpinBarrier barrier(workers);
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  std::size_t measured = 0;  // slots of the batch before
  bool over = false;
  team_.run([&](std::size_t k) {
    if (k >= workers) return;
    std::exception_ptr failure;
    // Whoever fails keeps to the steps of the others until all leave.
    const auto attempt = [&](const auto& work) {
      if (failed.load(std::memory_order_relaxed)) return;
      try {
        work();
      } catch (...) {
        failure = std::current_exception();
        failed.store(true, std::memory_order_relaxed);
      }
    };
    for (std::size_t b = 0; b < num_batches; ++b) {
      const std::size_t size = begins_[b + 1] - begins_[b];
      const std::span<Slot> slots = std::span(slots_).subspan(b % 2 * batch_, size);
      const std::span<Slot> before = std::span(slots_).subspan((b + 1) % 2 * batch_, measured);
      attempt([&] {
        prefetch_slots(k, b + 2, Prefetch::location);
        prefetch_slots(k, b + 1, Prefetch::contents);
        for (std::size_t t = 0; t < size; ++t) {
          if (worker_of_[begins_[b] + t] == k) visit_slot(k, slots[t], b, t);
        }
        // Whoever is ready first.
        for (std::size_t t; (t = next.fetch_add(1, std::memory_order_relaxed)) < before.size();) {
          if (Slot& slot = before[t]; slot.measured) slot.after = along_step(slot, visitors_[k]->workspace());
        }
      });
      barrier.wait([&] { return help_others(k); });
      if (k == 0) {
        attempt([&] {
          next.store(0, std::memory_order_relaxed);
          learn_from(before);
          measured = batches_ % kMeasuredBatchOf == 0 ? size : 0;
          for (const Slot& slot : slots) over = done(slot.example, slot.step) || over;
          visits_ += size;
          ++batches_;
          if (follower_.end_batch) follower_.end_batch(size);
        });
      }
      // One thread decides, where all others are still to come by: they leave together, or somebody would
      // wait for ever.
      if (k == 0 && failed.load(std::memory_order_relaxed)) over = true;
      attempt([&] { change_weights(k, slots); });
      barrier.wait();
      if (over) break;
    }
    if (failure) std::rethrow_exception(failure);
  });
}

// Of batch b of the round, visit number t.
void Crew::visit_slot(std::size_t worker, Slot& slot, std::size_t b, std::size_t t) {
  const std::size_t begin = begins_[b], i = order_[begin + t], length = problem_.num_statistics(i);
  Visitor& visitor = *visitors_[worker];
  if (slot.delta.size() < length) slot.delta.resize(length);
  const Out delta{slot.delta.data(), length};
  slot.example = i;
  slot.others = reaches_[b] - reach_[i];
  slot.step = visitor.visit({.example = i,
                             .crowding = 1 + alike_ * slot.others * overlap(i),
                             .number = visits_ + t,
                             .lists = by_owners() ? &slot.changes : nullptr},
                            delta);
  Workspace& ws = visitor.workspace();
  slot.measured = slot.step.moved && slot.others > 0 && batches_ % kMeasuredBatchOf == 0 &&
                  (batches_ / kMeasuredBatchOf + t) % kMeasuredOneIn == 0;
  if (follower_.weights) slot.follower_scale = follower_.scale();
  if (slot.measured) {
    slot.before = along_step(slot, ws);
    slot.own = problem_.squared_norm(i, In(delta), ws);
  }
  if (!slot.step.moved || !by_owners()) return;
  if (!slot.step.listed) {
    const auto list = slot.changes.start(1, visitors_.size(), owned_.get());
    sharing_->list_changes(i, delta, list.front(), ws);
  }
  if (follower_.weights) slot.changes.copy_scaled(slot.follower_scale);
}

void Crew::change_weights(std::size_t worker, std::span<Slot> slots) {
  if (by_owners()) return change_own_weights(worker, slots);
  if (worker != 0) return;
  Workspace& ws = visitors_[worker]->workspace();
  for (Slot& slot : slots) {
    if (!slot.step.moved) continue;
    const Out delta{slot.delta.data(), problem_.num_statistics(slot.example)};
    problem_.accumulate(slot.example, In(delta), w_, ws);
    if (!follower_.weights) continue;
    scaled_.assign(delta.begin(), delta.end());
    for (float& d : scaled_) d *= slot.follower_scale;
    problem_.accumulate(slot.example, In(scaled_), *follower_.weights, ws);
  }
}

void Crew::change_own_weights(std::size_t worker, std::span<const Slot> slots) {
  const std::size_t workers = visitors_.size();
  // A list, and the shares of it that are this worker's.
  struct Own {
    const RowChanges<float>* list;
    std::size_t first, last;
  };
  Workspace::Frame frame(visitors_[worker]->workspace());
  std::size_t size = 0;
  for (const Slot& slot : slots) size += slot.step.moved ? slot.changes.lists().size() : 0;
  const auto lists = frame.take<Own>(size);
  size = 0;
  for (const Slot& slot : slots) {
    if (!slot.step.moved) continue;
    for (const RowChanges<float>& list : slot.changes.lists()) {
      const std::size_t shares = list.shares();
      lists[size++] = {&list, shares * worker / workers, shares * (worker + 1) / workers};
    }
  }
  using Step = RowChanges<float>::Step;
  const auto ask = [&](std::size_t t, Step step) {
    if (t >= size) return;
    for (std::size_t k = lists[t].first; k < lists[t].last; ++k)
      lists[t].list->prefetch(k, step, w_.values().data());
  };
  for (std::size_t t = 0; t < size; ++t) {
    ask(t + 3, Step::size);
    ask(t + 2, Step::changes);
    ask(t + 1, Step::weights);
    for (std::size_t k = lists[t].first; k < lists[t].last; ++k) {
      lists[t].list->add_to(k, w_);
      if (follower_.weights) lists[t].list->add_copy_to(k, *follower_.weights);
    }
  }
}

// (F_i delta_i).w at the weights as they are.
double Crew::along_step(const Slot& slot, Workspace& ws) const {
  Workspace::Frame frame(ws);
  const std::size_t length = problem_.num_statistics(slot.example);
  const Out s = frame.take<float>(length);
  problem_.score(slot.example, w_, 1.0f, s, ws);
  return kernels::dot(s.data(), slot.delta.data(), length);
}

void Crew::learn_from(std::span<const Slot> slots) {
  double others = 0, own = 0;
  for (const Slot& slot : slots) {
    if (!slot.measured) continue;
    others += slot.after - slot.before - slot.own;
    own += slot.own * overlap(slot.example) * slot.others;
  }
  if (!(own > 0) || !std::isfinite(others)) return;
  others_sum_ = kRemembered * others_sum_ + others;
  own_sum_ = kRemembered * own_sum_ + own;
  alike_ = std::clamp(others_sum_ / own_sum_, 0.0, 1.0);
}

double Crew::overlap(std::size_t i) const { return sharing_ ? sharing_->overlap(i) : 1; }

// Whoever has made its visits takes a part of a long one that another is at.
bool Crew::help_others(std::size_t worker) {
  bool helped = false;
  for (SharedWork& work : shared_work_) helped = work.help(visitors_[worker]->workspace()) || helped;
  return helped;
}

// What a worker visits in batch b.
void Crew::prefetch_slots(std::size_t worker, std::size_t b, Prefetch what) const {
  if (b + 1 >= begins_.size()) return;
  for (std::size_t t = begins_[b]; t < begins_[b + 1]; ++t) {
    if (worker_of_[t] == worker) visitors_[worker]->prefetch(order_[t], what);
  }
}

// The examples to come, in two steps: where the next but one lies, then what the next one has.
void Crew::prefetch(const Visitor& visitor, std::span<const std::uint32_t> order, std::size_t r) {
  const auto ask = [&](std::size_t ahead, Prefetch what) {
    if (r + ahead < order.size()) visitor.prefetch(order[r + ahead], what);
  };
  ask(6, Prefetch::location);
  ask(3, Prefetch::contents);
}

}  // namespace espalier
