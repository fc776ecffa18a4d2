#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/helping.h"
#include "base/spin_barrier.h"
#include "base/team.h"
#include "espalier/base/memory.h"
#include "espalier/base/workspace.h"
#include "espalier/learning/problem.h"
#include "features/change_lists.h"

namespace espalier {

// What a visit to one example told and did.
struct BlockStep {
  double gap = 0;              // omega_i g_i, before the step
  double gain = 0;             // of the dual by the step, as far as the visit knows
  std::size_t inferences = 1;  // that it took
  bool moved = true;           // false: there is no change of weights
  bool listed = false;         // what has to become of the weights is in BlockVisit::lists already
};

// Which example is visited, and what its visitor has to know of the others.
struct BlockVisit {
  std::size_t example;
  // How many times a step has to count its own quadratic term, for the steps that others take unseen: in rows
  // that all of them change, they would overshoot together.
  double crowding;
  std::size_t number;  // of visits before this one
  bool alone = false;  // nobody else sees the weights before they have followed
  // For visitors that know more when they list what they change (Sharing::lists_with_norm); nullptr: none.
  ChangeLists* lists = nullptr;
};

// What a solver does with one example: it looks at it at the weights as they are, improves its dual, and says
// what has to become of the weights: w += F_i delta. It has the memory that a visit needs, so that each
// thread has its own.
class alignas(kCacheLine) Visitor {
 public:
  virtual ~Visitor() = default;
  virtual BlockStep visit(const BlockVisit& at, Out delta) = 0;
  // The weights have followed, where this visitor is the only one. May overwrite delta.
  virtual void after_change(std::size_t, Out /*delta*/) {}
  virtual void prefetch(std::size_t example, Prefetch what) const = 0;
  Workspace& workspace() { return ws_; }

 protected:
  Workspace ws_;
};

// Weights that follow the change of w, too: v += scale F_i delta for every visit of a batch.
struct Follower {
  Weights* weights = nullptr;  // nullptr: none
  std::function<float()> scale;
  std::function<void(std::size_t visits)> end_batch;
  std::function<void()> end_round;
};

// Who visits which example when, and how their changes of the weights meet. One thread makes one visit after
// the other. Several go from batch to batch: they share out the examples of a batch, look at them all at the
// same weights, and list what is to change; then each of them makes the changes of the weights that it owns,
// in the order of the examples. Nobody waits for a lock, and what comes out is the same
// to the bit for any number of threads but one.
//
// A step of a batch misses those of all others. Of b steps delta_i,
//   |sum_i F_i delta_i|^2 = c sum_i |F_i delta_i|^2,   1 <= c <= b where they go the same way,
// and a step that counts its own quadratic term c times is the best for all of them together. CoCoA+ takes c
// = b, which is safe, and slow: steps seldom go the same way. Here c is measured: some examples of each batch
// look at the weights again once they have changed, and see what all the others did along their own step,
//   (F_i delta_i).(sum_j F_j delta_j) - |F_i delta_i|^2.
// With o_i the part of i's features that a random other example has (Sharing::overlap), and m_j =
// omega_j |F_j|'s diameter over the mean one, since long examples change more of what all have,
//   c_i = 1 + alike o_i sum_{j != i} m_j,
// where `alike` is what fits the measurements of late.
class Crew {
 public:
  // After each visit, in their order, on the caller's thread: whether there should be no more.
  using Done = std::function<bool(std::size_t example, const BlockStep& step)>;
  using MakeVisitor = std::function<std::unique_ptr<Visitor>()>;

  // Of the team, or where visits are not shared of its first thread alone.
  Crew(const Problem& problem, Weights& w, Team& team, bool share_visits, const MakeVisitor& make,
       Follower follower = {});

  void visit(std::span<const std::uint32_t> round, const Done& done);

  // One visit after the other: with one thread, and where examples are so small or so few that a second one
  // is not worth it.
  bool alone() const { return batch_ == 1; }
  std::size_t threads() const { return visitors_.size(); }  // that make visits: not always the whole team
  std::size_t batch() const { return batch_; }              // visits of one, if all are of mean size

  // Visits of a batch where they take long enough to be worth a thread each. Twice as many miss so much of
  // one another that passes grow by half (docs/solvers.md).
  static constexpr std::size_t kLargestBatch = 16;

 private:
  struct alignas(kCacheLine) Slot {
    std::size_t example = 0;
    BlockStep step;
    AlignedVector<float> delta;
    ChangeLists changes;
    float follower_scale = 1;
    double others = 0;  // sum_{j != i} m_j
    bool measured = false;
    double before = 0, after = 0, own = 0;  // (F_i delta).w before the batch and after it, |F_i delta|^2
  };

  void visit_alone(std::span<const std::uint32_t> round, const Done& done);
  void visit_together(const Done& done);
  void plan(std::span<const std::uint32_t> round);
  void share_out_last_batch();
  std::size_t choose_batch();
  void visit_slot(std::size_t worker, Slot& slot, std::size_t b, std::size_t t);
  void change_weights(std::size_t worker, std::span<Slot> slots);
  void change_own_weights(std::size_t worker, std::span<const Slot> slots);
  double along_step(const Slot& slot, Workspace& ws) const;
  void learn_from(std::span<const Slot> slots);
  double overlap(std::size_t i) const;
  bool help_others(std::size_t worker);
  void prefetch_slots(std::size_t worker, std::size_t b, Prefetch what) const;
  // Else one thread makes all changes: it is the only one, or nobody can list them.
  bool by_owners() const { return sharing_ && visitors_.size() > 1; }
  static void prefetch(const Visitor& visitor, std::span<const std::uint32_t> order, std::size_t r);

  const Problem& problem_;
  const Sharing* sharing_;
  std::shared_ptr<const OwnedRows> owned_;  // nullptr: visits list rows
  Weights& w_;
  Team& team_;
  Follower follower_;
  std::size_t batch_ = 1;
  std::vector<std::unique_ptr<Visitor>> visitors_;
  std::vector<SharedWork> shared_work_;  // of each visitor, with which those that wait help
  std::size_t visits_ = 0, batches_ = 0;
  std::vector<float> scaled_;
  std::vector<Slot> slots_;  // two batches: one at work, and the one before, which is measured

  // The round at hand: its visits by batches, and where each of those begins.
  std::vector<std::uint32_t> order_;
  std::vector<std::size_t> begins_;
  std::vector<std::uint8_t> worker_of_;  // of each visit
  std::vector<float> work_;              // of each example, as kWorkOfThread counts it
  std::vector<double> reaches_;          // sum of m_j of each of those
  std::vector<std::uint32_t> window_;
  std::vector<std::uint32_t> lengths_;     // statistics of each example
  std::vector<double> reach_;              // m_i of each example
  std::vector<std::uint32_t> last_batch_;  // that an example was in
  std::uint32_t num_planned_ = 0;
  bool alike_in_size_ = true;  // all examples: nothing to sort

  double alike_;
  double others_sum_ = 0,
         own_sum_ = 0;  // what others did along steps, and what it would be if all were alike
};

}  // namespace espalier
