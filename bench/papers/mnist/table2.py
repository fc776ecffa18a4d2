"""Table 2 of Collins et al. 2008: a regularisation path on MNIST, ours beside the paper's.

    python3 -m bench.papers.mnist.table2
"""

import argparse
from pathlib import Path

from bench import lib
from bench.papers import path

# Collins, Globerson, Koo, Carreras and Bartlett, "Exponentiated Gradient Algorithms for Conditional Random Fields and
# Max-Margin Markov Networks", JMLR 9 (2008), Table 2. C is our l2, an iteration our pass:
# C, iterations, their total so far, validation error.
PAPER = (
    (1000, 11, 11, 0.1011),
    (700, 3, 14, 0.0968),
    (490, 4.01, 18.01, 0.0926),
    (343, 4.09, 22.1, 0.0895),
    (240.1, 4.24, 26.34, 0.0869),
    (168.07, 4.32, 30.67, 0.0846),
    (117.649, 4.3, 34.97, 0.0829),
    (82.3543, 4.29, 39.27, 0.0809),
    (57.648, 4.32, 43.6, 0.0803),
    (40.3536, 4.33, 47.93, 0.0775),
    (28.2475, 4.34, 52.28, 0.0768),
    (19.7733, 4.36, 56.64, 0.0758),
    (13.8413, 4.38, 61.03, 0.076),
    (9.6889, 5.47, 66.51, 0.0744),
    (6.78223, 5.49, 72, 0.0741),
    (4.74756, 5.51, 77.52, 0.0732),
    (3.32329, 6.6, 84.12, 0.0736),
    (2.32631, 7.69, 91.82, 0.0735),
    (1.62841, 8.78, 100.61, 0.0729),
    (1.13989, 12, 112.62, 0.074),
    (0.797923, 15.24, 127.86, 0.0747),
    (0.558546, 20.61, 148.47, 0.0749),
    (0.390982, 27.05, 175.53, 0.074),
    (0.273687, 35.63, 211.17, 0.0747),
)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mnist", type=Path, default=lib.DATA / "mnist", help="folder with the four IDX files")
    parser.add_argument("--first", type=int, default=59000, help="training examples (default: %(default)s)")
    parser.add_argument("--solver-options", default="", help="more options of espalier, as one string")
    arguments = parser.parse_args()

    lib.use_one_core()
    train, validation = lib.mnist(arguments.mnist)
    run = lib.espalier("path", "classify", train, "--first", arguments.first, "--dev", validation, "--l2-max", 1000,
                       "--l2-min", 0.27, "--factor", 0.7, "--gap", 1e-3, *arguments.solver_options.split())
    rows = list(path.points(run, "error"))
    lib.keep("table2", rows, settings=run.start, wall_seconds=run.wall_seconds, read_seconds=run.read_seconds,
             peak_bytes=run.peak_bytes)

    printed = []
    for row, (paper_l2, paper_passes, paper_total, paper_error) in zip(rows, PAPER, strict=True):
        assert abs(row["l2"] / paper_l2 - 1) < 1e-5
        printed.append([f"{row['l2']:.6g}", f"{row['passes']:.2f}", f"{paper_passes:.2f}",
                        f"{row['total_passes']:.2f}", f"{paper_total:.2f}", f"{row['seconds']:.2f}",
                        f"{100 * row['error']:.2f} %", f"{100 * paper_error:.2f} %"])
    print(f"MNIST, {arguments.first} training and 10,000 validation images, relative gap 1e-3 at every l2. "
          "Paper: Collins et al. 2008, Table 2.\n")
    print(lib.table(["l2", "passes", "paper", "total", "paper", "seconds", "error", "paper"], printed))
    best, paper_best = min(rows, key=lambda row: row["error"]), min(PAPER, key=lambda row: row[3])
    print(f"\n{rows[-1]['total_passes']:.2f} passes in all (paper: {PAPER[-1][2]}), "
          f"{run.last['seconds']:.1f} s of training, {run.wall_seconds:.1f} s with reading, certificates and "
          f"validation; lowest error {100 * best['error']:.2f} % at l2 = {best['l2']:.6g} "
          f"(paper: {100 * paper_best[3]:.2f} % at {paper_best[0]}).\n\n{lib.provenance()}")


if __name__ == "__main__":
    main()
