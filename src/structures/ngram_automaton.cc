#include "structures/ngram_automaton.h"

#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "kernels/chain.h"

namespace espalier {
namespace {

using Labels = std::vector<std::uint32_t>;

struct ShorterFirst {
  bool operator()(const Labels& a, const Labels& b) const {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  }
};

Labels without_last(const Labels& labels) { return {labels.begin(), labels.end() - 1}; }
Labels without_first(const Labels& labels) { return {labels.begin() + 1, labels.end()}; }

}  // namespace

NgramAutomaton::NgramAutomaton(std::size_t labels, std::span<const Labels> ngrams)
    : num_labels(labels), stride(kernels::chain_stride(labels)) {
  std::set<Labels, ShorterFirst> histories;
  for (std::uint32_t j = 0; j < labels; ++j) histories.insert({j});
  for (const Labels& ngram : ngrams) {
    for (Labels beginning = without_last(ngram); histories.insert(beginning).second;)
      beginning = without_last(beginning);
  }

  // Classes: what some history extends.
  std::map<Labels, std::uint32_t, ShorterFirst> class_named;
  for (const Labels& history : histories) class_named.emplace(without_last(history), 0);
  num_classes = class_named.size();
  for (std::uint32_t longest_first = 0; auto& [name, number] : class_named)
    number = static_cast<std::uint32_t>(num_classes) - ++longest_first;
  const auto class_by_ending = [&](Labels ending) {
    for (;; ending = without_first(ending)) {
      if (const auto found = class_named.find(ending); found != class_named.end()) return found->second;
    }
  };

  // States, by class and in the order of histories within it.
  std::vector<std::vector<const Labels*>> members(num_classes);
  for (const Labels& history : histories) members[class_by_ending(history)].push_back(&history);
  num_states = histories.size();
  std::map<Labels, std::uint32_t, ShorterFirst> state_named;
  for (std::uint32_t c = 0; c < num_classes; ++c) {
    class_begin.push_back(static_cast<std::uint32_t>(label.size()));
    for (const Labels* history : members[c]) {
      state_named.emplace(*history, static_cast<std::uint32_t>(label.size()));
      label.push_back(history->back());
      place.push_back(class_named.at(without_last(*history)) * static_cast<std::uint32_t>(stride) +
                      history->back());
      class_of.push_back(c);
    }
  }
  class_begin.push_back(static_cast<std::uint32_t>(label.size()));
  const std::size_t vector = std::min<std::size_t>(stride, 8);
  block_begin.push_back(0);
  for (const auto& of_class : members)
    block_begin.push_back(
        static_cast<std::uint32_t>(block_begin.back() + (of_class.size() + vector - 1) / vector * vector));

  shorter.resize(num_states);
  single.resize(labels);
  for (const auto& [history, state] : state_named) {
    by_length.push_back(state);
    shorter[state] = state;
    for (Labels ending = history; ending.size() > 1 && shorter[state] == state;) {
      ending = without_first(ending);
      if (const auto found = state_named.find(ending); found != state_named.end())
        shorter[state] = found->second;
    }
    if (history.size() == 1) single[history[0]] = state;
  }

  std::vector<std::vector<std::uint32_t>> own(num_classes);  // the states with a place in a class
  for (std::uint32_t state = 0; state < num_states; ++state) own[place[state] / stride].push_back(state);
  parent.resize(num_classes);
  target.resize(num_classes * labels);
  passes_float.assign(num_classes * stride, 1);
  // Parents are shorter: they are done before the classes that pass on to them.
  for (const auto& [name, c] : class_named) {
    parent[c] = name.empty() ? c : class_by_ending(without_first(name));
    if (!name.empty()) std::copy_n(&target[parent[c] * labels], labels, &target[c * labels]);
    for (const std::uint32_t state : own[c]) {
      target[c * labels + label[state]] = state;
      passes_float[place[state]] = 0;
    }
  }
  std::fill_n(&passes_float[(num_classes - 1) * stride], stride, 0.0f);
  passes_double.assign(passes_float.begin(), passes_float.end());

  std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> endings(num_states);
  for (std::uint32_t k = 0; k < ngrams.size(); ++k)
    endings[state_named.at(without_last(ngrams[k]))].emplace_back(ngrams[k].back(), k);
  for (auto& of_state : endings) {
    std::sort(of_state.begin(), of_state.end());
    ngram_begin.push_back(static_cast<std::uint32_t>(ngram_label.size()));
    for (const auto& [last, k] : of_state) {
      ngram_label.push_back(last);
      ngram_index.push_back(k);
    }
  }
  ngram_begin.push_back(static_cast<std::uint32_t>(ngram_label.size()));
}

}  // namespace espalier
