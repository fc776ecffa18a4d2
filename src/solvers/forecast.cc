// Least squares: with t_k the passes of a report and g_k the logarithm of the best gap until then, the line a
// - b t that minimises sum_k (g_k - a + b t_k)^2 has b = -sum_k (t_k - mean t)(g_k - mean g) / sum_k (t_k -
// mean t)^2. From the best gap, not from the line's value there, log(best gap / gap) / b passes are left.

#include "solvers/forecast.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace espalier {
namespace {

constexpr std::size_t kFewest = 3;  // two points lie on a line whatever they are

struct Point {
  double passes, log_gap;
};

// The points after the middle of the passes, and at least the last few.
std::span<const Point> recent(std::span<const Point> points) {
  const double middle = (points.front().passes + points.back().passes) / 2;
  const auto later = std::ranges::find_if(points, [&](const Point& p) { return p.passes >= middle; });
  const auto count = static_cast<std::size_t>(points.end() - later);
  return points.last(std::min(points.size(), std::max(count, kFewest)));
}

}  // namespace

std::optional<double> passes_to_gap(std::span<const GapAt> history, double gap) {
  if (!(gap > 0)) return std::nullopt;
  std::vector<Point> points;
  double best = std::numeric_limits<double>::infinity();
  for (const GapAt& at : history) {
    if (at.gap <= gap) return 0;
    best = std::min(best, at.gap);
    if (std::isfinite(best)) points.push_back({at.passes, std::log(best)});
  }
  if (points.size() < kFewest) return std::nullopt;
  const std::span<const Point> last = recent(points);
  if (!(last.back().log_gap < last.front().log_gap)) return std::nullopt;
  double mean_passes = 0, mean_log_gap = 0;
  for (const Point& p : last) {
    mean_passes += p.passes / static_cast<double>(last.size());
    mean_log_gap += p.log_gap / static_cast<double>(last.size());
  }
  double covariance = 0, variance = 0;
  for (const Point& p : last) {
    covariance += (p.passes - mean_passes) * (p.log_gap - mean_log_gap);
    variance += (p.passes - mean_passes) * (p.passes - mean_passes);
  }
  if (!(covariance < 0) || !(variance > 0)) return std::nullopt;
  return std::log(best / gap) * variance / -covariance;
}

}  // namespace espalier
