"""What the benchmarks share: running the program, reading its log, and keeping results with where they come from."""

import csv
import json
import os
import platform
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results"
PROGRAM = Path(os.environ.get("ESPALIER", ROOT / "build" / "espalier"))
DATA = Path(os.environ.get("ESPALIER_DATA", ROOT.parent / "shared" / "data"))


def use_one_core():
    """Keeps this process and everything that it starts on one core, the last one it may use."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"


@dataclass
class Run:
    """One run of the program."""

    events: list  # of its log
    read_seconds: float  # from its start until it says what it read
    read: str  # what it says then
    wall_seconds: float  # all of it
    cpu_seconds: float
    # None where it is too small to be seen: Linux hands the peak of a process, here Python's, on to what it starts.
    peak_bytes: int | None

    def number_of(self, things):
        """As it says having read it: "335,674 attributes"."""
        return int(re.search(rf"([\d,]+) {things}\b", self.read).group(1).replace(",", ""))

    @property
    def start(self):
        return self.events[0]

    @property
    def progress(self):
        return [event for event in self.events if event["event"] == "progress"]

    @property
    def last(self):
        return self.progress[-1]

    @property
    def end(self):
        return self.events[-1]


# What mpirun wants to be told where everybody is root, and where processes may not read each other's memory.
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
       "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}


def on_ranks(ranks):
    """What starts the program on so many ranks; for one, nothing."""
    return ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(ranks)] if ranks > 1 else []


def espalier(command, task, train, *options, model=None, ranks=1):
    """Runs `espalier COMMAND TASK TRAIN OPTIONS...` and returns its Run; `model` is where to keep what it learnt."""
    if not PROGRAM.exists():
        sys.exit(f"{PROGRAM} is missing: cmake --preset release && cmake --build --preset release")
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "run.jsonl"
        line = [*on_ranks(ranks), PROGRAM, command, task, train, *options, "-o", model or Path(folder) / "model.esp", "--log", log]
        line = [str(part) for part in line]
        started = time.monotonic()
        process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                   env=os.environ | MPI)
        read_seconds, read, said = None, "", ""
        for said in process.stderr:
            if read_seconds is None and said.startswith("read "):
                read_seconds, read = time.monotonic() - started, said
        _, status, usage = os.wait4(process.pid, 0)
        wall_seconds = time.monotonic() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit(f"{' '.join(line)}\n{said}")
        events = [json.loads(entry) for entry in log.read_text().splitlines()]
    inherited = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    peak_bytes = usage.ru_maxrss * 1024 if usage.ru_maxrss > inherited else None
    return Run(events, read_seconds, read, wall_seconds, usage.ru_utime + usage.ru_stime, peak_bytes)


def mnist(folder):
    """The files of MNIST as the program takes them: (training, validation)."""
    def pair(name):
        paths = [folder / f"{name}-{kind}-ubyte.gz" for kind in ("images-idx3", "labels-idx1")]
        for path in paths:
            if not path.exists():
                sys.exit(f"{path} is missing; say where MNIST is with --mnist FOLDER or ESPALIER_DATA")
        return ",".join(map(str, paths))

    return pair("train"), pair("t10k")


def said_by(*line):
    """The first line that a command prints, or an empty string."""
    if not shutil.which(line[0]):
        return ""
    done = subprocess.run(line, capture_output=True, text=True, cwd=ROOT, check=False)
    return done.stdout.split("\n")[0].strip() if done.returncode == 0 else ""


def last_change(*paths):
    """The last commit that changed the program or one of these paths; with -dirty where something differs from it."""
    program = ["include", "src", "cmake", "CMakeLists.txt", "CMakePresets.json"]
    commit = said_by("git", "log", "-1", "--format=%h", "--abbrev=12", "--", *program, *paths)
    changed = said_by("git", "status", "--porcelain", "--", *program, *paths)
    return f"{commit}-dirty" if changed else commit


def environment():
    """Where a result comes from."""
    cache = {}
    cache_file = PROGRAM.parent / "CMakeCache.txt"
    if cache_file.exists():
        cache = dict(re.findall(r"^(\w+):\w+=(.*)$", cache_file.read_text(), re.MULTILINE))
    cpu = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    build_type = cache.get("CMAKE_BUILD_TYPE", "")
    flags = [cache.get("CMAKE_CXX_FLAGS", ""), cache.get(f"CMAKE_CXX_FLAGS_{build_type.upper()}", "")]
    return {
        "time": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "commit": last_change(),
        "program": said_by(str(PROGRAM), "--version"),
        "cpu": cpu.group(1) if cpu else platform.machine(),
        "cores_used": len(os.sched_getaffinity(0)),
        "load": os.getloadavg()[0],
        "compiler": said_by(cache.get("CMAKE_CXX_COMPILER", "c++"), "--version"),
        "build_type": build_type,
        "flags": " ".join(filter(None, flags)),
        "system": platform.platform(),
    }


def keep(name, rows, **details):
    """Writes results/NAME.csv (the rows, as dictionaries) and NAME.json (the same with details and environment)."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    columns = list(dict.fromkeys(key for row in rows for key in row))
    with open(RESULTS / f"{name}.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(rows)
    record = {"environment": environment(), **details, "rows": rows}
    (RESULTS / f"{name}.json").write_text(json.dumps(record, indent=1) + "\n")


def provenance():
    """The environment in one line of Markdown."""
    where = environment()
    busy = f"; BUSY, load {where['load']:.1f}" if where["load"] > 1.5 else ""
    return (f"Commit {where['commit']}, {where['cpu']}, {where['cores_used']} core, {where['compiler']}, "
            f"{where['build_type']} ({where['flags']}), {where['time']}{busy}.")


def table(header, rows):
    """A Markdown table: the first column to the left, the others to the right."""
    lines = [header, ["---"] + ["---:"] * (len(header) - 1), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def note(text):
    """Says what goes on, beside the results."""
    print(text, file=sys.stderr, flush=True)
