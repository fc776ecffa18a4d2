#include "tasks/classify/confusion.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "tasks/classify/reader.h"

namespace espalier {

Confusion::Confusion(const Dictionary& labels, std::span<const float> costs)
    : labels_(labels), costs_(costs), size_(labels.size()), counts_((size_ + 1) * size_) {}

void Confusion::add(std::uint32_t gold, std::uint32_t predicted) {
  ++counts_[(gold == kUnknownLabel ? size_ : gold) * size_ + predicted];
}

Evaluation Confusion::evaluate() const {
  std::size_t total = 0, errors = 0;
  double cost = 0;
  for (std::size_t gold = 0; gold <= size_; ++gold) {
    for (std::size_t predicted = 0; predicted < size_; ++predicted) {
      const std::size_t n = count(gold, predicted);
      total += n;
      if (gold != predicted) errors += n;
      const bool priced = !costs_.empty() && gold < size_;
      cost += static_cast<double>(n) * (priced              ? costs_[gold * size_ + predicted]
                                        : gold != predicted ? 1
                                                            : 0);
    }
  }
  const auto rate = [&](double x) { return total > 0 ? x / static_cast<double>(total) : 0; };
  const double error = rate(static_cast<double>(errors));

  Evaluation result;
  result.rates["error"] = error;
  result.dev_error = error;
  result.metric = "error %";
  result.value = 100 * error;
  result.headline = fmt::format("error {} %", percentage(100 * error));
  result.text = fmt::format("{} ({} of {})\n", result.headline, grouped(errors), grouped(total));
  if (!costs_.empty()) {
    result.rates["cost"] = rate(cost);
    result.dev_error = rate(cost);
    result.metric = "cost";
    result.value = rate(cost);
    result.headline += fmt::format(", cost {:.4f}", rate(cost));
    result.text += fmt::format("mean cost {:.4f}\n", rate(cost));
  }
  result.text += table();
  result.report = result.rates;
  result.report["errors"] = errors;
  result.report["examples"] = total;
  for (std::uint32_t y = 0; y < size_; ++y) result.report["labels"].push_back(labels_.name(y));
  for (std::size_t gold = 0; gold < size_; ++gold) {
    const auto row = counts_.begin() + static_cast<std::ptrdiff_t>(gold * size_);
    result.report["confusion"].push_back(
        std::vector<std::size_t>(row, row + static_cast<std::ptrdiff_t>(size_)));
  }
  report_classes(result);
  return result;
}

// A table while it fits a screen; else the most frequent confusions.
std::string Confusion::table() const {
  constexpr std::size_t kWidestTable = 12, kLongestList = 20, kLongestName = 12;
  const auto name = [&](std::size_t y) {
    return y == size_ ? std::string("(unknown)") : std::string(labels_.name(static_cast<std::uint32_t>(y)));
  };
  bool unknown = false;
  std::size_t width = 5;
  for (std::size_t y = 0; y < size_; ++y) {
    unknown = unknown || count(size_, y) > 0;
    width = std::max(width, name(y).size());
  }
  if (size_ <= kWidestTable && width <= kLongestName) {
    if (unknown) width = std::max(width, name(size_).size());
    std::string text = fmt::format("\n{:>{}}   predicted\n{:>{}}", "", width, "gold", width);
    for (std::size_t y = 0; y < size_; ++y) text += fmt::format(" {:>{}}", name(y), width);
    text += '\n';
    for (std::size_t gold = 0; gold < size_ + (unknown ? 1 : 0); ++gold) {
      text += fmt::format("{:>{}}", name(gold), width);
      for (std::size_t y = 0; y < size_; ++y) text += fmt::format(" {:>{}}", count(gold, y), width);
      text += '\n';
    }
    return text;
  }
  std::vector<std::size_t> pairs;
  for (std::size_t pair = 0; pair < counts_.size(); ++pair) {
    if (counts_[pair] > 0 && pair / size_ != pair % size_) pairs.push_back(pair);
  }
  std::sort(pairs.begin(), pairs.end(), [&](std::size_t a, std::size_t b) {
    return counts_[a] != counts_[b] ? counts_[a] > counts_[b] : a < b;
  });
  if (pairs.empty()) return {};
  std::string text = "\nmost frequent confusions (gold -> predicted)\n";
  for (std::size_t r = 0; r < std::min(pairs.size(), kLongestList); ++r) {
    text +=
        fmt::format("{:>7}  {} -> {}\n", counts_[pairs[r]], name(pairs[r] / size_), name(pairs[r] % size_));
  }
  return text;
}

// As scikit-learn has them: over the classes that gold or predictions have, and 0 where there is nothing to
// divide by. Gold labels that training never saw are no class of their own, but predictions for them count.
void Confusion::report_classes(Evaluation& result) const {
  struct Class {
    std::string_view name;
    std::size_t gold = 0, predicted = 0, correct = 0;
    double precision = 0, recall = 0, f1 = 0;
  };
  const auto share = [](std::size_t part, std::size_t whole) {
    return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
  };
  std::vector<Class> classes;
  Class macro{"macro average"};
  for (std::uint32_t y = 0; y < size_; ++y) {
    Class here{labels_.name(y)};
    for (std::size_t other = 0; other < size_; ++other) here.gold += count(y, other);
    for (std::size_t gold = 0; gold <= size_; ++gold) here.predicted += count(gold, y);
    if (here.gold + here.predicted == 0) continue;
    here.correct = count(y, y);
    here.precision = share(here.correct, here.predicted);
    here.recall = share(here.correct, here.gold);
    here.f1 = share(2 * here.correct, here.gold + here.predicted);
    classes.push_back(here);
  }
  const auto mean = [&](double Class::*rate) {
    double sum = 0;
    for (const Class& one : classes) sum += one.*rate;
    return classes.empty() ? 0 : sum / static_cast<double>(classes.size());
  };
  macro.precision = mean(&Class::precision);
  macro.recall = mean(&Class::recall);
  macro.f1 = mean(&Class::f1);

  const auto rates = [](const Class& of) {
    return Json{{"precision", of.precision}, {"recall", of.recall}, {"f1", of.f1}};
  };
  result.report["macro"] = rates(macro);
  Json& report = result.report["classes"] = Json::object();
  for (const Class& one : classes) {
    Json& json = report[one.name] = rates(one);
    json.update({{"gold", one.gold}, {"predicted", one.predicted}, {"correct", one.correct}});
  }
  if (classes.empty()) return;

  std::size_t width = macro.name.size();
  for (const Class& one : classes) width = std::max(width, one.name.size());
  result.text +=
      fmt::format("\n{:{}}  precision    recall        F1       gold  predicted    correct\n", "", width);
  const auto add_row = [&](const Class& of) {
    result.text +=
        fmt::format("{:{}}  {:>7} %  {:>6} %  {:>6} %", of.name, width, percentage(100 * of.precision),
                    percentage(100 * of.recall), percentage(100 * of.f1));
  };
  add_row(macro);
  result.text += '\n';
  for (const Class& one : classes) {
    add_row(one);
    result.text += fmt::format("  {:>9}  {:>9}  {:>9}\n", grouped(one.gold), grouped(one.predicted),
                               grouped(one.correct));
  }
}

}  // namespace espalier
