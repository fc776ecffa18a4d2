"""The default solver against the others on a grid of problems, losses and l2: seconds to a certified gap of 1e-3.

    python3 -m bench.races.default

In each cell `auto` goes first. What it took is all that the others get: who needs longer is not better. Where `auto` is done
before any of them could count, they do not run at all. Seconds are those after reading, certificates included.

A cell is kept as soon as it is done, so that a grid that was interrupted goes on where it was; `--again missed` runs those anew
in which `auto` was not good enough, `--again all` forgets everything. `--jobs 8` uses eight cores, for a first look.
"""

import argparse
import concurrent.futures
import json
import os
import queue
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from bench import lib
from bench.races.default import problems

GAP = 1e-3
L2S = (1e-6, 1e-3, 0.1, 1, 10, 1000)
SMOOTH = ("eg", "sdca", "lbfgs", "bmrm")
MAXIMUM = ("eg", "frank-wolfe", "smo", "cutting-plane", "bmrm")
LOSSES = {"crf": SMOOTH, "softmax-margin": SMOOTH, "svm": MAXIMUM}
WORTH_COUNTING = 0.2  # seconds of the best solver: below it, ratios say nothing
ALLOWED = {"crf": 1.5, "softmax-margin": 1.5, "svm": 2}


def cells(arguments):
    for problem in problems.PROBLEMS:
        if arguments.problems and problem.name not in arguments.problems:
            continue
        for loss in arguments.losses:
            for l2 in arguments.l2:
                yield problem, loss, l2


