#include "kernels/ngram_automaton.h"

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

  // Classes: what some history extends; longest first, and those with equally many states next to each other,
  // so that a processor can tell how often loops over them run.
  struct Class {
    Labels name;
    std::vector<const Labels*> members;
  };
  std::map<Labels, std::vector<const Labels*>> extended;
  for (const Labels& history : histories) extended[without_last(history)];
  for (const Labels& history : histories) {
    Labels ending = history;
    while (!extended.contains(ending)) ending = without_first(ending);
    extended[ending].push_back(&history);
  }
  std::vector<Class> classes;
  classes.reserve(extended.size());
  for (const auto& [name, members] : extended) classes.push_back({name, members});
  std::stable_sort(classes.begin(), classes.end(), [](const Class& a, const Class& b) {
    return a.name.size() != b.name.size() ? a.name.size() > b.name.size()
                                          : a.members.size() < b.members.size();
  });
  num_classes = classes.size();
  std::map<Labels, std::uint32_t> class_named;
  for (const Class& of : classes)
    class_named.emplace(of.name, static_cast<std::uint32_t>(class_named.size()));

  // States, by class and in the order of histories within it.
  num_states = histories.size();
  std::map<Labels, std::uint32_t, ShorterFirst> state_named;
  for (std::uint32_t c = 0; c < num_classes; ++c) {
    class_begin.push_back(static_cast<std::uint32_t>(label.size()));
    for (const Labels* history : classes[c].members) {
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
  for (const Class& of : classes)
    block_begin.push_back(
        static_cast<std::uint32_t>(block_begin.back() + (of.members.size() + vector - 1) / vector * vector));

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
  // Parents are shorter and come later: they are done before the classes that pass on to them.
  for (std::size_t c = num_classes; c-- > 0;) {
    parent[c] = static_cast<std::uint32_t>(c);
    for (Labels ending = classes[c].name; !ending.empty() && parent[c] == c;) {
      ending = without_first(ending);
      if (const auto found = class_named.find(ending); found != class_named.end()) parent[c] = found->second;
    }
    if (parent[c] != c) std::copy_n(&target[parent[c] * labels], labels, &target[c * labels]);
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
