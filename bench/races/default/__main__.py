"""The default solver against the others on a grid of problems, losses and l2: seconds to a certified gap of 1e-3.

    python3 -m bench.races.default

A run is kept as soon as it is done, so that a grid that was interrupted goes on where it was; `--again auto` forgets the
runs of a solver. On one core it takes up to four hours; `--jobs 8` uses eight, for a first look.
"""

import argparse
import concurrent.futures
import json
import os
import queue
import subprocess
import tempfile
import time
from pathlib import Path

from bench import lib
from bench.races.default import problems

GAP = 1e-3
L2S = (1e-6, 1e-3, 0.1, 1, 10, 1000)
SMOOTH = ("auto", "eg", "sdca", "lbfgs", "bmrm")
MAXIMUM = ("auto", "eg", "frank-wolfe", "smo", "cutting-plane", "bmrm")
LOSSES = {"crf": SMOOTH, "softmax-margin": SMOOTH, "svm": MAXIMUM}
WORTH_COUNTING = 0.2  # seconds of the best solver: below it, ratios say nothing
ALLOWED = {"crf": 1.5, "softmax-margin": 1.5, "svm": 2}


def cells(arguments):
    for problem in problems.PROBLEMS:
        if arguments.problems and problem.name not in arguments.problems:
            continue
        for loss in arguments.losses:
            for l2 in arguments.l2:
                for solver in LOSSES[loss]:
                    if not problem.cliques and solver in ("sdca", "smo"):
                        continue
                    if arguments.solvers and solver not in arguments.solvers:
                        continue
                    yield problem, loss, l2, solver


