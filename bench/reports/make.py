"""Reports of real data, one for each task and one of a race: their sizes, and how long they take to make.

    python3 -m bench.reports.make [--folder FOLDER]

FOLDER keeps models, logs and pages; ESPALIER_REPORTS=FOLDER ESPALIER_WRITE_DOCS=1 ./test -R browser takes the pictures of
docs/reports.md from it. Pages show the names of files: all commands run in FOLDER, where `data` leads to the data sets.
"""

import argparse
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from bench import lib
from bench.papers.ptb.table import split
from bench.papers.snakes import convert

GAP = ("--gap", "1e-2")


@dataclass
class Report:
    name: str
    train: tuple  # what follows "train"
    data: str  # to measure on


def mnist(part):
    return f"data/mnist/{part}-images-idx3-ubyte.gz,data/mnist/{part}-labels-idx1-ubyte.gz"


EWT = "data/ud-english-ewt/en_ewt-ud-{}.conllu.gz"
REPORTS = (
    Report("mnist", ("classify", mnist("train"), "--l2", "10"), mnist("t10k")),
    Report("conll2003", ("tag", "data/conll2003/eng.train.gz"), "data/conll2003/eng.testa.gz"),
    Report("ewt", ("parse", EWT.format("train"), "--first", "3000", "--l2", "10", *GAP), EWT.format("dev")),
    Report("ptb", ("treebank", "ptb-train.mrg", *GAP), "ptb-dev.mrg"),
    Report("snakes", ("graph", "snakes-train.jsonl", "--inference", "exact", *GAP), "snakes-test.jsonl"),
)
RACE = ("race", "tag", "data/conll2000/train.txt.gz", "--first", "2000", "--dev", "data/conll2000/test.txt.gz",
        "--solvers", "eg,sdca,lbfgs", "--gap", "1e-3", "--budget", "600")


def prepare(folder):
    """What is read besides the data sets as they are."""
    if not (folder / "data").exists():
        (folder / "data").symlink_to(lib.DATA.resolve())
    for name, trees in zip(("train", "dev"), split(lib.DATA / "ptb-sample"), strict=False):
        (folder / f"ptb-{name}.mrg").write_text("\n".join(trees) + "\n")
    for name in ("train", "test"):
        convert.write(lib.DATA / "snakes" / f"snakes_{name}.txt.gz", folder / f"snakes-{name}.jsonl", snake_only=True)


def run(folder, *line):
    """Runs the program in the folder; the seconds that it took."""
    lib.note("espalier " + " ".join(line))
    started = time.monotonic()
    subprocess.run(["espalier", *line], executable=lib.PROGRAM, cwd=folder, check=True)
    return time.monotonic() - started


def make(folder):
    """The pages, one after the other; yields the name, path and seconds of each. A race makes its own."""
    for report in REPORTS:
        model, log, page = (f"{report.name}.{kind}" for kind in ("esp", "jsonl", "html"))
        if not (folder / model).exists():
            run(folder, "train", *report.train, "--dev", report.data, "--report-every", "1", "--quiet", "-o", model, "--log", log)
        yield report.name, folder / page, run(folder, "report", model, "--data", report.data, "--log", log, "-o", page)
    if not (folder / "race.html").exists():
        run(folder, *RACE, "--quiet", "--report", "race.html")
    yield "race", folder / "race.html", None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, help="where to keep what is made; models that are there are used again")
    arguments = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        prepare(folder)
        for name, page, seconds in make(folder):
            rows.append({"name": name, "bytes": page.stat().st_size, "seconds": seconds})
    lib.keep("reports", rows)
    print(lib.table(["report", "kB", "seconds"], [
        [row["name"], f"{row['bytes'] / 1000:.0f}", "" if row["seconds"] is None else f"{row['seconds']:.1f}"] for row in rows]))
    print("\n" + lib.provenance())


if __name__ == "__main__":
    main()
