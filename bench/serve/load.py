"""How many requests a second `espalier serve` answers on one core, and how long they take: CoNLL-2000, a sentence a request.

    python3 -m bench.serve.load [--seconds 10]

wrk asks from other cores where there are any, first as fast as it can, then at half that rate. Needs Debian's wrk.
"""

import argparse
import contextlib
import gzip
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from bench import lib

CONNECTIONS = 32
GOAL_RATE, GOAL_P99 = 5000, 0.005


@contextlib.contextmanager
def serving(model, *options, core=None):
    """The address of a server, which is told to stop in the end and has to end well."""
    line = [str(lib.PROGRAM), "serve", str(model), "--port", "0", *map(str, options)]
    pin = (lambda: os.sched_setaffinity(0, {core})) if core is not None else None
    process = subprocess.Popen(line, stderr=subprocess.PIPE, text=True, preexec_fn=pin)
    try:
        for said in process.stderr:
            if found := re.search(r"serving .* at (http://127\.0\.0\.1:\d+/)", said):
                break
        else:
            sys.exit(f"{' '.join(line)}: it does not serve")
        yield found.group(1)
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
    if process.returncode != 0:
        sys.exit(f"espalier serve ended with status {process.returncode}")


def sentences():
    """Those of the test set, as lists of columns without the label."""
    found, tokens = [], []
    with gzip.open(lib.DATA / "conll2000" / "test.txt.gz", "rt") as lines:
        for line in lines:
            fields = line.split()
            if fields:
                tokens.append(fields[:2])
            elif tokens:
                found.append(tokens)
                tokens = []
    return found


def write_script(path, bodies, rate):
    """For wrk: one body after the other; with a rate, each connection waits between two requests."""
    quoted = ",\n".join(f"[==[{body}]==]" for body in bodies)
    pause = f"function delay() return {round(1000 * CONNECTIONS / rate)} end" if rate else ""
    path.write_text(f"""local bodies = {{\n{quoted}}}
local at = 0
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
{pause}
function request()
  at = at % #bodies + 1
  return wrk.format(nil, "/v1/predict", nil, bodies[at])
end
""")


def seconds_of(text):
    value, unit = re.fullmatch(r"([\d.]+)(us|ms|s|m)", text).groups()
    return float(value) * {"us": 1e-6, "ms": 1e-3, "s": 1, "m": 60}[unit]


def run_wrk(address, script, seconds, cores):
    line = ["wrk", "--latency", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "-s", str(script), address]
    done = subprocess.run(line, capture_output=True, text=True, check=True,
                          preexec_fn=lambda: os.sched_setaffinity(0, cores))
    said = done.stdout
    failed = sum(map(int, re.findall(r"(?:connect|read|write|timeout) (\d+)", said)))
    failed += int((re.search(r"Non-2xx or 3xx responses: (\d+)", said) or [0, 0])[1])
    return {
        "rate": float(re.search(r"Requests/sec:\s+([\d.]+)", said).group(1)),
        "failed": failed,
        **{f"p{name}": seconds_of(re.search(rf"\s{name}%\s+(\S+)", said).group(1)) for name in ("50", "99")},
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=10, help="of each run")
    seconds = parser.parse_args().seconds
    if shutil.which("wrk") is None:
        sys.exit("wrk is missing: apt install wrk")
    cores = sorted(os.sched_getaffinity(0))
    own, others = cores[-1], set(cores[:-1]) or set(cores)
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = folder / "chunks.esp"
        lib.espalier("train", "tag", lib.DATA / "conll2000" / "train.txt.gz", "--l2", 2, "--gap", 1e-3, model=model)
        bodies = [json.dumps({"tokens": [tokens]}) for tokens in sentences()]
        with serving(model, "--threads", 1, core=own) as address:
            rate = None
            for load in ("full", "half"):
                script = folder / f"{load}.lua"
                write_script(script, bodies, rate)
                run_wrk(address, script, 1, others)  # to warm up
                rows.append({"load": load, **run_wrk(address, script, seconds, others)})
                rate = rows[0]["rate"] / 2
    lib.keep("serve-load", rows, connections=CONNECTIONS, sentences=len(bodies))
    print(f"CoNLL-2000, the {len(bodies):,} sentences of the test set in turn, one a request, built-in attributes; "
          f"server on one core, {CONNECTIONS} connections.\n")
    print(lib.table(["load", "requests a second", "p50, ms", "p99, ms", "failed"],
                    [[row["load"], f"{row['rate']:,.0f}", f"{1000 * row['p50']:.2f}", f"{1000 * row['p99']:.2f}",
                      f"{row['failed']}"] for row in rows]))
    full, half = rows
    print(f"\nAt least {GOAL_RATE:,} a second: {'yes' if full['rate'] >= GOAL_RATE else 'no'}; p99 at half the load below "
          f"{1000 * GOAL_P99:g} ms: {'yes' if half['p99'] < GOAL_P99 else 'no'}\n\n{lib.provenance()}")
    if any(row["failed"] for row in rows):
        sys.exit("requests failed")


if __name__ == "__main__":
    main()
