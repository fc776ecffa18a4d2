#include "selection/l2_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "espalier/base/error.h"

namespace espalier {
namespace {

constexpr double kStart = 10;

// The values of a range on three levels: decades, halves and quarters of them. Each has the ends of the
// range.
class Grid {
 public:
  static constexpr std::size_t kLevels = 3;

  explicit Grid(const L2Range& range) {
    constexpr std::array<double, 4> kDigits{1, 1.8, 3.2, 5.6};  // 10^(k/4)
    constexpr std::array<std::size_t, 4> kLevel{0, 2, 1, 2};
    const double apart = std::pow(10, 0.125);  // what is nearer to an end gives way to it
    add(range.max, 0);
    for (int exponent = static_cast<int>(std::ceil(std::log10(range.max)));
         exponent >= std::floor(std::log10(range.min)); --exponent) {
      for (std::size_t k = kDigits.size(); k-- > 0;) {
        // Through text, so that it is the number that people write.
        const double value = std::strtod(fmt::format("{}e{}", kDigits[k], exponent).c_str(), nullptr);
        if (value * apart < range.max && value > range.min * apart) add(value, kLevel[k]);
      }
    }
    if (range.min < range.max) add(range.min, 0);
  }

  const std::vector<double>& level(std::size_t l) const { return levels_[l]; }
  const std::vector<double>& all() const { return levels_.back(); }

 private:
  void add(double value, std::size_t level) {
    for (std::size_t l = level; l < kLevels; ++l) levels_[l].push_back(value);
  }

  std::array<std::vector<double>, kLevels> levels_;
};

// What is known of the values of one level, the largest first; nullopt: not tried.
class Known {
 public:
  Known(const std::vector<double>& values, std::span<const L2Trial> trials) : values_(values) {
    for (const double value : values) {
      const auto found =
          std::find_if(trials.begin(), trials.end(), [&](const L2Trial& t) { return t.l2 == value; });
      dev_errors_.push_back(found == trials.end() ? std::nullopt : std::optional(found->dev_error));
    }
  }

  std::size_t size() const { return values_.size(); }
  double value(std::size_t k) const { return values_[k]; }
  const std::optional<double>& dev_error(std::size_t k) const { return dev_errors_[k]; }
  // Those that were tried at the ends. Requires that some were.
  std::size_t first() const {
    const auto found = std::ranges::find_if(dev_errors_, [](const auto& b) { return b.has_value(); });
    return static_cast<std::size_t>(found - dev_errors_.begin());
  }
  std::size_t last() const {
    const auto found =
        std::find_if(dev_errors_.rbegin(), dev_errors_.rend(), [](const auto& b) { return b.has_value(); });
    return static_cast<std::size_t>(dev_errors_.rend() - found) - 1;
  }
  // Of equals the first, which has the largest l2. Nothing where none was tried.
  std::optional<std::size_t> best() const {
    std::optional<std::size_t> best;
    for (std::size_t k = 0; k < size(); ++k) {
      if (dev_errors_[k] && (!best || *dev_errors_[k] < *dev_errors_[*best])) best = k;
    }
    return best;
  }

