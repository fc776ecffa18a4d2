// Command lines that make no sense.

#include "cli/bad_input.h"

namespace espalier::testing::bad_options_test {
namespace {

BadInput bad_option(const std::string& name, const std::string& options, const std::string& message) {
  return {name, "train classify good.svm -o out.esp " + options, message};
}
constexpr const char* kSee = "; see 'espalier train classify --help'";

INSTANTIATE_TEST_SUITE_P(
    Options, BadInputTest,
    ::testing::Values(
        bad_option("Format", "--format csv",
                   std::string("--format: found 'csv'; expected libsvm, crfsuite, idx, named or text") +
                       kSee),
        bad_option("Loss", "--loss hinge",
                   "--loss: unknown loss 'hinge'; expected crf, svm, softmax-margin, perceptron, ramp, risk, "
                   "or [delta,]BETA,GAMMA "
                   "with BETA in "
                   "(0, inf] and GAMMA >= 0"),
        bad_option("BetaZero", "--loss 0,1",
                   "--loss: unknown loss '0,1'; expected crf, svm, softmax-margin, perceptron, ramp, risk, "
                   "or [delta,]BETA,GAMMA "
                   "with BETA in "
                   "(0, inf] and GAMMA >= 0"),
        bad_option("GammaNegative", "--loss 1,-1",
                   "--loss: unknown loss '1,-1'; expected crf, svm, softmax-margin, perceptron, ramp, risk, "
                   "or [delta,]BETA,GAMMA "
                   "with BETA in "
                   "(0, inf] and GAMMA >= 0"),
        bad_option("BetaTiny", "--loss 1e-40,1",
                   "--loss 1e-40,1: beyond what floats can train; expected BETA from 1e-12 to 1e+12, or inf, "
                   "and GAMMA <= 1e+12"),
        bad_option("GammaHuge", "--loss inf,1e300",
                   "--loss inf,1e+300: beyond what floats can train; expected BETA from 1e-12 to 1e+12, or "
                   "inf, and GAMMA <= 1e+12"),
        bad_option("PerceptronByEg", "--loss perceptron --solver eg",
                   "--loss perceptron: its regularised optimum is theta = 0; expected a loss with a cost "
                   "(gamma > 0) or "
                   "a finite beta"),
        bad_option("Solver", "--solver newton",
                   "--solver: unknown solver 'newton'; expected auto, eg, eg-batch, sdca, frank-wolfe, smo, "
                   "excessive-gap, "
                   "extragradient, cutting-plane, bmrm, lbfgs, sgd, dca, mira or perceptron"),
        bad_option(
            "SolverOfASequence", "--solver eg,,lbfgs",
            "--solver: unknown solver ''; expected eg, eg-batch, sdca, frank-wolfe, smo, excessive-gap, "
            "extragradient, cutting-plane, bmrm, lbfgs, sgd, dca, mira or perceptron"),
        bad_option(
            "AutoInASequence", "--solver auto,eg",
            "--solver: unknown solver 'auto'; expected eg, eg-batch, sdca, frank-wolfe, smo, excessive-gap, "
            "extragradient, cutting-plane, bmrm, lbfgs, sgd, dca, mira or perceptron"),
        bad_option("SolverForLoss", "--solver lbfgs --loss svm",
                   "--solver lbfgs: not for loss svm; expected a loss of finite beta, or --solver eg"),
        bad_option("Sampling", "--sampling up",
                   std::string("--sampling: found 'up'; expected gap, random, shuffled or cyclic") + kSee),
        bad_option("Step", "--step big",
                   std::string("--step: found 'big'; expected auto, paper or safe") + kSee),
        bad_option("OptionOfAnotherSolver", "--solver lbfgs --recompute",
                   "--recompute: not for --solver lbfgs; expected --solver eg or eg-batch"),
        bad_option("Start", "--start here",
                   std::string("--start: found 'here'; expected gold or uniform") + kSee),
        bad_option("L2Zero", "--l2 0", "--l2: found '0'; expected a number > 0, or --l1 with it"),
        bad_option("L2Negative", "--l2 -1", "--l2: found '-1'; expected a number > 0, or auto"),
        bad_option("L2Text", "--l2 abc", "--l2: found 'abc'; expected a number > 0, or auto"),
        bad_option("L2NotANumber", "--l2 nan", "--l2: found 'nan'; expected a number > 0, or auto"),
        bad_option("L2AutoWithoutDev", "--l2 auto",
                   "--l2 auto: no held-out data to choose l2 on; expected --dev FILE"),
        bad_option("L1Negative", "--l1 -1", std::string("--l1: found '-1'; expected a number >= 0") + kSee),
        bad_option(
            "L1WithPlanes", "--l1 0.1 --loss svm --solver cutting-plane",
            "--solver cutting-plane: not with --l1; expected one of auto, eg, eg-batch, frank-wolfe, smo, "
            "excessive-gap, extragradient"),
        bad_option("L1AloneForMaxima", "--l1 0.1 --l2 0 --loss svm",
                   "--l2 0: not for loss svm; expected a number > 0, or a loss of finite beta"),
        bad_option("L1AloneAndNoLbfgs", "--l1 0.1 --l2 0 --solver eg",
                   "--solver eg: not with --l2 0; expected auto or lbfgs"),
        bad_option(
            "L1WithAKernel", "--l1 0.1 --kernel poly,2",
            "--l1: not with --kernel, whose weights are not those of attributes; expected one of the two"),
        bad_option("L1ExceptNothing", "--l1 0.1 --l1-except nobody",
                   "--l1-except: no attribute 'nobody'; expected one of the training data"),
        bad_option("L1ExceptWithoutL1", "--bias --l1-except bias",
                   "--l1-except: no effect without --l1; expected --l1, or none"),
        bad_option("L1AloneWithExceptions", "--l1 0.1 --l2 0 --bias --l1-except bias",
                   "--l2 0: not with --l1-except, whose weights nothing would hold; expected a number > 0"),
        bad_option("GapNegative", "--gap -1",
                   std::string("--gap: found '-1'; expected a number >= 0") + kSee),
        bad_option("GapNotANumber", "--gap nan",
                   std::string("--gap: found 'nan'; expected a number >= 0") + kSee),
        bad_option("PassesZero", "--passes 0",
                   std::string("--passes: found '0'; expected a number > 0") + kSee),
        bad_option("PassesText", "--passes abc",
                   std::string("--passes: found 'abc'; expected a number > 0") + kSee),
        bad_option("SecondsZero", "--seconds 0",
                   std::string("--seconds: found '0'; expected a number > 0") + kSee),
        bad_option("ReportEveryZero", "--report-every 0",
                   std::string("--report-every: found '0'; expected a number > 0") + kSee),
        bad_option("SeedNegative", "--seed -1",
                   std::string("--seed: found '-1'; expected a whole number >= 0") + kSee),
        bad_option("FirstZero", "--first 0",
                   std::string("--first: found '0'; expected a whole number >= 1") + kSee),
        bad_option("FirstNegative", "--first -1",
                   std::string("--first: found '-1'; expected a whole number >= 1") + kSee),
        bad_option("ThreadsText", "--threads 1.5",
                   std::string("--threads: found '1.5'; expected a whole number >= 0") + kSee),
        bad_option("Unknown", "--speed 3", "unknown option '--speed'; did you mean --seed?"),
        BadInput{"OneFileTooMany", "predict model.esp good.svm more.svm",
                 "unexpected argument 'more.svm'; see 'espalier predict --help'"},
        bad_option("Twice", "--passes 1 --passes 2", std::string("--passes: given more than once") + kSee),
        bad_option("NoValue", "--dev", std::string("--dev: no value; expected one") + kSee),
        BadInput{"NoTrainingData", "train classify -o out.esp", std::string("TRAIN is required") + kSee},
        BadInput{"NoOutput", "train classify good.svm", std::string("--output is required") + kSee},
        BadInput{"NoCommand", "",
                 "no command; expected train, predict, eval, path, cross-validate, race, show, report, "
                 "serve, verify, convert, "
                 "attributes, infer, demo or generate; see "
                 "'espalier --help'"},
        BadInput{"UnknownCommand", "trane classify good.svm", "unknown command 'trane'; did you mean train?"},
        BadInput{
            "NoTask", "train",
            "no task; expected tag, classify, parse, treebank, graph or align; see 'espalier train --help'"},
        BadInput{"UnknownTask", "path sort good.svm --dev good.svm",
                 "unknown task 'sort'; expected tag, classify, parse, treebank, graph or align; see "
                 "'espalier path "
                 "--help'"},
        BadInput{"PathWithoutDev", "path classify good.svm",
                 "--dev is required; see 'espalier path classify --help'"},
        BadInput{"PathWithL2", "path classify good.svm --dev good.svm --l2 1",
                 "--l2: no effect in a path over l2; expected --l1-max and --l1-min with it"},
        BadInput{"PathUpwards", "path classify good.svm --dev good.svm --l2-max 1 --l2-min 2 -o out.esp",
                 "--l2-max 1 --l2-min 2: invalid range; expected 0 < --l2-min <= --l2-max"},
        BadInput{"PathOverL1Upwards",
                 "path classify good.svm --dev good.svm --l1-max 1 --l1-min 2 -o out.esp",
                 "--l1-max 1 --l1-min 2: invalid range; expected 0 < --l1-min <= --l1-max"},
        BadInput{"PathOverL1WithL1", "path classify good.svm --dev good.svm --l1-max 1 --l1-min 0.1 --l1 3",
                 "--l1, --l1-ratio: no effect in a path over l1; expected neither of them"},
        BadInput{"PathStandsStill", "path classify good.svm --dev good.svm --factor 1 -o out.esp",
                 "--factor 1: l2 would not decrease; expected a number between 0 and 1"},
        BadInput{"PathModelAmongItsTable", "path classify good.svm --dev good.svm -o -",
                 "--output -: standard output is taken by the table; expected the name of a file"},
        BadInput{"Kbest", "predict model.esp good.svm --kbest 0 -o out.txt",
                 "--kbest: found '0'; expected a whole number >= 1; see 'espalier predict --help'"},
        BadInput{"MarginalsOfAMargin", "predict margin.esp good.svm --marginals -o out.txt",
                 "--marginals: a model of loss svm has no probabilities; expected one trained with a finite "
                 "beta, such as "
                 "--loss crf"},
        BadInput{"WeightsAsJson", "show model.esp --json --weights",
                 "--json excludes --weights; see 'espalier show --help'"},
        BadInput{"Demo", "demo juggle",
                 "demo: unknown task 'juggle'; expected tag, classify, parse, treebank, graph or align"},
        BadInput{"Generate", "generate juggle -o out.txt",
                 "generate: unknown task 'juggle'; expected tag, supertag, classify, text, parse, treebank, "
                 "graph or align"},
        BadInput{"GenerateNegative", "generate classify -n -1 -o out.txt",
                 "--sentences: found '-1'; expected a whole number >= 0; see 'espalier generate --help'"}),
    name_of);

}  // namespace
}  // namespace espalier::testing::bad_options_test
