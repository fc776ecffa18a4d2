// Small files beside the data: costs, pairs of labels, lists of phrases.

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

void constraints(std::string_view bytes) {
  message_of([&] {
    ChainConstraints constraints = all_allowed(some_labels().size());
    forbid_listed(memory_file().write(bytes), some_labels(), constraints);
    impossible_length(constraints);
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
