"""Python and the command line are the same library: odd options, names and files end in the same model, or in the same message.

ESPALIER_EXAMPLES=500 tries so many of each instead of a few."""

import functools
import os
import re
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import espalier
from espalier import CRF, Classifier, Parser, TreebankParser, _espalier

few = settings(max_examples=int(os.environ.get("ESPALIER_EXAMPLES", 8)), derandomize="ESPALIER_EXAMPLES" not in os.environ)


def said_by_program(program, *arguments):
    """What it wrote, or its message as Python has it: names of options, not how they are typed."""
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, errors="surrogateescape")
    if done.returncode == 0:
        return done.stdout
    assert done.returncode == 2, done.stderr
    message = done.stderr.splitlines()[-1].removeprefix("espalier: ").split("; see 'espalier")[0]
    return "error: " + re.sub(r"--([a-z0-9-]+)", lambda found: found[1].replace("-", "_"), message)


def said_by_python(call):
    try:
        return call()
    except espalier.Error as error:
        return f"error: {error}"


def trained(model, path):
    model.save(path)
    return path.read_bytes()


# Options

NUMBERS = ("0", "-1", "1", "2", "0.5", "nan", "inf", "1e-400", "1e400", "x", " 1", "1 ", "+3", "0x10", "1_0", "1,5", "\uff11", "2K")
# l2 has more values in Python; patience is for held-out data; another number of threads gives another model; Python has memory of its own.
NOT_HERE = ("l2", "patience", "threads", "memory", "l1_ratio", "outer_gap", "outer_rounds")
OPTIONS = [
    row["name"]
    for row in [*_espalier.train_options(), *_espalier.task_options("tag")]
    if row["kind"] in ("whole", "real", "bytes") and row["name"] not in (*NOT_HERE, *CRF._left_out)
]


@few
@given(st.sampled_from(OPTIONS), st.sampled_from(NUMBERS))
def test_options(tmp_path_factory, program, name, value):
    folder = tmp_path_factory.mktemp("options")
    (folder / "train.txt").write_text("X\ta\tb\nY\tb\n\nY\ta:2\n\n")
    argument = f"--{name.replace('_', '-')}={value}"
    command = ("train", "tag", folder / "train.txt", "--format", "crfsuite", "--l2", 1, "--threads", 1, "-q")
    theirs = said_by_program(program, *command, "-o", folder / "theirs.esp", argument)
    X, y = [[{"a": 1.0, "b": 1.0}, {"b": 1.0}], [{"a": 2.0}]], [["X", "Y"], ["Y"]]
    crf = CRF(**{"l2": 1, "threads": 1, "features": "all", name: value})
    ours = said_by_python(lambda: trained(crf.fit(X, y), folder / "ours.esp"))
    if theirs.startswith("error"):
        assert ours == theirs
    else:
        assert ours == (folder / "theirs.esp").read_bytes()


# Names: all that a line of a file may have.

names = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0\n\r"), min_size=1, max_size=6)


def escaped(name):
    return name.replace("\\", "\\\\").replace(":", "\\:").replace("\t", "\\t")


@few
@given(st.lists(st.tuples(st.lists(names, min_size=1, max_size=3, unique=True), st.sampled_from("XY")), min_size=2, max_size=5))
def test_names(tmp_path_factory, program, tokens):
    tokens = [*tokens, (["a"], "X"), (["a"], "Y")]
    # Neither has a name for these in CRFsuite's format.
    tokens = [([name for name in items if "\t" not in name] or ["b"], label) for items, label in tokens]
    folder = tmp_path_factory.mktemp("names")
    text = "".join("\t".join([label, *map(escaped, items)]) + "\n" for items, label in tokens)
    (folder / "train.txt").write_text(text + "\n", encoding="utf-8", newline="")
    said = said_by_program(
        program, "train", "tag", folder / "train.txt", "--format", "crfsuite", "-q", "-o", folder / "theirs.esp", "--gap", 0.01
    )
    crf = CRF(features="all", l2=1, gap=0.01)
    ours = said_by_python(
        lambda: trained(crf.fit([[items for items, _ in tokens]], [[label for _, label in tokens]]), folder / "ours.esp")
    )
    assert said == "", said
    assert ours == (folder / "theirs.esp").read_bytes()


@few
@given(st.lists(st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0\n\r"), max_size=20), min_size=2, max_size=5))
def test_texts(tmp_path_factory, program, texts):
    texts = [*texts, "a b", "b c"]
    labels = ["xy"[i % 2] for i in range(len(texts))]
    folder = tmp_path_factory.mktemp("texts")
    lines = "".join(f"{label}\t{text}\n" for label, text in zip(labels, texts))
    (folder / "train.txt").write_text(lines, encoding="utf-8", newline="")
    said = said_by_program(
        program, "train", "classify", folder / "train.txt", "--format", "text", "-q", "-o", folder / "theirs.esp", "--ngrams", 2
    )
    ours = said_by_python(lambda: trained(Classifier(bias=False, ngrams=2).fit(texts, labels), folder / "ours.esp"))
    assert said == "", said
    assert ours == (folder / "theirs.esp").read_bytes()


# Files: good ones with something changed, deleted, inserted or said twice.


def changed(text):
    pieces = st.sampled_from(["\t", "\n", "\n\n", " ", "(", ")", "_", "0", "1", "99", "-1", "# x\n", "\ufeff", "\u00e9", "1-2", "1.1", ""])
    change = st.tuples(st.integers(0, len(text)), st.integers(0, 12), pieces, st.booleans())

    def apply(changes):
        result = text
        for begin, size, piece, twice in changes:
            begin = min(begin, len(result))
            cut = result[begin : begin + size]
            result = result[:begin] + piece + (cut if twice else "") + result[begin + size :]
        return result

    return st.lists(change, min_size=1, max_size=3).map(apply)


@functools.cache
def generated(program, task):
    return subprocess.run([program, "generate", task, "-n", "3"], check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("task, estimator", [("parse", Parser), ("treebank", TreebankParser)])
@few
@given(st.data())
def test_files(tmp_path_factory, program, task, estimator, data):
    folder = tmp_path_factory.mktemp(task)
    text = generated(program, task)
    (folder / "train.txt").write_text(text, encoding="utf-8")
    path = folder / "changed.txt"
    text = data.draw(changed(text[:600]))
    path.write_text(text, encoding="utf-8", newline="")
    options = {"hash_bits": 10, "passes": 1, "threads": 1}
    words = [word for name, value in options.items() for word in ("--" + name.replace("_", "-"), value)]
    theirs = said_by_program(program, "train", task, path, *words, "-q", "-o", folder / "theirs.esp")
    ours = said_by_python(lambda: trained(estimator(**options).fit(path), folder / "ours.esp"))
    if theirs.startswith("error"):
        assert ours == theirs
    else:
        assert ours == (folder / "theirs.esp").read_bytes()
