#include "report/learnt.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "report/attribute_templates.h"
#include "report/pixels.h"
#include "report/tallies.h"

namespace espalier {
namespace {

// How much of it a page has room for.
constexpr std::size_t kMostLabels = 40, kTopOfLabel = 15, kMostTemplates = 40, kTopOfTemplate = 12;
constexpr std::size_t kMostPixels = 30'000, kMostMatrices = 6, kMostSearched = 6000, kLabelsOfSearched = 8;
constexpr std::size_t kMostSearchedBytes = 500'000, kLongestName = 200;

// A few things of the largest keys; of equals the first.
template <class Value>
class Largest {
 public:
  explicit Largest(std::size_t most) : most_(most) {}

  bool wants(double key) const { return most_ > 0 && (heap_.size() < most_ || key > heap_.front().key); }
  void add(double key, Value value) {
    if (!wants(key)) return;
    heap_.push_back({key, seen_++, std::move(value)});
    std::ranges::push_heap(heap_, before);
    if (heap_.size() <= most_) return;
    std::ranges::pop_heap(heap_, before);
    heap_.pop_back();
  }
  // Largest first.
  std::vector<Value> take() {
    std::ranges::sort_heap(heap_, before);
    std::vector<Value> values;
    for (One& one : heap_) values.push_back(std::move(one.value));
    return values;
  }

 private:
  struct One {
    double key;
    std::size_t number;
    Value value;
  };
  static bool before(const One& a, const One& b) {
    return a.key != b.key ? a.key > b.key : a.number < b.number;
  }

  std::size_t most_, seen_ = 0;
  std::vector<One> heap_;
};

std::string shown(std::string_view name) {
  if (name.size() <= kLongestName) return std::string(name);
  return std::string(name.substr(0, kLongestName)) + "…";
}

// "arc 17" and "span 4" have numbers for names; rules of a grammar, "NP -> DT NN", have names.
constexpr std::string_view kRules = "(rules)";
std::string_view kind_of_hashed(std::string_view attribute) {
  return attribute.find(" -> ") != std::string_view::npos ? kRules : attribute.substr(0, attribute.find(' '));
}

// Absolute values by their order of magnitude.
class Magnitudes {
 public:
  void add(double weight) {
    if (weight == 0) {
      ++zeros_;
      return;
    }
    const double place = (std::log10(std::abs(weight)) - kFrom) * kPerDecade;
    ++counts_[static_cast<std::size_t>(std::clamp(std::floor(place), 0.0, kBins - 1.0))];
  }
  // {"edges", "counts", "zeros"}; the outermost bins have what is beyond them, too.
  Json json() const {
    const auto nonzero = [](std::size_t count) { return count > 0; };
    const auto first = std::ranges::find_if(counts_, nonzero) - counts_.begin();
    const auto last = std::find_if(counts_.rbegin(), counts_.rend(), nonzero).base() - counts_.begin();
    Json edges = Json::array(), counts = Json::array();
    for (auto k = first; k < last; ++k) {
      edges.push_back(edge(k));
      counts.push_back(counts_[static_cast<std::size_t>(k)]);
    }
    if (first < last) edges.push_back(edge(last));
    return {{"edges", edges}, {"counts", counts}, {"zeros", zeros_}};
  }

 private:
  static constexpr double kFrom = -8, kPerDecade = 4;
  static constexpr std::size_t kBins = 44;  // up to 1e3
  static Json edge(std::ptrdiff_t k) {
    return short_json(std::pow(10, kFrom + static_cast<double>(k) / kPerDecade));
  }

  std::array<std::size_t, kBins> counts_{};
  std::size_t zeros_ = 0;
};

using Named = std::pair<std::string, float>;

struct OfLabel {
  Largest<Named> positive{kTopOfLabel}, negative{kTopOfLabel};
  double squares = 0;
};

struct OfTemplate {
  std::size_t attributes = 0, weights = 0, nonzero = 0;
  double squares = 0;
  struct Heavy {
    std::string attribute;
    std::vector<std::uint32_t> labels;  // one, or those before it, too
    float weight;
  };
  Largest<Heavy> heaviest{kTopOfTemplate};
};

struct LabelWeight {
  std::uint32_t label;
  float weight;
};
struct Searched {
  std::string attribute;
  std::vector<LabelWeight> weights;
};
struct StepWeight {
  std::uint32_t before, label;
  float weight;
};
struct Matrix {
  std::string attribute;
  std::vector<StepWeight> weights;
};

// Weights one after the other; those of an attribute follow each other.
class WeightSurvey {
 public:
  WeightSurvey(bool hashed, bool graph) : hashed_(hashed), graph_(graph) {}