def train(problem, loss, l2, solver, data, limit, core):
    """One run, on one core, ended `limit` seconds after reading: what its log says last."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "run.jsonl"
        # Of several files with commas between them each is in the folder of the data.
        train_file = ",".join(str(data / name) for name in problem.file.split(","))
        options = [data / option if str(option).endswith(".template") else option for option in problem.options]
        line = [lib.PROGRAM, "train", problem.task, train_file, *options, "--loss", loss, "--l2", l2, "--solver", solver, "--gap", GAP,
                "--threads", 1, "--passes", 1000000, "--log", log, "-o", Path(folder) / "model.esp"]
        started = time.monotonic()
        process = subprocess.Popen([str(part) for part in line], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                   preexec_fn=lambda: os.sched_setaffinity(0, {core}))
        read_seconds, said, clock = None, "", threading.Timer(limit, process.kill)
        for said in process.stderr:
            if read_seconds is None and said.startswith("read "):
                read_seconds = time.monotonic() - started
                clock.start()
        process.wait()
        clock.cancel()
        row = {"solver": solver, "status": "failed", "said": said.strip()}
        events = [json.loads(entry) for entry in log.read_text().splitlines() if entry.endswith("}")] if log.exists() else []
        progress = [event for event in events if event["event"] == "progress"]
        if read_seconds is None:
            return row
        if not progress:
            return row | {"status": "late", "relative_gap": None}
        last = progress[-1]
        return row | {"status": events[-1].get("status", "late"), "message": events[-1].get("message", ""), "passes": last["pass"],
                      "seconds": max(last["wall_seconds"] - read_seconds, last["seconds"]), "relative_gap": last.get("relative_gap")}


def compare(problem, loss, l2, arguments, core):
    """auto, and whoever might be better: all runs of a cell."""
    # A solver that is done within the budget is to be caught up with, so auto has that much longer.
    auto = train(problem, loss, l2, "auto", arguments.prepared, arguments.budget * ALLOWED[loss], core)
    rows, limit = [auto], arguments.budget
    if auto["status"] == "converged":
        limit = min(limit, auto["seconds"])
    if limit > WORTH_COUNTING * ALLOWED[loss]:
        rows += [train(problem, loss, l2, solver, arguments.prepared, limit, core) for solver in LOSSES[loss]]
    return {"problem": problem.name, "loss": loss, "l2": l2, "budget": arguments.budget, "rows": rows}


def key(cell):
    return cell["problem"], cell["loss"], cell["l2"]


def run_all(missing, arguments, kept):
    cores = queue.Queue()
    for core in sorted(os.sched_getaffinity(0), reverse=True)[:arguments.jobs]:
        cores.put(core)

    def one(cell):
        core = cores.get()
        try:
            return compare(*cell, arguments, core)
        finally:
            cores.put(core)

    with open(arguments.results, "a") as file, concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for done in concurrent.futures.as_completed([pool.submit(one, cell) for cell in missing]):
            cell = done.result()
            kept[key(cell)] = cell
            file.write(json.dumps(cell) + "\n")
            file.flush()
            line = verdict(cell)
            lib.note(f"{line['problem']}, {line['loss']}, l2 {line['l2']:g}: auto {shown_time(line, 'auto')}, "
                     f"best {line['best']} {shown_time(line, 'best')}{'' if line['good'] else ', MISSED'}")


def verdict(cell):
    """A line of the table: the best of the other solvers in a cell, and how auto did against it."""
    auto, *rest = cell["rows"]
    reached = [row for row in rest if row["status"] == "converged"]
    best = min(reached, key=lambda row: row["seconds"], default=None)
    line = {"problem": cell["problem"], "loss": cell["loss"], "l2": cell["l2"], "auto_gap": auto.get("relative_gap"),
            "auto_seconds": auto.get("seconds") if auto["status"] == "converged" else None,
            "best": best["solver"] if best else "", "best_seconds": best["seconds"] if best else None,
            "chosen": auto.get("message", ""), "good": True}
    if best and line["auto_seconds"] is None:
        line["good"] = False
    elif best:
        line["ratio"] = line["auto_seconds"] / best["seconds"]
        line["good"] = best["seconds"] < WORTH_COUNTING or line["ratio"] <= ALLOWED[cell["loss"]]
    return line


def shown_time(line, who):
    return "-" if line[f"{who}_seconds"] is None else f"{line[f'{who}_seconds']:.2f}"


def shown_ratio(line):
    if "ratio" in line:
        return f"{line['ratio']:.2f}"
    if line["auto_seconds"] is not None:
        return "first"
    return f"gap {line['auto_gap']:.1e}" if line["auto_gap"] else "-"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=lib.DATA, help="folder of the data sets")
    parser.add_argument("--prepared", type=Path, default=lib.RESULTS / "default-data",
                        help="where the problems are made from them, once (default: %(default)s)")
    parser.add_argument("--results", type=Path, default=lib.RESULTS / "default.jsonl", help="default: %(default)s")
    parser.add_argument("--budget", type=float, default=5, help="seconds of a run (default: %(default)s); auto has 1.5 times as many, 2 for svm")
    parser.add_argument("--jobs", type=int, default=1, help="runs side by side (default: %(default)s)")
    parser.add_argument("--problems", nargs="+", choices=[problem.name for problem in problems.PROBLEMS])
    parser.add_argument("--losses", nargs="+", choices=list(LOSSES), default=list(LOSSES))
    parser.add_argument("--l2", nargs="+", type=float, default=L2S)
    parser.add_argument("--again", choices=("missed", "all"), help="forget earlier runs: of cells that auto missed, or all")
    arguments = parser.parse_args()

    lib.RESULTS.mkdir(parents=True, exist_ok=True)
    if not (arguments.prepared / "trees.mrg").exists():
        problems.prepare(arguments.data.resolve(), arguments.prepared)
    kept = {}
    if arguments.results.exists() and arguments.again != "all":
        kept = {key(cell): cell for cell in map(json.loads, arguments.results.read_text().splitlines())
                if arguments.again != "missed" or verdict(cell)["good"]}
    arguments.results.write_text("".join(json.dumps(cell) + "\n" for cell in kept.values()))
    grid = list(cells(arguments))
    run_all([cell for cell in grid if (cell[0].name, *cell[1:]) not in kept], arguments, kept)

    lines = [verdict(kept[problem.name, loss, l2]) for problem, loss, l2 in grid]
    lib.keep("race-default", lines, budget=arguments.budget, jobs=arguments.jobs)
    print(lib.table(["problem", "loss", "l2", "auto", "best other", "", "ratio", "within", "what it did"],
                    [[line["problem"], line["loss"], f"{line['l2']:g}", shown_time(line, "auto"), line["best"],
                      shown_time(line, "best"), shown_ratio(line), "" if line["good"] else "no", line["chosen"]] for line in lines]))
    print(f"\n{sum(line['good'] for line in lines)} of {len(lines)} cells within the limits. {lib.provenance()}")


if __name__ == "__main__":
    main()
