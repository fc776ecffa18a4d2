"""English dependency parsing on EWT with gold tags: UAS and LAS, time to train, parsing speed and memory.

    python3 -m bench.races.parsing.race
"""

import argparse
import gzip
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from bench import lib
from bench.races.conll2000.peers import program

GAP = 1e-3
COPIES = 5  # of the test file, to measure the speed of parsing
# TurboParser, arc-factored, gold coarse tags, five epochs of MIRA: UAS on the development data, seconds of CPU.
# It is not run here: these are the figures that the race is held against.
TURBO_UAS, TURBO_SECONDS = 0.827, 78
# Options, and the largest of five values of l2, each half of the one before. Relations want less regularisation.
MODELS = {
    "unlabelled": (("--unlabelled",), 40),
    "labelled": ((), 20),
}


def path_of(options, train, dev, largest):
    """The scores on the development data of every l2."""
    run = lib.espalier("path", "parse", train, "--dev", dev, "--l2-max", largest, "--l2-min", largest / 16,
                       "--factor", 0.5, "--gap", GAP, *options)
    return {event["l2"]: event["dev"] for event in run.progress}


def seconds_to(run, quality, value):
    """Of training with what comes before it, to the first report that is as good; None if there is none."""
    for event in run.progress:
        if event["dev"][quality] >= value:
            return run.read_seconds + event["seconds"]
    return None


def measure(name, l2, files, folder, first):
    train, dev, test = files
    kind, largest = MODELS[name]
    options = ["--threads", 1, *kind, *first]
    quality = "uas" if "--unlabelled" in options else "las"
    model, copies = folder / "model.esp", folder / "copies.conllu"
    path = {}
    if l2 is None:
        lib.note(f"{name}: l2 by the development data")
        path = path_of(options, train, dev, largest)
        l2 = max(path, key=lambda value: path[value][quality])
    lib.note(f"{name}: training at l2 = {l2:g}")
    run = lib.espalier("train", "parse", train, "--dev", dev, "--l2", l2, "--gap", GAP, "--report-every", 1, *options,
                       model=model)
    lib.note(f"{name}: parsing")
    said = subprocess.run([lib.PROGRAM, "eval", model, test, "--json"], stdout=subprocess.PIPE, check=True)
    with open("/dev/null", "w") as nowhere:
        parsing = program.run([lib.PROGRAM, "predict", model, copies], nowhere)
    scores = json.loads(said.stdout)
    best = max(event["dev"][quality] for event in run.progress)
    return {
        "name": name,
        "l2": l2,
        "path": [{"l2": value, **dev_scores} for value, dev_scores in path.items()],
        "dev": run.last["dev"],
        "test": {key: scores.get(key) for key in ("uas", "las", "uas_nopunct", "las_nopunct", "las_universal")},
        "passes": run.last["pass"],
        "read_seconds": run.read_seconds,
        "seconds": run.last["seconds"],
        "wall_seconds": run.wall_seconds,
        "cpu_seconds": run.cpu_seconds,
        "seconds_to_best": seconds_to(run, quality, best),
        "seconds_to_turbo": seconds_to(run, "uas", TURBO_UAS),
        "peak_bytes": run.peak_bytes,
        "model_bytes": model.stat().st_size,
        "sentences_per_second": COPIES * scores["sentences"] / parsing.wall_seconds,
        "sentences_per_cpu_second": COPIES * scores["sentences"] / parsing.cpu_seconds,
    }


def percent(rate):
    return "-" if rate is None else f"{100 * rate:.2f}"


def shown(value, pattern):
    return "-" if value is None else pattern.format(value)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ewt", type=Path, default=lib.DATA / "ud-english-ewt",
                        help="folder with en_ewt-ud-{train,dev,test}.conllu.gz")
    parser.add_argument("--first", type=int, help="only the first N training sentences")
    parser.add_argument("--l2", type=float, help="for both models (default: by the development data)")
    parser.add_argument("--models", nargs="+", choices=list(MODELS), default=list(MODELS), help="default: both")
    arguments = parser.parse_args()

    files = [arguments.ewt / f"en_ewt-ud-{name}.conllu.gz" for name in ("train", "dev", "test")]
    for path in files:
        if not path.exists():
            sys.exit(f"{path} is missing; say where EWT is with --ewt FOLDER or ESPALIER_DATA")
    lib.use_one_core()
    first = [] if arguments.first is None else ["--first", arguments.first]
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        with gzip.open(files[2]) as file:
            (folder / "copies.conllu").write_bytes(COPIES * file.read())
        rows = [measure(name, arguments.l2, files, folder, first) for name in arguments.models]
    lib.keep("race-parsing", rows, first=arguments.first)

    print(f"English EWT, {shown(arguments.first, '{:,}') if first else 'all'} training sentences, gold tags, "
          f"projective, first order, CRF, relative gap {GAP:g}, one core. l2 is the best on the development data, by "
          "UAS or, with relations, LAS.\n")
    print(lib.table(["", "l2", "dev UAS", "LAS", "test UAS", "LAS", "UAS, no punctuation", "LAS"],
                    [[row["name"], f"{row['l2']:g}", percent(row["dev"]["uas"]), percent(row["dev"].get("las")),
                      percent(row["test"]["uas"]), percent(row["test"]["las"]), percent(row["test"]["uas_nopunct"]),
                      percent(row["test"]["las_nopunct"])] for row in rows]))
    print(f"\nSeconds with reading and, with relations, pruning: to the best score on the development data, to a UAS "
          f"of {100 * TURBO_UAS:.1f} there (TurboParser: {TURBO_SECONDS} s), and in all with certificates and "
          "validation after every pass.\n")
    print(lib.table(["", "passes", "to the best, s", f"to {100 * TURBO_UAS:.1f}, s", "before training, s", "wall, s",
                     "CPU, s", "peak, MB", "model, MB", "sentences parsed a second", "of CPU time"],
                    [[row["name"], f"{row['passes']:.1f}", f"{row['seconds_to_best']:.1f}",
                      shown(row["seconds_to_turbo"], "{:.1f}"), f"{row['read_seconds']:.1f}",
                      f"{row['wall_seconds']:.1f}", f"{row['cpu_seconds']:.1f}",
                      shown(row["peak_bytes"] and row["peak_bytes"] / 1e6, "{:.0f}"),
                      f"{row['model_bytes'] / 1e6:.0f}", f"{row['sentences_per_second']:,.0f}",
                      f"{row['sentences_per_cpu_second']:,.0f}"] for row in rows]))
    if arguments.l2 is None:
        print("\nBy l2, on the development data:\n")
        print(lib.table(["", "l2", "UAS", "LAS"],
                        [[row["name"], f"{point['l2']:g}", percent(point["uas"]), percent(point.get("las"))]
                         for row in rows for point in row["path"]]))
    print(f"\n{lib.provenance()}")


if __name__ == "__main__":
    main()
