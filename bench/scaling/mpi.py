"""One process against several ranks of one thread each, on one machine: passes, seconds and bytes to the same gap.

    python3 -m bench.scaling.mpi
    python3 -m bench.scaling.mpi --problems conll2000 --ranks 1,2 --times 5
"""

import argparse

from bench import lib

PROBLEMS = {
    # name: task, files below the data, options
    "conll2000": ("tag", "conll2000/train.crfsuite.gz", ["--format", "crfsuite", "--l2", 2, "--gap", 1e-3]),
    "mnist": ("classify", "mnist/train-images-idx3-ubyte.gz,mnist/train-labels-idx1-ubyte.gz",
              ["--l2", 10, "--gap", 1e-3]),
    "spanish": ("parse", "conllx-spanish/train2306.conll.gz", ["--unlabelled", "--l2", 10, "--gap", 1e-2]),
}


def measure(name, ranks, times):
    """The fastest of several runs."""
    task, paths, options = PROBLEMS[name]
    paths = ",".join(str(lib.DATA / path) for path in paths.split(","))
    runs = [lib.espalier("train", task, paths, *options, "--solver", "eg", "--threads", 1, ranks=ranks)
            for _ in range(times)]
    run = min(runs, key=lambda one: one.events[-1]["wall_seconds"])
    return {
        "problem": name,
        "ranks": ranks,
        "passes": run.last["pass"],
        "relative_gap": run.last["relative_gap"],
        "training_seconds": run.last["seconds"],
        "log_wall_seconds": run.events[-1]["wall_seconds"],
        "wall_seconds": run.wall_seconds,
        "cpu_seconds": run.cpu_seconds,
        "bytes_sent": run.last.get("bytes_sent", 0),
        "waiting_seconds": run.last.get("waiting_seconds", 0),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", default=",".join(PROBLEMS), help="which (default: %(default)s)")
    parser.add_argument("--ranks", default="1,2,4", help="how many, 1 first (default: %(default)s)")
    parser.add_argument("--times", type=int, default=3, help="runs, of which the fastest counts (default: %(default)s)")
    arguments = parser.parse_args()

    rows = []
    for name in arguments.problems.split(","):
        for ranks in map(int, arguments.ranks.split(",")):
            lib.note(f"{name}, {ranks} ranks")
            rows.append(measure(name, ranks, arguments.times))
    lib.keep("scaling-mpi", rows)

    print("Ranks of one thread on one machine. Training and all of it (`wall_seconds` of the log): seconds, and how many "
          "times as fast as the first row of the problem. Bytes and waiting are rank 0's, CPU that of all.\n")
    printed = []
    for row in rows:
        first = next(other for other in rows if other["problem"] == row["problem"])
        faster = [f"{row[what]:.2f} ({first[what] / row[what]:.2f})" for what in ("training_seconds", "log_wall_seconds")]
        printed.append([row["problem"], row["ranks"], f"{row['passes']:.2f}", f"{row['relative_gap']:.1e}", *faster,
                        f"{row['cpu_seconds']:.2f}", f"{row['bytes_sent'] / 1e6:.0f}", f"{row['waiting_seconds']:.2f}"])
    print(lib.table(["problem", "ranks", "passes", "gap", "training, s", "all, s", "CPU, s", "MB sent", "waiting, s"],
                    printed))
    print(f"\n{lib.provenance()}")


if __name__ == "__main__":
    main()
