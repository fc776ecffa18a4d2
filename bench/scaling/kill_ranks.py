"""Kills a rank at random moments, and goes on from the checkpoint with another number of ranks.

    python3 -m bench.scaling.kill_ranks                # 20 times
    python3 -m bench.scaling.kill_ranks --times 3 --seed 7

Each time two to four ranks train on generated sentences and save a checkpoint with every report. One of them, picked
at random, is killed with SIGKILL at a random moment of the time that the run takes. What has to hold then:

- the run has ended, without a model, and rank 0 has said so in one line (where it was not killed itself);
- the resumed run, on another number of ranks, one included, begins at the last report of the killed run's log, or at
  the one before: at most one checkpoint is lost;
- its optimum is that of a run that nobody killed, to the gap asked for.

A kill before the first checkpoint leaves nothing to resume; then the run starts anew.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from bench import lib


def command(ranks, gap, *words):
    program = [str(lib.PROGRAM), "train", "tag", "train.txt", "--l2", "0.1", "--gap", str(gap), "--solver", "eg",
               "--report-every", "1", "-o", "model.esp", "--log", "run.jsonl", "--checkpoint", "run.ckpt",
               "--checkpoint-every", "0", *words]
    return program if ranks == 1 else ["mpirun", "--oversubscribe", "-n", str(ranks), *program]


def start(folder, ranks, gap, *words):
    with open(folder / "errors.txt", "wb") as errors:
        return subprocess.Popen(command(ranks, gap, *words), cwd=folder, stderr=errors, env=os.environ | lib.MPI)


def said(folder):
    return (folder / "errors.txt").read_text(errors="replace").splitlines()


def progress(folder):
    """The events of a log that may end in the middle of a line."""
    events = []
    path = folder / "run.jsonl"
    for line in path.read_text().splitlines() if path.exists() else []:
        try:
            events.append(json.loads(line))
        except ValueError:
            break
    return [event for event in events if event["event"] == "progress"]


def processes_of(launcher):
    children = subprocess.run(["pgrep", "-P", str(launcher)], capture_output=True, text=True, check=False).stdout
    return [int(child) for child in children.split()]


def run_one(folder, number, chance, gap, seconds, best):
    """One kill and what follows; returns a line of the table."""
    for file in folder.glob("run.*"):
        file.unlink()
    (folder / "model.esp").unlink(missing_ok=True)
    ranks = chance.randint(2, 4)
    run = start(folder, ranks, gap)
    until = time.monotonic() + chance.uniform(0, seconds)
    while time.monotonic() < until and run.poll() is None:
        time.sleep(0.01)
    victims = processes_of(run.pid)
    victim = chance.randrange(len(victims)) if victims else None
    if victim is not None:
        try:
            os.kill(victims[victim], signal.SIGKILL)
        except ProcessLookupError:
            victim = None
    status = run.wait(timeout=600)
    if victim is None or status == 0:
        return [number, ranks, "", "ended before it was killed", "", "", ""]
    reports = progress(folder)
    lines = [line for line in said(folder) if line.startswith("espalier: ")]
    expected = 0 if victim == 0 else 1
    # A rank that dies before it has joined the others is mpirun's to report.
    assert len(lines) <= expected and (lines or expected == 0 or not reports), lines
    assert all("has ended; so does this run" in line for line in lines), lines
    assert not (folder / "model.esp").exists()

    resuming = chance.choice([k for k in range(1, 5) if k != ranks])
    checkpoint = (folder / "run.ckpt").exists()
    again = start(folder, resuming, gap, *(["--resume"] if checkpoint else []))
    assert again.wait(timeout=600) == 0, said(folder)
    begun = 0.0
    for line in said(folder):
        if line.startswith("resumed run.ckpt: "):
            begun = float(line.split(": ")[1].split()[0])
    # What was reported before the last checkpoint is not lost, but for the report that was about to be saved.
    safe = reports[-2]["pass"] if len(reports) > 1 else 0.0
    assert begun >= safe - 0.06, (begun, [event["pass"] for event in reports])
    last = progress(folder)[-1]
    assert last["relative_gap"] <= gap
    # Both are within the gap of the optimum, on either side.
    assert abs(last["primal"] - best["primal"]) <= 2 * gap * best["primal"]
    # Files of a checkpoint that nobody named yet when its ranks were killed may be left.
    assert not (folder / "run.ckpt").exists()
    killed = reports[-1]["pass"] if reports else 0.0
    return [number, ranks, victim, f"{killed:.1f}", f"{begun:.1f}", resuming, f"{last['relative_gap']:.1e}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=20, help="kills (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the moments (default: %(default)s)")
    parser.add_argument("--sentences", type=int, default=300, help="to train on (default: %(default)s)")
    parser.add_argument("--gap", type=float, default=1e-5, help="that is asked for (default: %(default)s)")
    arguments = parser.parse_args()

    chance = random.Random(arguments.seed)
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run([str(lib.PROGRAM), "generate", "tag", "-n", str(arguments.sentences), "--seed", "1", "-o",
                        "train.txt"], cwd=folder, check=True)
        before = time.monotonic()
        assert start(folder, 3, arguments.gap).wait(timeout=600) == 0, said(folder)
        seconds = time.monotonic() - before
        best = progress(folder)[-1]
        for number in range(arguments.times):
            rows.append(run_one(folder, number + 1, chance, arguments.gap, seconds, best))
            lib.note(f"{number + 1} of {arguments.times}: {rows[-1]}")
    print(lib.table(["kill", "ranks", "killed", "last report, passes", "resumed at", "ranks then", "gap"], rows))


if __name__ == "__main__":
    main()
