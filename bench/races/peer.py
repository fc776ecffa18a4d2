"""Runs a peer's script under the Python of the system, where Debian puts its packages."""

import json
import os
import subprocess

from bench import lib

PYTHON = os.environ.get("PEER_PYTHON", "/usr/bin/python3")


def run(module, imports, package, *options):
    """What the peer's script printed, one JSON object a line; None, with a note, where it is not installed."""
    def has(name):
        return subprocess.run([PYTHON, "-c", f"import {name}"], capture_output=True, check=False).returncode == 0

    if not all(has(name) for name in imports):
        print(f"{package}: not installed (apt-get install --no-install-recommends {package})\n")
        return None
    done = subprocess.run([PYTHON, "-m", module, *map(str, options)], cwd=lib.ROOT, stdout=subprocess.PIPE, text=True,
                          check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]
