// Follows a run and ends it by a rule of one's own. Usage: custom_observer FILE (LIBSVM's format)

#include <espalier/espalier.h>
#include <fmt/format.h>

int main(int argc, char** argv) try {
  if (argc != 2) throw espalier::Error("custom_observer: no file; expected one in LIBSVM's format");
  const auto data = espalier::read_classify_training(argv[1], {});
  fmt::print("{}\n", data->describe());

  // By name from the table, as the command line does it: lbfgs and sgd would do here too.
  const espalier::Loss loss = espalier::Loss::softmax_margin();
  const espalier::SolverEntry& solver = espalier::find_solver("eg", loss);
  const espalier::Objective objective{data->problem(), loss, /*l2=*/0.1};
  espalier::SolverSettings settings;
  settings.stopping.gap = 0;    // never on its own account
  settings.report_every = 5;    // a report, and so a call, after at most so many passes
  espalier::Training training;  // empty: a first run

  // Our rule: the objective may still fall by a thousandth of a nat for each example, no more. It has to hold for the
  // weights that the report certifies, and those are what the run leaves.
  const double enough = 1e-3 * static_cast<double>(data->problem().size());
  const auto watch = [&](const espalier::Progress& progress, const espalier::Weights&) {
    fmt::print("pass {:5.1f}  objective {:.4f}, can fall by {:.4f} at most\n", progress.passes,
               progress.primal, progress.gap());
    return progress.gap() <= enough ? espalier::Control::stop : espalier::Control::go_on;
  };
  const espalier::Summary summary = solver.run(objective, settings, training, watch);
  fmt::print("{}\n", summary.message);

  const bool by_our_rule = summary.status == espalier::Status::stopped;
  return by_our_rule && summary.history.back().gap() <= enough ? 0 : 1;
} catch (const espalier::Error& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 2;
}
