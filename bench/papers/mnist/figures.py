"""Figures 4 to 7 and 9 to 11 of Collins et al. 2008, redrawn on MNIST against passes and against seconds.

    python3 -m bench.papers.mnist.figures
"""

import argparse
import math
from pathlib import Path

from bench import lib, plot

L2 = (1000, 100, 10, 1)
L2_COLOURS = dict(zip(L2, (plot.BLUE, plot.GREEN, plot.RED, plot.PURPLE)))
# Short name: how it is called in legends, its options and its colour.
SOLVERS = {
    "eg": ("eg", ["--solver", "eg"], plot.BLUE),
    "paper": ("eg, the paper's steps, random order", ["--solver", "eg", "--step", "paper", "--sampling", "random"],
              plot.RED),
    "cyclic": ("eg, the paper's steps, cyclic order", ["--solver", "eg", "--step", "paper", "--sampling", "cyclic"],
               plot.GREEN),
    "lbfgs": ("L-BFGS", ["--solver", "lbfgs"], plot.ORANGE),
    "sgd": ("SGD", ["--solver", "sgd"], plot.ORANGE),
}
LABELS = {"eg": "eg", "paper": "paper's", "cyclic": "cyclic", "lbfgs": "L-BFGS", "sgd": "SGD"}
MEASURES = {"passes": "passes over the data", "seconds": "seconds of training"}
DASHED = "6 4"


class Curves:
    """The runs as lines against one measure of cost."""

    def __init__(self, rows, measure):
        self.rows, self.measure, self.x_label = rows, measure, MEASURES[measure]

    def run(self, solver, l2):
        return [row for row in self.rows if (row["solver"], row["l2"]) == (solver, l2)]

    def bound(self, l2):
        """The best lower bound on the optimum that any run proved."""
        return max(row["dual"] for row in self.rows if row["l2"] == l2)

    def line(self, solver, l2, value, name, colour, dash="", label=""):
        """`value` is a column, or a function of a row."""
        run = self.run(solver, l2)
        get = value if callable(value) else lambda row: row[value]
        return plot.Series(name, [row[self.measure] for row in run], [get(row) for row in run], colour, dash, label)

    def each_l2(self, solver, value):
        return [self.line(solver, l2, value, f"l2 = {l2}", L2_COLOURS[l2], label=f"{l2:,}") for l2 in L2]

    def panel(self, title, y_label, series, **axes):
        longest = max(x for line in series for x in line.xs)
        return plot.Panel(title, self.x_label, y_label, series, x_range=(0, longest), **axes)


def percent_error(row):
    return 100 * row["error"]


def error_panel(curves, title, series):
    """The range ends where errors do and begins 5 points above: first passes are off the chart, as in the paper."""
    low = math.floor(2 * min(value for line in series for value in line.ys) - 0.2) / 2
    return curves.panel(title, "validation error, %", series, y_range=(low, low + 5))


def excess_panel(curves, l2, solvers):
    """How far the primal is above the optimum, for every solver."""
    bound = curves.bound(l2)
    series = [curves.line(solver, l2, lambda row: row["primal"] / bound - 1, name, colour, label=LABELS[solver])
              for solver in solvers for name, _, colour in [SOLVERS[solver]]]
    return curves.panel(f"l2 = {l2}", "primal / optimum - 1", series, log_y=True, y_range=(1e-6, 3))


def values_panel(curves, l2, solvers):
    """Primal and dual approaching each other."""
    bound, series = curves.bound(l2), []
    for solver in solvers:
        name, _, colour = SOLVERS[solver]
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
    gaps = [curves.line(solver, 1, "relative_gap", f"primal: {SOLVERS[solver][0]}", SOLVERS[solver][2],
                        label=LABELS[solver]) for solver in solvers]
    return "Figure 7: random against cyclic order", [
        values_panel(curves, 1, solvers), gap_panel(curves, "l2 = 1", gaps)]


def errors_beside_eg(curves, solver):
    """A solver's validation error at every l2 and that of eg at l2 = 10, as the paper shows them."""
    name = SOLVERS[solver][0]
    eg = curves.line("eg", 10, percent_error, "eg, l2 = 10", plot.BLACK, DASHED, "eg, 10")
    series = curves.each_l2(solver, percent_error)
    for line in series:
        line.name = f"{name}, {line.name}"
    return error_panel(curves, "", [*series, eg])


def figure9(curves):
    return "Figure 9: validation error, eg and SGD", [errors_beside_eg(curves, "sgd")]


def figure10(curves):
    return "Figure 10: primal, eg and SGD", [excess_panel(curves, l2, ("eg", "paper", "sgd")) for l2 in L2]


def figure11(curves):
    return "Figure 11: primal, eg and L-BFGS", [excess_panel(curves, l2, ("eg", "paper", "lbfgs")) for l2 in L2]


def figure11_error(curves):
    return "Figure 11: validation error, eg and L-BFGS", [errors_beside_eg(curves, "lbfgs")]


FIGURES = {"4": figure4, "5": figure5, "6": figure6, "7": figure7, "9": figure9, "10": figure10, "11": figure11,
           "11-error": figure11_error}


def measure(arguments):
    train, validation = lib.mnist(arguments.mnist)
    for l2 in L2:
        for solver, (name, options, _) in SOLVERS.items():
            lib.note(f"l2 = {l2}: {name}")
            run = lib.espalier("train", "classify", train, "--first", arguments.first, "--dev", validation,
                               "--l2", l2, "--gap", arguments.gap, "--passes", arguments.passes,
                               "--report-every", 1, *options)
            for event in run.progress:
                yield {"solver": solver, "l2": l2, "passes": event["pass"], "seconds": event["seconds"],
                       "primal": event["primal"], "dual": event["dual"], "relative_gap": event["relative_gap"],
                       "error": event["dev"]["error"]}


def cost_to(run, bound):
    """Passes and seconds of the first report whose primal is within 1e-3 of the optimum, as text."""
    for row in run:
        if row["primal"] <= (1 + 1e-3) * bound:
            return f"{row['passes']:.1f}", f"{row['seconds']:.2f}"
    return "-", "-"


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
        curves = Curves(rows, x)
        for figure, draw in FIGURES.items():
            title, panels = draw(curves)
            plot.write(lib.RESULTS / f"figure{figure}-{x}.svg", f"{title}, by {x}", panels)

    print(f"MNIST, {arguments.first} training images: passes and seconds until the primal is within "
          "1e-3 of the optimum; primal, certified gap and validation error at the end of the run.\n")
    curves, printed = Curves(rows, "passes"), []
    for l2 in L2:
        for solver, (name, _, _) in SOLVERS.items():
            run = curves.run(solver, l2)
            printed.append([name, l2, *cost_to(run, curves.bound(l2)), f"{run[-1]['primal']:.3f}",
                            f"{run[-1]['relative_gap']:.1e}", f"{100 * run[-1]['error']:.2f} %"])
    print(lib.table(["solver", "l2", "passes", "seconds", "primal", "gap", "error"], printed))
    print(f"\nPictures: {lib.RESULTS.relative_to(lib.ROOT)}/figure*.svg\n\n{lib.provenance()}")


if __name__ == "__main__":
    main()
