#include "tasks/graph/uai_reader.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "base/input.h"
#include "structures/markov_graph.h"
#include "support/error_message.h"
#include "support/temporary_folder.h"

namespace espalier::uai_reader_test {
namespace {

using testing::error_message;
using testing::TemporaryFolder;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Two variables of two and three labels; a table on both (the second slowest), one on the first, a constant.
const char* const kSmall =
    "MARKOV\n2\n2 3\n3\n2 1 0\n1 0\n0\n"
    "6 1 2 3\n4 0 6\n"
    "2 0.5 1e0\n"
    "1 2\n";

TEST(UaiReader, ReadsTablesAndConstants) {
  const TemporaryFolder folder;
  const UaiModel model = read_uai(folder.file("small.uai", kSmall));
  EXPECT_EQ(model.graph->num_variables(), 2u);
  EXPECT_EQ(model.graph->cardinality(1), 3u);
  ASSERT_EQ(model.graph->num_cliques(), 3u);
  EXPECT_EQ(model.graph->scope(0)[0], 1u);
  EXPECT_EQ(model.graph->scope(0)[1], 0u);
  const std::vector<double> expected{1, 2, 3, 4, 0, 6, 0.5, 1, 2, 2};
  ASSERT_EQ(model.scores.size(), expected.size());
  for (std::size_t k = 0; k < expected.size(); ++k) EXPECT_EQ(model.scores[k], std::log(expected[k])) << k;
}

TEST(UaiReader, ConditionsOnWhatWasObserved) {
  const TemporaryFolder folder;
  const UaiModel model = read_uai(folder.file("small.uai", kSmall));
  const auto evidence = read_uai_evidence(folder.file("small.evid", "1 0 1\n"), *model.graph);
  ASSERT_EQ(evidence.size(), 1u);
  const UaiConditional left = condition(model, evidence);
  EXPECT_EQ(left.graph->num_variables(), 1u);
  EXPECT_EQ(left.variable, (std::vector<std::uint32_t>{UaiConditional::kObserved, 0}));
  EXPECT_EQ(left.observed[0], 1u);
  EXPECT_DOUBLE_EQ(left.constant, std::log(1.0) + std::log(2.0));
  EXPECT_EQ(left.scores, (std::vector<double>{std::log(2), std::log(4), std::log(6), 0, 0, 0}));
  EXPECT_EQ(left.marginals_of(0), 3u);

  const UaiConditional nothing =
      condition(model, read_uai_evidence(folder.file("all.evid", "2 0 0 1 2"), *model.graph));
  EXPECT_EQ(nothing.graph->num_variables(), 0u);
  EXPECT_EQ(nothing.constant, -kInfinity);
  Workspace ws;
  std::vector<double> none;
  EXPECT_EQ(MarkovGraph(nothing.graph).log_partition(std::span<const double>(none), std::span(none), ws), 0);
}

TEST(UaiReader, AnEmptyFileIsNoEvidence) {
  const TemporaryFolder folder;
  const FactorGraph graph({2, 2});
  EXPECT_TRUE(read_uai_evidence(folder.file("empty.evid", ""), graph).empty());
  EXPECT_TRUE(read_uai_evidence(folder.file("zero.evid", "0\n"), graph).empty());
}

struct Bad {
  const char *name, *contents, *message;
};

class BadUai : public ::testing::TestWithParam<Bad> {};

TEST_P(BadUai, IsAnsweredWithWhereAndWhat) {
  const TemporaryFolder folder;
  const std::string path = folder.file("bad.uai", GetParam().contents);
  EXPECT_EQ(error_message([&] { read_uai(path); }), path + GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Files, BadUai,
    ::testing::Values(
        Bad{"Empty", "", ":1: the file ends; expected MARKOV or BAYES"},
        Bad{"Kind", "MARKOW\n", ":1: 'MARKOW'; expected MARKOV or BAYES"},
        Bad{"NoVariables", "MARKOV\n0\n", ":2: '0'; expected the number of variables, from 1 to 2147483647"},
        Bad{"NoLabels", "MARKOV\n2\n2 0\n",
            ":3: '0'; expected the number of a variable's labels, from 1 to 2147483647"},
        Bad{"FewerVariablesThanAnnounced", "MARKOV 2147483647\n2 2\n",
            ":2: the file ends; expected the number of a variable's labels, from 1 to 2147483647"},
        Bad{"FewerTablesThanAnnounced", "MARKOV 1 2\n2147483647\n0\n",
            ":3: the file ends; expected the number of a table's variables, at most 1"},
        Bad{"ManyLabels", "MARKOV\n3\n50000000 50000000 2\n0\n",
            ":3: 100,000,000 labels of 2 variables; expected at most 67,108,864 of all variables"},
        Bad{"TableThatNobodyCanCount", "MARKOV\n5\n10000 10000 10000 10000 10000\n1\n5 0 1 2 3 4\n",
            ":5: a table of 5 variables, whose entries nobody can count; expected fewer variables, or fewer "
            "labels"},
        Bad{"Negative", "MARKOV\n2\n2 -2\n",
            ":3: '-2'; expected the number of a variable's labels, from 1 to 2147483647"},
        Bad{"Scope", "MARKOV\n2\n2 2\n1\n2 0 2\n", ":5: '2'; expected a variable from 0 to 1"},
        Bad{"ScopeTwice", "MARKOV\n2\n2 2\n1\n2 1 1\n",
            ":5: variable 1 twice; expected each variable of a table once"},
        Bad{"ScopeTooLong", "MARKOV\n2\n2 2\n1\n3 0 1 0\n",
            ":5: '3'; expected the number of a table's variables, at most 2"},
        Bad{"TableSize", "MARKOV\n1\n2\n1\n1 0\n3 1 2 3\n",
            ":6: '3'; expected 2, the entries of table 1 of 1"},
        Bad{"Entry", "MARKOV\n1\n2\n1\n1 0\n2 1\nx\n", ":7: 'x'; expected a number from 0"},
        Bad{"NegativeEntry", "MARKOV\n1\n2\n1\n1 0\n2 1 -1\n", ":6: '-1'; expected a number from 0"},
        Bad{"Infinite", "MARKOV\n1\n2\n1\n1 0\n2 1 inf\n", ":6: 'inf'; expected a number from 0"},
        Bad{"Truncated", "MARKOV\n1\n2\n1\n1 0\n2 1\n",
            ":6: the file ends; expected entry 2 of 2 of a table"},
        Bad{"TooMuch", "MARKOV\n1\n2\n1\n1 0\n2 1 1\n7\n",
            ":7: '7'; expected the end of the file after the last table"}),
    [](const ::testing::TestParamInfo<Bad>& info) { return info.param.name; });

class BadEvidence : public ::testing::TestWithParam<Bad> {};

TEST_P(BadEvidence, IsAnsweredWithWhereAndWhat) {
  const TemporaryFolder folder;
  const std::string path = folder.file("bad.evid", GetParam().contents);
  const FactorGraph graph({2, 3});
  EXPECT_EQ(error_message([&] { read_uai_evidence(path, graph); }), path + GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Files, BadEvidence,
    ::testing::Values(
        Bad{"Count", "three", ":1: 'three'; expected the number of observations, at most 2"},
        Bad{"TooMany", "3 0 0 1 0 0 0", ":1: '3'; expected the number of observations, at most 2"},
        Bad{"Variable", "1 2 0", ":1: '2'; expected a variable from 0 to 1"},
        Bad{"Label", "1\n1 3", ":2: '3'; expected a label of variable 1, from 0 to 2"},
        Bad{"Again", "2\n1 0\n1 0", ":3: variable 1 again; expected one observation per variable"},
        Bad{"Short", "2 0 0\n", ":1: the file ends; expected a variable from 0 to 1"},
        Bad{"Long", "1 0 0\n5", ":2: '5'; expected the end of the file after the last observation"}),
    [](const ::testing::TestParamInfo<Bad>& info) { return info.param.name; });

// The smaller models of the 2014 competition, with what is known of them: ln Z, the maximum, the marginals.
class UaiOracle : public ::testing::TestWithParam<const char*> {};

TEST_P(UaiOracle, IsMet) {
  const std::filesystem::path folder = std::filesystem::path(ESPALIER_SHARED_DIR) / "data/uai2014";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is missing";
  const std::string name = GetParam();
  double log_z = kInfinity, highest = kInfinity;
  LineReader table((folder / "exact.tsv").string());
  for (std::string_view line; table.next(line);) {
    std::istringstream columns{std::string(line)};
    std::vector<std::string> fields;
    for (std::string field; columns >> field;) fields.push_back(field);
    if (fields[0] != name) continue;
    log_z = std::stod(fields[6]);
    highest = std::stod(fields[9]);
  }
  const std::string file = (folder / (name + ".uai")).string();
  const UaiModel model = read_uai(file + ".gz");
  const UaiConditional left = condition(model, read_uai_evidence(file + ".evid", *model.graph));
  const MarkovGraph graph(left.graph);
  ASSERT_TRUE(graph.exact());
  Workspace ws;
  std::vector<double> mu(left.scores.size()), none;
  MarkovGraph::Convergence convergence;
  EXPECT_NEAR(left.constant + graph.log_partition(left.scores, mu, convergence, ws), log_z, 1e-6);
  EXPECT_NEAR(left.constant + graph.log_partition(left.scores, none, convergence, ws), log_z, 1e-6);
  std::vector<std::uint32_t> y(left.graph->num_variables());
  EXPECT_NEAR(left.constant + graph.best(left.scores, y, ws).value, highest, 1e-6);

  std::istringstream reference(read_all(file + ".MAR.gz"));
  std::string kind;
  std::size_t variables = 0;
  reference >> kind >> variables;
  ASSERT_EQ(variables, model.graph->num_variables());
  for (std::size_t v = 0; v < variables; ++v) {
    std::size_t labels = 0;
    reference >> labels;
    ASSERT_EQ(labels, model.graph->cardinality(v));
    for (std::size_t x = 0; x < labels; ++x) {
      double p = -1;
      reference >> p;
      const bool observed = left.variable[v] == UaiConditional::kObserved;
      ASSERT_NEAR(observed ? left.observed[v] == x : mu[left.marginals_of(left.variable[v]) + x], p, 1e-6)
          << "variable " << v << ", label " << x;
    }
  }
  // Other ways to the same: the bound of trees and that of the dual.
  GraphInferenceOptions options;
  options.inference = GraphInference::trw;
  options.iterations = 100;
  const MarkovGraph approximate(left.graph, options);
  EXPECT_GE(left.constant + approximate.log_partition(left.scores, mu, convergence, ws), log_z - 1e-6);
  const auto best = approximate.best(left.scores, y, ws);
  EXPECT_GE(left.constant + best.bound, highest - 1e-6);
  EXPECT_LE(left.constant + best.value, highest + 1e-6);
  if (best.optimal) {
    EXPECT_NEAR(left.constant + best.value, highest, 1e-6);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, UaiOracle,
                         ::testing::Values("CSP_12", "Grids_12", "Pedigree_12", "Promedus_13", "Promedus_15",
                                           "Promedus_24", "Promedus_26", "Promedus_29", "Promedus_30",
                                           "Promedus_33", "Promedus_36", "Segmentation_11",
                                           "Segmentation_12"));

}  // namespace
}  // namespace espalier::uai_reader_test
