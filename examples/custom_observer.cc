// Follows a run and ends it by a rule of one's own. Usage: custom_observer FILE (LIBSVM's format)

#include <espalier/espalier.h>
#include <fmt/format.h>

int main(int argc, char** argv) try {
  if (argc != 2) throw espalier::Error("custom_observer: no file; expected one in LIBSVM's format");
  const auto data = espalier::read_classify_training(argv[1], {});
  fmt::print("{}\n", data->describe());

  espalier::TrainOptions options;
  options.loss = espalier::Loss::softmax_margin();
  options.l2 = 0.1;
  options.solver = "eg";     // lbfgs and sgd would do here too
  options.gap = 0;           // never ends on its own account
  options.report_every = 5;  // a report, and so a call, after at most so many passes

  // Our rule: the objective may still fall by a thousandth of a nat for each example, no more. It has to hold
  // for the weights that the report certifies, and those are what the run leaves.
  const double enough = 1e-3 * static_cast<double>(data->problem().size());
  bool stopped = false;
  const auto watch = [&](const espalier::Progress& progress, const espalier::Weights&) {
    fmt::print("pass {:5.1f}  objective {:.4f}, can fall by {:.4f} at most\n", progress.passes,
               progress.primal, progress.gap());
    stopped = progress.gap() <= enough;
    return stopped ? espalier::Control::stop : espalier::Control::go_on;
  };
  const espalier::Model model = espalier::train(*data, options, watch);
  return stopped && model.certificate().gap() <= enough ? 0 : 1;
} catch (const espalier::Error& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 2;
}
