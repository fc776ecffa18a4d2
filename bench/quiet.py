"""Runs a command while nothing else does: waits until the machine is quiet, and notices when it no longer is."""

import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

LIMIT = 0.3  # cores that others may use
WINDOW = 20  # seconds over which their use is averaged
TICKS = os.sysconf("SC_CLK_TCK")


def busy_seconds():
    """CPU seconds that anybody has used since the machine started, other guests of its host included (steal)."""
    user, nice, system, _, _, irq, softirq, steal = map(int, Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9])
    return (user + nice + system + irq + softirq + steal) / TICKS


def session_seconds(session):
    """CPU seconds of all processes of a session, and of the children that they waited for."""
    total = 0
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended
        if int(fields[3]) == session:
            total += sum(map(int, fields[11:15]))  # utime, stime, cutime, cstime
    return total / TICKS


class Others:
    """The CPU that others use, in cores, from one look to the next."""

    def __init__(self, session=None):
        self.session = session
        self.time, self.used = time.monotonic(), self.seconds()
        self.highest = 0.0  # of all windows

    def seconds(self):
        own = 0 if self.session is None else session_seconds(self.session)
        return busy_seconds() - own

    def look(self):
        """Cores since the last look; None before a window is over."""
        now = time.monotonic()
        if now - self.time < WINDOW:
            return None
        used = self.seconds()
        cores = max(0.0, (used - self.used) / (now - self.time))
        self.time, self.used = now, used
        self.highest = max(self.highest, cores)
        return cores


def wait(note, patience=None):
    """Until others use less than LIMIT for a window; False where that takes more than `patience` seconds."""
    started, others = time.monotonic(), Others()
    while True:
        time.sleep(1)
        cores = others.look()
        if cores is None:
            continue
        if cores <= LIMIT:
            return True
        if patience is not None and time.monotonic() - started > patience:
            return False
        note(f"others use {cores:.2f} cores; waiting until it is at most {LIMIT}")


@dataclass
class Done:
    status: int | None  # None: disturbed
    output: str
    seconds: float
    others: float  # the most cores that others used in any window


def run(command, folder, environment=None):
    """Runs a command in a session of its own and ends it where it was disturbed."""
    started = time.monotonic()
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True,
                          start_new_session=True) as process:
        others = Others(process.pid)
        parts = []
        try:
            while True:
                try:
                    parts.append(process.communicate(timeout=1)[0])
                    break
                except subprocess.TimeoutExpired:
                    cores = others.look()
                if cores is not None and cores > LIMIT:
                    os.killpg(process.pid, signal.SIGTERM)
                    process.communicate()
                    return Done(None, "", time.monotonic() - started, others.highest)
        except BaseException:
            os.killpg(process.pid, signal.SIGTERM)
            raise
    return Done(process.returncode, "".join(parts), time.monotonic() - started, others.highest)
