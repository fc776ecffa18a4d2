#include "fleet/threads.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "espalier/base/error.h"

namespace espalier {
namespace {

// Where threads that stand for ranks meet.
class Meeting {
 public:
  explicit Meeting(std::size_t ranks) : handed_in(ranks), parcels(ranks), ranks_(ranks) {}

  // Until all are here.
  void wait() {
    std::unique_lock lock(mutex_);
    if (broken_) throw Error("another rank ended");
    const std::size_t round = round_;
    if (++here_ == ranks_) {
      here_ = 0;
      ++round_;
      all_here_.notify_all();
      return;
    }
    all_here_.wait(lock, [&] { return round_ != round || broken_; });
    if (round_ == round) throw Error("another rank ended");
  }
  // Somebody will not come any more. Keeps the first exception, which is what the others' follow from.
  void give_up(std::exception_ptr why) {
    const std::lock_guard lock(mutex_);
    if (!broken_) why_ = std::move(why);
    broken_ = true;
    all_here_.notify_all();
  }
  std::exception_ptr why() const { return why_; }

  std::vector<std::string_view> handed_in;
  std::vector<std::span<const std::string_view>> parcels;

 private:
  std::mutex mutex_;
  std::condition_variable all_here_;
  std::size_t ranks_, here_ = 0, round_ = 0;
  bool broken_ = false;
  std::exception_ptr why_;
};

class ThreadRank final : public Communicator {
 public:
  ThreadRank(std::size_t rank, std::size_t size, Meeting& meeting)
      : Communicator(rank, size), meeting_(meeting) {}

 private:
  std::vector<std::string> do_gather(std::string_view mine) override {
    meeting_.handed_in[rank()] = mine;
    meeting_.wait();
    std::vector<std::string> all(meeting_.handed_in.begin(), meeting_.handed_in.end());
    meeting_.wait();
    return all;
  }
  void do_exchange(std::span<const std::string_view> to, std::vector<Parcel>& from) override {
    meeting_.parcels[rank()] = to;
    meeting_.wait();
    for (std::size_t r = 0; r < size(); ++r) {
      const std::string_view bytes = meeting_.parcels[r][rank()];
      if (r != rank()) std::ranges::copy(bytes, from[r].resize(bytes.size()));
    }
    meeting_.wait();
  }

  Meeting& meeting_;
};

}  // namespace

void run_ranks(std::size_t ranks, const std::function<void(Communicator&)>& job) {
  ESPALIER_EXPECT(ranks > 0);
  Meeting meeting(ranks);
  const auto run = [&](std::size_t rank) {
    try {
      ThreadRank communicator(rank, ranks, meeting);
      job(communicator);
    } catch (...) {
      meeting.give_up(std::current_exception());
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t rank = 1; rank < ranks; ++rank) threads.emplace_back(run, rank);
  run(0);
  for (std::thread& thread : threads) thread.join();
  if (meeting.why()) std::rethrow_exception(meeting.why());
}

}  // namespace espalier
