"""Figure 13 of Collins et al. 2008, redrawn: EG and cutting planes train a max-margin parser, by seconds.

    python3 -m bench.papers.spanish.figure13
"""

import argparse
import math

from bench import lib, plot
from bench.papers.curves import MEASURES, Curves, Solver, reports
from bench.papers.spanish import data

COLOURS = {10000: plot.BLUE, 1000: plot.GREEN, 100: plot.RED, 10: plot.PURPLE, 1: plot.ORANGE}
SOLVERS = {
    "eg": Solver("eg", ("--solver", "eg"), plot.BLUE, "eg"),
    "frank-wolfe": Solver("frank-wolfe, the default", ("--solver", "frank-wolfe"), plot.GREEN, "frank-wolfe"),
    "n": Solver("cutting planes, n slacks", ("--solver", "cutting-plane", "--slacks", "n"), plot.ORANGE, "n slacks"),
    "one": Solver("cutting planes, one slack", ("--solver", "cutting-plane", "--slacks", "one"), plot.RED, "one slack"),
}


def accuracy(row):
    return 100 * row["uas"]


def accuracy_panel(curves, l2):
    series = [curves.line(key, l2, accuracy, solver.name, solver.colour, label=solver.label)
              for key, solver in SOLVERS.items()]
    high = math.ceil(max(value for line in series for value in line.ys) + 0.5)
    return curves.panel(f"l2 = {l2:g}", "validation accuracy, %", series, y_range=(high - 10, high))


def seconds_to(run, value, reached):
    """Of the first report of which it holds, as text."""
    return next((f"{row['seconds']:.1f}" for row in run if reached(row, value)), "-")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    data.add_options(parser)
    parser.add_argument("--l2", type=float, nargs="+", default=list(COLOURS), choices=list(COLOURS), metavar="L2",
                        help="some of %(default)s (default: all)")
    parser.add_argument("--seconds", type=float, default=60, help="of training a run (default: %(default)s)")
    parser.add_argument("--gap", type=float, default=1e-3, help="where a run ends earlier (default: %(default)s)")
    arguments = parser.parse_args()

    lib.use_one_core()
    train, validation = data.files(arguments.spanish)
    model = [part if part != "crf" else "svm" for part in data.MODEL]
    rows = []
    for l2 in arguments.l2:
        for key, solver in SOLVERS.items():
            lib.note(f"l2 = {l2:g}: {solver.name}")
            run = lib.espalier("train", "parse", train, "--first", arguments.first, "--dev", validation, *model,
                               "--l2", l2, "--gap", arguments.gap, "--seconds", arguments.seconds, "--passes", 100000,
                               "--report-every", 2, *solver.options)
            rows += reports(run, key, l2, "uas")
    lib.keep("spanish-svm", rows, first=arguments.first, seconds=arguments.seconds, gap=arguments.gap)
    for x in MEASURES:
        curves = Curves(rows, x, SOLVERS, COLOURS)
        panels = [curves.excess_panel(l2, SOLVERS, (1e-3, 30)) for l2 in arguments.l2]
        panels += [accuracy_panel(curves, l2) for l2 in arguments.l2]
        plot.write(lib.RESULTS / f"figure13-{x}.svg", f"Figure 13: max-margin parsing, by {x}", panels)

    print(f"Spanish, {arguments.first} training sentences, SVM: seconds until the primal is within 10 % and 1 % of the "
          f"optimum (of the best lower bound that a run proved), and what a run ends with after {arguments.seconds:g} "
          "seconds at most.\n")
    curves, printed = Curves(rows, "seconds", SOLVERS, COLOURS), []
    for l2 in arguments.l2:
        bound = curves.bound(l2)
        for key, solver in SOLVERS.items():
            run = curves.run(key, l2)
            within = [seconds_to(run, (1 + excess) * bound, lambda row, most: row["primal"] <= most)
                      for excess in (0.1, 0.01)]
            printed.append([solver.name, f"{l2:g}", *within, f"{run[-1]['passes']:.0f}", f"{run[-1]['primal']:.1f}",
                            f"{run[-1]['relative_gap']:.1e}", f"{max(map(accuracy, run)):.2f}"])
    print(lib.table(["solver", "l2", "10 %", "1 %", "passes", "primal", "gap", "best accuracy"], printed))
    print(f"\nPictures: {lib.RESULTS.relative_to(lib.ROOT)}/figure13-*.svg\n\n{lib.provenance()}")


if __name__ == "__main__":
    main()
