"""espalier.Aligner: the command line's weights and links, and what is refused."""

import os
import pickle
import subprocess

import espalier
import pytest
from espalier import Aligner

PROGRAM = os.environ.get("ESPALIER_PROGRAM", "build/espalier")


def run(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], check=True, capture_output=True, text=True).stdout


def links_of(text):
    result = []
    for link in text.split():
        sure = "-" in link
        i, j = link.split("-" if sure else "?")
        result.append((int(i), int(j)) if sure else (int(i), int(j), False))
    return result


def parse(text):
    fields = [line.split("|||") for line in text.strip().split("\n")]
    return [(source, target.split()) for source, target, _ in fields], [links_of(links) for _, _, links in fields]


@pytest.fixture(scope="module")
def data():
    return parse(run("generate", "align", "-n", 30, "--seed", 1))


@pytest.mark.parametrize("options", [{}, {"loss": "svm", "links": 2}])
def test_same_weights_as_the_command_line(data, tmp_path, options):
    (tmp_path / "train.txt").write_text(run("generate", "align", "-n", 30, "--seed", 1))
    words = [word for name, value in options.items() for word in ("--" + name, value)]
    run("train", "align", tmp_path / "train.txt", *words, "--gap", 0.05, "-o", tmp_path / "theirs.esp", "--quiet")
    fitted = Aligner(gap=0.05, **options).fit(*data)
    fitted.save(tmp_path / "ours.esp")
    assert (tmp_path / "ours.esp").read_bytes() == (tmp_path / "theirs.esp").read_bytes()
    predicted = run("predict", tmp_path / "ours.esp", tmp_path / "train.txt", "--format", "links")
    assert fitted.predict(data[0]) == [links_of(line) for line in predicted.rstrip("\n").split("\n")]
    loaded = espalier.load(tmp_path / "theirs.esp")
    assert isinstance(loaded, Aligner)
    assert pickle.loads(pickle.dumps(loaded)).predict(data[0][:3]) == fitted.predict(data[0][:3])


def test_probabilities_belong_together(data):
    X, y = data
    fitted = Aligner(gap=0.05).fit(X, y, X[:5], y[:5])
    assert fitted.certificate_.inference == "relaxed"
    assert fitted.score(X, y) == 1 - fitted.evaluate(X, y)["aer"] > 0.8
    for (source, target), links, marginals, best in zip(
        X, fitted.predict(X), fitted.predict_marginals(X), fitted.predict_kbest(X, 3)
    ):
        assert len(marginals) == len(source.split()) and {len(row) for row in marginals} == {len(target)}
        assert all(sum(row) <= 1 + 1e-6 for row in marginals)
        assert best[0][0] == links and best[0][1] >= best[-1][1]
        assert 0 < sum(p for _, _, p in best) <= 1 + 1e-6


def test_what_is_refused(data):
    X, y = data
    cases = [
        ([("a b", "c")], [[(0, 1)]], "data in memory:1: the link 0-1 with 1 target word; expected target words from 0 to 0"),
        ([("a", "")], [[]], "data in memory:1: no target words; expected some"),
        (["a b"], [[]], "X[0]: 'a b'; expected two sentences: (source, target)"),
        ([("a", "b")], [[(0,)]], "y[0]: (0,); expected (source, target), or (source, target, sure)"),
        ([("a", "b")], [[(0, -1)]], "y[0]: (0, -1); expected (source, target), numbers of words from 0"),
        ([("a", "b")], [], "X has 1 sentence pairs and y has 0; expected as many"),
        ([("a", ["b", 3])], [[]], "X[0]: int '3'; expected texts as words"),
    ]
    for pairs, links, message in cases:
        with pytest.raises(espalier.Error) as error:
            Aligner().fit(pairs, links)
        assert str(error.value) == message
    svm = Aligner(loss="svm", gap=0.1).fit(X, y)
    assert svm.predict_kbest(X[:1], 2)[0][0][2] is None
    with pytest.raises(espalier.Error, match="a model of loss svm has no probabilities"):
        svm.predict_marginals(X[:1])
