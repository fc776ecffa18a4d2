// A score is the sum of what the templates contribute: s(y) = sum_k c_k(y). With both centred over labels,
// sum_y s(y)^2 = sum_k sum_y c_k(y) s(y), so that the shares
//   share_k = sum c_k(y) s(y) / sum s(y)^2
// over all tokens and labels add up to 1: how much of the variance is gone without the template.

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "espalier/tasks/classify.h"
#include "espalier/tasks/graph.h"
#include "espalier/tasks/parse.h"
#include "espalier/tasks/tag.h"
#include "espalier/tasks/treebank.h"
#include "report/attribute_templates.h"
#include "report/learnt.h"
#include "report/tallies.h"
#include "tasks/graph/reader.h"

namespace espalier {
namespace {

constexpr std::size_t kMostContributions = 3'000'000;  // that are looked at

class Shares {
 public:
  void add(std::string_view name, std::size_t label, double contribution) {
    if (name.empty()) name = kNoTemplate;
    auto found = templates_.find(name);
    if (found == templates_.end()) found = templates_.emplace(name, Template{}).first;
    std::vector<double>& of_labels = found->second.contributions;
    if (label >= of_labels.size()) of_labels.resize(label + 1);
    of_labels[label] += contribution;
    ++contributions_;
  }
  bool full() const { return contributions_ > kMostContributions; }

  // Ends a token, an example or a node, whose labels are the first of them.
  void finish(std::size_t num_labels) {
    std::vector<double> score(num_labels);
    for (auto& [name, one] : templates_) {
      one.contributions.resize(num_labels);
      double mean = 0;
      for (std::size_t y = 0; y < num_labels; ++y)
        mean += one.contributions[y] / static_cast<double>(num_labels);
      for (std::size_t y = 0; y < num_labels; ++y) score[y] += one.contributions[y] -= mean;
    }
    for (auto& [name, one] : templates_) {
      for (std::size_t y = 0; y < num_labels; ++y) one.covariance += one.contributions[y] * score[y];
      one.contributions.clear();
    }
    for (const double s : score) variance_ += s * s;
    ++examples_;
  }

  Json json() const {
    if (variance_ == 0) return nullptr;
    Json shares = Json::object();
    for (const auto& [name, one] : templates_) shares[name] = short_json(one.covariance / variance_);
    return {{"examples", examples_}, {"shares", shares}};
  }

