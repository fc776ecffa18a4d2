#include "fleet/communicator.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "espalier/base/error.h"
#include "fleet/bytes.h"

namespace espalier {
namespace {

class Waiting {
 public:
  explicit Waiting(Communicator::Traffic& traffic)
      : traffic_(traffic), since_(std::chrono::steady_clock::now()) {}
  ~Waiting() {
    traffic_.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - since_).count();
    ++traffic_.meetings;
  }

 private:
  Communicator::Traffic& traffic_;
  std::chrono::steady_clock::time_point since_;
};

}  // namespace

std::vector<std::string> Communicator::gather(std::string_view mine) {
  const Waiting waiting(traffic_);
  traffic_.bytes += mine.size() * (size_ - 1);
  return do_gather(mine);
}

void Communicator::exchange(std::span<const std::string_view> to, std::vector<Parcel>& from) {
  ESPALIER_EXPECT(to.size() == size_);
  const Waiting waiting(traffic_);
  for (std::size_t r = 0; r < size_; ++r) traffic_.bytes += r == rank_ ? 0 : to[r].size();
  from.resize(size_);
  do_exchange(to, from);
}

std::vector<std::string> Communicator::exchange(std::vector<std::string> to) {
  std::vector<Parcel> from;
  exchange(std::vector<std::string_view>(to.begin(), to.end()), from);
  for (std::size_t r = 0; r < size_; ++r) {
    if (r == rank_) continue;
    to[r] = from[r].bytes();
    from[r] = {};
  }
  return to;
}

void Communicator::add_up(std::span<double> values) {
  if (size_ == 1) return;
  const std::vector<std::string> all = gather(bytes_of(std::span<const double>(values)));
  std::ranges::fill(values, 0.0);
  for (const std::string& of_rank : all) add_bytes(of_rank, 0, values);
}

double Communicator::sum(double mine) {
  add_up(std::span(&mine, 1));
  return mine;
}

std::size_t Communicator::sum(std::size_t mine) {
  if (size_ == 1) return mine;
  std::size_t all = 0;
  for (const std::string& bytes : gather(bytes_of(std::span<const std::size_t>(&mine, 1))))
    all += read_bytes<std::size_t>(bytes, 0);
  return all;
}

std::size_t Communicator::sum_before(std::size_t mine) {
  std::size_t before = 0;
  const std::vector<std::string> all = gather(bytes_of(std::span<const std::size_t>(&mine, 1)));
  for (std::size_t r = 0; r < rank_; ++r) before += read_bytes<std::size_t>(all[r], 0);
  return before;
}

double Communicator::largest(double mine) {
  if (size_ == 1) return mine;
  for (const std::string& bytes : gather(bytes_of(std::span<const double>(&mine, 1))))
    mine = std::max(mine, read_bytes<double>(bytes, 0));
  return mine;
}

double Communicator::of_first(double mine) {
  return size_ == 1 ? mine : read_bytes<double>(of_first(bytes_of(std::span<const double>(&mine, 1))), 0);
}

std::string Communicator::of_first(std::string_view mine) {
  if (size_ == 1) return std::string(mine);
  return std::move(gather(rank_ == 0 ? mine : std::string_view()).front());
}

void Communicator::check_same(std::string_view what, std::string_view mine, std::string_view expected) {
  const std::vector<std::string> all = gather(mine);
  for (std::size_t r = 1; r < size_; ++r) {
    if (all[r] != all[0])
      throw Error(fmt::format("rank {} has {} than rank 0; expected {}", r, what, expected));
  }
}

}  // namespace espalier
