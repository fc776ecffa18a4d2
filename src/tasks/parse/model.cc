#include "tasks/parse/model.h"

#include <fmt/format.h>

#include <algorithm>

#include "espalier/base/error.h"
#include "tasks/common.h"

namespace espalier {

void append_atoms(const DependencySentence& sentence, std::vector<WordAtoms>& words) {
  for (const DependencyWord& word : sentence.words)
    words.push_back(word_atoms(word.form, word.lemma, word.coarse, word.fine, word.feats));
}

std::size_t ArcPruner::choose(std::span<const WordAtoms> words, std::span<const std::uint32_t> gold,
                              std::vector<std::uint32_t>& offsets, std::vector<std::uint16_t>& heads,
                              Workspace& ws, const ArcSet* possible) const {
  Workspace::Frame frame(ws);
  const std::size_t m = words.size();
  const ArcSet all = possible != nullptr ? *possible : ArcSet(m);
  const DependencyTree tree(all, shape);
  const auto s = frame.take<double>(all.size()), mu = frame.take<double>(all.size());
  const auto best = frame.take<std::uint32_t>(m), labels = frame.take<std::uint32_t>(m),
             order = frame.take<std::uint32_t>(m);
  features.score(words, all, w, 1.0, s, ws);
  tree.log_partition(s, mu, ws);
  tree.decode_into(std::span<const double>(s), best, labels, ws);
  offsets.assign(1, 0);
  heads.clear();
  std::size_t missed = 0;
  for (std::size_t d = 1; d <= m; ++d) {
    const double* of_word = mu.data() + all.begin(d);
    const std::size_t count = all.end(d) - all.begin(d), kept = std::min(most, count);
    for (std::size_t k = 0; k < count; ++k) order[k] = static_cast<std::uint32_t>(k);
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept),
                      order.begin() + static_cast<std::ptrdiff_t>(count),
                      [&](std::uint32_t a, std::uint32_t b) {
                        return of_word[a] != of_word[b] ? of_word[a] > of_word[b] : a < b;
                      });
    const std::size_t first = heads.size();
    const auto add = [&](std::size_t h) {
      const auto head = static_cast<std::uint16_t>(h);
      if (std::find(heads.begin() + static_cast<std::ptrdiff_t>(first), heads.end(), head) != heads.end())
        return false;
      heads.push_back(head);
      return true;
    };
    for (std::size_t r = 0; r < kept && of_word[order[r]] >= below * of_word[order[0]]; ++r)
      add(all.head(all.begin(d) + order[r], d));
    add(best[d - 1]);
    if (!gold.empty() && add(gold[d - 1])) ++missed;
    std::sort(heads.begin() + static_cast<std::ptrdiff_t>(first), heads.end());
    offsets.push_back(static_cast<std::uint32_t>(heads.size()));
  }
  return missed;
}

std::optional<ArcPruner> ParseModel::make_pruner() const {
  if (pruner.empty()) return std::nullopt;
  TreeShape unlabelled = shape;
  unlabelled.num_labels = 1;
  return ArcPruner{unlabelled, DependencyFeatures(bits, 0, 1), pruner.data(), prune_below, most_heads};
}

TaskSections ParseModel::sections() const {
  TaskSections sections;
  sections.settings["structure"] = shape.projective ? "projective" : "nonprojective";
  sections.settings["order"] = second_order ? 2 : 1;
  if (second_order && !shape.projective)
    sections.settings["inference"] = shape.inference == TreeInference::trw ? "trw" : "bp";
  sections.settings["single_root"] = shape.single_root;
  sections.settings["longest"] = longest;
  sections.settings["hash_bits"] = bits;
  sections.settings["relation_bits"] = relation_bits;
  sections.settings["labelled"] = labelled();
  sections.settings["pruned"] = !pruner.empty();
  if (labelled()) add_dictionary("relations", relations, sections);
  if (!pruner.empty()) {
    sections.settings["prune_below"] = prune_below;
    sections.settings["most_heads"] = most_heads;
    sections.arrays.emplace_back("pruner", as_bytes(pruner));
  }
  return sections;
}

ParseModel ParseModel::load(const StoredTask& stored) {
  ParseModel model;
  const auto structure = stored.settings.at("structure").get<std::string>();
  const int order = stored.settings.at("order").get<int>();
  model.shape.projective = structure == "projective";
  // Models of before there was a choice were trained with bp.
  const auto inference = stored.settings.value("inference", std::string("bp"));
  model.shape.inference = inference == "trw" ? TreeInference::trw : TreeInference::bp;
  model.shape.single_root = stored.settings.at("single_root").get<bool>();
  model.second_order = order == 2;
  model.longest = stored.settings.value("longest", kLongestParsed[model.second_order ? 1 : 0]);
  model.bits = stored.settings.at("hash_bits").get<unsigned>();
  model.relation_bits = stored.settings.at("relation_bits").get<unsigned>();
  const auto corrupt = [&](const std::string& found) {
    return Error::in(stored.file, found, "retrain the model");
  };
  if ((!model.shape.projective && structure != "nonprojective") || order < 1 || order > 2)
    throw corrupt(fmt::format("the structure {} of order {}", in_quotes(structure), order));
  if (inference != "trw" && inference != "bp")
    throw corrupt(fmt::format("inference {}", in_quotes(inference)));
  // As the options have it: places of words have 16 bits.
  if (model.longest == 0 || model.longest > 65535)
    throw corrupt(fmt::format("pieces of {} words", model.longest));
  const auto check_bits = [&](unsigned least_of_relations) {
    if (model.bits >= 4 && model.bits <= 31 && model.relation_bits >= least_of_relations &&
        model.relation_bits <= 30)
      return;
    throw corrupt(fmt::format("2^{} weights of arcs and 2^{} of relations", model.bits, model.relation_bits));
  };
  check_bits(0);
  if (stored.settings.at("labelled").get<bool>()) {
    model.relations = load_dictionary("relations", stored);
    if (model.relations.size() == 0) throw corrupt("no relations");
    model.shape.num_labels = model.relations.size();
    if (model.shape.num_labels > 1) check_bits(1);
  }
  if (stored.theta.shape != model.features().weight_shape())
    throw corrupt(fmt::format("{} x {} weights for {} relations", stored.theta.shape.rows,
                              stored.theta.shape.width, model.relations.size()));
  if (stored.settings.at("pruned").get<bool>()) {
    model.prune_below = stored.settings.at("prune_below").get<double>();
    model.most_heads = stored.settings.at("most_heads").get<std::size_t>();
    if (model.most_heads == 0 || !(model.prune_below >= 0 && model.prune_below <= 1)) {
      throw corrupt(fmt::format("words of {} heads, each of {} of the best one's probability",
                                model.most_heads, model.prune_below));
    }
    model.pruner = as_numbers<float>(stored.array("pruner"), "pruner", stored.file);
    if (model.pruner.size() != std::size_t{1} << model.bits)
      throw corrupt(fmt::format("{} weights for pruning", model.pruner.size()));
  }
  return model;
}

}  // namespace espalier
