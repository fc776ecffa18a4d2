"""A CRF on CoNLL-2000: time to within 1e-3 of the optimum, against CRFsuite and Wapiti; tagging speed.

    python3 -m bench.races.conll2000.race                                  l2 = 2
    python3 -m bench.races.conll2000.race --observed --l1 0.1 --l2 0.2     CRFsuite's c1 = 0.1, c2 = 0.1
"""

import argparse
import gzip
import json
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from bench import lib
from bench.races.conll2000 import chunks
from bench.races.conll2000.peers import program
from bench.races.conll2000.peers.crfsuite import CRFsuite
from bench.races.conll2000.peers.wapiti import Wapiti

TOLERANCE, GAPS = 1e-3, (1e-3, 1e-5)
# Of the whole training file, all features, l2 = 2. Found by Wapiti's and CRFsuite's L-BFGS, which agree within 0.02.
OPTIMUM = 11602.64
COPIES = 50  # of the test file, to measure the speed of tagging


@dataclass
class Objective:
    l2: float
    l1: float
    observed: bool  # features that were seen in training, or all

    @property
    def is_default(self):
        return self == Objective(2, 0, False)


def unpack(source, target, most):
    """The first sequences of a file."""
    sequences = 0
    with gzip.open(source, "rt") as lines, open(target, "w") as file:
        for line in lines:
            file.write(line)
            sequences += line == "\n"
            if sequences == most:
                break


def repeat(source, target):
    with open(target, "wb") as file:
        for _ in range(COPIES):
            with open(source, "rb") as original:
                shutil.copyfileobj(original, file)


def tokens_in(path):
    with open(path, "rb") as file:
        return sum(1 for line in file if line != b"\n")


