"""Figures 4 to 11 and 14 of Collins et al. 2008, redrawn on MNIST against passes and against seconds.

    python3 -m bench.papers.mnist.figures
"""

import argparse
import math
from pathlib import Path

from bench import lib, plot
from bench.papers.curves import DASHED, MEASURES, Curves, Solver, reports

L2 = (1000, 100, 10, 1)
L2_COLOURS = dict(zip(L2, (plot.BLUE, plot.GREEN, plot.RED, plot.PURPLE)))
EXCESS = (1e-6, 3)
SOLVERS = {
    "eg": Solver("eg", ("--solver", "eg"), plot.BLUE, "eg"),
    "paper": Solver("eg, the paper's steps, random order",
                    ("--solver", "eg", "--step", "paper", "--sampling", "random"), plot.RED, "paper's"),
    "cyclic": Solver("eg, the paper's steps, cyclic order",
                     ("--solver", "eg", "--step", "paper", "--sampling", "cyclic"), plot.GREEN, "cyclic"),
    "lbfgs": Solver("L-BFGS", ("--solver", "lbfgs"), plot.ORANGE, "L-BFGS"),
    "sgd": Solver("SGD", ("--solver", "sgd"), plot.PURPLE, "SGD"),
}
# With and without annealing, at the smallest l2 alone: what it is for. The paper does not say where it starts; uniform
# duals are what its bounds are about.
ANNEALED_L2 = 1
UNIFORM = ("--solver", "eg", "--step", "paper", "--sampling", "random", "--start", "uniform")
ANNEALING = {
    "uniform": Solver("eg, the paper's steps, from uniform duals", UNIFORM, plot.RED, "uniform"),
    "annealed": Solver("the same, with the paper's annealing", (*UNIFORM, "--anneal", "paper"), plot.GREEN,
                       "annealed"),
    "plain": Solver("eg, not annealed", ("--solver", "eg", "--anneal", "no"), plot.PURPLE, "not annealed"),
}
RUNS = [(l2, key) for l2 in L2 for key in SOLVERS] + [(ANNEALED_L2, key) for key in ANNEALING]
ALL = SOLVERS | ANNEALING


def percent_error(row):
    return 100 * row["error"]


def error_panel(curves, title, series):
    """The range ends where errors do and begins 5 points above: first passes are off the chart, as in the paper."""
    low = math.floor(2 * min(value for line in series for value in line.ys) - 0.2) / 2
    return curves.panel(title, "validation error, %", series, y_range=(low, low + 5))


def values_panel(curves, l2, solvers):
    """Primal and dual approaching each other."""
    bound, series = curves.bound(l2), []
    for solver in solvers:
        name, colour = SOLVERS[solver].name, SOLVERS[solver].colour
        series.append(curves.line(solver, l2, "primal", f"primal: {name}", colour))
        series.append(curves.line(solver, l2, "dual", f"dual: {name}", colour, DASHED))
    return curves.panel(f"l2 = {l2}", "objective", series, y_range=(0.6 * bound, 1.4 * bound))


def gap_panel(curves, title, series):
    return curves.panel(title, "relative duality gap", series, log_y=True, y_range=(3e-6, 1))


def side_by_side(panels):
    """The same ranges for all of them, so that they can be compared."""
    for axis in ("x_range", "y_range"):
        lows, highs = zip(*(getattr(panel, axis) for panel in panels))
        for panel in panels:
            setattr(panel, axis, (min(lows), max(highs)))
    return panels


def figure4(curves):
    return "Figure 4: validation error", side_by_side([
        error_panel(curves, "eg", curves.each_l2("eg", percent_error)),
        error_panel(curves, "eg, the paper's steps and order", curves.each_l2("paper", percent_error)),
    ])


def figure5(curves):
    return "Figure 5: primal and dual", [values_panel(curves, l2, ("eg", "paper")) for l2 in L2]


def figure6(curves):
    return "Figure 6: duality gap", side_by_side([
        gap_panel(curves, "eg", curves.each_l2("eg", "relative_gap")),
        gap_panel(curves, "eg, the paper's steps and order", curves.each_l2("paper", "relative_gap")),
    ])


