// Least squares: with t_k the passes of a report and g_k the logarithm of its relative gap, the line a - b t that minimises
// sum_k (g_k - a + b t_k)^2 has b = -sum_k (t_k - mean t)(g_k - mean g) / sum_k (t_k - mean t)^2. From the last gap, not from the
// line's value there, log(last gap / gap) / b passes are left.

#include "espalier/solvers/forecast.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace espalier {
namespace {

constexpr std::size_t kFewest = 3;  // two points lie on a line whatever they are

struct Point {
  double passes, log_gap;
};

// The reports after the middle of the passes, and at least the last few.
std::span<const Progress> recent(std::span<const Progress> history) {
  const double middle = (history.front().passes + history.back().passes) / 2;
  const auto later = std::ranges::find_if(history, [&](const Progress& p) { return p.passes >= middle; });
  const auto count = static_cast<std::size_t>(history.end() - later);
  return history.last(std::min(history.size(), std::max(count, kFewest)));
}

}  // namespace

std::optional<double> passes_to_gap(std::span<const Progress> history, double gap) {
  if (history.empty() || !(gap > 0)) return std::nullopt;
  const double last = history.back().relative_gap();
  if (!std::isfinite(last)) return std::nullopt;
  if (last <= gap) return 0;
  std::vector<Point> points;
  for (const Progress& p : recent(history)) {
    if (p.relative_gap() > 0 && std::isfinite(p.relative_gap()))
      points.push_back({p.passes, std::log(p.relative_gap())});
  }
  if (points.size() < kFewest) return std::nullopt;
  double mean_passes = 0, mean_log_gap = 0;
  for (const Point& p : points) {
    mean_passes += p.passes / static_cast<double>(points.size());
    mean_log_gap += p.log_gap / static_cast<double>(points.size());
  }
  double covariance = 0, variance = 0;
  for (const Point& p : points) {
    covariance += (p.passes - mean_passes) * (p.log_gap - mean_log_gap);
    variance += (p.passes - mean_passes) * (p.passes - mean_passes);
  }
  if (!(covariance < 0) || !(variance > 0)) return std::nullopt;
  const double b = -covariance / variance;
  return std::log(last / gap) / b;
}

}  // namespace espalier