class Race:
    def __init__(self, folder, train, test, first, objective):
        self.folder, self.first, self.objective = Path(folder), first, objective
        self.train, self.test, self.copies = (self.folder / name for name in ("train", "test", "copies"))
        unpack(train, self.train, first)
        unpack(test, self.test, None)
        repeat(self.test, self.copies)
        self.tagged_tokens = tokens_in(self.copies)
        known = first is None and objective.is_default
        self.optimum = OPTIMUM if known else self.espalier(1e-7).last["dual"]
        self.rows = []

    def add(self, name, run, **values):
        row = {"name": name, **values, "wall_seconds": run.wall_seconds, "peak_bytes": run.peak_bytes}
        row["above_optimum"] = row["objective"] / self.optimum - 1
        self.rows.append(row)

    def espalier(self, gap, **options):
        chosen = ["--features", "observed"] if self.objective.observed else []
        return lib.espalier("train", "tag", self.train, "--format", "crfsuite", "--l2", self.objective.l2, "--l1",
                            self.objective.l1, *chosen, "--gap", gap, "--threads", 1, **options)

    def run_espalier(self, gap, times):
        """The run of median time counts."""
        lib.note(f"espalier to {gap:g}")
        model = self.folder / "model.esp"
        runs = [self.espalier(gap, model=model) for _ in range(times)]
        run = sorted(runs, key=lambda run: run.wall_seconds - run.read_seconds)[len(runs) // 2]
        said = subprocess.run([lib.PROGRAM, "eval", model, self.test, "--json"], stdout=subprocess.PIPE, check=True)
        with open("/dev/null", "w") as nowhere:
            tagging = program.run([lib.PROGRAM, "predict", model, self.copies], nowhere)
        self.add(f"espalier eg, gap {gap:g} proven", run, seconds=run.wall_seconds - run.read_seconds,
                 training_seconds=run.last["seconds"], work=f"{run.last['pass']:.1f} passes",
                 objective=run.last["primal"], f1=json.loads(said.stdout)["f1"],
                 active=run.end.get("active"), model_bytes=model.stat().st_size,
                 tokens_per_second=self.tagged_tokens / tagging.wall_seconds)

    def run_peer(self, peer):
        lib.note(peer.name)
        train, test, copies, model, output = (self.folder / f"peer-{name}"
                                              for name in ("train", "test", "copies", "model", "output"))
        for source, target, labelled in ((self.train, train, True), (self.test, test, False)):
            with open(source) as lines, open(target, "w") as file:
                peer.convert(lines, file, labelled)
        repeat(test, copies)
        run = peer.train(train, self.objective, model)
        iterations = peer.iterations(run.said)
        count = next((k for k, iteration in enumerate(iterations, 1)
                      if iteration.objective <= (1 + TOLERANCE) * self.optimum), None)
        if count is None:
            print(f"{peer.name}: not within {TOLERANCE:g} of the optimum after {len(iterations)} iterations\n")
            return
        with open(output, "w") as file:
            peer.tag(model, test, file)
        with open(self.test) as gold, open(output) as predicted:
            f1 = chunks.f1(zip(chunks.sequences(gold), chunks.sequences(predicted), strict=True))
        with open("/dev/null", "w") as nowhere:
            tagging = peer.tag(model, copies, nowhere)
        for name, stop in ((f"{peer.name}, within {TOLERANCE:g}", count), (f"{peer.name}, as it stops", None)):
            iteration = iterations[(stop or len(iterations)) - 1]
            self.add(name, run, seconds=iteration.seconds, work=f"{stop or len(iterations)} iterations",
                     objective=iteration.objective, f1=None if stop else f1,
                     active=peer.active(model) if self.objective.l1 > 0 and not stop else None,
                     model_bytes=None if stop else model.stat().st_size,
                     tokens_per_second=None if stop else self.tagged_tokens / tagging.wall_seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=lib.DATA / "conll2000",
                        help="folder with train.crfsuite.gz and test.crfsuite.gz")
    parser.add_argument("--first", type=int, help="training sentences (default: all)")
    parser.add_argument("--repeat", type=int, default=3, help="runs of ours; the median counts (default: %(default)s)")
    parser.add_argument("--l2", type=float, default=2)
    parser.add_argument("--l1", type=float, default=0)
    parser.add_argument("--observed", action="store_true", help="weights for pairs seen in training, as CRFsuite's default")
    arguments = parser.parse_args()
    objective = Objective(arguments.l2, arguments.l1, arguments.observed)

    files = [arguments.data / f"{name}.crfsuite.gz" for name in ("train", "test")]
    for file in files:
        if not file.exists():
            sys.exit(f"{file} is missing; say where it is with --data FOLDER or ESPALIER_DATA")
    lib.use_one_core()
    with tempfile.TemporaryDirectory() as folder:
        race = Race(folder, *files, arguments.first, objective)
        for gap in GAPS:
            race.run_espalier(gap, arguments.repeat)
        for kind in (CRFsuite,) if objective.observed or objective.l1 > 0 else (CRFsuite, Wapiti):
            peer = kind.find()
            if peer:
                race.run_peer(peer)
    rows = race.rows
    lib.keep("race-conll2000", rows, first=arguments.first, l2=objective.l2, l1=objective.l1,
             observed=objective.observed, tolerance=TOLERANCE, optimum=race.optimum)

    def shown(value, pattern):
        return "-" if value is None else pattern.format(value)

    print(f"CoNLL-2000, {arguments.first or 'all'} training sentences, l2 = {objective.l2:g}, l1 = {objective.l1:g}, optimum {race.optimum:.2f}, one "
          "core. Ratios are to the first row.\n")
    print(lib.table(["", "seconds", "ratio", "", "above optimum", "wall, all of it", "peak, MB", "test F1",
                     "tokens tagged a second", "weights that are not 0", "model, MB"],
                    [[row["name"], f"{row['seconds']:.2f}", f"{row['seconds'] / rows[0]['seconds']:.2f}", row["work"],
                      f"{row['above_optimum']:.1e}", f"{row['wall_seconds']:.2f}",
                      shown(row["peak_bytes"] and row["peak_bytes"] / 1e6, "{:.0f}"),
                      shown(row["f1"] and 100 * row["f1"], "{:.2f}"), shown(row["tokens_per_second"], "{:,.0f}"),
                      shown(row["active"], "{:,}"), shown(row["model_bytes"] and row["model_bytes"] / 1e6, "{:.1f}")]
                     for row in rows]))
    print(f"\n{lib.provenance()}")


if __name__ == "__main__":
    main()