def figure7(curves):
    solvers = ("eg", "paper", "cyclic")
    # The gap takes the colours of the primal, and its entries in the legend.
    gaps = [curves.line(solver, 1, "relative_gap", f"primal: {SOLVERS[solver].name}",
                        SOLVERS[solver].colour, label=SOLVERS[solver].label) for solver in solvers]
    return "Figure 7: random against cyclic order", [
        values_panel(curves, 1, solvers), gap_panel(curves, "l2 = 1", gaps)]


def objective_and_error(curves, l2, solvers):
    errors = [curves.line(key, l2, percent_error, ALL[key].name, ALL[key].colour, label=ALL[key].label)
              for key in solvers]
    return [curves.excess_panel(l2, solvers, EXCESS), error_panel(curves, f"l2 = {l2}", errors)]


def figure8(curves):
    return "Figure 8: annealing", objective_and_error(curves, ANNEALED_L2, ("uniform", "annealed", "eg", "plain"))


def errors_beside_eg(curves, solver):
    return error_panel(curves, "", curves.beside_eg(solver, percent_error))


def figure9(curves):
    return "Figure 9: validation error, eg and SGD", [errors_beside_eg(curves, "sgd")]


def figure10(curves):
    return "Figure 10: primal, eg and SGD", [curves.excess_panel(l2, ("eg", "paper", "sgd"), EXCESS) for l2 in L2]


def figure11(curves):
    return "Figure 11: primal, eg and L-BFGS", [curves.excess_panel(l2, ("eg", "paper", "lbfgs"), EXCESS) for l2 in L2]


def figure11_error(curves):
    return "Figure 11: validation error, eg and L-BFGS", [errors_beside_eg(curves, "lbfgs")]


def figure14(curves):
    return "Figure 14: eg, SGD and L-BFGS", objective_and_error(curves, 10, ("eg", "paper", "lbfgs", "sgd"))


FIGURES = {"4": figure4, "5": figure5, "6": figure6, "7": figure7, "8": figure8, "9": figure9, "10": figure10,
           "11": figure11, "11-error": figure11_error, "14": figure14}


def measure(arguments):
    train, validation = lib.mnist(arguments.mnist)
    for l2, key in RUNS:
        lib.note(f"l2 = {l2}: {ALL[key].name}")
        run = lib.espalier("train", "classify", train, "--first", arguments.first, "--dev", validation,
                           "--l2", l2, "--gap", arguments.gap, "--passes", arguments.passes,
                           "--report-every", 1, *ALL[key].options)
        yield from reports(run, key, l2, "error")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mnist", type=Path, default=lib.DATA / "mnist", help="folder with the four IDX files")
    parser.add_argument("--first", type=int, default=59000, help="training examples (default: %(default)s)")
    parser.add_argument("--passes", type=float, default=60, help="most passes of a run (default: %(default)s)")
    parser.add_argument("--gap", type=float, default=1e-5, help="where a run ends earlier (default: %(default)s)")
    arguments = parser.parse_args()

    lib.use_one_core()
    rows = list(measure(arguments))
    lib.keep("figures", rows, first=arguments.first, passes=arguments.passes, gap=arguments.gap)
    for x in MEASURES:
        curves = Curves(rows, x, ALL, L2_COLOURS)
        for figure, draw in FIGURES.items():
            title, panels = draw(curves)
            plot.write(lib.RESULTS / f"figure{figure}-{x}.svg", f"{title}, by {x}", panels)

    print(f"MNIST, {arguments.first} training images: passes and seconds until the primal is within "
          "1e-3 of the optimum; primal, certified gap and validation error at the end of the run.\n")
    curves, printed = Curves(rows, "passes", ALL, L2_COLOURS), []
    for l2, key in RUNS:
        run = curves.run(key, l2)
        printed.append([ALL[key].name, l2, *curves.cost_to_optimum(key, l2), f"{run[-1]['primal']:.3f}",
                        f"{run[-1]['relative_gap']:.1e}", f"{100 * run[-1]['error']:.2f} %"])
    print(lib.table(["solver", "l2", "passes", "seconds", "primal", "gap", "error"], printed))
    print(f"\nPictures: {lib.RESULTS.relative_to(lib.ROOT)}/figure*.svg\n\n{lib.provenance()}")


if __name__ == "__main__":
    main()
