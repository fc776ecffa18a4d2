"""Figures 12 and 15 of Collins et al. 2008, redrawn: eg, L-BFGS and SGD train a projective dependency parser.

    python3 -m bench.papers.spanish.figures
"""

import argparse
import math

from bench import lib, plot
from bench.papers.curves import MEASURES, Curves, Solver, reports
from bench.papers.spanish import data

COLOURS = {1000: plot.BLUE, 100: plot.GREEN, 10: plot.RED, 1: plot.PURPLE, 0.1: plot.ORANGE}
SOLVERS = {
    "eg": Solver("eg", ("--solver", "eg"), plot.BLUE, "eg"),
    "lbfgs": Solver("L-BFGS", ("--solver", "lbfgs"), plot.ORANGE, "L-BFGS"),
    "sgd": Solver("SGD", ("--solver", "sgd"), plot.GREEN, "SGD"),
}


def accuracy(row):
    return 100 * row["uas"]


def accuracy_panel(curves, title, series):
    """The range ends where accuracies do and begins 10 points below: first passes are off the chart."""
    high = math.ceil(max(value for line in series for value in line.ys) + 0.5)
    return curves.panel(title, "validation accuracy, %", series, y_range=(high - 10, high))


def figure12(curves, l2s):
    panels = [curves.excess_panel(l2, SOLVERS, (1e-4, 3)) for l2 in l2s]
    panels += [accuracy_panel(curves, f"eg and {SOLVERS[solver].name}", curves.beside_eg(solver, accuracy))
               for solver in ("lbfgs", "sgd")]
    return "Figure 12: eg, L-BFGS and SGD", panels


def figure15(curves):
    """The paper's timing, at l2 = 10."""
    lines = [curves.line(key, 10, accuracy, solver.name, solver.colour, label=solver.label)
             for key, solver in SOLVERS.items()]
    return "Figure 15: eg, L-BFGS and SGD at l2 = 10", [
        curves.excess_panel(10, SOLVERS, (1e-4, 3)), accuracy_panel(curves, "l2 = 10", lines)]


def measure(arguments, l2s):
    train, validation = data.files(arguments.spanish)
    for l2 in l2s:
        for key, solver in SOLVERS.items():
            lib.note(f"l2 = {l2:g}: {solver.name}")
            run = lib.espalier("train", "parse", train, "--first", arguments.first, "--dev", validation, *data.MODEL,
                               "--l2", l2, "--gap", arguments.gap, "--passes", arguments.passes, "--report-every", 1,
                               *solver.options)
            yield from reports(run, key, l2, "uas")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    data.add_options(parser)
    parser.add_argument("--l2", type=float, nargs="+", default=list(COLOURS), choices=list(COLOURS), metavar="L2",
                        help="some of %(default)s, 10 among them (default: all)")
    parser.add_argument("--passes", type=float, default=60, help="most passes of a run (default: %(default)s)")
    parser.add_argument("--gap", type=float, default=1e-4, help="where a run ends earlier (default: %(default)s)")
    arguments = parser.parse_args()
    if 10 not in arguments.l2:
        parser.error("--l2: 10 is missing, which Figure 15 shows")

    lib.use_one_core()
    l2s = [l2 for l2 in COLOURS if l2 in arguments.l2]
    rows = list(measure(arguments, l2s))
    lib.keep("spanish", rows, first=arguments.first, passes=arguments.passes, gap=arguments.gap)
    for x in MEASURES:
        curves = Curves(rows, x, SOLVERS, {l2: COLOURS[l2] for l2 in l2s})
        for figure, (title, panels) in {"12": figure12(curves, l2s), "15": figure15(curves)}.items():
            plot.write(lib.RESULTS / f"figure{figure}-{x}.svg", f"{title}, by {x}", panels)

    print(f"Spanish, {arguments.first} training sentences: passes and seconds until the primal is within 1e-3 of the "
          f"optimum; primal, certified gap and validation accuracy at the end of the run, after {arguments.passes:g} "
          "passes at most.\n")
    curves, printed = Curves(rows, "passes", SOLVERS, COLOURS), []
    for l2 in l2s:
        for key, solver in SOLVERS.items():
            run = curves.run(key, l2)
            printed.append([solver.name, l2, *curves.cost_to_optimum(key, l2), f"{run[-1]['primal']:.2f}",
                            f"{run[-1]['relative_gap']:.1e}", f"{accuracy(run[-1]):.2f}",
                            f"{max(map(accuracy, run)):.2f}"])
    print(lib.table(["solver", "l2", "passes", "seconds", "primal", "gap", "accuracy", "its best"], printed))
    print(f"\nPictures: {lib.RESULTS.relative_to(lib.ROOT)}/figure1[25]-*.svg\n\n{lib.provenance()}")


if __name__ == "__main__":
    main()