 private:
  const std::vector<double>& values_;
  std::vector<std::optional<double>> dev_errors_;
};

// What the next decade below would gain, if gains go on to shrink as they did from the one before to the
// last; no more than the last. Requires that two were tried.
double forecast_gain(const Known& decades) {
  const std::size_t last = decades.last();
  const double gain = *decades.dev_error(last - 1) - *decades.dev_error(last);
  if (last < decades.first() + 2) return gain;
  const double before = *decades.dev_error(last - 2) - *decades.dev_error(last - 1);
  return before > gain ? gain * gain / before : gain;
}

// The next decade below those that were tried, unless the last one is no better than the others, or worse, or
// the next one promises to be no better. Each takes several times the passes of the one above it, so one that
// brings nothing is enough, and none is better.
std::optional<double> below(const Known& decades) {
  const std::size_t last = decades.last();
  double others = std::numeric_limits<double>::infinity();
  for (std::size_t k = decades.first(); k < last; ++k) others = std::min(others, *decades.dev_error(k));
  const double error = *decades.dev_error(last);
  const bool better = error < (1 - kWorthwhile) * others;
  if (!better || last + 1 == decades.size()) return std::nullopt;
  const bool promising = last == decades.first() || forecast_gain(decades) > kWorthwhile * error;
  return promising ? std::optional(decades.value(last + 1)) : std::nullopt;
}

// The next decade above, unless the first one is clearly worse than the best, or two are no better: these are
// cheap.
std::optional<double> above(const Known& decades) {
  const std::size_t first = decades.first(), best = *decades.best();
  const bool turned =
      best >= first + 2 || *decades.dev_error(first) > (1 + kClearlyWorse) * *decades.dev_error(best);
  return !turned && first > 0 ? std::optional(decades.value(first - 1)) : std::nullopt;
}

// A neighbour of the best on its level that was not tried and has tried ones on both sides; of two, the one
// towards the better of those.
std::optional<double> beside(const Known& known, std::size_t best) {
  const bool larger = best > known.first() && !known.dev_error(best - 1);
  const bool smaller = best < known.last() && !known.dev_error(best + 1);
  if (!larger && !smaller) return std::nullopt;
  if (larger != smaller) return known.value(larger ? best - 1 : best + 1);
  std::size_t up = best - 1, down = best + 1;
  while (!known.dev_error(up)) --up;
  while (!known.dev_error(down)) ++down;
  return known.value(*known.dev_error(up) <= *known.dev_error(down) ? best - 1 : best + 1);
}

// Whether the best and the two values nearest to it, one on each side where there are, are as good but for
// chance.
bool is_flat(const Known& all, std::size_t best) {
  const double limit = (1 + kWorthwhile) * *all.dev_error(best);
  int good = 0, sides = 0;
  for (const int direction : {-1, +1}) {
    int wanted = best == all.first() || best == all.last() ? 2 : 1;
    const auto end = direction < 0 ? all.first() : all.last();
    for (std::size_t k = best; wanted > 0 && k != end;) {
      k = direction < 0 ? k - 1 : k + 1;
      if (!all.dev_error(k)) continue;
      --wanted;
      ++sides;
      if (*all.dev_error(k) <= limit) ++good;
    }
  }
  return sides == 2 && good == 2;
}

std::vector<L2Trial> trials_of(const Path& path) {
  std::vector<L2Trial> trials;
  for (const PathPoint& point : path.points) trials.push_back({point.l2, point.dev_error});
  return trials;
}

// Brings the best value to the gap of the run. Its point and its weights are those of the end.
void finish_best(PathInProgress& path, const PathRun& run) {
  PathPoint& best = path.points[path.best];
  const double gap = run.settings.stopping.gap;
  if (best.certificate.relative_gap() <= gap || best.status == Status::stalled) return;
  if (path.training_l2 != best.l2) {
    path.training = std::move(path.best_training.value());
    path.training_l2 = best.l2;
  }
  path.best_training.reset();
  const auto end = optimise_value(path, run, best.l2, gap);
  if (!end) return;
  const double passes = best.certificate.passes + end->certificate.passes;
  best = *end;
  best.certificate.passes = passes;
  path.theta = path.training.theta;
}

}  // namespace

void L2Range::check() const {
  if (!(min > 0) || !(min <= max) || !std::isfinite(max)) {
    throw Error(fmt::format("{0} {2} {1} {3}: invalid range; expected 0 < {1} <= {0}", setting("l2_max"),
                            setting("l2_min"), max, min));
  }
}

std::string L2Range::name() const {
  const L2Range usual;
  return min == usual.min && max == usual.max ? "auto" : fmt::format("auto from {} to {}", min, max);
}

double L2Range::start() const {
  const Grid grid(*this);
  return *std::ranges::min_element(grid.level(0), {},
                                   [](double value) { return std::abs(std::log(value / kStart)); });
}

std::vector<double> L2Range::values() const { return Grid(*this).all(); }

std::optional<double> next_l2(std::span<const L2Trial> trials, const L2Range& range) {
  const Grid grid(range);
  const Known decades(grid.level(0), trials);
  if (!decades.best()) return range.start();
  if (const auto value = below(decades)) return value;
  if (const auto value = above(decades)) return value;
  const Known all(grid.all(), trials);
  if (is_flat(all, *all.best())) return std::nullopt;
  const double best = all.value(*all.best());
  for (std::size_t l = 1; l < Grid::kLevels; ++l) {
    const std::vector<double>& values = grid.level(l);
    const auto place = std::find(values.begin(), values.end(), best);
    if (place == values.end()) continue;
    const auto value = beside(Known(values, trials), static_cast<std::size_t>(place - values.begin()));
    if (value) return value;
  }
  return std::nullopt;
}

L2Edge edge_of(double best, const L2Range& range) {
  if (range.min == range.max) return L2Edge::none;  // then nobody asked for a search
  if (best == range.min) return L2Edge::smallest;
  return best == range.max ? L2Edge::largest : L2Edge::none;
}

const char* to_string(L2Edge edge) {
  switch (edge) {
    case L2Edge::none:
      return "none";
    case L2Edge::smallest:
      return "smallest";
    case L2Edge::largest:
      return "largest";
  }
  return "unknown";
}

void start_from_nearest(PathInProgress& path, double l2) {
  if (path.points.empty() || path.training_l2 == l2) return;  // a first value, or one that continues
  const double best = path.points[path.best].l2;
  if (path.training_l2 == best) {
    path.best_training = path.training;
  } else if (std::abs(std::log(best / l2)) < std::abs(std::log(path.training_l2 / l2))) {
    path.training = path.best_training.value();
    path.training_l2 = best;
  }
}

void search_l2(PathInProgress& path, const PathRun& run, const L2Range& range) {
  range.check();
  const double gap = std::max(run.settings.stopping.gap, kSearchGap);
  while (const auto l2 = next_l2(trials_of(path), range)) {
    start_from_nearest(path, *l2);
    const auto point = optimise_value(path, run, *l2, gap);
    if (!point || !add_point(path, run, *point)) return;
  }
  finish_best(path, run);
}

}  // namespace espalier
