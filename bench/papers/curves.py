"""Runs of several solvers at several l2 as lines against what they cost, for the papers' figures."""

from dataclasses import dataclass

from bench import plot

MEASURES = {"passes": "passes over the data", "seconds": "seconds of training"}
DASHED = "6 4"


@dataclass
class Solver:
    name: str  # in legends and tables
    options: tuple
    colour: str
    label: str  # beside its lines


def reports(run, solver, l2, quality):
    """What a run of `train` logged, as rows; `quality` is what of --dev to take."""
    for event in run.progress:
        yield {"solver": solver, "l2": l2, "passes": event["pass"], "seconds": event["seconds"],
               "primal": event["primal"], "dual": event["dual"], "relative_gap": event["relative_gap"],
               quality: event["dev"][quality]}


class Curves:
    """The rows as lines against one measure of cost."""

    def __init__(self, rows, measure, solvers, l2_colours):
        self.rows, self.measure, self.x_label = rows, measure, MEASURES[measure]
        self.solvers, self.l2_colours = solvers, l2_colours

    def run(self, solver, l2):
        return [row for row in self.rows if (row["solver"], row["l2"]) == (solver, l2)]

    def bound(self, l2):
        """The best lower bound on the optimum that any run proved; the lowest primal where none is above zero."""
        rows = [row for row in self.rows if row["l2"] == l2]
        proven = max(row["dual"] for row in rows)
        return proven if proven > 0 else min(row["primal"] for row in rows)

    def line(self, solver, l2, value, name, colour, dash="", label=""):
        """`value` is a column, or a function of a row."""
        run = self.run(solver, l2)
        get = value if callable(value) else lambda row: row[value]
        return plot.Series(name, [row[self.measure] for row in run], [get(row) for row in run], colour, dash, label)

    def each_l2(self, solver, value):
        return [self.line(solver, l2, value, f"l2 = {l2}", colour, label=f"{l2:,}")
                for l2, colour in self.l2_colours.items()]

    def beside_eg(self, solver, value):
        """A solver's values at every l2 and those of eg at l2 = 10, as Collins et al. 2008 show them."""
        series = self.each_l2(solver, value)
        for line in series:
            line.name = f"{self.solvers[solver].name}, {line.name}"
        return [*series, self.line("eg", 10, value, "eg, l2 = 10", plot.BLACK, DASHED, "eg, 10")]

    def panel(self, title, y_label, series, **axes):
        longest = max(x for line in series for x in line.xs)
        return plot.Panel(title, self.x_label, y_label, series, x_range=(0, longest), **axes)

    def excess_panel(self, l2, solvers, y_range):
        """How far the primal is above the optimum, for every solver."""
        bound = self.bound(l2)
        series = [self.line(key, l2, lambda row: row["primal"] / bound - 1, solver.name, solver.colour,
                            label=solver.label) for key in solvers for solver in [self.solvers[key]]]
        return self.panel(f"l2 = {l2}", "primal / optimum - 1", series, log_y=True, y_range=y_range)

    def cost_to_optimum(self, solver, l2):
        """Passes and seconds of the first report whose primal is within 1e-3 of the optimum, as text."""
        bound = self.bound(l2)
        for row in self.run(solver, l2):
            if row["primal"] <= (1 + 1e-3) * bound:
                return f"{row['passes']:.1f}", f"{row['seconds']:.2f}"
        return "-", "-"
