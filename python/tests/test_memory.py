"""Limits of memory: the same as those of the program, with the same messages."""

import re

import pytest

import espalier
from espalier import CRF, Classifier, GraphModel, Parser

SENTENCE = [("the", "_", "D", "_", "_", 2, "det"), ("dog", "_", "N", "_", "_", 3, "subj"), ("barks", "_", "V", "_", "_", 0, "root")]


def refused(call):
    with pytest.raises(espalier.Error) as raised:
        call()
    return str(raised.value)


def test_training_that_would_take_more_is_refused_before_it_begins():
    parser = Parser(hash_bits=24, memory="150M")
    assert re.fullmatch(
        r"memory: training takes about .* \(data .*, weights .*, duals .*\); expected at most 150 MiB, "
        r"for example by hash_bits 22.*",
        refused(lambda: parser.fit([SENTENCE])),
    )
    assert not hasattr(parser, "model_")


def test_every_estimator_has_a_limit(tmp_path):
    X, y = [[["a"], ["b"]], [["b"], ["a"]]], [["x", "y"], ["y", "x"]]
    graphs = [{"nodes": [["f"], ["g"]], "edges": [(0, 1)]}]
    runs = (
        lambda memory: CRF(memory=memory).fit(X, y),
        lambda memory: Classifier(memory=memory).fit([[0.0], [1.0]], ["x", "y"]),
        lambda memory: Parser(memory=memory, hash_bits=12).fit([SENTENCE]),
        lambda memory: GraphModel(memory=memory).fit(graphs, [["x", "y"]]),
    )
    for run in runs:
        # Python itself takes more than a megabyte.
        assert refused(lambda: run("1M")).startswith("memory: training takes about ")
        assert run("64G").certificate_ is not None
        assert run(64 << 30).certificate_ is not None
    for values in (espalier.cross_validate, espalier.path):
        with pytest.raises(espalier.Error, match="^memory: training takes about "):
            values(CRF(memory="1M"), X * 5, y * 5)


def test_what_is_no_amount():
    for memory in ("x", "0", -1, "1 G"):
        message = refused(lambda: CRF(memory=memory).fit([[["a"], ["b"]]], [["x", "y"]]))
        assert message == f"memory: found '{memory}'; expected a number of bytes > 0, such as 500M or 1.5G"


def test_a_model_is_refused_before_it_is_opened(tmp_path):
    path = tmp_path / "model.esp"
    CRF().fit([[["a"], ["b"]]], [["x", "y"]]).save(path)
    for load in (espalier.load, espalier.Model.load):
        message = refused(lambda: load(path, memory="1M"))
        assert re.fullmatch(re.escape(str(path)) + r": a model that takes about .*; expected at most 1 MiB \(memory\)", message)
        load(path, memory="64G")
        load(path)
    assert refused(lambda: espalier.load(path, memory="x")).startswith("memory: found 'x'; expected a number of bytes > 0")
