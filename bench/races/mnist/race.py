"""Multinomial logistic regression on MNIST at l2 = 10: time to within 1e-3 of the optimum, against scikit-learn.

    python3 -m bench.races.mnist.race
"""

import argparse
import statistics
from pathlib import Path

from bench import lib
from bench.races import peer

L2, TOLERANCE = 10, 1e-3
# Found by scikit-learn's newton-cg on the first 59,000 images, pixels/255, no intercept; proven within 6e-7.
OPTIMUM_OF_59000 = 16516.012538


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mnist", type=Path, default=lib.DATA / "mnist", help="folder with the four IDX files")
    parser.add_argument("--first", type=int, default=59000, help="training examples (default: %(default)s)")
    parser.add_argument("--repeat", type=int, default=5, help="runs of ours; the median counts (default: %(default)s)")
    arguments = parser.parse_args()

    lib.use_one_core()
    train, _ = lib.mnist(arguments.mnist)

    def espalier(gap):
        return lib.espalier("train", "classify", train, "--first", arguments.first, "--l2", L2, "--gap", gap)

    optimum = OPTIMUM_OF_59000 if arguments.first == 59000 else espalier(1e-7).last["dual"]
    rows = []

    def add(name, seconds, wall_seconds, value, detail):
        rows.append({"name": name, "seconds": seconds, "wall_seconds": wall_seconds, "primal": value,
                     "above_optimum": value / optimum - 1, "detail": detail})

    lib.note("espalier eg")
    runs = sorted((espalier(TOLERANCE) for _ in range(arguments.repeat)), key=lambda run: run.last["seconds"])
    run = runs[len(runs) // 2]
    wall = statistics.median(run.wall_seconds for run in runs)
    certified = statistics.median(run.wall_seconds - run.read_seconds for run in runs)
    detail = f"{run.last['pass']:.1f} passes"
    add("espalier eg, training", run.last["seconds"], wall, run.last["primal"], detail)
    add("espalier eg, with certificates", certified, wall, run.last["primal"],
        f"{detail}, gap {run.last['relative_gap']:.1e} proven")

    lib.note("scikit-learn")
    fits = peer.run("bench.races.mnist.peers.sklearn_mnist", ["sklearn"], "python3-sklearn libopenblas0", "--mnist",
                    arguments.mnist.resolve(), "--first", arguments.first, "--l2", L2, "--target",
                    (1 + TOLERANCE) * optimum)
    for matrix in ("sparse", "dense"):
        reached = [fit for fit in fits or [] if fit["reached"] and fit["matrix"] == matrix]
        if reached:
            best = min(reached, key=lambda fit: fit["limit"])
            add(f"scikit-learn {best['version']} lbfgs, {matrix}", best["cpu_seconds"], None, best["objective"],
                f"{best['iterations']} iterations, {best['blas']}")

    lib.keep("race-mnist", rows, first=arguments.first, l2=L2, tolerance=TOLERANCE, optimum=optimum)
    base = certified
    print(f"MNIST, {arguments.first} images, l2 = {L2}: time to within {TOLERANCE:g} of the optimum {optimum:.6f}, "
          "one core. Ratios are to espalier with certificates.\n")
    print(lib.table(["", "seconds", "ratio", "wall, with reading", "above optimum", ""],
                    [[row["name"], f"{row['seconds']:.2f}", f"{row['seconds'] / base:.2f}",
                      f"{row['wall_seconds']:.2f}" if row["wall_seconds"] else "-", f"{row['above_optimum']:.1e}",
                      row["detail"]] for row in rows]))
    print(f"\n{lib.provenance()}")


if __name__ == "__main__":
    main()
