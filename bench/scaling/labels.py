"""Hundreds of labels: weights and memory of observed features and of all, on generated sentences with supertags.

    python3 -m bench.scaling.labels
"""

import argparse
import subprocess
import tempfile
from pathlib import Path

from bench import lib

L2, GAP = 1, 1e-3
LIMIT = 2 * 1024**3  # bytes that observed features have to get by with


def measure(features, train, test, gap, model):
    run = lib.espalier("train", "tag", train, "--features", features, "--l2", L2, "--gap", gap, model=model)
    accuracy = lib.said_by(str(lib.PROGRAM), "eval", str(model), str(test))
    return {
        "features": features,
        "labels": run.number_of("labels"),
        "tokens": run.number_of("tokens"),
        "attributes": run.number_of("attributes"),
        "model_bytes": Path(model).stat().st_size,
        "passes": run.last["pass"],
        "training_seconds": run.last["seconds"],
        "wall_seconds": run.wall_seconds,
        "peak_bytes": run.peak_bytes,
        "relative_gap": run.last["relative_gap"],
        "test": accuracy.split("(")[0].strip(),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=3700, help="sentences (default: %(default)s, 50,000 tokens)")
    parser.add_argument("--features", default="observed,all", help="which to train (default: %(default)s)")
    arguments = parser.parse_args()

    lib.use_one_core()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        train, test = Path(folder) / "train.txt", Path(folder) / "test.txt"
        for sentences, seed, path in ((arguments.first, 1, train), (1000, 2, test)):
            subprocess.run([lib.PROGRAM, "generate", "supertag", "-n", str(sentences), "--seed", str(seed), "-o", path],
                           check=True)
        for features in arguments.features.split(","):
            lib.note(features)
            rows.append(measure(features, train, test, GAP, Path(folder) / "model.esp"))
    lib.keep("scaling-labels", rows, l2=L2, gap=GAP)

    print(f"{rows[0]['tokens']:,} generated tokens, {rows[0]['labels']} labels, {rows[0]['attributes']:,} built-in "
          f"attributes, l2 = {L2}, relative gap {GAP:g}, one core.\n")
    print(lib.table(["features", f"passes to {GAP:g}", "training, s", "pass, s", "wall, s", "peak, MB", "model, MB",
                     "on other sentences"],
                    [[row["features"], f"{row['passes']:.2f}", f"{row['training_seconds']:.1f}",
                      f"{row['training_seconds'] / row['passes']:.2f}", f"{row['wall_seconds']:.1f}",
                      f"{row['peak_bytes'] / 1e6:.0f}", f"{row['model_bytes'] / 1e6:.1f}", row["test"]]
                     for row in rows]))
    for row in rows:
        if row["features"] == "observed":
            verdict = "within" if row["peak_bytes"] <= LIMIT else "NOT within"
            print(f"\nobserved: {row['peak_bytes'] / 1024**3:.2f} GiB, {verdict} 2 GiB.")
    print(f"\n{lib.provenance()}")


if __name__ == "__main__":
    main()
