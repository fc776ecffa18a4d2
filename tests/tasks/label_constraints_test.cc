#include "tasks/tag/label_constraints.h"

#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

#include "support/error_message.h"
#include "support/temporary_folder.h"

namespace espalier::label_constraints_test {
namespace {

using testing::error_message;
using testing::TemporaryFolder;

Dictionary names(const std::vector<std::string>& all) {
  Dictionary labels;
  for (const std::string& name : all) labels.add(name);
  return labels;
}

ChainConstraints by_scheme(const std::string& scheme, const std::vector<std::string>& labels) {
  ChainConstraints constraints = all_allowed(labels.size());
  forbid_by_scheme(scheme, names(labels), constraints);
  return constraints;
}

bool possible(const ChainConstraints& constraints, const std::vector<std::uint32_t>& y) {
  return !first_break(constraints, y.size(), [&](std::size_t t) { return std::span(&y[t], 1); });
}

// Every sequence of one to `longest` labels is possible exactly where its text, "B-X I-X O ", matches.
void expect_grammar(const std::string& scheme, const std::vector<std::string>& labels,
                    const std::string& grammar, std::size_t longest) {
  const ChainConstraints constraints = by_scheme(scheme, labels);
  const std::regex pattern(grammar);
  std::size_t matching = 0;
  for (std::size_t length = 1; length <= longest; ++length) {
    std::vector<std::uint32_t> y(length, 0);
    for (std::size_t t = 0; t < length;) {
      std::string text;
      for (const std::uint32_t label : y) text += labels[label] + ' ';
      const bool matches = std::regex_match(text, pattern);
      EXPECT_EQ(possible(constraints, y), matches) << scheme << ": " << text;
      matching += matches ? 1 : 0;
      for (t = 0; t < length && ++y[t] == labels.size(); ++t) y[t] = 0;
    }
  }
  EXPECT_GT(matching, 0u);
}

TEST(LabelConstraints, SchemesAreTheirGrammars) {
  const std::vector<std::string> three{"O", "B-X", "I-X", "B-Y", "I-Y"};
  expect_grammar("bio", three, "(O |B-X (I-X )*|B-Y (I-Y )*)*", 4);
  // There, B only separates chunks of one type.
  expect_grammar("iob1", three, "(O |I-X (I-X |B-X )*|I-Y (I-Y |B-Y )*)*", 4);
  expect_grammar("bioes", {"B-X", "B-Y", "E-X", "E-Y", "I-X", "I-Y", "O", "S-X", "S-Y"},
                 "(O |S-X |S-Y |B-X (I-X )*E-X |B-Y (I-Y )*E-Y )*", 4);
  expect_grammar("bilou", {"B-X", "B-Y", "L-X", "L-Y", "I-X", "I-Y", "O", "U-X", "U-Y"},
                 "(O |U-X |U-Y |B-X (I-X )*L-X |B-Y (I-Y )*L-Y )*", 4);
  expect_grammar("iob2", {"B-X", "I-X", "O"}, "(O |B-X (I-X )*)*", 4);
  expect_grammar("iobes", {"B-X", "E-X", "I-X", "S-X"}, "(S-X |B-X (I-X )*E-X )*", 4);
}

TEST(LabelConstraints, PlainTagsAreOfOneType) {
  expect_grammar("bio", {"B", "I", "O"}, "(O |B (I )*)*", 4);
  expect_grammar("bioes", {"B", "E", "I", "O", "S"}, "(O |S |B (I )*E )*", 4);
  expect_grammar("bio", {"B", "B-X", "I", "I-X"}, "(B (I )*|B-X (I-X )*)*", 4);
}

TEST(LabelConstraints, TypesMayHaveHyphens) {
  expect_grammar("bio", {"B-X-Y", "I-X-Y", "I-X", "O"}, "(O |B-X-Y (I-X-Y )*)*", 3);
}

TEST(LabelConstraints, RefusesLabelsThatAreNoTags) {
  const auto message = [](const std::string& scheme, const std::string& label) {
    return error_message([&] { by_scheme(scheme, {"O", label}); });
  };
  for (const char* label : {"NN", "B_X", "", "o", "O-X", "B-", "X-B", "E-X", "S"}) {
    EXPECT_EQ(message("bio", label),
              "valid bio: found the label '" + std::string(label) + "'; expected O, B-TYPE or I-TYPE");
  }
  EXPECT_EQ(message("iob1", "S-X"), "valid iob1: found the label 'S-X'; expected O, B-TYPE or I-TYPE");
  EXPECT_EQ(message("bioes", "L-X"),
            "valid bioes: found the label 'L-X'; expected O, B-TYPE, I-TYPE, E-TYPE or S-TYPE");
  EXPECT_EQ(message("bilou", "E-X"),
            "valid bilou: found the label 'E-X'; expected O, B-TYPE, I-TYPE, L-TYPE or U-TYPE");
  EXPECT_EQ(message("bieos", "O"), "valid: unknown encoding of chunks 'bieos'; did you mean bioes?");
}

class Listed : public ::testing::Test {
 protected:
  ChainConstraints read(const std::string& text) const {
    ChainConstraints constraints = all_allowed(3);
    forbid_listed(folder.file("pairs.txt", text), names({"a", "b", "c"}), constraints);
    return constraints;
  }
  // Without the folder's name.
  std::string message(const std::string& text) const {
    const std::string whole = error_message([&] { read(text); });
    const std::string path = folder.path("pairs.txt");
    return whole.starts_with(path) ? "pairs.txt" + whole.substr(path.size()) : whole;
  }
  TemporaryFolder folder;
};

using Table = std::vector<std::uint8_t>;

TEST_F(Listed, PairsAndEnds) {
  const ChainConstraints constraints = read("a b\n(start) c # not at first\n\n  b\t(stop)\r\nb  b");
  EXPECT_EQ(constraints.first, (Table{1, 1, 0}));
  EXPECT_EQ(constraints.last, (Table{1, 0, 1}));
  EXPECT_EQ(constraints.step, (Table{1, 0, 1, 1, 0, 1, 1, 1, 1}));
}

TEST_F(Listed, AStarIsEveryLabel) {
  EXPECT_EQ(read("* b\n").step, (Table{1, 0, 1, 1, 0, 1, 1, 0, 1}));
  EXPECT_EQ(read("b *\n").step, (Table{1, 1, 1, 0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(read("b *\n").last, (Table{1, 1, 1})) << "(stop) is no label";
  EXPECT_EQ(read("(start) *\n").first, (Table{0, 0, 0}));
  EXPECT_EQ(read("* (stop)\n").last, (Table{0, 0, 0}));
}

TEST_F(Listed, RefusesWithALine) {
  const std::string label = "; expected a label of the training data, (start), (stop) or *";
  EXPECT_EQ(message("a b\na d\n"), "pairs.txt:2: the label 'd'" + label);
  EXPECT_EQ(message("d a\n"), "pairs.txt:1: the label 'd'" + label);
  EXPECT_EQ(message("# one\na\n"), "pairs.txt:2: 1 field; expected BEFORE AFTER");
  EXPECT_EQ(message("a b c\n"), "pairs.txt:1: more than 2 fields; expected BEFORE AFTER");
  EXPECT_EQ(message("(stop) a\n"),
            "pairs.txt:1: (stop) a; expected (start) on the left or (stop) on the right");
  EXPECT_EQ(message("a (start)\n"),
            "pairs.txt:1: a (start); expected (start) on the left or (stop) on the right");
  EXPECT_EQ(message("(start) (stop)\n"),
            "pairs.txt:1: (start) (stop); expected a label: no sequence is empty");
  EXPECT_EQ(message("* *\n"), "pairs.txt:1: * *; expected a label on one side");
  EXPECT_TRUE(error_message([&] {
                ChainConstraints constraints = all_allowed(3);
                forbid_listed(folder.path("none"), names({"a"}), constraints);
              }).starts_with(folder.path("none") + ": cannot open"));
}

TEST(LabelConstraints, FindsLengthsThatAreNotPossible) {
  EXPECT_EQ(impossible_length(all_allowed(1)), std::nullopt);
  EXPECT_EQ(impossible_length(by_scheme("bio", {"B-X", "I-X", "O"})), std::nullopt);
  EXPECT_EQ(impossible_length(by_scheme("bio", {"I-X", "I-Y"})), 1u);
  // Only complete chunks, and no single tokens.
  EXPECT_EQ(impossible_length(by_scheme("bioes", {"B-X", "E-X"})), 1u);
  EXPECT_EQ(impossible_length(by_scheme("bioes", {"B-X", "E-X", "S-X"})), std::nullopt);
  // a b a b ..., which must end with a: odd lengths.
  ChainConstraints turns = all_allowed(2);
  turns.first = {1, 0};
  turns.step = {0, 1, 1, 0};
  EXPECT_EQ(impossible_length(turns), std::nullopt);
  turns.last = {1, 0};
  EXPECT_EQ(impossible_length(turns), 2u);
  // Each label once: sequences of three and no more.
  ChainConstraints once = all_allowed(3);
  once.step = {0, 1, 0, 0, 0, 1, 0, 0, 0};
  EXPECT_EQ(impossible_length(once), 4u);
}

TEST(LabelConstraints, FindsWhereASequenceBreaks) {
  const ChainConstraints bioes = by_scheme("bioes", {"B-X", "E-X", "I-X", "O", "S-X"});
  const std::uint32_t B = 0, E = 1, I = 2, O = 3;
  const auto broken = [&](const std::vector<std::vector<std::uint32_t>>& sets) {
    return first_break(bioes, sets.size(), [&](std::size_t t) { return std::span(sets[t]); });
  };
  EXPECT_EQ(broken({{O}, {B}, {E}}), std::nullopt);
  EXPECT_EQ(broken({{I}, {E}}), 0u);
  EXPECT_EQ(broken({{O}, {E}, {O}}), 1u);
  EXPECT_EQ(broken({{O}, {B}}), 2u) << "it must not end";
  // One of several labels: those that lead on count.
  EXPECT_EQ(broken({{O, B}, {I}, {O, E}}), std::nullopt);
  EXPECT_EQ(broken({{O, B}, {I, O}, {E}, {E}}), 3u);
  EXPECT_EQ(broken({{O, E}, {I, E}}), 1u);
}

TEST_F(Listed, PairsOfAProgramAreTheSame) {
  ChainConstraints constraints = all_allowed(3);
  const std::vector<std::pair<std::string, std::string>> pairs{{"a", "b"}, {"(start)", "c"}, {"b", "*"}};
  forbid_pairs(pairs, names({"a", "b", "c"}), constraints);
  const ChainConstraints listed = read("a b\n(start) c\nb *\n");
  EXPECT_EQ(constraints.first, listed.first);
  EXPECT_EQ(constraints.last, listed.last);
  EXPECT_EQ(constraints.step, listed.step);
  const std::vector<std::pair<std::string, std::string>> wrong{{"a", "d"}};
  EXPECT_EQ(error_message([&] { forbid_pairs(wrong, names({"a"}), constraints); }),
            "transitions: the label 'd'; expected a label of the training data, (start), (stop) or *");
}

}  // namespace
}  // namespace espalier::label_constraints_test
