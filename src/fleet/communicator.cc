#include "fleet/communicator.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "espalier/base/error.h"

namespace espalier {
namespace {

template <class T>
std::string_view bytes_of(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

template <class T>
void append_to(std::string& bytes, std::span<const T> values) {
  bytes.append(bytes_of(values));
}

template <class T>
T read_from(std::string_view bytes, std::size_t place) {
  T value;
  std::memcpy(&value, bytes.data() + place, sizeof(T));
  return value;
}

// Some rows of weights in bytes: all of them, or those that are not zero with their numbers, whichever is
// less. The first number tells which.
constexpr std::uint32_t kAllRows = 0xffffffffu;

struct Rows {
  std::span<float> values;
  std::size_t width, stride, begin, end;  // rows begin .. end - 1

  float* row(std::size_t r) const { return values.data() + r * stride; }

  bool zero(std::size_t r) const {
    return std::all_of(row(r), row(r) + width, [](float x) { return x == 0; });
  }

  std::string pack() const {
    std::vector<std::uint32_t> numbers;
    for (std::size_t r = begin; r < end; ++r) {
      if (!zero(r)) numbers.push_back(static_cast<std::uint32_t>(r - begin));
    }
    const std::size_t of_row = width * sizeof(float);
    const bool all = numbers.size() * (of_row + sizeof(std::uint32_t)) >= (end - begin) * of_row;
    const std::uint32_t count = all ? kAllRows : static_cast<std::uint32_t>(numbers.size());
    std::string bytes;
    bytes.reserve(sizeof(count) +
                  (all ? (end - begin) * of_row : numbers.size() * (of_row + sizeof(std::uint32_t))));
    append_to(bytes, std::span(&count, 1));
    if (all) {
      for (std::size_t r = begin; r < end; ++r) append_to(bytes, std::span<const float>(row(r), width));
      return bytes;
    }
    append_to(bytes, std::span<const std::uint32_t>(numbers));
    for (const std::uint32_t r : numbers) append_to(bytes, std::span<const float>(row(begin + r), width));
    return bytes;
  }

  template <class Take>
  void unpack(std::string_view bytes, const Take& take) const {
    const auto count = read_from<std::uint32_t>(bytes, 0);
    const std::size_t of_row = width * sizeof(float);
    const std::size_t rows = count == kAllRows ? end - begin : count;
    std::size_t place = sizeof(count), number = sizeof(count);
    if (count != kAllRows) place += rows * sizeof(std::uint32_t);
    for (std::size_t k = 0; k < rows; ++k, place += of_row) {
      std::size_t r = begin + k;
      if (count != kAllRows) {
        r = begin + read_from<std::uint32_t>(bytes, number);
        number += sizeof(std::uint32_t);
      }
      take(r, bytes.data() + place);
    }
  }
  void add(std::string_view bytes) const {
    unpack(bytes, [&](std::size_t r, const char* from) {
      float* to = row(r);
      for (std::size_t k = 0; k < width; ++k) {
        float x;
        std::memcpy(&x, from + k * sizeof(float), sizeof(float));
        to[k] += x;
      }
    });
  }
  void assign(std::string_view bytes) const {
    unpack(bytes, [&](std::size_t r, const char* from) { std::memcpy(row(r), from, width * sizeof(float)); });
  }
  void clear() const {
    for (std::size_t r = begin; r < end; ++r) std::fill_n(row(r), width, 0.0f);
  }
};

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

std::vector<std::string> Communicator::exchange(std::vector<std::string> to) {
  ESPALIER_EXPECT(to.size() == size_);
  const Waiting waiting(traffic_);
  for (std::size_t r = 0; r < size_; ++r) traffic_.bytes += r == rank_ ? 0 : to[r].size();
  return do_exchange(std::move(to));
}

// Few numbers go to everybody. Of many, each rank adds up a part, and hands out the sums.
template <class Real>
void Communicator::add_up_all(std::span<Real> values) {
  if (size_ == 1) return;
  const auto add = [](std::string_view bytes, std::span<Real> to) {
    for (std::size_t k = 0; k < to.size(); ++k) to[k] += read_from<Real>(bytes, k * sizeof(Real));
  };
  constexpr std::size_t kFew = 1024;
  if (values.size() <= kFew) {
    const std::vector<std::string> all = gather(bytes_of(std::span<const Real>(values)));
    std::fill(values.begin(), values.end(), Real{0});
    for (const std::string& bytes : all) add(bytes, values);
    return;
  }
  const auto part = [&](std::size_t r) {
    const std::size_t begin = values.size() * r / size_, end = values.size() * (r + 1) / size_;
    return values.subspan(begin, end - begin);
  };
  std::vector<std::string> parts(size_);
  for (std::size_t r = 0; r < size_; ++r) parts[r] = bytes_of(std::span<const Real>(part(r)));
  parts = exchange(std::move(parts));
  const std::span<Real> own = part(rank_);
  std::fill(own.begin(), own.end(), Real{0});
  for (const std::string& bytes : parts) add(bytes, own);
  parts = gather(bytes_of(std::span<const Real>(own)));
  for (std::size_t r = 0; r < size_; ++r) std::memcpy(part(r).data(), parts[r].data(), parts[r].size());
}

void Communicator::add_up(std::span<double> values) { add_up_all(values); }
void Communicator::add_up(std::span<float> values) { add_up_all(values); }

void Communicator::add_up_rows(std::span<float> values, std::size_t width, std::size_t stride) {
  if (size_ == 1 || values.empty()) return;
  const std::size_t rows = values.size() / stride;
  const auto part = [&](std::size_t r) {
    return Rows{values, width, stride, rows * r / size_, rows * (r + 1) / size_};
  };
  std::vector<std::string> parts(size_);
  for (std::size_t r = 0; r < size_; ++r) parts[r] = part(r).pack();
  parts = exchange(std::move(parts));
  const Rows own = part(rank_);
  own.clear();
  for (const std::string& bytes : parts) own.add(bytes);
  parts = gather(own.pack());
  for (std::size_t r = 0; r < size_; ++r) {
    if (r == rank_) continue;
    part(r).clear();
    part(r).assign(parts[r]);
  }
}

double Communicator::sum(double mine) {
  add_up(std::span(&mine, 1));
  return mine;
}

std::size_t Communicator::sum(std::size_t mine) {
  if (size_ == 1) return mine;
  std::size_t all = 0;
  for (const std::string& bytes : gather(bytes_of(std::span<const std::size_t>(&mine, 1))))
    all += read_from<std::size_t>(bytes, 0);
  return all;
}

std::size_t Communicator::sum_before(std::size_t mine) {
  std::size_t before = 0;
  const std::vector<std::string> all = gather(bytes_of(std::span<const std::size_t>(&mine, 1)));
  for (std::size_t r = 0; r < rank_; ++r) before += read_from<std::size_t>(all[r], 0);
  return before;
}

double Communicator::largest(double mine) {
  if (size_ == 1) return mine;
  for (const std::string& bytes : gather(bytes_of(std::span<const double>(&mine, 1))))
    mine = std::max(mine, read_from<double>(bytes, 0));
  return mine;
}

double Communicator::of_first(double mine) {
  return size_ == 1 ? mine : read_from<double>(of_first(bytes_of(std::span<const double>(&mine, 1))), 0);
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
