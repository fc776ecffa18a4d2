#include "base/pipeline.h"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <vector>

#include "base/parallel.h"
#include "espalier/base/error.h"

namespace espalier {
namespace {

class Pipeline {
 public:
  Pipeline(std::size_t workers, const PipelineStages& stages)
      : stages_(stages), slots_(pipeline_slots(workers)) {}

  // The thread that reads and writes. While it has to wait for others, it works, too.
  void lead() {
    std::unique_lock lock(mutex_);
    try {
      while (!finished()) {
        if (written_ < read_ && slot(written_).done) {
          write_one(lock);
        } else if (!at_end_ && read_ - written_ < slots_.size()) {
          read_one(lock);
        } else if (started_ < read_) {
          work_on_one(0, lock);
        } else {
          done_.wait(lock);
        }
      }
    } catch (...) {
      if (!lock.owns_lock()) lock.lock();
      stop();
      throw;
    }
    stop();
    if (read_failure_) std::rethrow_exception(read_failure_);
  }

  void follow(std::size_t worker) {
    std::unique_lock lock(mutex_);
    for (;;) {
      filled_.wait(lock, [&] { return stopped_ || started_ < read_; });
      if (stopped_) return;
      work_on_one(worker, lock);
      done_.notify_one();
    }
  }

 private:
  struct Slot {
    bool done = false;
    std::exception_ptr failure;  // of its work
  };

  bool finished() const { return at_end_ && written_ == read_; }
  Slot& slot(std::size_t item) { return slots_[item % slots_.size()]; }

  void read_one(std::unique_lock<std::mutex>& lock) {
    const std::size_t item = read_;
    lock.unlock();
    bool more = false;
    std::exception_ptr failure;
    try {
      more = stages_.read(item % slots_.size());
    } catch (...) {
      failure = std::current_exception();  // thrown where its turn to be written would be
    }
    lock.lock();
    read_failure_ = failure;
    at_end_ = !more;
    if (!more) return;
    slot(item) = {};
    ++read_;
    filled_.notify_one();
  }

  void work_on_one(std::size_t worker, std::unique_lock<std::mutex>& lock) {
    const std::size_t item = started_++;
    lock.unlock();
    std::exception_ptr failure;
    try {
      stages_.work(worker, item % slots_.size());
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    slot(item) = {true, failure};
  }

  void write_one(std::unique_lock<std::mutex>& lock) {
    const std::size_t item = written_;
    if (slot(item).failure) std::rethrow_exception(slot(item).failure);
    lock.unlock();
    stages_.write(item % slots_.size());
    lock.lock();
    ++written_;
  }

  void stop() {
    stopped_ = true;
    filled_.notify_all();
  }

  const PipelineStages& stages_;
  std::mutex mutex_;
  std::condition_variable filled_, done_;
  std::vector<Slot> slots_;
  std::size_t read_ = 0, started_ = 0, written_ = 0;  // items that have come so far
  bool at_end_ = false, stopped_ = false;
  std::exception_ptr read_failure_;
};

}  // namespace

void run_pipeline(std::size_t workers, const PipelineStages& stages) {
  ESPALIER_EXPECT(workers > 0);
  Pipeline pipeline(workers, stages);
  run_in_parallel(workers, [&](std::size_t worker) {
    if (worker == 0) {
      pipeline.lead();
    } else {
      pipeline.follow(worker);
    }
  });
}

}  // namespace espalier
