#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace espalier::serve {

// What /metrics says, in Prometheus' text format. Thread-safe.
class Metrics {
 public:
  // `path` is one of the server's own, or empty.
  void count_request(const std::string& path, int status, double seconds);
  void count_labelled(std::size_t examples, std::size_t tokens);
  void count_overload();
  void count_reload(bool success);

  // Numbers that others keep: their names, what they are, and their values now.
  struct Gauge {
    const char* name;
    const char* help;
    const char* type;
    double value;
  };
  std::string text(std::initializer_list<Gauge> gauges) const;

 private:
  static constexpr std::array<double, 13> kBuckets{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01,
                                                   0.025,  0.05,    0.1,    0.25,  1,      10};

  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int>, std::uint64_t> requests_;
  std::array<std::uint64_t, kBuckets.size() + 1>
      by_seconds_{};  // of predictions; the last one is of all others
  double seconds_ = 0;
  std::uint64_t examples_ = 0, tokens_ = 0, overloads_ = 0, reloads_ = 0, failed_reloads_ = 0;
};

}  // namespace espalier::serve
