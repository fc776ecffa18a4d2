#include "model/model_difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "espalier/base/error.h"

namespace espalier {
namespace {
using Change = ModelDifference::Change;

constexpr std::string_view kTransitions = "transitions";

float size(const Change& change) { return std::abs(change.second - change.first); }

// The largest of many changes, in the memory of a few.
class LargestChanges {
 public:
  LargestChanges(std::string name, std::size_t top) : group_{std::move(name), {}}, top_(top) {}

  const std::string& name() const { return group_.name; }
  void add(const WeightName& name, float first, float second) {
    if (top_ == 0 || !(std::abs(second - first) > least_)) return;
    Change change{std::string(name.attribute), "", std::string(name.label), first, second};
    for (const std::string_view label : name.before) {
      change.before += change.before.empty() ? "" : " ";
      change.before += label;
    }
    group_.changes.push_back(std::move(change));
    if (group_.changes.size() >= 2 * top_) prune();
  }
  ModelDifference::Group finish() {
    prune();
    return std::move(group_);
  }

 private:
  // Sorts stably, so that of equals those that came first stay.
  void prune() {
    auto& changes = group_.changes;
    std::stable_sort(changes.begin(), changes.end(),
                     [](const Change& a, const Change& b) { return size(a) > size(b); });
    if (changes.size() < top_) return;
    changes.resize(top_);
    least_ = size(changes.back());
  }

  ModelDifference::Group group_;
  std::size_t top_;
  float least_ = 0;
};

class Groups {
 public:
  explicit Groups(std::size_t top) : top_(top) {}
  void add(const WeightName& name, float first, float second) { group(name).add(name, first, second); }
  std::vector<ModelDifference::Group> finish() {
    std::vector<ModelDifference::Group> result;
    for (LargestChanges& group : groups_) {
      if (ModelDifference::Group finished = group.finish(); !finished.changes.empty()) {
        result.push_back(std::move(finished));
      }
    }
    // A label may be called "transitions", too: the group of that name that comes last is theirs.
    if (ModelDifference::Group finished = transitions_.finish(); !finished.changes.empty()) {
      result.push_back(std::move(finished));
    }
    return result;
  }

 private:
  LargestChanges& group(const WeightName& name) {
    if (!name.before.empty()) return transitions_;
    const auto [entry, is_new] = ids_.try_emplace(std::string(name.label), groups_.size());
    if (is_new) groups_.emplace_back(std::string(name.label), top_);
    return groups_[entry->second];
  }

  std::size_t top_;
  std::unordered_map<std::string, std::size_t> ids_;
  std::vector<LargestChanges> groups_;
  LargestChanges transitions_{std::string(kTransitions), top_};
};

Json settings_of(const Model& model) {
  const Json all = model.describe();
  Json settings{{"loss", all.at("loss")}, {"l2", all.value("l2", Json())}, {"solver", all.at("solver")}};
  if (all.contains("l1")) settings["l1"] = all.at("l1");
  settings.update(all.at("settings"));
  return settings;
}

std::vector<ModelDifference::Setting> compare_settings(const Json& first, const Json& second) {
  std::vector<ModelDifference::Setting> different;
  for (const auto& [name, value] : first.items()) {
    const Json other = second.contains(name) ? second.at(name) : Json();
    if (value != other) different.push_back({name, value, other});
  }
  for (const auto& [name, value] : second.items()) {
    if (!first.contains(name)) different.push_back({name, Json(), value});
  }
  return different;
}

std::vector<std::string> names_only_in(const Dictionary& names, const Dictionary& others) {
  std::vector<std::string> only;
  for (std::uint32_t id = 0; id < names.size(); ++id) {
    if (!others.find(names.name(id))) only.emplace_back(names.name(id));
  }
  return only;
}

double squared(double x) { return x * x; }

}  // namespace

ModelDifference compare_models(const Model& first, const Model& second, std::size_t top) {
  if (first.info().task != second.info().task) {
    throw Error(fmt::format("{}: a model of {} and one of {}; expected two of one task", setting("diff"),
                            first.info().task, second.info().task));
  }
  for (const Model* model : {&first, &second}) {
    if (model->describe().at("settings").contains("kernel"))
      throw Error::in(setting("diff"), "a model with a kernel, whose coefficients have no names",
                      "expected two without");
  }
  const Predictor &a = first.predictor(), &b = second.predictor();
  ModelDifference difference;
  const auto hash_bits = [](const Model& model) {
    return model.describe().at("settings").value("hash_bits", 0);
  };
  if (hash_bits(first) != hash_bits(second)) {
    throw Error(
        fmt::format("{}: models with {} {} and {}, whose weights are not of the same features; "
                    "expected two with the same",
                    setting("diff"), setting("hash_bits"), hash_bits(first), hash_bits(second)));
  }
  difference.hashed = hash_bits(first) > 0;
  difference.settings = compare_settings(settings_of(first), settings_of(second));
  difference.labels_only_first = names_only_in(a.labels(), b.labels());
  difference.labels_only_second = names_only_in(b.labels(), a.labels());
  difference.attributes_first = a.attributes().size();
  difference.attributes_second = b.attributes().size();
  for (std::uint32_t id = 0; id < a.attributes().size(); ++id) {
    difference.attributes_common += b.attributes().find(a.attributes().name(id)) ? 1 : 0;
  }

  Groups groups(top);
  double norm_a = 0, norm_b = 0, norm_difference = 0;
  a.for_each_weight([&](const WeightName& name, float weight) {
    const float other = b.find_weight(name).value_or(0.0f);
    norm_a += squared(weight);
    norm_difference += squared(static_cast<double>(other) - weight);
    groups.add(name, weight, other);
  });
  b.for_each_weight([&](const WeightName& name, float weight) {
    norm_b += squared(weight);
    if (a.find_weight(name)) return;
    norm_difference += squared(weight);
    groups.add(name, 0, weight);
  });
  difference.norm_first = std::sqrt(norm_a);
  difference.norm_second = std::sqrt(norm_b);
  difference.norm_of_difference = std::sqrt(norm_difference);
  difference.groups = groups.finish();
  return difference;
}

}  // namespace espalier
