"""How the cost of a pass grows with the data and with threads: generated sentences, tagged with entities.

    python3 -m bench.scaling.growth                                            # 10^5 to 3*10^7 tokens, 1 to all threads
    python3 -m bench.scaling.growth --tokens 1e5,1e6 --threads 1,2
    python3 -m bench.scaling.growth --tokens 1e6 --threads 1 --ranks 1,2,4     # under mpirun, threads are each rank's

Each run makes `--passes` passes over sentences of `espalier generate tag`, with the built-in attributes, and no
reports before the last. The cost of a pass is what its seconds of training are per pass; the first pass is the
hardest, so all runs have as many.
"""

import argparse
import os
import re
import subprocess
import tempfile
from pathlib import Path

from bench import lib

TOKENS = "1e5,3e5,1e6,3e6,1e7,3e7"
L2 = 1

def whole_numbers(text):
    return [round(float(word)) for word in text.split(",")]


def powers_of_two(most):
    return [1 << k for k in range(most.bit_length())]


def generate(tokens, path):
    """Sentences of about so many tokens; returns how many they have."""
    def write(sentences):
        subprocess.run([lib.PROGRAM, "generate", "tag", "-n", str(sentences), "-o", path], check=True)
        with open(path, "rb") as file:
            return sum(1 for line in file if line != b"\n")

    sample = 2000
    return write(max(1, round(tokens * sample / write(sample))))


def measure(train, threads, ranks, passes):
    run = lib.espalier("train", "tag", train, "--l2", L2, "--solver", "eg", "--gap", 1e-9, "--passes", passes,
                       "--report-every", 2 * passes, "--threads", threads, ranks=ranks)
    return {
        "threads": threads,
        "ranks": ranks,
        "attributes": run.number_of("attributes"),
        "passes": run.last["pass"],
        "seconds_per_pass": run.last["seconds"] / run.last["pass"],
        "wall_seconds": run.wall_seconds,
        "cpu_seconds": run.cpu_seconds,
        "relative_gap": run.last["relative_gap"],
        "bytes_sent": run.last.get("bytes_sent"),
        "peak_bytes": run.peak_bytes,
    }


def memory_permits(tokens, before):
    """As far as the row before tells."""
    if before is None or not before["peak_bytes"]:
        return True
    available = re.search(r"^MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text(), re.MULTILINE)
    needed = before["ranks"] * before["peak_bytes"] * tokens / before["tokens"]
    return needed < 1024 * int(available.group(1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cores = len(os.sched_getaffinity(0))
    parser.add_argument("--tokens", type=whole_numbers, default=TOKENS, help="sizes (default: %(default)s)")
    parser.add_argument("--threads", type=whole_numbers, default=powers_of_two(cores),
                        help="numbers of threads, one of them 1 to compare with (default: powers of two up to the cores)")
    parser.add_argument("--ranks", type=whole_numbers, default="1", help="numbers of ranks (default: %(default)s)")
    parser.add_argument("--passes", type=int, default=5, help="of each run (default: %(default)s)")
    parser.add_argument("--folder", default=None, help="for the data, a few GB (default: the usual temporary folder)")
    arguments = parser.parse_args()

    rows = []
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        train = Path(folder) / "train.txt"
        for size in arguments.tokens:
            if not memory_permits(size, rows[-1] if rows else None):
                lib.note(f"{size:,} tokens: left out, memory does not permit")
                break
            tokens = generate(size, train)
            for ranks in arguments.ranks:
                for threads in arguments.threads:
                    lib.note(f"{tokens:,} tokens, {ranks} ranks of {threads} threads")
                    rows.append({"tokens": tokens, **measure(train, threads, ranks, arguments.passes)})
    lib.keep("scaling-growth", rows, l2=L2, passes=arguments.passes)

    print(f"Generated sentences, built-in attributes, CRF, l2 = {L2}, {arguments.passes} passes. \"as fast\": passes a second "
          "against the first row of as many tokens.\n")
    printed = []
    for row in rows:
        first = next(other for other in rows if other["tokens"] == row["tokens"])
        printed.append([f"{row['tokens']:,}", row["ranks"], row["threads"], f"{row['seconds_per_pass']:.4f}",
                        f"{1e6 * row['seconds_per_pass'] / row['tokens']:.3f}",
                        f"{first['seconds_per_pass'] / row['seconds_per_pass']:.2f}", f"{row['wall_seconds']:.1f}",
                        f"{row['relative_gap']:.1e}", f"{row['peak_bytes'] / 1e6:.0f}" if row["peak_bytes"] else "-"])
    print(lib.table(["tokens", "ranks", "threads", "pass, s", "pass, us a token", "as fast", "wall, s", "gap then",
                     "peak of a process, MB"], printed))
    print(f"\n{lib.provenance()}")


if __name__ == "__main__":
    main()
