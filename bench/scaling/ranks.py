"""What training on many machines would take: logical ranks in one process, and a network that is stated.

    cmake --build build --target simulate_ranks
    python3 -m bench.scaling.ranks
    python3 -m bench.scaling.ranks --most 16 --latency 1e-3 --bandwidth 12.5e6     # 1 ms, 100 Mbit/s

Rounds, passes and bytes are counted; the time is predicted from them: a pass of one core divided by the ranks, and
for each meeting of the ranks the latency of a tree of messages and the bytes of the rank that sends most.
"""

import argparse
import json
import math
import subprocess
import tempfile
from pathlib import Path

from bench import lib

SIMULATOR = Path(lib.PROGRAM).parent / "bench/scaling/simulate_ranks"
RANKS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
PROBLEMS = {
    # name: task, files below the data, which may be joined, l2 and the settings of the task
    "CoNLL-2000": ("tag", "conll2000/train.txt.gz", 2, []),
    "MNIST": ("classify", "mnist/train-images-idx3-ubyte.gz,mnist/train-labels-idx1-ubyte.gz", 10, []),
}


def simulate(task, path, l2, settings, ranks, passes):
    command = [SIMULATOR, task, path, "--ranks", str(ranks), "--l2", str(l2), "--gap", "1e-3", "--passes", str(passes)]
    return json.loads(subprocess.run(command + settings, check=True, capture_output=True, text=True).stdout)


def seconds_of_a_pass(task, path, l2, settings):
    """Of one core, as a run of the program measures it."""
    options = [word for setting in settings for word in ("--" + setting.split("=")[0], setting.split("=")[1])]
    run = lib.espalier("train", task, path, "--l2", l2, "--gap", 1e-3, "--solver", "eg", *options)
    return run.last["seconds"] / run.last["pass"]


def predicted(row, a_pass, latency, bandwidth):
    """Seconds of the visits and of the exchanges."""
    hops = math.ceil(math.log2(row["ranks"])) if row["ranks"] > 1 else 0
    return row["passes"] * a_pass / row["ranks"], row["meetings"] * hops * latency + row["bytes"] / bandwidth


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=RANKS[-1], help="ranks at most (default: %(default)s)")
    parser.add_argument("--passes", type=float, default=200, help="passes at most (default: %(default)s)")
    parser.add_argument("--latency", type=float, default=50e-6, help="seconds of a message (default: %(default)s)")
    parser.add_argument("--bandwidth", type=float, default=1.25e9, help="bytes a second (default: 10 Gbit/s)")
    parser.add_argument("--first", type=int, help="only so many lines of tagged data, for a quick look")
    parser.add_argument("--problems", default=",".join(PROBLEMS), help="which (default: %(default)s)")
    arguments = parser.parse_args()

    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in arguments.problems.split(","):
            task, file, l2, settings = PROBLEMS[name]
            path = ",".join(str(lib.DATA / part) for part in file.split(","))
            if arguments.first and task == "tag":
                text = subprocess.run(["zcat", path], check=True, capture_output=True, text=True).stdout
                path = Path(folder) / "train.txt"
                path.write_text("\n".join(text.split("\n")[:arguments.first]) + "\n\n")
            a_pass = seconds_of_a_pass(task, path, l2, settings)
            for ranks in (k for k in RANKS if k <= arguments.most):
                lib.note(f"{name}, {ranks} ranks")
                row = simulate(task, path, l2, settings, ranks, arguments.passes)
                row["visiting"], row["exchanging"] = predicted(row, a_pass, arguments.latency, arguments.bandwidth)
                rows.append({"problem": name, **row})
    lib.keep("scaling-ranks", rows, latency=arguments.latency, bandwidth=arguments.bandwidth)

    print(f"Relative gap 1e-3. Network: {arguments.latency:g} s, {arguments.bandwidth:g} bytes/s.\n")
    print(lib.table(
        ["problem", "ranks", "passes", "rounds", "sigma", "MB a round", "MB in all", "visiting, s", "exchanging, s",
         "ended"],
        [[row["problem"], row["ranks"], f"{row['passes']:.1f}", row["rounds"], f"{row['sigma']:.2f}",
          f"{row['bytes_a_round'] / 1e6:.2f}", f"{row['bytes'] / 1e6:.0f}", f"{row['visiting']:.2f}",
          f"{row['exchanging']:.2f}", row["status"]] for row in rows]))


if __name__ == "__main__":
    main()
