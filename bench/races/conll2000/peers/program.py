"""What the peers have in common: they are programs, and print their objective and their time after every iteration."""

import os
import re
import resource
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass

from bench import lib


@dataclass
class Run:
    wall_seconds: float
    cpu_seconds: float
    peak_bytes: int | None  # None where it is too small to be seen beside Python's
    said: str  # its standard error, and its output where that is not sent to a file


@dataclass
class Iteration:
    seconds: float  # from the start of training
    objective: float


def run(line, output=None):
    """Runs a command; its standard output goes to `output`, a file that is open, if there is one."""
    line = [str(part) for part in line]
    started = time.monotonic()
    process = subprocess.Popen(line, stdout=output or subprocess.PIPE, text=True, errors="replace",
                               stderr=subprocess.PIPE if output else subprocess.STDOUT)
    said = (process.stderr if output else process.stdout).read()
    _, status, usage = os.wait4(process.pid, 0)
    wall_seconds = time.monotonic() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(line)}: exit status {process.returncode}\n{said[-2000:]}")
    inherited = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    peak_bytes = usage.ru_maxrss * 1024 if usage.ru_maxrss > inherited else None
    return Run(wall_seconds, usage.ru_utime + usage.ru_stime, peak_bytes, said)


def find(name, question, answer, source):
    """(path, version) of a program that answers as expected; None, with a note, where there is none.

    The environment may say where it is: WAPITI=PATH.
    """
    path = shutil.which(os.environ.get(name.upper(), name))
    if path:
        asked = subprocess.run([path, question], capture_output=True, text=True, errors="replace", check=False)
        found = re.search(answer, asked.stdout + asked.stderr, re.MULTILINE)
        if found:
            return path, found.group(1)
        lib.note(f"{path} is another program")
    print(f"{name}: not installed (build {source}, then {name.upper()}=PROGRAM)\n")
    return None
