#include "espalier/solvers/solver_arguments.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "support/error_message.h"

namespace espalier::solver_arguments_test {
namespace {

using testing::error_message;

const OptionRow& row_of(const std::vector<OptionRow>& rows, std::string_view name) {
  return *std::ranges::find(rows, name, &OptionRow::name);
}

SolverOptions applied(const std::string& solver, const Loss& loss,
                      const std::vector<std::pair<std::string, std::string>>& given) {
  SolverArguments arguments;
  for (const auto& [name, text] : given) arguments.give(name, text);
  const SolverEntry entry = find_solver(solver, loss);
  SolverOptions options;
  arguments.apply({&entry, 1}, options);
  return options;
}

std::string refusal(const std::string& solver, const Loss& loss, const std::string& name,
                    const std::string& text) {
  return error_message([&] { applied(solver, loss, {{name, text}}); });
}

TEST(SolverArguments, WordsMeanWhatTheySay) {
  const auto of_eg = [](const std::string& name, const std::string& text) {
    return applied("eg", Loss::crf(), {{name, text}}).eg;
  };
  EXPECT_EQ(of_eg("sampling", "gap").sampling, Sampling::gap);
  EXPECT_EQ(of_eg("sampling", "random").sampling, Sampling::random);
  EXPECT_EQ(of_eg("sampling", "shuffled").sampling, Sampling::shuffled);
  EXPECT_EQ(of_eg("sampling", "cyclic").sampling, Sampling::cyclic);
  EXPECT_EQ(of_eg("step", "auto").step, EgStep::automatic);
  EXPECT_EQ(of_eg("step", "paper").step, EgStep::paper);
  EXPECT_EQ(of_eg("step", "safe").step, EgStep::safe);
  EXPECT_EQ(of_eg("eta", "0.25").eta, 0.25);
  EXPECT_EQ(of_eg("start", "gold").start, EgStart::gold);
  EXPECT_EQ(of_eg("start", "uniform").start, EgStart::uniform);
  EXPECT_EQ(of_eg("log_odds", "3").log_odds, 3);
  EXPECT_EQ(of_eg("anneal", "auto").anneal, EgAnneal::automatic);
  EXPECT_EQ(of_eg("anneal", "no").anneal, EgAnneal::none);
  EXPECT_EQ(of_eg("anneal", "paper").anneal, EgAnneal::paper);
  EXPECT_TRUE(of_eg("recompute", "true").recompute);

  const Loss svm = Loss::svm();
  EXPECT_EQ(applied("eg-batch", svm, {{"step", "safe"}}).eg_batch.step, EgBatchStep::safe);
  EXPECT_EQ(applied("eg-batch", svm, {{"start", "uniform"}}).eg_batch.start, EgStart::uniform);
  EXPECT_TRUE(applied("eg-batch", svm, {{"recompute", "true"}}).eg_batch.recompute);
  EXPECT_EQ(applied("sdca", Loss::crf(), {{"sampling", "random"}}).sdca.sampling, Sampling::random);
  EXPECT_TRUE(applied("frank-wolfe", svm, {{"average", "true"}}).frank_wolfe.average);
  EXPECT_EQ(applied("smo", svm, {{"smo_mass", "factored"}}).smo.mass, SmoMass::factored);
  EXPECT_EQ(applied("excessive-gap", svm, {{"step", "paper"}}).excessive_gap.smoothing, Smoothing::paper);
  EXPECT_EQ(applied("extragradient", svm, {{"step", "safe"}}).extragradient.step, ExtragradientStep::safe);
  const CuttingPlaneTuning planes =
      applied("cutting-plane", svm, {{"slacks", "one"}, {"rescaling", "slack"}, {"cache", "5"}})
          .cutting_plane;
  EXPECT_EQ(planes.slacks, Slacks::one);
  EXPECT_EQ(planes.rescaling, Rescaling::slack);
  EXPECT_EQ(planes.cache, 5u);
  const MiraTuning mira = applied("mira", svm, {{"mira_update", "prediction"}, {"kbest", "4"}}).mira;
  EXPECT_EQ(mira.update, MiraUpdate::prediction);
  EXPECT_EQ(mira.k, 4u);
}

TEST(SolverArguments, RowsSayWhatTheyExpect) {
  const auto rows = SolverArguments().rows();
  EXPECT_EQ(row_of(rows, "step").refuse("big"), "found 'big'; expected auto, paper or safe");
  EXPECT_EQ(row_of(rows, "start").refuse("warm"), "found 'warm'; expected gold or uniform");
  EXPECT_EQ(row_of(rows, "sampling").refuse("up"), "found 'up'; expected gap, random, shuffled or cyclic");
  EXPECT_EQ(row_of(rows, "eta").refuse("0"), "found '0'; expected a number > 0");
  EXPECT_EQ(row_of(rows, "kbest").refuse("0"), "found '0'; expected a whole number >= 1");
  EXPECT_EQ(row_of(rows, "slacks").refuse("two"), "found 'two'; expected n or one");
  EXPECT_EQ(row_of(rows, "eta").refuse("2"), "");
}

TEST(SolverArguments, HelpNamesTheSolvers) {
  const auto rows = SolverArguments().rows();
  EXPECT_EQ(row_of(rows, "sampling").help,
            "eg, sdca, frank-wolfe, smo: how examples are picked: gap, random, shuffled, cyclic");
  EXPECT_EQ(row_of(rows, "step").help,
            "eg: how steps are chosen: auto, paper, safe; eg-batch, extragradient: auto, safe; "
            "excessive-gap: auto, paper");
  EXPECT_EQ(row_of(rows, "recompute").help,
            "eg: half the memory for duals, at the cost of one more inference per visit; eg-batch: no memory "
            "for duals");
  EXPECT_EQ(row_of(rows, "average").help,
            "frank-wolfe: average the weights of all steps, later ones with larger shares");
  std::set<std::string> names;
  for (const OptionRow& row : rows) EXPECT_TRUE(names.insert(row.name).second) << row.name << " twice";
}

TEST(SolverArguments, RefusesWhatTheSolverDoesNotHave) {
  EXPECT_EQ(refusal("lbfgs", Loss::crf(), "recompute", "true"),
            "recompute: not for solver lbfgs; expected solver eg or eg-batch");
  EXPECT_EQ(refusal("eg", Loss::svm(), "slacks", "one"),
            "slacks one: not for solver eg; expected solver cutting-plane");
  EXPECT_EQ(refusal("eg-batch", Loss::crf(), "step", "paper"),
            "step paper: not for solver eg-batch; expected solver eg or excessive-gap");
  EXPECT_EQ(refusal("perceptron", Loss::svm(), "sampling", "gap"),
            "sampling gap: not for solver perceptron; expected solver eg, sdca, frank-wolfe or smo");
  EXPECT_EQ(refusal("cutting-plane", Loss::svm(), "cache", "5"),
            "cache: no effect; expected slacks one, or no cache");
}

// Each of them takes what it has; what none of them has is refused.
TEST(SolverArguments, ChainsAndAutoTakeThoseOfTheSolversThatTheyRun) {
  const SolverOptions sequence = applied(
      "smo,eg", Loss::svm(), {{"smo_mass", "factored"}, {"start", "uniform"}, {"sampling", "cyclic"}});
  EXPECT_EQ(sequence.smo.mass, SmoMass::factored);
  EXPECT_EQ(sequence.eg.start, EgStart::uniform);
  EXPECT_EQ(sequence.smo.sampling, Sampling::cyclic);
  EXPECT_EQ(sequence.eg.sampling, Sampling::cyclic);
  EXPECT_EQ(sequence.frank_wolfe.sampling, Sampling::gap);
  EXPECT_EQ(refusal("smo,eg", Loss::svm(), "kbest", "2"),
            "kbest 2: not for solver smo,eg; expected solver mira");
  EXPECT_EQ(applied("auto", Loss::crf(), {{"step", "paper"}}).eg.step, EgStep::paper);
  EXPECT_EQ(applied("auto", Loss::svm(), {{"slacks", "one"}}).cutting_plane.slacks, Slacks::one);
  EXPECT_EQ(refusal("auto", Loss::crf(), "slacks", "one"),
            "slacks one: not for solver auto; expected solver cutting-plane");
}

TEST(SolverArguments, LogHasWhatConcernsTheRun) {
  SolverArguments arguments;
  const std::vector<std::string> automatic{"auto"}, sequence{"smo", "mira"};
  EXPECT_EQ(arguments.log(automatic), (Json{{"sampling", "gap"}, {"step", "auto"}, {"start", "gold"}}));
  EXPECT_EQ(arguments.log(sequence), (Json{{"sampling", "gap"},
                                           {"step", "auto"},
                                           {"start", "gold"},
                                           {"smo_mass", "cliques"},
                                           {"update", "max-loss"},
                                           {"kbest", 1}}));
  const std::vector<std::string> eg{"eg"};
  arguments.give("slacks", "one");
  EXPECT_EQ(arguments.log(automatic).at("slacks"), "one");
  arguments = SolverArguments();
  arguments.give("eta", "0.5");
  arguments.give("log_odds", "4");
  arguments.give("recompute", "true");
  EXPECT_EQ(arguments.log(eg), (Json{{"sampling", "gap"},
                                     {"step", "auto"},
                                     {"eta", 0.5},
                                     {"start", "gold"},
                                     {"log_odds", 4.0},
                                     {"recompute", true}}));
}

// A solver with an option of its own: its struct, its row and its line in the table are all that there is to
// write.
struct ToyTuning {
  std::size_t jumps = 3;
  Sampling sampling = Sampling::gap;
};
ToyTuning of_toy;  // would be a member of SolverOptions

TEST(SolverArguments, AnOptionIsARowOfItsSolver) {
  using Row = OptionOf<ToyTuning>;
  const OptionTable own{
      Row("jumps", &ToyTuning::jumps, "how often it jumps").from(1),
      Row("sampling", &ToyTuning::sampling,
          std::vector<std::pair<std::string, Sampling>>{{"gap", Sampling::gap}, {"cyclic", Sampling::cyclic}},
          "how examples are picked")};
  std::vector<SolverEntry> table(solver_table().begin(), solver_table().end());
  table.push_back({.name = "toy", .summary = "jumps", .options = {{"toy", &own, [](SolverOptions&) -> void* {
                                                                     return &of_toy;
                                                                   }}}});
  SolverArguments arguments(table);
  const auto rows = arguments.rows();
  EXPECT_EQ(row_of(rows, "jumps").help, "toy: how often it jumps");
  EXPECT_EQ(row_of(rows, "jumps").argument(), "--jumps");
  EXPECT_EQ(row_of(rows, "jumps").refuse("0"), "found '0'; expected a whole number >= 1");
  EXPECT_NE(row_of(rows, "sampling").help.find("; toy: gap, cyclic"), std::string::npos);

  arguments.give("jumps", "7");
  arguments.give("sampling", "cyclic");
  SolverOptions options;
  arguments.apply({&table.back(), 1}, options);
  EXPECT_EQ(of_toy.jumps, 7u);
  EXPECT_EQ(of_toy.sampling, Sampling::cyclic);
  EXPECT_EQ(options.eg.sampling, Sampling::gap);
  const std::vector<std::string> toy{"toy"}, lbfgs{"lbfgs"};
  EXPECT_EQ(arguments.log(toy).at("jumps"), 7);
  of_toy = {};
  EXPECT_EQ(SolverArguments(table).log(toy).at("jumps"), 3);
  EXPECT_FALSE(SolverArguments(table).log(lbfgs).contains("jumps"));
  EXPECT_EQ(error_message([&] {
              arguments.apply({table.data(), 1}, options);
            }),
            "jumps 7: not for solver eg; expected solver toy");
}

// So that a new one touches the solver's own files alone: those that list solvers, or pass options on, name
// none of them.
TEST(SolverArguments, NobodyElseNamesTheOptions) {
  std::size_t read = 0;
  for (const std::string name :
       {"include/espalier/solvers/registry.h", "include/espalier/solvers/solver_arguments.h",
        "src/solvers/registry.cc", "src/solvers/solver_arguments.cc", "src/solvers/solver_sequence.cc",
        "src/solvers/automatic.cc", "src/cli/training_options.h", "src/cli/training_options.cc",
        "src/cli/train.cc", "src/cli/path.cc", "src/cli/cross_validate.cc"}) {
    std::ifstream file(std::filesystem::path(ESPALIER_SOURCE_DIR) / name);
    ASSERT_TRUE(file) << name;
    std::ostringstream text;
    text << file.rdbuf();
    for (const OptionRow& row : SolverArguments().rows()) {
      EXPECT_EQ(text.str().find('"' + row.name + '"'), std::string::npos) << name << " names " << row.name;
      EXPECT_EQ(text.str().find('"' + row.argument() + '"'), std::string::npos)
          << name << " names " << row.argument();
    }
    ++read;
  }
  EXPECT_EQ(read, 11u);
}

}  // namespace
}  // namespace espalier::solver_arguments_test
