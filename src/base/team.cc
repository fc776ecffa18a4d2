#include "base/team.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "espalier/base/error.h"

namespace espalier {

Team::Team(std::size_t workers) {
  failures_.resize(std::max<std::size_t>(workers, 1));
  try {
    for (std::size_t worker = 1; worker < failures_.size(); ++worker) {
      threads_.emplace_back([this, worker] { serve(worker); });
    }
  } catch (const std::system_error& e) {  // no more threads are to be had
    dismiss();
    throw Error(fmt::format("{}: cannot start {} threads: {}; expected fewer, or a higher limit (ulimit -u)",
                            setting("threads"), workers, e.code().message()));
  } catch (...) {
    dismiss();
    throw;
  }
}

Team::~Team() { dismiss(); }

void Team::dismiss() {
  job_ = nullptr;
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Team::run(const Job& job) {
  if (threads_.empty()) return job(0);
  job_ = &job;
  busy_.store(threads_.size(), std::memory_order_relaxed);
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  work(0);
  for (std::size_t busy; (busy = busy_.load(std::memory_order_acquire)) > 0;) busy_.wait(busy);
  for (std::exception_ptr& failure : failures_) {
    if (!failure) continue;
    const std::exception_ptr first = failure;
    std::fill(failures_.begin(), failures_.end(), nullptr);
    std::rethrow_exception(first);
  }
}

void Team::serve(std::size_t worker) {
  for (std::uint32_t done = 0;; ++done) {
    round_.wait(done, std::memory_order_acquire);
    if (!job_) return;
    work(worker);
    if (busy_.fetch_sub(1, std::memory_order_release) == 1) busy_.notify_one();
  }
}

void Team::work(std::size_t worker) {
  try {
    (*job_)(worker);
  } catch (...) {
    failures_[worker] = std::current_exception();
  }
}

}  // namespace espalier
