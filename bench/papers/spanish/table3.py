"""Table 3 of Collins et al. 2008: a regularisation path of projective dependency parsers, ours beside the paper's.

    python3 -m bench.papers.spanish.table3
"""

import argparse

from bench import lib
from bench.papers import path
from bench.papers.spanish import data

# Collins, Globerson, Koo, Carreras and Bartlett, "Exponentiated Gradient Algorithms for Conditional Random Fields and
# Max-Margin Markov Networks", JMLR 9 (2008), Table 3. C (printed with three decimals) is our l2, an iteration our pass:
# C, iterations, their total so far, accuracy in percent.
PAPER = (
    (1000, 8, 8, 72.44),
    (700, 3.01, 11.01, 73.42),
    (490, 4.76, 15.77, 74.35),
    (343, 4.9, 20.67, 75.29),
    (240.1, 4.91, 25.58, 76.13),
    (168.07, 6.1, 31.68, 77.13),
    (117.649, 6.06, 37.74, 77.82),
    (82.354, 6.08, 43.82, 78.74),
    (57.648, 7.23, 51.05, 79.41),
    (40.353, 7.23, 58.28, 79.99),
    (28.247, 8.33, 66.61, 80.38),
    (19.773, 9.4, 76.01, 80.60),
    (13.841, 12.6, 88.61, 80.77),
    (9.688, 13.71, 102.32, 80.72),
    (6.782, 19.03, 121.35, 80.67),
    (4.747, 23.33, 144.68, 80.61),
    (3.323, 30.82, 175.5, 80.31),
    (2.326, 37.22, 212.72, 80.18),
    (1.628, 45.8, 258.52, 79.98),
    (1.139, 57.53, 316.05, 79.63),
    (0.797, 73.6, 389.65, 79.36),
)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    data.add_options(parser)
    parser.add_argument("--solver-options", default="", help="more options of espalier, as one string")
    arguments = parser.parse_args()

    lib.use_one_core()
    train, validation = data.files(arguments.spanish)
    run = lib.espalier("path", "parse", train, "--first", arguments.first, "--dev", validation, *data.MODEL,
                       "--l2-max", 1000, "--l2-min", 0.79, "--factor", 0.7, "--gap", 1e-3,
                       *arguments.solver_options.split())
    rows = list(path.points(run, "uas"))
    lib.keep("table3", rows, settings=run.start, wall_seconds=run.wall_seconds, cpu_seconds=run.cpu_seconds,
             read_seconds=run.read_seconds, peak_bytes=run.peak_bytes)

    printed = []
    for row, (paper_l2, paper_passes, paper_total, paper_accuracy) in zip(rows, PAPER, strict=True):
        assert abs(row["l2"] - paper_l2) < 1e-3
        printed.append([f"{row['l2']:.6g}", f"{row['passes']:.2f}", f"{paper_passes:.2f}",
                        f"{row['total_passes']:.2f}", f"{paper_total:.2f}", f"{row['seconds']:.1f}",
                        f"{100 * row['uas']:.2f}", f"{paper_accuracy:.2f}"])
    print(f"Spanish, {arguments.first} training and 1,000 validation sentences, relative gap 1e-3 at every l2. "
          "Accuracy: percent of words with the right head, punctuation too. Paper: Collins et al. 2008, Table 3.\n")
    print(lib.table(["l2", "passes", "paper", "total", "paper", "seconds", "accuracy", "paper"], printed))
    best, paper_best = max(rows, key=lambda row: row["uas"]), max(PAPER, key=lambda row: row[3])
    print(f"\n{rows[-1]['total_passes']:.2f} passes in all (paper: {PAPER[-1][2]}), "
          f"{run.last['seconds']:.0f} s of training, {run.wall_seconds:.0f} s with reading, certificates and "
          f"validation ({run.cpu_seconds:.0f} s of CPU); highest accuracy {100 * best['uas']:.2f} at "
          f"l2 = {best['l2']:.6g} (paper: {paper_best[3]} at {paper_best[0]}).\n\n{lib.provenance()}")


if __name__ == "__main__":
    main()
