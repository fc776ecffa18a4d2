#include "espalier/base/error.h"
#include "espalier/train/train.h"

namespace espalier {

const OptionTable& train_option_table() {
  using Row = OptionOf<TrainOptions>;
  static const OptionTable table{
      Row("loss", &TrainOptions::loss,
          "crf, svm, softmax-margin, perceptron, or BETA,GAMMA; ramp, risk, or delta,BETA,GAMMA")
          .basic(),
      Row("l2", &TrainOptions::l2, "l2/2 |theta|^2 against the sum of losses").from(0).basic(),
      Row("l1", &TrainOptions::l1, "l1 |theta|_1 beside l2: many weights become zero").from(0).basic(),
      Row("l1_ratio", &TrainOptions::l1_ratio,
          "an l1 of so many times l2, for " + setting("l2") + " auto and for paths")
          .from(0),
      Row("solver", &TrainOptions::solver, "auto, a solver, or several with commas between them").basic(),
      Row("gap", &TrainOptions::gap, "stop at this duality gap, relative to the objective").from(0).basic(),
      Row("passes", &TrainOptions::passes, "maximum number of passes over the data")
          .above(0)
          .value("N")
          .basic(),
      Row("seconds", &TrainOptions::seconds, "maximum training time").above(0).value("N").basic(),
      Row("threads", &TrainOptions::threads, "number of threads; 0: one for each processor").from(0).basic(),
      Row("seed", &TrainOptions::seed, "seed of the random numbers"),
      Row("repeat", &TrainOptions::repeat,
          "number of runs, with consecutive seeds from " + setting("seed") +
              "; keeps the model with the best dual")
          .from(1),
      Row("report_every", &TrainOptions::report_every,
          "passes between reports; eg skips the first one when it is about to converge")
          .above(0)
          .value("N"),
      Row("patience", &TrainOptions::patience,
          "stop when " + setting("dev") +
              " has not improved for N reports, and save the weights that were best there"),
      Row("bits", &TrainOptions::bits,
          "bits of each weight of the model, 16 or 32; 16: rounded and certified at the end")
          .choices({"16", "32"}),
      Row("memory", &TrainOptions::memory,
          "stop before training if it would take more memory, and say what takes less")
          .bytes(),
      Row(
          "outer_gap", [](TrainOptions& options) -> double& { return options.rounds.gap; },
          "where labels are uncertain or the loss is a difference: stop once a round lowers the objective by "
          "less "
          "than this share of it")
          .from(0),
      Row(
          "outer_rounds", [](TrainOptions & options) -> auto& { return options.rounds.rounds; },
          "where labels are uncertain or the loss is a difference: maximum number of rounds")
          .from(1),
  };
  return table;
}

}  // namespace espalier
