#include "cli/race_report.h"

#include <fmt/format.h>

#include <cmath>

#include "base/text.h"
#include "cli/chart.h"

namespace espalier::cli {
namespace {

constexpr double kGaps[] = {1e-1, 1e-2, 1e-3, 1e-4, 1e-5};
constexpr double kNearBest = 0.1;  // points of the metric on held-out data

// What a table measures arrivals in.
struct Unit {
  const char* name;
  double Progress::*value;
  std::string (*format)(double value);
};

constexpr Unit kPasses{"passes", &Progress::passes,
                       [](double value) { return fmt::format("{:.1f}", value); }};
constexpr Unit kSeconds{"seconds", &Progress::seconds,
                        [](double value) { return fmt::format("{:.{}f}", value, value < 10 ? 3 : 1); }};

const char* reached(const Arrival& arrival) {
  if (!arrival.certain) return arrival.possible ? "perhaps" : "no";
  return arrival.possible == arrival.certain ? "yes" : "at most";
}

std::string cell(const RaceRun& run, const Arrival& arrival, const Unit& unit) {
  if (!arrival.certain) return arrival.possible ? "?" : "-";
  const std::string text = unit.format(run.summary.history[*arrival.certain].*unit.value);
  return arrival.possible == arrival.certain ? text : '<' + text;
}

bool ran(const RaceRun& run) { return !run.summary.history.empty() && run.summary.status != Status::failed; }

std::string row(const Race& race, const RaceRun& run, const Unit& unit, bool first,
                const std::string& metric) {
  const Progress& last = run.summary.history.back();
  const auto shown = [&](double value) {
    return metric.ends_with('%') ? percentage(value) : fmt::format("{:.2f}", value);
  };
  std::string line = fmt::format("{:<14}{:<8}", first ? run.solver : "", unit.name);
  for (const double gap : kGaps) line += fmt::format("{:>9}", cell(run, race.arrival(run, gap), unit));
  line += fmt::format("{:>9}{:>10}", unit.format(last.*unit.value),
                      first ? fmt::format("{:.1e}", last.relative_gap()) : "");
  if (const auto near = run.first_near_best(kNearBest)) {
    line += fmt::format("{:>12}{:>11}", first ? shown(run.dev.back().value) : "",
                        unit.format(run.summary.history[*near].*unit.value));
  }
  return line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
}

}  // namespace

std::string race_table(const Race& race, const std::string& metric) {
  std::string table = fmt::format("{:<14}{:<8}", "solver", "to gap");
  for (const double gap : kGaps) table += fmt::format("{:>9}", fmt::format("1e{:.0f}", std::log10(gap)));
  table += fmt::format("{:>9}{:>10}", "end", "certified");
  if (!metric.empty()) table += fmt::format("{:>12}{:>11}", metric, "near best");
  table += '\n';
  bool at_most = false, perhaps = false;
  for (const RaceRun& run : race.runs) {
    if (!ran(run)) {
      table += fmt::format("{:<14}{}\n", run.solver, run.summary.message);
      continue;
    }
    table += row(race, run, kPasses, true, metric) + row(race, run, kSeconds, false, metric);
    for (const double gap : kGaps) {
      const Arrival arrival = race.arrival(run, gap);
      perhaps = perhaps || (arrival.possible && !arrival.certain);
      at_most = at_most || (arrival.certain && arrival.possible != arrival.certain);
    }
  }
  if (std::isfinite(race.width())) {
    table += fmt::format("optimum between {:.10g} and {:.10g}, relative width {:.1e}\n", race.lower,
                         race.upper, race.width());
  }
  if (at_most) table += "<: perhaps earlier; the optimum is not known well enough to tell\n";
  if (perhaps) table += "?: perhaps; the optimum is not known well enough to tell\n";
  if (race.inference == Inference::approximate)
    table += "inference was approximate: the gaps bound nothing\n";
  return table;
}

Json race_json(const Race& race, const std::string& metric) {
  Json result;
  if (std::isfinite(race.width())) {
    result["optimum"] = {{"lower", race.lower}, {"upper", race.upper}, {"relative_width", race.width()}};
  }
  if (race.inference == Inference::approximate) result["approximate"] = true;
  if (!metric.empty()) result["metric"] = metric;
  result["runs"] = Json::array();
  for (const RaceRun& run : race.runs) {
    Json& entry =
        result["runs"].push_back({{"solver", run.solver}, {"status", to_string(run.summary.status)}});
    if (!ran(run)) {
      entry["message"] = run.summary.message;
      continue;
    }
    const Progress& last = run.summary.history.back();
    entry.update({{"passes", last.passes},
                  {"seconds", last.seconds},
                  {"primal", last.primal},
                  {"dual", last.dual},
                  {"relative_gap", last.relative_gap()}});
    for (const double gap : kGaps) {
      const Arrival arrival = race.arrival(run, gap);
      Json& target = entry["targets"].push_back({{"gap", gap}, {"reached", reached(arrival)}});
      if (!arrival.certain) continue;
      const Progress& report = run.summary.history[*arrival.certain];
      target.update({{"passes", report.passes}, {"seconds", report.seconds}});
    }
    if (const auto near = run.first_near_best(kNearBest)) {
      const Progress& report = run.summary.history[*near];
      entry["dev"] = {{"value", run.dev.back().value},
                      {"near_best", {{"passes", report.passes}, {"seconds", report.seconds}}}};
    }
  }
  return result;
}

std::string race_picture(const Race& race, const std::string& title) {
  std::vector<ChartPanel> panels;
  for (const Unit& unit : {kPasses, kSeconds}) {
    ChartPanel& panel = panels.emplace_back();
    panel.title = fmt::format("By {}", unit.name);
    panel.x_title = unit.name == kPasses.name ? "passes over the data" : "seconds of training";
    panel.y_title = "relative gap to the best known optimum";
    for (const RaceRun& run : race.runs) {
      ChartLine& line = panel.lines.emplace_back();
      line.name = run.solver;
      for (const Progress& report : run.summary.history) {
        line.xs.push_back(report.*unit.value);
        line.ys.push_back(race.largest_gap(report));
      }
    }
  }
  return draw_chart(title, panels);
}

}  // namespace espalier::cli
