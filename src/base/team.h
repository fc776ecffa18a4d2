#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

namespace espalier {

// Threads that stay, for jobs that come many times a second. The caller is the first of them.
class Team {
 public:
  using Job = std::function<void(std::size_t worker)>;

  explicit Team(std::size_t workers);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  std::size_t size() const { return threads_.size() + 1; }
  // Calls job(0), ..., job(size() - 1), each on its thread, and returns once all have returned. An exception
  // of a job is thrown again then; of several, that of the first worker.
  void run(const Job& job);

 private:
  void dismiss();
  void serve(std::size_t worker);
  void work(std::size_t worker);

  const Job* job_ = nullptr;             // nullptr: go home
  std::atomic<std::uint32_t> round_{0};  // counts the jobs
  std::atomic<std::size_t> busy_{0};     // threads that are at work on this one
  std::vector<std::exception_ptr> failures_;
  std::vector<std::thread> threads_;
};

// Calls call(begin, end) for as many parts of 0 .. n - 1 as the team has workers.
template <class Call>
void share_range(Team& team, std::size_t n, const Call& call) {
  const std::size_t parts = team.size();
  if (parts == 1) return call(std::size_t{0}, n);  // and allocate no Job
  team.run([&](std::size_t k) { call(n * k / parts, n * (k + 1) / parts); });
}

}  // namespace espalier
