#include "report/run_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/parse_number.h"
#include "espalier/base/error.h"

namespace espalier {
namespace {

constexpr std::size_t kMostPoints = 300;  // of a series: more than a chart can show

// With as many digits as a chart can show.
Json short_number(double value) { return parse_double(fmt::format("{:.7g}", value)).value_or(value); }
Json short_number(const Json& event, const char* key) {
  return event.contains(key) ? short_number(event.at(key).get<double>()) : Json();
}

// The rate that selection goes by, of those that a report has.
std::string main_rate(const Json& rates) {
  for (const char* name : {"f1", "las", "uas", "cost", "error", "accuracy"}) {
    if (rates.contains(name)) return name;
  }
  return rates.empty() ? "" : rates.items().front().key;
}

// What tells reports of one part of a run from those of others.
struct Part {
  std::string solver;
  std::optional<double> l2, l1;
  std::optional<int> round, fold;
  std::optional<std::uint64_t> seed;

  explicit Part(const Json& event) : solver(event.value("solver", std::string())) {
    const auto read = [&](const char* key, auto& value) {
      using Value = typename std::decay_t<decltype(value)>::value_type;
      if (event.contains(key)) value = event.at(key).get<Value>();
    };
    read("l2", l2), read("l1", l1), read("round", round), read("fold", fold), read("seed", seed);
  }
  bool operator==(const Part&) const = default;
};

struct Series {
  Part part;
  std::vector<const Json*> reports;
};

std::vector<Series> series_of(const std::vector<const Json*>& reports) {
  std::vector<Series> all;
  for (const Json* report : reports) {
    const Part part(*report);
    auto found = std::ranges::find(all, part, &Series::part);
    if (found == all.end()) found = all.insert(all.end(), {part, {}});
    found->reports.push_back(report);
  }
  return all;
}

// "l2 10, seed 2": what differs between the series.
std::string name_of(const Series& series, const std::vector<Series>& all) {
  std::string name;
  const auto add = [&](const char* what, const auto member) {
    const auto& value = series.part.*member;
    if (!value || std::ranges::all_of(all, [&](const Series& other) { return other.part.*member == value; }))
      return;
    name += fmt::format("{}{} {:.6g}", name.empty() ? "" : ", ", what, static_cast<double>(*value));
  };
  if (std::ranges::any_of(all, [&](const Series& other) { return other.part.solver != series.part.solver; }))
    name = series.part.solver;
  add("l2", &Part::l2), add("l1", &Part::l1), add("fold", &Part::fold), add("round", &Part::round);
  add("seed", &Part::seed);
  return name.empty() ? series.part.solver : name;
}

// Few enough reports; the first and the last are among them.
std::vector<const Json*> thinned(const std::vector<const Json*>& reports) {
  if (reports.size() <= kMostPoints) return reports;
  std::vector<const Json*> some;
  const double last = static_cast<double>(reports.size() - 1);
  for (std::size_t k = 0; k < kMostPoints; ++k) {
    const double share = static_cast<double>(k) / (kMostPoints - 1);
    const Json* report =
        reports[static_cast<std::size_t>(std::lround(last * share * share))];  // dense early on
    if (some.empty() || some.back() != report) some.push_back(report);
  }
  return some;
}

Json columns_of(const Series& series, const std::vector<Series>& all) {
  Json result{{"name", name_of(series, all)}};
  for (const auto& [column, key] : {std::pair{"passes", "pass"},
                                    {"seconds", "seconds"},
                                    {"primal", "primal"},
                                    {"dual", "dual"},
                                    {"relative_gap", "relative_gap"}}) {
    Json& values = result[column] = Json::array();
    for (const Json* report : thinned(series.reports)) values.push_back(short_number(*report, key));
  }
  if (!series.reports.front()->contains("dev")) return result;
  Json& dev = result["dev"] = Json::object();
  for (const auto& [rate, first] : series.reports.front()->at("dev").items()) {
    if (!first.is_number()) continue;
    Json& values = dev[rate] = Json::array();
    for (const Json* report : thinned(series.reports))
      values.push_back(report->contains("dev") ? short_number(report->at("dev"), rate.c_str()) : Json());
  }
  return result;
}

double number_or_nan(const Json& event, const char* key) {
  return event.value(key, std::numeric_limits<double>::quiet_NaN());
}

// The values of a path or a search, each with its last report.
Json path_of(const std::vector<Series>& all, const Json& end, const char* parameter) {
  Json path{{"parameter", parameter}};
  if (end.contains(parameter)) path["chosen"] = end.at(parameter);
  std::string rate;
  Json points = Json::array();
  double before = 0;  // passes of all values so far
  for (const Series& series : all) {
    const Json& last = *series.reports.back();
    if (!last.contains(parameter)) continue;
    Json point{{"value", last.at(parameter)}};
    const double total = number_or_nan(last, "pass");
    point["passes"] = short_number(total - before);
    before = total;
    for (const char* key : {"relative_gap", "primal", "dual"}) point[key] = short_number(last, key);
    if (last.contains("dev")) {
      if (rate.empty()) rate = main_rate(last.at("dev"));
      point["dev"] = short_number(last.at("dev"), rate.c_str());
    }
    points.push_back(point);
  }
  if (!rate.empty()) path["rate"] = rate;
  path["points"] = points;
  return path;
}

// The rate that people call "F1 %", in its unit.
Json in_unit(const Json& dev, const std::string& metric) {
  std::string rate = metric.substr(0, metric.find(' '));
  std::ranges::transform(rate, rate.begin(), [](unsigned char c) { return std::tolower(c); });
  if (!dev.contains(rate)) rate = main_rate(dev);
  if (rate.empty()) return {};
  return short_number((metric.ends_with('%') ? 100 : 1) * dev.at(rate).get<double>());
}

Json folds_of(const std::vector<Series>& all, const Json& end) {
  Json folds{{"metric", ""}, {"values", Json::array()}, {"each", Json::array()}};
  if (end.contains("l2")) folds["chosen"] = end.at("l2");
  if (end.contains("values")) folds["values"] = end.at("values");
  std::string metric;
  if (folds.at("values").size() > 0) metric = folds.at("values")[0].value("metric", std::string());
  folds["metric"] = metric;
  std::map<int, Json> each;
  for (const Series& series : all) {
    const Json& last = *series.reports.back();
    if (!series.part.fold || !series.part.l2 || !last.contains("dev")) continue;
    each[*series.part.fold].push_back(Json::array({*series.part.l2, in_unit(last.at("dev"), metric)}));
  }
  for (const auto& [fold, points] : each) folds["each"].push_back({{"fold", fold}, {"points", points}});
  return folds;
}

// In a race gaps are distances from what all solvers together know of the optimum, and no larger than what
// each certifies for itself.
void measure_from_optimum(const Json& race, const std::vector<Series>& all, Json& series) {
  if (!race.contains("optimum")) return;
  const double lower = race.at("optimum").at("lower").get<double>();
  for (std::size_t s = 0; s < all.size(); ++s) {
    Json gaps = Json::array();
    for (const Json* report : thinned(all[s].reports)) {
      const double primal = number_or_nan(*report, "primal");
      gaps.push_back(primal > 0 ? short_number((primal - lower) / primal) : Json());
    }
    series[s]["relative_gap"] = gaps;
  }
}

// "Training: tag, train.txt"
std::string title_of(std::string_view what, const RunEvents& run, const Json& start) {
  if (!start.contains("train")) return fmt::format("{}: {}", what, run.name);
  const Json& train = start.at("train");
  return fmt::format("{}: {}, {}", what, start.value("task", std::string()),
                     train.is_string() ? train.get<std::string>() : fmt::format("{} files", train.size()));
}

Json summarised(const RunEvents& run) {
  Json start = Json::object(), end = Json::object(), race;
  std::vector<const Json*> reports;
  Json notices = Json::array();
  for (const Json& event : run.events) {
    const auto kind = event.at("event").get<std::string>();
    if (kind == "start") start = event;
    if (kind == "end") end = event;
    if (kind == "race") race = event;
    if (kind == "progress") reports.push_back(&event);
    if (kind == "notice" && event.contains("text")) notices.push_back(event.at("text"));
  }
  const std::vector<Series> all = series_of(reports);
  Json result = Json::object();
  if (start.contains("command")) result["command"] = start.at("command");
  if (end.contains("message")) result["message"] = end.at("message");
  if (!notices.empty()) result["notices"] = notices;
  Json settings = start;
  if (settings.is_object()) settings.erase("event"), settings.erase("command");
  result["settings"] = settings;
  Json series = Json::array();
  for (const Series& one : all) series.push_back(columns_of(one, all));

  const auto several = [&](const char* key) {
    return start.contains(key) && !start.at(key).is_number();  // a list, or "auto"
  };
  const char* what = "Training";
  if (!race.is_null()) {
    what = "Race";
    measure_from_optimum(race, all, series);
    result["race"] = race.contains("runs") ? race.at("runs") : Json::array();
  } else if (start.contains("folds")) {
    what = "Cross-validation";
    result["folds"] = folds_of(all, end);
  } else if (several("l1")) {
    what = "Path over l1";
    result["path"] = path_of(all, end, "l1");
  } else if (several("l2")) {
    what = start.at("l2").is_array() ? "Path over l2" : "Search for l2";
    result["path"] = path_of(all, end, "l2");
  }
  result["title"] = title_of(what, run, start);
  // Of folds and paths the page shows how each value ended.
  result["series"] = result.contains("folds") || result.contains("path") ? Json::array() : series;
  return result;
}

}  // namespace

Json summary_of(const RunEvents& run) {
  try {
    return summarised(run);
  } catch (const JsonError& e) {
    throw Error::in(run.name, fmt::format("an event that no run logs ({})", e.what()),
                    "expected a run log, as training writes it");
  }
}

}  // namespace espalier
