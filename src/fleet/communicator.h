#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

// Several processes (or threads that stand for them) that train one model together, each on examples of its
// own: ranks. Every rank makes the same calls in the same order, and each call waits for all of them. Sums
// are added in the order of ranks, so that all have the same bits of them.
class Communicator {
 public:
  virtual ~Communicator() = default;

  std::size_t rank() const { return rank_; }
  std::size_t size() const { return size_; }

  // What this rank has sent to others, how often all of them met, and how long it waited for that.
  struct Traffic {
    std::uint64_t bytes = 0, meetings = 0;
    double seconds = 0;
  };
  const Traffic& traffic() const { return traffic_; }

  // What a solver tells of a round of visits, after which the ranks met.
  struct Round {
    double passes = 0;  // of all ranks, so far
    double sigma = 1;   // how often a step counted, for what the other ranks do
    double rho = 1;     // how often it should have
    double gain = 0;    // of the dual
    int halves = 0;     // how often its change was halved
  };
  std::function<void(const Round&)> on_round{};

  // What every rank hands in, in their order.
  std::vector<std::string> gather(std::string_view mine);
  // What came from another rank, in memory that is used again.
  class Parcel {
   public:
    std::string_view bytes() const { return {memory_.data(), size_}; }
    char* resize(std::size_t size) {
      if (memory_.size() < size) memory_.resize(size);
      size_ = size;
      return memory_.data();
    }

   private:
    std::vector<char> memory_;
    std::size_t size_ = 0;
  };
  // to[r] goes to rank r, and from[r] is what it has sent to this one. Of this rank itself nothing is copied:
  // from[rank()] stays as it was.
  void exchange(std::span<const std::string_view> to, std::vector<Parcel>& from);
  // The same in new memory, with this rank's own, too. Returns what each has sent to this one, in their
  // order.
  std::vector<std::string> exchange(std::vector<std::string> to);

  // values <- the sum of those of all ranks. Requires as many of each, and few: all go to all.
  void add_up(std::span<double> values);
  double sum(double mine);
  double largest(double mine);
  std::size_t sum(std::size_t mine);
  bool any(bool mine) { return largest(mine ? 1 : 0) > 0; }
  // Rank 0's.
  double of_first(double mine);
  std::string of_first(std::string_view mine);
  // The sum of what the ranks before this one have.
  std::size_t sum_before(std::size_t mine);
  void meet() { gather({}); }
  // Throws Error on all ranks where they have not all got the same; `what` it is, for the message.
  void check_same(std::string_view what, std::string_view mine, std::string_view expected);

 protected:
  Communicator(std::size_t rank, std::size_t size) : rank_(rank), size_(size) {}

 private:
  virtual std::vector<std::string> do_gather(std::string_view mine) = 0;
  virtual void do_exchange(std::span<const std::string_view> to, std::vector<Parcel>& from) = 0;

  std::size_t rank_, size_;
  Traffic traffic_;
};

// nullptr stands for a single process in what follows.
inline double sum_over(Communicator* fleet, double mine) { return fleet ? fleet->sum(mine) : mine; }
inline std::size_t sum_over(Communicator* fleet, std::size_t mine) { return fleet ? fleet->sum(mine) : mine; }
inline double largest_of(Communicator* fleet, double mine) { return fleet ? fleet->largest(mine) : mine; }
inline void add_up_over(Communicator* fleet, std::span<double> values) {
  if (fleet) fleet->add_up(values);
}

}  // namespace espalier
