"""Figure 4 of Bartlett et al. 2004, redrawn: the dual of SMO and of EG on the first 1,000 sentences of CoNLL-2003.

    python3 -m bench.papers.ner.figure4
"""

import argparse
import tempfile
from pathlib import Path

from bench import lib, plot
from bench.papers.curves import MEASURES, Curves, Solver
from bench.papers.ner import data

IN_ORDER = ("--sampling", "cyclic")


def eg(eta, log_odds):
    """The paper's step is eta C, and C is 1/l2."""
    return ("--solver", "eg", "--eta", lambda l2: eta / l2, "--log-odds", log_odds, *IN_ORDER)


# Ours at --solver eg's defaults, and SMO in its two forms, beside the paper's.
RUNS = {
    "smo": Solver("SMO, mass of the factored probability", ("--solver", "smo", "--smo-mass", "factored", *IN_ORDER),
                  plot.RED, "SMO"),
    "smo-cliques": Solver("SMO, mass of the cliques", ("--solver", "smo", "--smo-mass", "cliques", *IN_ORDER),
                          plot.ORANGE, "SMO, cliques"),
    "eta-0.5": Solver("EG, eta = 0.5, from log-odds 5", eg(0.5, 5), plot.GREEN, "0.5"),
    "eta-1": Solver("EG, eta = 1, from log-odds 5", eg(1, 5), plot.BLUE, "1"),
    "start-2": Solver("EG, eta = 1, from log-odds 2", eg(1, 2), plot.PURPLE, "2"),
    "start-12": Solver("EG, eta = 1, from log-odds 12", eg(1, 12), plot.BLACK, "12"),
    "eg": Solver("eg, its own steps", ("--solver", "eg"), plot.BLUE, "eg"),
}
PANELS = {"(a) step sizes": ("smo", "smo-cliques", "eta-0.5", "eta-1"),
          "(b) eta = 1, starts": ("smo", "start-2", "eta-1", "start-12"),
          "eg with its own steps": ("smo", "smo-cliques", "eg")}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    data.add_options(parser, first=1000)
    parser.add_argument("--l2", type=float, default=10, help="the paper does not say its 1/C (default: %(default)s)")
    parser.add_argument("--passes", type=float, default=200, help="of a run (default: %(default)s)")
    arguments = parser.parse_args()

    lib.use_one_core()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        train, *_ = data.with_shapes(data.files(arguments.conll), Path(folder))
        for key, solver in RUNS.items():
            lib.note(solver.name)
            run = lib.espalier("train", "tag", train, "--template", arguments.template, "--first", arguments.first,
                               "--loss", "svm", "--l2", arguments.l2, "--gap", 1e-6, "--passes", arguments.passes,
                               "--report-every", 1, *(part(arguments.l2) if callable(part) else part
                                                      for part in solver.options))
            rows += [{"solver": key, "l2": arguments.l2, "passes": event["pass"], "seconds": event["seconds"],
                      "primal": event["primal"], "dual": event["dual"]} for event in run.progress]
    lib.keep("ner-smo", rows, first=arguments.first, passes=arguments.passes)
    optimum = min(row["primal"] for row in rows)
    for x in MEASURES:
        curves = Curves(rows, x, RUNS, {})
        panels = [curves.panel(title, "dual", [curves.line(key, arguments.l2, "dual", RUNS[key].name, RUNS[key].colour,
                                                           label=RUNS[key].label) for key in keys],
                               y_range=(0, 1.05 * optimum)) for title, keys in PANELS.items()]
        plot.write(lib.RESULTS / f"ner-figure4-{x}.svg", f"Figure 4: SMO and EG, by {x}", panels)

    print(f"CoNLL-2003, the first {arguments.first} sentences, SVM, l2 = {arguments.l2:g}: the dual after so many passes; "
          f"the optimum is at most {optimum:.2f}.\n")
    marks = [mark for mark in (1, 5, 10, 20, 50, 100, 200) if mark <= arguments.passes]
    printed = []
    for key, solver in RUNS.items():
        run = [row for row in rows if row["solver"] == key]
        # eg reports up to a pass late.
        at = [next((row for row in run if row["passes"] >= mark), run[-1]) for mark in marks]
        printed.append([solver.name, *(f"{row['dual']:.2f}" for row in at), f"{run[-1]['seconds']:.1f}"])
    print(lib.table(["", *(f"{mark} passes" for mark in marks), "seconds"], printed))
    print(f"\nPictures: {lib.RESULTS.relative_to(lib.ROOT)}/ner-figure4-*.svg\n\n{lib.provenance()}")


if __name__ == "__main__":
    main()
