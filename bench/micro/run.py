"""Runs the micro-benchmarks and puts each kernel beside its scalar reference.

    cmake --preset bench && cmake --build --preset bench && python3 -m bench.micro.run
"""

import json
import math
import subprocess
import sys

from bench import lib

PROGRAM = lib.ROOT / "build-bench" / "bench" / "micro" / "bench_micro"
SCALAR = "/scalar"
REPETITIONS = 5


def measure():
    """Medians in nanoseconds of CPU time, and items a second, by name."""
    if not PROGRAM.exists():
        sys.exit(f"{PROGRAM} is missing: apt-get install libbenchmark-dev, "
                 "cmake --preset bench && cmake --build --preset bench")
    done = subprocess.run([PROGRAM, "--benchmark_format=json", f"--benchmark_repetitions={REPETITIONS}",
                           "--benchmark_min_time=0.1", "--benchmark_report_aggregates_only=true"],
                          stdout=subprocess.PIPE, text=True, check=True)
    return {entry["run_name"]: entry for entry in json.loads(done.stdout)["benchmarks"]
            if entry["aggregate_name"] == "median"}


def print_by_length(rows):
    lengths = sorted({words for times in rows.values() for words in times})
    print(lib.table(["", *map(str, lengths), "power"],
                    [[what, *(f"{times[words]:.1f}" for words in lengths),
                      f"{math.log(times[lengths[-1]] / times[lengths[-2]], lengths[-1] / lengths[-2]):.1f}"]
                     for what, times in rows.items()]))


def main():
    lib.use_one_core()
    lib.PROGRAM = PROGRAM.parents[2] / "espalier"  # whose build the environment describes
    medians = measure()
    lib.keep("micro", [{"name": name, "cpu_time": entry["cpu_time"], "unit": entry["time_unit"],
                        "items_per_second": entry["items_per_second"]} for name, entry in medians.items()])

    kernels, chains, by_length, others = [], [], {"tree": {}, "grammar": {}}, []
    for name, entry in medians.items():
        group, _, rest = name.partition("/")
        if group in by_length:
            what, _, words = rest.partition("/words:")
            by_length[group].setdefault(what, {})[int(words)] = 1e6 / entry["items_per_second"]
            continue
        kernel, _, width = name.partition("/width:")
        if kernel.endswith(SCALAR):
            continue
        scalar = medians.get(f"{kernel}{SCALAR}/width:{width}")
        if kernel.startswith("chain"):
            here = 1e9 / entry["items_per_second"]
            plain = 1e9 / scalar["items_per_second"] if scalar else None
            chains.append([kernel, width, f"{here:.0f}", f"{plain:.0f}" if plain else "-",
                           f"{plain / here:.1f}" if plain else "-"])
        elif scalar:
            kernels.append([kernel, width, f"{entry['cpu_time']:.0f}", f"{scalar['cpu_time']:.0f}",
                            f"{scalar['cpu_time'] / entry['cpu_time']:.1f}"])
        else:
            others.append([name.split("/")[0], f"{1e9 / entry['items_per_second']:.0f}"])
    print("Kernels on a row of 150 entries, and their scalar references.\n")
    print(lib.table(["kernel", "width", "ns", "scalar, ns", "ratio"], kernels))
    print("\nChains of 24 labels, and the reference in logarithms and doubles: nanoseconds a position.\n")
    print(lib.table(["kernel", "labels", "ns", "reference, ns", "ratio"], chains))
    for group, title in (
            ("tree", "Dependency trees, one modifier of the root, and the features of all of a sentence's arcs"),
            ("grammar", "Derivations by a random grammar of 1,500 rules, pruned at 1e-4, and the features of their spans")):
        print(f"\n{title}: microseconds a sentence, by its number of words, and the power of that number by which they "
              "grow at last.\n")
        print_by_length(by_length[group])
    print("\nAn example of 150 entries and 10 labels.\n")
    print(lib.table(["", "ns an example"], others))
    print(f"\n{lib.provenance()}")


if __name__ == "__main__":
    main()
