"""espalier.CRF on CoNLL-2003 as dicts, against CRFsuite on the same attributes; how fast it predicts, with one thread and with eight.

    /usr/bin/python3 -m bench.races.python.race

The module is that of build/python. Seconds of fit() have the conversion of dicts in them, those of CRFsuite are of its iterations alone.
"""

import argparse
import gzip
import os
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

from bench import lib
from bench.races.conll2000.peers.crfsuite import CRFsuite
from bench.races.conll2000.race import Objective

TOLERANCE, GAPS, THREADS, L2 = 1e-3, (1e-3, 1e-5), 8, 0.1


def sentences(path):
    """Lists of (columns, label)."""
    tokens = []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in [*lines, "\n"]:
            columns = line.split()
            if columns and columns[0] != "-DOCSTART-":
                tokens.append((columns[:-1], columns[-1]))
            elif tokens:
                yield tokens
                tokens = []


def item(words, t):
    """What tutorials of sklearn-crfsuite have."""
    word = words[t]
    features = {"bias": 1.0, "lower": word.lower(), "suffix": word[-3:], "suffix2": word[-2:], "upper": word.isupper(),
                "title": word.istitle(), "digit": word.isdigit()}
    for offset in (-1, 1):
        if 0 <= t + offset < len(words):
            other = words[t + offset]
            features[f"{offset:+d}"] = {"lower": other.lower(), "title": other.istitle()}
        else:
            features[f"{offset:+d}:edge"] = True
    return features


def read(path):
    X, y = [], []
    for sentence in sentences(path):
        words = [columns[0] for columns, _ in sentence]
        X.append([{**item(words, t), "pos": sentence[t][0][1]} for t in range(len(words))])
        y.append([label for _, label in sentence])
    return X, y


def flat(features, prefix=""):
    """The attributes of a dict, as both programs have them."""
    for name, value in features.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{name}:")
        elif isinstance(value, str):
            yield f"{prefix}{name}:{value}", 1.0
        elif value:
            yield prefix + name, float(value)


def write_attributes(X, y, path):
    with open(path, "w", encoding="utf-8") as file:
        for items, labels in zip(X, y, strict=True):
            for features, label in zip(items, labels, strict=True):
                names = (name.replace("\\", "\\\\").replace(":", "\\:") for name, _ in flat(features))
                file.write("\t".join((label, *names)) + "\n")
            file.write("\n")


def seconds_of(call):
    started = time.monotonic()
    result = call()
    return time.monotonic() - started, result


def race_training(crf_class, X, y, times):
    lib.use_one_core()
    rows = []
    for gap in GAPS:
        lib.note(f"fit to {gap:g}")
        runs = [seconds_of(lambda: crf_class(l2=L2, gap=gap, all_possible_states=True, all_possible_transitions=True).fit(X, y))
                for _ in range(times)]
        certificate = runs[0][1].certificate_
        rows.append([f"espalier.CRF, gap {gap:g} proven", f"{statistics.median(seconds for seconds, _ in runs):.2f}",
                     f"{certificate.passes:.1f} passes", f"{certificate.primal:.2f}"])
    peer = CRFsuite.find()
    if not peer:
        return rows
    lib.note(peer.name)
    with tempfile.TemporaryDirectory() as folder:
        train = Path(folder) / "train"
        write_attributes(X, y, train)
        iterations = peer.iterations(peer.train(train, Objective(L2, 0, False), Path(folder) / "model").said)
    enough = (1 + TOLERANCE) * certificate.dual
    within = next((k for k, iteration in enumerate(iterations) if iteration.objective <= enough), None)
    for name, k in ((f"{peer.name}, within {TOLERANCE:g}", within), (f"{peer.name}, as it stops", len(iterations) - 1)):
        if k is not None:
            rows.append([name, f"{iterations[k].seconds:.2f}", f"{k + 1} iterations", f"{iterations[k].objective:.2f}"])
    return rows


def race_prediction(crf, X, times, cores):
    """(tokens a second of one thread, how many times as many of THREADS threads), medians."""
    os.sched_setaffinity(0, cores)
    tokens, rounds = sum(map(len, X)), 4 * THREADS

    def predict(count):
        for _ in range(count):
            crf.predict(X)

    def with_threads():
        threads = [threading.Thread(target=predict, args=(rounds // THREADS,)) for _ in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    predict(1)
    alone = [seconds_of(lambda: predict(rounds))[0] for _ in range(times)]
    together = [seconds_of(with_threads)[0] for _ in range(times)]
    return rounds * tokens / statistics.median(alone), statistics.median(alone) / statistics.median(together)


def attribute_lists(path):
    """The sentences of a file in CRFsuite's format: lists of names, and labels."""
    X, y = [[]], [[]]
    with gzip.open(path, "rt") as lines:
        for line in lines:
            label, *names = line.rstrip("\n").split("\t")
            if names:
                X[-1].append(names)
                y[-1].append(label)
            elif X[-1]:
                X.append([])
                y.append([])
    return [items for items in X if items], [labels for labels in y if labels]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=lib.DATA, help="folder with conll2000/ and conll2003/")
    parser.add_argument("--repeat", type=int, default=5, help="runs, of which the median counts (default: %(default)s)")
    arguments = parser.parse_args()
    sys.path.insert(0, str(lib.PROGRAM.parent / "python"))
    from espalier import CRF

    cores = os.sched_getaffinity(0)
    rows = race_training(CRF, *read(arguments.data / "conll2003" / "eng.train.gz"), arguments.repeat)
    provenance = lib.provenance()  # before the threads below make a load of their own
    lib.note("predict")
    os.sched_setaffinity(0, cores)
    crf = CRF(l2=2, all_possible_states=True, all_possible_transitions=True)
    crf.fit(*attribute_lists(arguments.data / "conll2000" / "train.crfsuite.gz"))
    X, _ = attribute_lists(arguments.data / "conll2000" / "test.crfsuite.gz")
    rate, ratio = race_prediction(crf, X, arguments.repeat, cores)
    print(lib.table(["", "seconds", "work", "objective"], rows))
    print(f"\nPrediction of CoNLL-2000's test sentences as lists of attributes: {rate:,.0f} tokens a second; {THREADS} threads on "
          f"{len(cores)} cores {ratio:.2f} times as many.\n\n{provenance}")


if __name__ == "__main__":
    main()
