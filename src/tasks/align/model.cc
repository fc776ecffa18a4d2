#include "tasks/align/model.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "espalier/base/error.h"
#include "features/as_kernel.h"
#include "features/graph_features.h"
#include "kernels/rows.h"
#include "tasks/common.h"

namespace espalier {

WeightShape AlignModel::weight_shape() const {
  const GraphTypeSize type{attributes.size(), 1, 1};
  return GraphWeights({&type, 1}).shape();
}

std::string AlignModel::describe() const {
  return fmt::format("at most {} per word, {}", counted(links, "link"),
                     counted(attributes.size(), "attribute"));
}

TaskSections AlignModel::sections() const {
  TaskSections sections;
  sections.settings["links"] = links;
  sections.settings["dictionary"] = scores.size() > 0;
  add_dictionary("attributes", attributes, sections);
  counts.add_to("counts", sections);
  if (scores.size() > 0) scores.add_to("scores", sections);
  return sections;
}

AlignModel AlignModel::load(const StoredTask& stored) {
  AlignModel model;
  const auto corrupt = [&](const std::string& found) {
    return Error::in(stored.file, found, "retrain the model");
  };
  model.links = stored.settings.at("links").get<std::size_t>();
  if (model.links == 0 || model.links > PairReader::kMostWords)
    throw corrupt(fmt::format("at most {} per word", counted(model.links, "link")));
  model.attributes = load_dictionary("attributes", stored);
  if (!PairAttributes::has_fixed(model.attributes))
    throw corrupt("attributes that begin otherwise than those of this version");
  if (stored.theta.shape != model.weight_shape())
    throw corrupt(fmt::format("{} x {} weights of {}", stored.theta.shape.rows, stored.theta.shape.width,
                              counted(model.attributes.size(), "attribute")));
  model.counts = WordPairs::load("counts", stored);
  if (stored.settings.at("dictionary").get<bool>()) model.scores = WordPairs::load("scores", stored);
  return model;
}

void score_pairs_of_words(const SparseRows& rows, std::size_t begin, WeightsView theta, std::span<double> s) {
  kernels::score_row_range(as_kernel(theta), as_kernel(rows.range(begin, begin + s.size())), 1.0, s.data());
}

void append_links(const Matching::Output& places, std::size_t targets, std::string& to) {
  for (std::size_t k = 0; k < places.size(); ++k)
    append_format(to, "{}{}-{}", k > 0 ? " " : "", places[k] / targets, places[k] % targets);
}

Matching::Output gold_matching(const SentencePair& pair, const Matching& matching,
                               std::span<const double> strengths, Workspace& ws) {
  // More than all that the others can differ by.
  const double one_more = 2 * static_cast<double>(pair.source.size() + pair.target.size());
  Workspace::Frame frame(ws);
  const auto s = frame.take<double>(pair.num_pairs());
  std::fill(s.begin(), s.end(), 0.0);
  for (const WordLink& link : pair.links) {
    const std::size_t e = pair.place(link);
    if (!link.sure) continue;
    s[e] = one_more * static_cast<double>(matching.most()) + strengths[e] -
           distance_from_diagonal(link.source, pair.source.size(), link.target, pair.target.size());
  }
  return matching.decode(std::span<const double>(s), ws);
}

std::optional<std::size_t> find_align_weight(const AlignModel& model, const WeightName& name) {
  if (!name.before.empty() || name.label != kLinkLabel) return std::nullopt;
  return model.attributes.find(name.attribute);
}

void AlignmentScores::add(const SentencePair& gold, std::span<const std::uint32_t> predicted) {
  std::size_t sure = 0, predicted_sure = 0, predicted_possible = 0;
  for (const WordLink& link : gold.links) {
    const bool found = std::binary_search(predicted.begin(), predicted.end(), gold.place(link));
    sure += link.sure ? 1 : 0;
    predicted_sure += found && link.sure ? 1 : 0;
    predicted_possible += found ? 1 : 0;
  }
  ++pairs_;
  right_ += predicted_sure == sure && predicted_possible == predicted.size() ? 1 : 0;
  predicted_ += predicted.size();
  sure_ += sure;
  possible_ += gold.links.size() - sure;
  predicted_sure_ += predicted_sure;
  predicted_possible_ += predicted_possible;
}

void AlignmentScores::add(const AlignmentScores& others) {
  pairs_ += others.pairs_;
  right_ += others.right_;
  predicted_ += others.predicted_;
  sure_ += others.sure_;
  possible_ += others.possible_;
  predicted_sure_ += others.predicted_sure_;
  predicted_possible_ += others.predicted_possible_;
}

Evaluation AlignmentScores::evaluation() const {
  // Of nothing, all is right.
  const auto share = [](std::size_t part, std::size_t whole) {
    return whole == 0 ? 1.0 : static_cast<double>(part) / static_cast<double>(whole);
  };
  const double precision = share(predicted_possible_, predicted_), recall = share(predicted_sure_, sure_);
  // AER = 1 - (|A and S| + |A and P|) / (|A| + |S|)
  const double aer = 1 - share(predicted_sure_ + predicted_possible_, predicted_ + sure_);
  const double whole = share(right_, pairs_);
  Evaluation result;
  result.rates = Json{{"aer", aer}, {"precision", precision}, {"recall", recall}, {"whole", whole}};
  result.report = result.rates;
  result.report["pairs"] = pairs_;
  result.report["predicted"] = predicted_;
  result.report["sure"] = sure_;
  result.report["possible"] = possible_;
  result.headline = fmt::format("AER {} %", percentage(100 * aer));
  result.text = fmt::format("{} (precision {} %, recall {} %)\n\n", result.headline,
                            percentage(100 * precision), percentage(100 * recall));
  const auto add_line = [&](const char* what, const std::string& value) {
    result.text += fmt::format("{:<28} {:>10}\n", what, value);
  };
  add_line("predicted links", grouped(predicted_));
  add_line("sure links", grouped(sure_));
  add_line("possible links", grouped(possible_));
  add_line("sentence pairs", grouped(pairs_));
  add_line("without an error", percentage(100 * whole) + " %");
  result.dev_error = aer;
  result.metric = "AER %";
  result.value = 100 * aer;
  return result;
}

}  // namespace espalier
