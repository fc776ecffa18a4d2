"""How the cost of training grows with the data: generated sentences, tagged with entities, built-in attributes.

    python3 -m bench.scaling.tag
"""

import argparse
import re
import subprocess
import tempfile
from pathlib import Path

from bench import lib

SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
L2, GAP = 1, 1e-3


def generate(sentences, path):
    """Returns the number of tokens."""
    subprocess.run([lib.PROGRAM, "generate", "tag", "-n", str(sentences), "-o", path], check=True)
    with open(path, "rb") as file:
        return sum(1 for line in file if line != b"\n")


def tokens_per_sentence():
    with tempfile.TemporaryDirectory() as folder:
        return generate(10_000, Path(folder) / "sample.txt") / 10_000


def measure(size, per_sentence):
    with tempfile.TemporaryDirectory() as folder:
        train = Path(folder) / "train.txt"
        sentences = round(size / per_sentence)
        tokens = generate(sentences, train)
        run = lib.espalier("train", "tag", train, "--l2", L2, "--gap", GAP)
        seconds_per_pass = run.last["seconds"] / run.last["pass"]
        return {
            "tokens": tokens,
            "sentences": sentences,
            "attributes": run.number_of("attributes"),
            "file_bytes": train.stat().st_size,
            "read_seconds": run.read_seconds,
            "passes": run.last["pass"],
            "training_seconds": run.last["seconds"],
            "seconds_per_pass": seconds_per_pass,
            "microseconds_per_token_and_pass": 1e6 * seconds_per_pass / tokens,
            "wall_seconds": run.wall_seconds,
            "peak_bytes": run.peak_bytes,
            "relative_gap": run.last["relative_gap"],
        }


def bytes_per_token(row, before):
    """From one size to the next, so that what the program takes before it reads anything cancels out."""
    if not before or not before["peak_bytes"] or not row["peak_bytes"]:
        return None
    return (row["peak_bytes"] - before["peak_bytes"]) / (row["tokens"] - before["tokens"])


def fits(size, rows):
    """Whether memory permits, as far as the size before tells."""
    if not rows or not rows[-1]["peak_bytes"]:
        return True
    available = re.search(r"^MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text(), re.MULTILINE)
    return rows[-1]["peak_bytes"] * size / rows[-1]["tokens"] < 1024 * int(available.group(1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=1_000_000,
                        help="tokens at most; 10000000 adds one size (default: %(default)s)")
    arguments = parser.parse_args()

    lib.use_one_core()
    per_sentence = tokens_per_sentence()
    rows = []
    for size in (size for size in SIZES if size <= arguments.most):
        if not fits(size, rows):
            lib.note(f"{size:,} tokens: left out, memory does not permit")
            break
        lib.note(f"{size:,} tokens")
        rows.append(measure(size, per_sentence))
    lib.keep("scaling-tag", rows, l2=L2, gap=GAP)

    print(f"Generated sentences of {per_sentence:.1f} tokens, built-in attributes, l2 = {L2}, relative gap {GAP:g}, "
          "one core. Bytes a token: growth of the peak from the row above.\n")
    printed = []
    for row, before in zip(rows, [None, *rows]):
        growth = bytes_per_token(row, before)
        printed.append([f"{row['tokens']:,}", f"{row['attributes']:,}", f"{row['passes']:.2f}",
                        f"{row['seconds_per_pass']:.4f}", f"{row['microseconds_per_token_and_pass']:.3f}",
                        f"{row['read_seconds']:.3f}", f"{row['peak_bytes'] / 1e6:.0f}" if row["peak_bytes"] else "-",
                        f"{growth:.0f}" if growth is not None else "-"])
    print(lib.table(["tokens", "attributes", f"passes to {GAP:g}", "pass, s", "pass, us a token", "read, s", "peak, MB",
                     "bytes a token"], printed))
    print(f"\n{lib.provenance()}")


if __name__ == "__main__":
    main()