  void add(const WeightName& name, float weight) {
    if (name.attribute != attribute_ || name.before.size() != depth_ || !any_) begin_attribute(name);
    ++weights_;
    nonzero_ += weight != 0 ? 1 : 0;
    magnitudes_.add(weight);
    ++current_->weights;
    if (weight == 0) return;
    ++current_->nonzero;
    const double square = double{weight} * weight;
    current_->squares += square;
    if (hashed_ && !rule_) return;
    const std::uint32_t label = labels_.add(name.label);
    if (labels_.size() > of_labels_.size()) of_labels_.emplace_back();
    const auto heavy = [&] {
      std::vector<std::uint32_t> labels;
      for (const std::string_view before : name.before) labels.push_back(id_of(before));
      labels.push_back(label);
      return OfTemplate::Heavy{shown(name.attribute), labels, weight};
    };
    if (current_->heaviest.wants(std::abs(weight))) current_->heaviest.add(std::abs(weight), heavy());
    if (name.before.empty()) {
      OfLabel& of = of_labels_[label];
      of.squares += square;
      Largest<Named>& list = weight > 0 ? of.positive : of.negative;
      if (list.wants(std::abs(weight))) list.add(std::abs(weight), {shown(name.attribute), weight});
      of_attribute_.push_back({label, weight});
    } else if (name.before.size() == 1) {
      steps_.push_back({id_of(name.before[0]), label, weight});
    }
  }

  Json json(const Json& shares) {
    end_attribute();
    Json learnt{{"weights", {{"all", weights_}, {"nonzero", nonzero_}, {"histogram", magnitudes_.json()}}}};
    Json& names = learnt["labels"] = Json::array();
    for (std::uint32_t y = 0; y < labels_.size(); ++y) names.push_back(labels_.name(y));
    learnt["attributes"] = attributes_;
    add_templates(shares, learnt);
    if (!hashed_) add_strongest(learnt);
    add_transitions(learnt);
    if (!hashed_) add_search(learnt);
    return learnt;
  }

 private:
  std::uint32_t id_of(std::string_view label) {
    const std::uint32_t id = labels_.add(label);
    if (labels_.size() > of_labels_.size()) of_labels_.emplace_back();
    return id;
  }

  void begin_attribute(const WeightName& name) {
    end_attribute();
    any_ = true;
    attribute_ = name.attribute;
    depth_ = name.before.size();
    std::string_view of = depth_ > 0 && !graph_ ? kTransitionTemplate
                          : hashed_             ? kind_of_hashed(attribute_)
                          : graph_              ? graph_template(attribute_)
                                                : template_parts(attribute_).name;
    if (of.empty()) of = kNoTemplate;
    rule_ = of == kRules;
    current_ = &templates_[std::string(of)];
    ++current_->attributes;
    ++attributes_;
  }

  void end_attribute() {
    if (!any_) return;
    double squares = 0;
    for (const LabelWeight& one : of_attribute_) squares += double{one.weight} * one.weight;
    if (!hashed_ && squares > 0 && searched_.wants(squares)) {
      std::ranges::stable_sort(of_attribute_, [](const LabelWeight& a, const LabelWeight& b) {
        return std::abs(a.weight) > std::abs(b.weight);
      });
      of_attribute_.resize(std::min(of_attribute_.size(), kLabelsOfSearched));
      searched_.add(squares, {shown(attribute_), of_attribute_});
    }
    num_searchable_ += squares > 0 ? 1 : 0;
    double steps = 0;
    for (const StepWeight& one : steps_) steps += double{one.weight} * one.weight;
    if (steps > 0 && matrices_.wants(steps)) matrices_.add(steps, {shown(attribute_), steps_});
    of_attribute_.clear();
    steps_.clear();
  }

  void add_templates(const Json& shares, Json& learnt) {
    double all = 0;
    std::vector<std::pair<double, std::string>> order;
    for (const auto& [name, of] : templates_) {
      all += of.squares;
      order.emplace_back(-of.squares, name);
    }
    std::ranges::sort(order);
    Json& list = learnt["templates"] = Json::array();
    for (const auto& [ignored, name] : order) {
      if (list.size() == kMostTemplates) break;
      OfTemplate& of = templates_[name];
      Json one{{"name", shown(name)},
               {"attributes", of.attributes},
               {"weights", of.weights},
               {"nonzero", of.nonzero},
               {"squares", short_json(all > 0 ? of.squares / all : 0)}};
      if (!shares.is_null() && !hashed_) one["share"] = shares.at("shares").value(name, 0.0);
      Json& heaviest = one["strongest"] = Json::array();
      for (const OfTemplate::Heavy& heavy : of.heaviest.take())
        heaviest.push_back(Json::array({heavy.attribute, heavy.labels, short_json(heavy.weight)}));
      list.push_back(one);
    }
    learnt["templates_left_out"] = order.size() - list.size();
    if (shares.is_null()) return;
    learnt["share_examples"] = shares.at("examples");
    if (hashed_) learnt["shares"] = shares.at("shares");
  }

