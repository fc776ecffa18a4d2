"""How the cost of training grows with the data: generated sentences, classified by topic.

    python3 -m bench.scaling.classify
"""

import argparse
import subprocess
import tempfile
from pathlib import Path

from bench import lib

SIZES = (1000, 3000, 10000, 30000, 100000, 300000, 1000000)
# Regularisation per sentence is what stays the same, so that problems of all sizes are equally hard.
L2_PER_SENTENCE = 1e-3


def measure(sentences, folder):
    train = Path(folder) / "train.txt"
    subprocess.run([lib.PROGRAM, "generate", "classify", "-n", str(sentences), "-o", train], check=True)
    run = lib.espalier("train", "classify", train, "--format", "crfsuite", "--l2", L2_PER_SENTENCE * sentences,
                       "--gap", 1e-3)
    return {
        "sentences": sentences,
        "file_bytes": train.stat().st_size,
        "read_seconds": run.read_seconds,
        "passes": run.last["pass"],
        "training_seconds": run.last["seconds"],
        "seconds_per_pass": run.last["seconds"] / run.last["pass"],
        "wall_seconds": run.wall_seconds,
        "peak_bytes": run.peak_bytes,
        "relative_gap": run.last["relative_gap"],
    }


def bytes_per_sentence(row, before):
    """From one size to the next, so that what the program takes before it reads anything cancels out."""
    if not before or not before["peak_bytes"] or not row["peak_bytes"]:
        return "-"
    return f"{(row['peak_bytes'] - before['peak_bytes']) / (row['sentences'] - before['sentences']):.0f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=SIZES[-1], help="sentences at most (default: %(default)s)")
    arguments = parser.parse_args()

    lib.use_one_core()
    rows = []
    for sentences in (size for size in SIZES if size <= arguments.most):
        lib.note(f"{sentences:,} sentences")
        with tempfile.TemporaryDirectory() as folder:
            rows.append(measure(sentences, folder))
    lib.keep("scaling-classify", rows, l2_per_sentence=L2_PER_SENTENCE)

    print(f"Generated sentences, relative gap 1e-3, l2 = {L2_PER_SENTENCE:g} a sentence, one core. Bytes a sentence: "
          "growth of the peak from the row above; microseconds: of one sentence.\n")
    print(lib.table(
        ["sentences", "file, MB", "read, s", "read, us", "passes to 1e-3", "training, s", "pass, s", "pass, us",
         "peak, MB", "bytes a sentence"],
        [[f"{row['sentences']:,}", f"{row['file_bytes'] / 1e6:.1f}", f"{row['read_seconds']:.3f}",
          f"{1e6 * row['read_seconds'] / row['sentences']:.2f}", f"{row['passes']:.2f}",
          f"{row['training_seconds']:.3f}", f"{row['seconds_per_pass']:.4f}",
          f"{1e6 * row['seconds_per_pass'] / row['sentences']:.2f}",
          f"{row['peak_bytes'] / 1e6:.0f}" if row["peak_bytes"] else "-", bytes_per_sentence(row, before)]
         for row, before in zip(rows, [None, *rows])]))
    print(f"\n{lib.provenance()}")


if __name__ == "__main__":
    main()
