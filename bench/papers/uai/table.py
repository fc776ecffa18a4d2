"""Inference on models of the UAI 2014 competition: exact against the known answers, and approximate on those with loops.

    python3 -m bench.papers.uai.table
"""

import argparse
import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

from bench import lib

FOLDER = lib.DATA / "uai2014"
APPROXIMATE = ("Grids_11", "Grids_12", "Segmentation_11", "Segmentation_12")


def infer(folder, model, task, inference):
    """What the program answers, its seconds of CPU, and the most memory that it had, in MB."""
    line = [str(part) for part in (lib.PROGRAM, "infer", folder / f"{model}.uai.gz", "--evidence",
                                   folder / f"{model}.uai.evid", "--task", task, "--inference", inference, "--json")]
    process = subprocess.Popen(line, stdout=subprocess.PIPE, text=True)
    answer = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(" ".join(line))
    return json.loads(answer), usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def references(folder):
    """name: (ln Z, ln of the maximum, marginals)"""
    result = {}
    for row in (folder / "exact.tsv").read_text().splitlines()[1:]:
        fields = row.split("\t")
        numbers = iter(gzip.open(folder / f"{fields[0]}.uai.MAR.gz", "rt").read().split()[2:])
        marginals = [[float(next(numbers)) for _ in range(int(labels))] for labels in numbers]
        result[fields[0]] = float(fields[6]), float(fields[9]), marginals
    return result


def furthest(marginals, reference):
    return max(abs(p - q) for ours, theirs in zip(marginals, reference, strict=True)
               for p, q in zip(ours, theirs, strict=True))


def exact(folder, known):
    rows = []
    for model, (log_partition, maximum, marginals) in known.items():
        answers = {task: infer(folder, model, task, "exact") for task in ("PR", "MAR", "MPE")}
        row = {"model": model, "width": answers["PR"][0]["width"]}
        row |= {f"{task} seconds": seconds for task, (_, seconds, _) in answers.items()}
        row["MB"] = max(memory for _, _, memory in answers.values())
        row["ln Z error"] = abs(answers["PR"][0]["log_partition"] - log_partition)
        row["maximum error"] = abs(answers["MPE"][0]["max"] - maximum)
        row["marginal error"] = furthest(answers["MAR"][0]["marginals"], marginals)
        rows.append(row)
    return rows


def approximate(folder, known):
    rows = []
    for model in APPROXIMATE:
        log_partition, maximum, marginals = known[model]
        for inference in ("bp", "trw"):
            answer, seconds, _ = infer(folder, model, "MAR", inference)
            best, best_seconds, _ = infer(folder, model, "MPE", inference)
            rows.append({"model": model, "inference": inference, "converged": answer["converged"],
                         "sweeps": answer["iterations"], "seconds": seconds,
                         "ln Z error": answer["log_partition"] - log_partition,
                         "marginal error": furthest(answer["marginals"], marginals),
                         "MPE seconds": best_seconds, "maximum error": best["max"] - maximum,
                         "bound error": best["bound"] - maximum, "optimal": best["optimal"]})
    return rows


def show(rows):
    def text(value):
        return f"{value:.2g}" if isinstance(value, float) and abs(value) < 0.01 else \
            f"{value:.2f}" if isinstance(value, float) else str(value)
    print(lib.table(list(rows[0]), [[text(value) for value in row.values()] for row in rows]), "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--uai", type=Path, default=FOLDER, help="folder with the models and exact.tsv")
    arguments = parser.parse_args()
    if not arguments.uai.exists():
        sys.exit(f"{arguments.uai} is missing; say where the models are with --uai FOLDER or ESPALIER_DATA")
    lib.use_one_core()
    known = references(arguments.uai)
    print("Exact. Seconds are of CPU, with reading; errors are against references of six decimals.\n")
    exactly = exact(arguments.uai, known)
    show(exactly)
    print("Approximate. Errors have a sign: tree-reweighted log-partitions and the bounds on the maximum are never "
          "below.\n")
    nearly = approximate(arguments.uai, known)
    show(nearly)
    lib.keep("uai", exactly, approximate=nearly)
    print(lib.provenance())


if __name__ == "__main__":
    main()