  void add_strongest(Json& learnt) {
    std::vector<std::uint32_t> order;
    for (std::uint32_t y = 0; y < of_labels_.size(); ++y) {
      if (of_labels_[y].squares > 0) order.push_back(y);
    }
    std::ranges::stable_sort(order,
                             [&](auto a, auto b) { return of_labels_[a].squares > of_labels_[b].squares; });
    order.resize(std::min(order.size(), kMostLabels));
    std::ranges::sort(order);
    Json& list = learnt["strongest"] = Json::array();
    const auto named = [](std::vector<Named> all) {
      Json json = Json::array();
      for (const Named& one : all) json.push_back(Json::array({one.first, short_json(one.second)}));
      return json;
    };
    for (const std::uint32_t y : order) {
      OfLabel& of = of_labels_[y];
      list.push_back(
          {{"label", y}, {"positive", named(of.positive.take())}, {"negative", named(of.negative.take())}});
    }
  }

  // Of each attribute of steps, the labels that have the heaviest weights.
  void add_transitions(Json& learnt) {
    Json list = Json::array();
    for (const Matrix& matrix : matrices_.take()) {
      std::map<std::uint32_t, double> squares;
      for (const StepWeight& one : matrix.weights) {
        const double square = double{one.weight} * one.weight;
        squares[one.before] += square;
        squares[one.label] += square;
      }
      std::vector<std::uint32_t> shown_labels;
      shown_labels.reserve(squares.size());
      for (const auto& [label, ignored] : squares) shown_labels.push_back(label);
      std::ranges::stable_sort(shown_labels, [&](auto a, auto b) { return squares[a] > squares[b]; });
      const std::size_t left_out = shown_labels.size() - std::min(shown_labels.size(), kMostLabels);
      shown_labels.resize(shown_labels.size() - left_out);
      std::ranges::sort(shown_labels);
      std::map<std::uint32_t, std::size_t> place;
      for (const std::uint32_t label : shown_labels) place.emplace(label, place.size());
      std::vector<std::vector<Json>> values(shown_labels.size(), std::vector<Json>(shown_labels.size()));
      for (const StepWeight& one : matrix.weights) {
        const auto row = place.find(one.before), column = place.find(one.label);
        if (row != place.end() && column != place.end())
          values[row->second][column->second] = short_json(one.weight);
      }
      list.push_back({{"attribute", matrix.attribute},
                      {"labels", shown_labels},
                      {"left_out", left_out},
                      {"values", values}});
    }
    if (!list.empty()) learnt["transitions"] = list;
  }

  void add_search(Json& learnt) {
    Json list = Json::array();
    std::size_t bytes = 0;
    for (const Searched& one : searched_.take()) {
      Json weights = Json::array();
      for (const LabelWeight& of : one.weights)
        weights.push_back(Json::array({of.label, short_json(of.weight, 3)}));
      Json entry = Json::array({one.attribute, weights});
      bytes += entry.dump().size();
      if (bytes > kMostSearchedBytes) break;
      list.push_back(std::move(entry));
    }
    learnt["search"] = {{"all", num_searchable_}, {"attributes", list}};
  }

  bool hashed_;  // weights have numbers, not names
  bool graph_;   // weights of cliques have templates, as those of nodes do
  bool any_ = false, rule_ = false;
  std::string attribute_;
  std::size_t depth_ = 0, attributes_ = 0, weights_ = 0, nonzero_ = 0, num_searchable_ = 0;
  Magnitudes magnitudes_;
  Dictionary labels_;
  std::vector<OfLabel> of_labels_;
  std::unordered_map<std::string, OfTemplate> templates_;
  OfTemplate* current_ = nullptr;
  std::vector<LabelWeight> of_attribute_;
  std::vector<StepWeight> steps_;
  Largest<Searched> searched_{kMostSearched};
  Largest<Matrix> matrices_{kMostMatrices};
};

// The weights of pixels, as a picture for each label.
Json pictures_of(const Predictor& predictor) {
  const auto grid = find_pixels(predictor.attributes());
  const Dictionary& labels = predictor.labels();
  if (!grid || grid->rows * grid->columns * labels.size() > kMostPixels) return nullptr;
  std::vector<std::vector<Json>> values(labels.size(), std::vector<Json>(grid->rows * grid->columns, 0));
  predictor.for_each_weight([&](const WeightName& name, float weight) {
    const auto place = pixel_place(name.attribute);
    const auto label = labels.find(name.label);
    if (place && label) values[*label][place->first * grid->columns + place->second] = short_json(weight, 3);
  });
  return {{"rows", grid->rows}, {"columns", grid->columns}, {"values", values}};
}

}  // namespace

Json learnt_of(const Model& model, const std::string& data) {
  const Predictor& predictor = model.predictor();
  WeightSurvey survey(predictor.attributes().size() == 0, model.info().task == "graph");
  predictor.for_each_weight([&](const WeightName& name, float weight) { survey.add(name, weight); });
  Json learnt = survey.json(data.empty() ? Json() : template_shares(model, data));
  if (model.info().task == "classify" && !model.describe().at("settings").contains("kernel")) {
    const Json pictures = pictures_of(predictor);
    if (!pictures.is_null()) learnt["pictures"] = pictures;
  }
  return learnt;
}

}  // namespace espalier