 private:
  struct Template {
    std::vector<double> contributions;  // to each label, of this token
    double covariance = 0;
  };
  std::size_t contributions_ = 0, examples_ = 0;
  std::map<std::string, Template, std::less<>> templates_;
  double variance_ = 0;
};

Json shares_of_tags(const Tagger& tagger, const std::string& data) {
  Shares shares;
  tagger.for_each_labelled(data, [&](Tagger::Sentence& sentence, const Tagger::Labelled&) {
    const auto best = sentence.labels();
    std::vector<std::uint32_t> labels(best.begin(), best.end());
    for (std::size_t t = 0; t < labels.size() && !shares.full(); ++t) {
      const std::uint32_t predicted = labels[t];
      for (std::uint32_t y = 0; y < tagger.num_labels(); ++y) {
        labels[t] = y;  // after the label that is predicted before it
        sentence.for_each_contribution(t, labels, [&](const Tagger::Sentence::Contribution& of) {
          shares.add(of.before.empty() ? template_parts(of.attribute).name : kTransitionTemplate, y,
                     of.value * of.weight);
        });
      }
      labels[t] = predicted;
      shares.finish(tagger.num_labels());
    }
    return !shares.full();
  });
  return shares.json();
}

Json shares_of_classes(const Model& model, const std::string& data) {
  const Classifier& classifier = model.classifier();
  const Predictor& predictor = model.predictor();
  Shares shares;
  classifier.for_each_labelled(data, [&](const Classifier::Labelled& example) {
    for (std::size_t j = 0; j < example.attributes.size(); ++j) {
      const std::string_view attribute = predictor.attributes().name(example.attributes[j]);
      const double value = example.values.empty() ? 1 : example.values[j];
      for (std::uint32_t y = 0; y < classifier.num_labels(); ++y) {
        if (const auto weight = predictor.find_weight({attribute, {}, classifier.label(y)}))
          shares.add(template_parts(attribute).name, y, value * *weight);
      }
    }
    shares.finish(classifier.num_labels());
    return !shares.full();
  });
  return shares.json();
}

// What the features of a node or clique contribute to the scores of the labels of node v, beside the labels
// that are predicted of the clique's other nodes: `names` has them all, and one place of it is v's.
void add_features(const Predictor& predictor, GraphLabeller::Graph& graph, std::size_t v,
                  std::string_view type, const std::optional<LabelledGraph::Features>& given,
                  std::vector<std::string_view>& names, std::size_t place, Shares& shares) {
  static const LabelledGraph::Features constant{{std::string(kConstantFeature), 1}};
  const std::string_view predicted = names[place];
  for (const auto& [feature, value] : given ? *given : constant) {
    const std::string attribute = std::string(type) + ':' + feature;
    for (std::uint32_t y = 0; y < graph.num_labels(v); ++y) {
      names[place] = graph.label(v, y);
      if (const auto weight =
              predictor.find_weight({attribute, std::span(names).first(names.size() - 1), names.back()}))
        shares.add(graph_template(attribute), y, value * *weight);
    }
  }
  names[place] = predicted;
}

Json shares_of_graphs(const Model& model, const std::string& data) {
  const Predictor& predictor = model.predictor();
  GraphLabeller::Graph graph(model.graph_labeller());
  Shares shares;
  GraphTypes types;
  GraphReader reader(data, {true, model.describe().at("settings").value("nodes_only", false)}, types);
  for (GraphRecord record; !shares.full() && reader.next(record);) {
    const LabelledGraph& read = reader.graph();
    graph.set(read);
    const auto best = graph.labels();
    std::vector<std::string_view> predicted;
    for (std::size_t v = 0; v < best.size(); ++v) predicted.push_back(graph.label(v, best[v]));
    std::vector<std::vector<std::size_t>> cliques_of(best.size());
    for (std::size_t c = 0; c < read.cliques.size(); ++c) {
      for (const std::uint32_t v : read.cliques[c].nodes) cliques_of[v].push_back(c);
    }
    std::vector<std::string_view> names;
    for (std::size_t v = 0; v < best.size(); ++v) {
      names = {predicted[v]};
      add_features(predictor, graph, v, read.nodes[v].type, read.nodes[v].features, names, 0, shares);
      for (const std::size_t c : cliques_of[v]) {
        const LabelledGraph::Clique& clique = read.cliques[c];
        names.clear();
        for (const std::uint32_t node : clique.nodes) names.push_back(predicted[node]);
        const auto place = std::ranges::find(clique.nodes, v) - clique.nodes.begin();
        add_features(predictor, graph, v, clique.type, clique.features, names,
                     static_cast<std::size_t>(place), shares);
      }
      shares.finish(graph.num_labels(v));
    }
  }
  return shares.json();
}

// What a word chooses from: its heads, each with the best relation to it, and the relations to the predicted
// one.
void add_word(std::span<const Parser::Sentence::Contribution> contributions, std::uint32_t predicted,
              std::size_t num_relations, Shares& shares) {
  std::vector<std::uint32_t> heads;
  std::vector<double> scores;  // of each head and relation
  const auto number_of = [&](std::uint32_t head) {
    const auto found = std::ranges::find(heads, head);
    if (found == heads.end()) {
      heads.push_back(head);
      scores.resize(heads.size() * num_relations);
      return heads.size() - 1;
    }
    return static_cast<std::size_t>(found - heads.begin());
  };
  for (const Parser::Sentence::Contribution& one : contributions) {
    if (one.relation)
      scores[number_of(one.head) * num_relations + *one.relation] += one.weight;
    else
      number_of(one.head);
  }
  std::vector<std::size_t> best;
  for (std::size_t h = 0; h < heads.size(); ++h) {
    const auto of_head = std::span(scores).subspan(h * num_relations, num_relations);
    best.push_back(static_cast<std::size_t>(std::ranges::max_element(of_head) - of_head.begin()));
  }
  for (const Parser::Sentence::Contribution& one : contributions) {
    const std::size_t h = number_of(one.head);
    if (one.relation.value_or(best[h]) == best[h]) shares.add(one.feature, h, one.weight);
  }
  shares.finish(heads.size());
  if (num_relations == 1) return;
  for (const Parser::Sentence::Contribution& one : contributions) {
    if (one.relation && one.head == predicted) shares.add(one.feature, *one.relation, one.weight);
  }
  shares.finish(num_relations);
}

Json shares_of_arcs(const Model& model, const std::string& data) {
  constexpr std::size_t kLongest = 60;  // words: all that is added up of a sentence is in memory
  const Parser& parser = model.parser();
  Parser::Sentence parsed(parser);
  Shares shares;
  std::vector<std::vector<Parser::Sentence::Contribution>> of_words;
  for (const DependencySentence& sentence : read_dependencies(data, true)) {
    if (shares.full()) break;
    parsed.set(sentence);
    if (parsed.size() > kLongest || parsed.pieces() > 1) continue;
    const auto best = parsed.heads();
    const std::vector<std::uint32_t> heads(best.begin(), best.end());
    of_words.assign(heads.size(), {});
    parsed.for_each_contribution(1, heads.size(), [&](const Parser::Sentence::Contribution& one) {
      of_words[one.word - 1].push_back(one);
    });
    for (std::size_t i = 0; i < heads.size(); ++i)
      add_word(of_words[i], heads[i], std::max<std::size_t>(parser.num_relations(), 1), shares);
  }
  return shares.json();
}

// Each span, split and word with a choice of tags chooses among labels.
Json shares_of_phrases(const Model& model, const std::string& data) {
  using Contribution = TreebankParser::Sentence::Contribution;
  const Json settings = model.describe().at("settings");
  TreebankParser::Sentence parsed(model.treebank_parser());
  TreebankData trees;
  trees.read(data);
  Shares shares;
  std::vector<TaggedWord> words;
  for (std::size_t i = 0; i < trees.size() && !shares.full(); ++i) {
    BracketTree tree = trees.tree(i);
    if (!settings.at("traces").get<bool>() && !remove_traces(tree)) continue;
    words.clear();
    append_words(tree, words);
    parsed.set(words);
    if (parsed.pieces() > 1) continue;
    std::tuple<std::size_t, std::size_t, std::string_view> place;
    std::vector<std::string_view> labels;
    const auto finish = [&] {
      if (!labels.empty()) shares.finish(labels.size());
      labels.clear();
    };
    parsed.for_each_contribution([&](const Contribution& one) {
      const std::size_t colon = one.feature.find(':');
      if (colon == std::string_view::npos) return;  // a rule, which stands anywhere
      if (const std::tuple of{one.begin, one.end, one.feature.substr(0, colon)}; of != place) {
        finish();
        place = of;
      }
      const auto found = std::ranges::find(labels, one.label);
      const auto label = static_cast<std::size_t>(found - labels.begin());
      if (found == labels.end()) labels.push_back(one.label);
      shares.add(one.feature, label, one.weight);
    });
    finish();
  }
  return shares.json();
}

}  // namespace

Json template_shares(const Model& model, const std::string& data) {
  if (model.describe().at("settings").contains("kernel")) return nullptr;
  if (model.info().task == "tag") return shares_of_tags(model.tagger(), data);
  if (model.info().task == "classify") return shares_of_classes(model, data);
  if (model.info().task == "graph") return shares_of_graphs(model, data);
  if (model.info().task == "parse") return shares_of_arcs(model, data);
  if (model.info().task == "treebank") return shares_of_phrases(model, data);
  return nullptr;
}

}  // namespace espalier
