// Small files beside the data: costs, pairs of labels, lists of phrases.

#include <algorithm>
#include <array>
#include <vector>

#include "features/gazetteer.h"
#include "fuzzing/targets.h"
#include "tasks/costs.h"
#include "tasks/tag/label_constraints.h"

namespace espalier::fuzz {
namespace {

const Dictionary& some_labels() {
  static const Dictionary labels = [] {
    Dictionary some;
    for (const char* name : {"O", "B-X", "I-X", "N"}) some.add(name);
    return some;
  }();
  return labels;
}

}  // namespace

void costs(std::string_view bytes) {
  message_of([&] {
    const auto costs = read_costs(memory_file().write(bytes), some_labels());
    expect(costs.size() == 16 && costs[0] == 0, "costs of all pairs");
  });
}

// A list of pairs; behind a line of "labels", names that a scheme is to make sense of.
void constraints(std::string_view bytes) {
  constexpr std::string_view kLabels = "\nlabels\n";
  Choices choices(bytes);
  const std::array<const char*, 5> schemes{"bio", "iob1", "bioes", "bilou", "none"};
  const char* const scheme = schemes[choices.below(schemes.size())];
  const std::size_t cut = bytes.find(kLabels);
  Dictionary own;
  if (cut != std::string_view::npos) {
    std::string_view rest = bytes.substr(cut + kLabels.size());
    for (std::size_t end; !rest.empty() && own.size() < 20;
         rest.remove_prefix(std::min(end + 1, rest.size()))) {
      end = std::min(rest.find('\n'), rest.size());
      if (end > 0) own.add(rest.substr(0, end));
    }
    if (own.size() == 0) return;
  }
  const Dictionary& labels = own.size() > 0 ? own : some_labels();
  message_of([&] {
    ChainConstraints constraints = all_allowed(labels.size());
    forbid_by_scheme(scheme, labels, constraints);
    impossible_length(constraints);
  });
  message_of([&] {
    ChainConstraints constraints = all_allowed(labels.size());
    forbid_listed(memory_file().write(bytes.substr(0, cut)), labels, constraints);
    const auto never = impossible_length(constraints);
    expect(!never || *never > 0, "a length that no sequence has");
    const auto any = [&](std::size_t) {
      std::vector<std::uint32_t> all(labels.size());
      for (std::uint32_t id = 0; id < all.size(); ++id) all[id] = id;
      return all;
    };
    if (never && *never < 50)
      expect(first_break(constraints, *never, any).has_value(), "no sequence of that length");
  });
}

void gazetteer(std::string_view bytes) {
  message_of([&] {
    Gazetteer gazetteer;
    gazetteer.read(memory_file().write(bytes));
    const Gazetteer again = Gazetteer::from_text(gazetteer.text(), "again");
    expect(again.text() == gazetteer.text(), "phrases that are read as they were written");
    std::vector<Gazetteer::Match> matches;
    const std::vector<std::string_view> words{"a", "b", "New", "York", "a", "b"};
    again.find(words, matches);
    for (const auto& match : matches) expect(match.begin + match.length <= words.size(), "a match inside");
  });
  // What a model has may not be what a file had.
  message_of([&] { Gazetteer::from_text(bytes, "model"); });
}

}  // namespace espalier::fuzz
