#include "cli/ending.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <utility>
#include <vector>

#include "base/text.h"
#include "espalier/solvers/registry.h"
#include "solvers/forecast.h"

namespace espalier::cli {
namespace {

// To two digits: 3,987 -> 4,000.
double two_digits(double number, double (*round)(double)) {
  double unit = 1;
  while (number / unit > 100) unit *= 10;
  return round(number / unit) * unit;
}

std::string rounded_up(double number) {
  return grouped(static_cast<std::size_t>(two_digits(number, std::ceil)));
}

// "310 times", "2.5 times"
std::string times(double factor) {
  return factor < 10 ? fmt::format("{:.2g} times", factor)
                     : grouped(static_cast<std::size_t>(two_digits(factor, std::round))) + " times";
}

// Solvers that make no use of duals know little of how good they are.
bool loose(std::string_view solver) {
  return std::ranges::any_of(
      solver_table(), [&](const SolverEntry& entry) { return entry.name == solver && !entry.converges; });
}

// The perceptron's loss has its optimum at weights of 0, which nobody wants.
bool wants_optimum(const Loss& loss) { return !(loss == Loss::perceptron()); }

}  // namespace

std::string with_limit(const std::string& message) {
  for (const auto& [status, option] :
       {std::pair(Status::out_of_passes, "passes"), {Status::out_of_time, "seconds"}}) {
    const std::string ending = to_string(status);
    if (message.starts_with(ending + ':'))
      return fmt::format("{} (--{}){}", ending, option, message.substr(ending.size()));
  }
  return message;
}

std::string describe_miss(const Miss& miss) {
  if (miss.status != Status::out_of_passes && miss.status != Status::out_of_time) return "";
  if (miss.history.empty() || !(miss.gap > 0)) return "";
  const Progress& last = miss.history.back();
  const double reached = last.relative_gap();
  if (last.approximate() || !wants_optimum(miss.objective.loss) || !(reached > miss.gap) ||
      !std::isfinite(reached))
    return "";
  std::string text = fmt::format("; the gap is {} the {:g} asked for", times(reached / miss.gap), miss.gap);
  if (loose(miss.solver)) {
    return text + fmt::format(", but the certificate of {} is loose: try --solver auto for a tighter one",
                              miss.solver);
  }
  std::vector<GapAt> gaps;
  for (const Progress& report : miss.history) gaps.push_back({report.passes, report.relative_gap()});
  const auto forecast = passes_to_gap(gaps, miss.gap);
  constexpr double kManyPasses = 1e9;
  const bool falls = forecast && *forecast < kManyPasses;
  if (falls) {
    text += fmt::format("; at the pace of the last passes, {} more are needed", rounded_up(*forecast));
  }
  // The gap of most solvers falls late: what it did in the first passes tells little.
  constexpr double kFew = 50, kSoon = 2, kEver = 10;  // passes; times as long as it took so far
  const bool early = last.passes < kFew;
  const double longer = falls ? 1 + *forecast / last.passes : std::numeric_limits<double>::infinity();
  std::string patience;
  if (longer < kEver) {
    const bool time = miss.status == Status::out_of_time;
    patience = fmt::format("--{} {:.0f}", time ? "seconds" : "passes",
                           two_digits((time ? last.seconds : last.passes) * longer, std::ceil));
  } else if (early) {
    patience = "more passes";
  }
  if (longer < kSoon || (early && (longer < kEver || !falls))) return text + ": try " + patience;
  if (!falls) text += "; it has almost stopped falling";
  std::vector<std::string> ideas;
  // It changes solvers by itself: where it is slow, all that it knows are.
  if (miss.solver != "auto") ideas.emplace_back("--solver auto");
  ideas.push_back(fmt::format("a larger {}", miss.l2_option));
  if (!patience.empty()) ideas.push_back(patience);
  return text + fmt::format(": try {}", fmt::join(ideas, " or "));
}

std::string no_certificate(const ModelInfo& info) {
  if (info.bits == 32) return "no certificate";
  return fmt::format("no certificate (weights were rounded to {} bits)", info.bits);
}

std::optional<std::string> far_from_optimum(const ModelInfo& info) {
  constexpr double kFar = 0.1;
  if (!info.certificate || info.certificate->approximate() || !wants_optimum(info.loss)) return std::nullopt;
  if (!(info.certificate->relative_gap() > kFar)) return std::nullopt;
  return fmt::format("above {}: training may have ended far from the optimum", kFar);
}

void warn_if_far(const std::string& path, const ModelInfo& info) {
  if (const auto warning = far_from_optimum(info)) {
    std::fputs(fmt::format("espalier: {}: relative gap {:.2g}, {}\n", path, info.certificate->relative_gap(),
                           *warning)
                   .c_str(),
               stderr);
  }
}

}  // namespace espalier::cli
