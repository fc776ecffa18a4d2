"""Figure 3 of Martins et al. 2010, redrawn on CoNLL-2003: learning curves of DCA, SGD, L-BFGS and eg, CRF.

    python3 -m bench.papers.ner.figure3
"""

import argparse
import math
import tempfile
from pathlib import Path

from bench import lib, plot
from bench.papers.curves import MEASURES, Curves, Solver, reports
from bench.papers.ner import data

COLOURS = {10: plot.GREEN, 1: plot.RED, 0.1: plot.PURPLE}  # the paper's C = 1/l2
SOLVERS = {
    "dca": Solver("DCA", ("--solver", "dca"), plot.RED, "DCA"),
    "sgd": Solver("SGD", ("--solver", "sgd"), plot.ORANGE, "SGD"),
    "lbfgs": Solver("L-BFGS", ("--solver", "lbfgs"), plot.GREEN, "L-BFGS"),
    "eg": Solver("eg", ("--solver", "eg"), plot.BLUE, "eg"),
}


def f1(row):
    return 100 * row["f1"]


def panel(curves, l2):
    series = [curves.line(key, l2, f1, solver.name, solver.colour, label=solver.label)
              for key, solver in SOLVERS.items()]
    high = math.ceil(max(value for line in series for value in line.ys) + 0.5)
    return curves.panel(f"l2 = {l2}", "F1 on testa, %", series, y_range=(high - 10, high))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    data.add_options(parser)
    parser.add_argument("--passes", type=float, default=50, help="of a run (default: %(default)s)")
    arguments = parser.parse_args()

    lib.use_one_core()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        train, testa, _ = data.with_shapes(data.files(arguments.conll), Path(folder))
        first = [] if arguments.first is None else ["--first", arguments.first]
        for l2 in COLOURS:
            for key, solver in SOLVERS.items():
                lib.note(f"l2 = {l2}: {solver.name}")
                run = lib.espalier("train", "tag", train, "--dev", testa, "--template", arguments.template, "--l2", l2,
                                   "--gap", 1e-5, "--passes", arguments.passes, "--report-every", 1, *solver.options,
                                   *first)
                rows += reports(run, key, l2, "f1")
    lib.keep("ner-curves", rows, first=arguments.first, passes=arguments.passes)
    for x in MEASURES:
        curves = Curves(rows, x, SOLVERS, COLOURS)
        plot.write(lib.RESULTS / f"ner-figure3-{x}.svg", f"Figure 3: named entities, by {x}",
                   [panel(curves, l2) for l2 in COLOURS])

    print(f"CoNLL-2003, CRF, template.txt: the best F1 on testa in a run of {arguments.passes:g} passes at most, when it "
          "was first there, and when within 0.1 points of the best of all at this l2. The five passes in which SGD chooses "
          "its rate count.\n")
    curves, printed = Curves(rows, "passes", SOLVERS, COLOURS), []
    for l2 in COLOURS:
        top = max(f1(row) for row in rows if row["l2"] == l2)
        for key, solver in SOLVERS.items():
            run = curves.run(key, l2)
            best = max(run, key=f1)
            near = next((row for row in run if f1(row) >= top - 0.1), None)
            printed.append([solver.name, l2, f"{f1(best):.2f}", f"{best['passes']:.1f}", f"{best['seconds']:.1f}",
                            f"{near['passes']:.1f}, {near['seconds']:.1f} s" if near else "-", f"{f1(run[-1]):.2f}"])
    print(lib.table(["solver", "l2", "best F1", "passes", "seconds", "near the best", "last F1"], printed))
    print(f"\nPictures: {lib.RESULTS.relative_to(lib.ROOT)}/ner-figure3-*.svg\n\n{lib.provenance()}")


if __name__ == "__main__":
    main()