def train(problem, loss, l2, solver, data, budget, core):
    """One run, on one core: what its log says last, and how long it took after reading."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "run.jsonl"
        # Of several files with commas between them each is in the folder of the data.
        train_file = ",".join(str(data / name) for name in problem.file.split(","))
        options = [data / option if str(option).endswith(".template") else option for option in problem.options]
        line = [lib.PROGRAM, "train", problem.task, train_file, *options, "--loss", loss, "--l2", l2, "--solver", solver,
                "--gap", GAP, "--seconds", budget, "--passes", 1000000, "--log", log, "-o", Path(folder) / "model.esp"]
        started = time.monotonic()
        process = subprocess.Popen([str(part) for part in line], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                   preexec_fn=lambda: os.sched_setaffinity(0, {core}))
        read_seconds, said = None, ""
        # Certificates are not counted in the program's own budget: some solvers spend most of their time there.
        try:
            for said in process.stderr:
                if read_seconds is None and said.startswith("read "):
                    read_seconds = time.monotonic() - started
                if read_seconds is not None and time.monotonic() - started > read_seconds + 3 * budget:
                    process.terminate()
            process.wait(timeout=20 * budget)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        row = {"problem": problem.name, "loss": loss, "l2": l2, "solver": solver, "status": "failed", "said": said.strip()}
        if not log.exists():
            return row
        events = [json.loads(entry) for entry in log.read_text().splitlines()]
        progress = [event for event in events if event["event"] == "progress"]
        if not progress or read_seconds is None:
            return row
        last = progress[-1]
        return row | {"status": events[-1].get("status", "killed"), "chosen": events[0].get("solver"),
                      "message": events[-1].get("message", ""), "passes": last["pass"],
                      "seconds": last["seconds"], "certified_seconds": max(last["wall_seconds"] - read_seconds, last["seconds"]),
                      "relative_gap": last.get("relative_gap"), "primal": last.get("primal"), "dual": last.get("dual")}


def key(row):
    return row["problem"], row["loss"], row["l2"], row["solver"]


def run_all(missing, arguments, kept):
    cores = queue.Queue()
    for core in sorted(os.sched_getaffinity(0), reverse=True)[:arguments.jobs]:
        cores.put(core)

    def one(cell):
        core = cores.get()
        try:
            return train(*cell, arguments.prepared, arguments.budget, core)
        finally:
            cores.put(core)

    with open(arguments.results, "a") as file, concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for done in concurrent.futures.as_completed([pool.submit(one, cell) for cell in missing]):
            row = done.result()
            kept[key(row)] = row
            file.write(json.dumps(row) + "\n")
            file.flush()
            lib.note(f"{row['problem']}, {row['loss']}, l2 {row['l2']:g}, {row['solver']}: {row['status']} "
                     f"{row.get('relative_gap') or 0:.1e} {row.get('certified_seconds', 0):.2f} s")


def verdict(problem, loss, l2, rows):
    """A line of the table: the best solver of a cell and how auto did against it."""
    others = [row for row in rows if row["solver"] != "auto"]
    auto = next((row for row in rows if row["solver"] == "auto"), None)
    reached = [row for row in others if row["status"] == "converged"]
    best = min(reached, key=lambda row: row["certified_seconds"], default=None)
    line = {"problem": problem, "loss": loss, "l2": l2, "best": best["solver"] if best else "none",
            "best_seconds": best["certified_seconds"] if best else None}
    if auto is None:
        return line
    line |= {"auto": auto["status"], "auto_seconds": auto.get("certified_seconds"), "auto_gap": auto.get("relative_gap"),
             "chosen": auto.get("message", "")}
    if not best:
        line["good"] = True
    elif auto["status"] != "converged":
        line["good"] = False
    else:
        line["ratio"] = auto["certified_seconds"] / best["certified_seconds"]
        line["good"] = best["certified_seconds"] < WORTH_COUNTING or line["ratio"] <= ALLOWED[loss]
    return line


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=lib.DATA, help="folder of the data sets")
    parser.add_argument("--prepared", type=Path, default=lib.RESULTS / "default-data",
                        help="where the problems are made from them, once (default: %(default)s)")
    parser.add_argument("--results", type=Path, default=lib.RESULTS / "default.jsonl", help="default: %(default)s")
    parser.add_argument("--budget", type=float, default=10, help="seconds of a run (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=1, help="runs side by side (default: %(default)s)")
    parser.add_argument("--problems", nargs="+", choices=[problem.name for problem in problems.PROBLEMS])
    parser.add_argument("--losses", nargs="+", choices=list(LOSSES), default=list(LOSSES))
    parser.add_argument("--l2", nargs="+", type=float, default=L2S)
    parser.add_argument("--solvers", nargs="+")
    parser.add_argument("--again", nargs="+", default=[], metavar="SOLVER", help="forget earlier runs of these")
    arguments = parser.parse_args()

    lib.RESULTS.mkdir(parents=True, exist_ok=True)
    if not (arguments.prepared / "trees.mrg").exists():
        problems.prepare(arguments.data.resolve(), arguments.prepared)
    kept = {}
    if arguments.results.exists():
        rows = map(json.loads, arguments.results.read_text().splitlines())
        kept = {key(row): row for row in rows if row["solver"] not in arguments.again}
        arguments.results.write_text("".join(json.dumps(row) + "\n" for row in kept.values()))
    grid = list(cells(arguments))
    run_all([cell for cell in grid if (cell[0].name, *cell[1:]) not in kept], arguments, kept)

    lines, seen = [], set()
    for problem, loss, l2, _ in grid:
        if (problem.name, loss, l2) not in seen:
            seen.add((problem.name, loss, l2))
            lines.append(verdict(problem.name, loss, l2, [row for row in kept.values() if key(row)[:3] == (problem.name, loss, l2)]))
    lib.keep("race-default", lines, budget=arguments.budget, jobs=arguments.jobs)
    shown = [[line["problem"], line["loss"], f"{line['l2']:g}", line["best"],
              f"{line['best_seconds']:.2f}" if line["best_seconds"] is not None else "-",
              f"{line['auto_seconds']:.2f}" if line.get("auto_seconds") is not None else "-",
              f"{line['ratio']:.2f}" if "ratio" in line else f"gap {line['auto_gap']:.1e}" if line.get("auto_gap") else "-",
              "" if line.get("good", True) else "no", line.get("chosen", "")] for line in lines]
    print(lib.table(["problem", "loss", "l2", "best", "seconds", "auto", "ratio", "within", "what it did"], shown))
    good = sum(line.get("good", True) for line in lines)
    print(f"\n{good} of {len(lines)} cells within the limits. {lib.provenance()}")


if __name__ == "__main__":
    main()
