#!/usr/bin/env python3
"""Tags a Dask bag over several processes, with one model file that all of them map into memory.

    PYTHONPATH=build/python /usr/bin/python3 examples/python/tag_with_dask.py

Needs python3-distributed. The cluster here is two processes of this machine; one of many machines is used in the same way, with the
model on a file system that all of them see. Exits with 0 only if the cluster finds what this process finds by itself.
"""

import os
import random
import sys
import tempfile
from pathlib import Path

import dask.bag
from dask.distributed import Client, LocalCluster, get_worker

import espalier

NAMES = ["Anna", "Boris", "Chen", "Dana", "Emeka", "Farah", "Goran", "Hana"]
PLACES = ["Ulport", "Inglow", "Yelby", "Tremley", "Calvia", "Oslo"]
VERBS = ["met", "saw", "called", "visited", "left"]


def sentences(count, seed):
    """Words with their labels, to have something to tag."""
    choose = random.Random(seed).choice
    for _ in range(count):
        yield [(choose(NAMES), "B-PER"), (choose(VERBS), "O"), (choose(NAMES), "B-PER"), ("in", "O"), (choose(PLACES), "B-LOC")]


def attributes(words):
    """A dict for each word: what the model learns from."""
    around = ["(start)", *words, "(stop)"]
    return [{"word": word, "before": around[i], "after": around[i + 2], "capital": word[0].isupper()} for i, word in enumerate(words)]


def tagger_of_this_process(path):
    """The model, opened once in each process and kept there.

    Only the path travels to the workers, not the model. Opening the file maps it, so that all processes of a machine share one
    copy of the weights in memory. The tagger is kept by the worker: a function of this script is sent anew with each task, and
    would forget it.
    """
    worker = get_worker()
    if not hasattr(worker, "tagger"):
        worker.tagger = espalier.CRF(model_filename=path)
    return worker.tagger


def tag_lines(lines, path):
    """A partition: many sentences in one call, which is what `predict` is fast for. Yields (words, labels, process)."""
    texts = [line.split() for line in lines]
    labels = tagger_of_this_process(path).predict([attributes(words) for words in texts])
    return [(words, tags, os.getpid()) for words, tags in zip(texts, labels)]


def entities(tagged):
    words, labels, _ = tagged
    return [f"{label[2:]} {word}" for word, label in zip(words, labels) if label != "O"]


def main(folder):
    path = str(folder / "names.esp")
    training = list(sentences(300, seed=1))
    crf = espalier.CRF(c2=0.1, model_filename=path)  # fit() saves it there
    crf.fit([attributes([w for w, _ in s]) for s in training], [[label for _, label in s] for s in training])
    print(f"trained to a gap of {crf.certificate_.relative_gap:.0e}: {Path(path).stat().st_size:,} bytes")

    texts = [" ".join(word for word, _ in s) for s in sentences(2000, seed=2)]
    for part in range(8):
        (folder / f"text-{part}.txt").write_text("\n".join(texts[part::8]) + "\n")

    # The loopback address and no dashboard: nothing outside of this machine is involved.
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=None) as cluster:
        with Client(cluster) as client:
            lines = dask.bag.read_text(str(folder / "text-*.txt"))  # a partition for each file
            tagged = lines.map_partitions(tag_lines, path=path).persist()
            counts = dict(tagged.map(entities).flatten().frequencies().compute())
            found = [(words, labels) for words, labels, _ in tagged.compute()]
            processes = set(tagged.map(lambda t: t[2]).distinct().compute())
            workers = set(client.run(os.getpid).values())

    # The same in this process.
    in_order = [line.split() for part in range(8) for line in texts[part::8]]
    expected = list(zip(in_order, crf.predict([attributes(words) for words in in_order])))
    print(f"{len(found):,} sentences in {len(processes)} of {len(workers)} processes, {sum(counts.values()):,} entities")
    for entity, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:3]:
        print(f"  {entity}: {count}")
    assert len(workers) == 2 and processes <= workers and os.getpid() not in workers
    assert found == expected, "the cluster and this process disagree"
    assert sum(counts.values()) == sum(label != "O" for _, labels in expected for label in labels)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        main(Path(temporary))
    sys.exit(0)
