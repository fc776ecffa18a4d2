"""espalier.Parser and espalier.TreebankParser: the command line's weights and trees, and what is refused."""

import copy
import os
import pickle
import subprocess
import threading

import espalier
import numpy as np
import pytest
from espalier import Parser, TreebankParser
from hypothesis import given, settings, strategies as st
from sklearn.base import clone

PROGRAM = os.environ.get("ESPALIER_PROGRAM", "build/espalier")
FIELDS = ("form", "lemma", "upos", "xpos", "feats", "head", "deprel")


def run(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], check=True, capture_output=True, text=True).stdout


def tokens_of(conllu):
    """Sentences as lists of tuples, read by other means than the library's."""
    sentences = []
    for block in conllu.strip().split("\n\n"):
        rows = [line.split("\t") for line in block.split("\n") if not line.startswith("#")]
        sentences.append([(*row[1:6], int(row[6]), row[7]) for row in rows])
    return sentences


@pytest.fixture(scope="module")
def conllu():
    return run("generate", "parse", "-n", 20, "--seed", 1)


@pytest.fixture(scope="module")
def brackets():
    return run("generate", "treebank", "-n", 20, "--seed", 1)


@pytest.fixture(scope="module")
def parser(conllu):
    return Parser(l2=1, hash_bits=12, gap=0.01).fit(conllu)


@pytest.fixture(scope="module")
def treebank(brackets):
    return TreebankParser(l2=1, hash_bits=10, gap=0.01).fit(brackets)


# Dependencies


@pytest.mark.parametrize("options", [
    {}, {"unlabelled": True}, {"structure": "nonprojective", "loss": "svm"}, {"order": 2, "single_root": True},
])
def test_same_weights_as_the_command_line(conllu, tmp_path, options):
    (tmp_path / "train.conllu").write_text(conllu)
    words = []
    for name, value in options.items():
        words += ["--" + name.replace("_", "-")] + ([] if value is True else [value])
    run("train", "parse", tmp_path / "train.conllu", "--hash-bits", 12, "--passes", 3, *words, "-o", tmp_path / "theirs.esp", "--quiet")
    tuples = tokens_of(conllu)
    kinds = (conllu, tmp_path / "train.conllu", tuples, [[dict(zip(FIELDS, t)) for t in s] for s in tuples])
    for X in kinds:
        fitted = Parser(hash_bits=12, passes=3, **options).fit(X)
        fitted.save(tmp_path / "ours.esp")
        assert (tmp_path / "ours.esp").read_bytes() == (tmp_path / "theirs.esp").read_bytes()


def test_trees_are_those_of_the_command_line(parser, conllu, tmp_path):
    gold = run("generate", "parse", "-n", 10, "--seed", 2)
    (tmp_path / "gold.conllu").write_text(gold)
    parser.save(tmp_path / "model.esp")
    theirs = run("predict", tmp_path / "model.esp", tmp_path / "gold.conllu")
    assert parser.predict(gold) == theirs
    assert parser.predict(tmp_path / "gold.conllu") == theirs
    expected = tokens_of(theirs)
    assert parser.predict(tokens_of(gold)) == expected
    dicts = [[dict(zip(FIELDS, token[:5])) for token in sentence] for sentence in tokens_of(gold)]
    predicted = parser.predict(dicts)
    assert [[tuple(token[f] for f in FIELDS) for token in s] for s in predicted] == expected
    assert "head" not in dicts[0][0]
    assert parser.predict_heads(gold) == [[token[5] for token in sentence] for sentence in expected]


def test_scores_are_shares_of_words(parser, conllu):
    gold = tokens_of(run("generate", "parse", "-n", 10, "--seed", 3))
    predicted = parser.predict(gold)
    pairs = [(g, p) for gs, ps in zip(gold, predicted) for g, p in zip(gs, ps)]
    right = [g[5:] == p[5:] for g, p in pairs]
    assert parser.score(gold) == pytest.approx(np.mean(right))
    assert parser.evaluate(gold)["uas"] == pytest.approx(np.mean([g[5] == p[5] for g, p in pairs]))
    unlabelled = Parser(unlabelled=True, hash_bits=12, passes=5).fit(conllu)
    assert unlabelled.score(gold) == unlabelled.evaluate(gold)["uas"]
    assert unlabelled.predict([["a", "b"]])[0][0][6] == "_"


def test_probabilities_and_best_trees(parser, conllu):
    X = tokens_of(conllu)[:5]
    for sentence, table, trees in zip(X, parser.predict_proba(X), parser.predict_kbest(X, 3)):
        n = len(sentence)
        assert table.shape == (n, n + 1)
        np.testing.assert_allclose(table.sum(axis=1), 1, atol=1e-6)
        assert all(table[d, d + 1] == 0 for d in range(n))
        scores = [score for _, _, score, _ in trees]
        assert scores == sorted(scores, reverse=True) and 0 < trees[0][3] <= 1
    heads, relations, _, _ = parser.predict_kbest(X, 1)[0][0]
    assert [(h, r) for h, r in zip(heads, relations)] == [token[5:] for token in parser.predict(X)[0]]


@settings(deadline=None, max_examples=20)
@given(st.lists(st.lists(st.text(st.characters(blacklist_characters="\t\n\r", blacklist_categories=("Cs",)), min_size=1),
                         min_size=1, max_size=4), min_size=1, max_size=3))
def test_any_words_make_trees(parser, sentences):
    for sentence, tokens in zip(sentences, parser.predict(sentences)):
        assert [token[0] for token in tokens] == sentence
        heads = [token[5] for token in tokens]
        for d in range(1, len(heads) + 1):
            steps = 0
            while d != 0:
                d, steps = heads[d - 1], steps + 1
                assert steps <= len(heads)


@pytest.mark.parametrize("X, message", [
    ([[("a", "_", "N", "_", "_", 0, "root"), ("b",)]], "X[0][1]: a word without a head; expected a dict with form,"),
    ([[("a", "_", "N", "_", "_", 2, "x"), ("b", "_", "N", "_", "_", 1, "x")]], "data in memory:1: "),
    ([[("a", "_", "N", "_", "_", "0", "root")]], "X[0][0]: the head '0'; expected the number of a word, or 0 for the root"),
    ([[{"upos": "N", "head": 0}]], "X[0][0]: a word without a form; expected a dict"),
    ([["a"]], "X[0][0]: a word without a head; expected a dict"),
    ([[]], "X[0]: a sentence without words; expected some"),
    (["a b"], "X[0]: 'a b'; expected a list of tokens"),
    ([[3]], "X[0][0]: 3; expected a dict"),
    ([], "data in memory: no sentences; expected"),
    (3, "X: int 3; expected a list"),
    ("1\ta\t_\n\n", "data in memory:1: "),
    ("no such file", "no such file: cannot open: "),
])
def test_refuses_what_are_no_trees(X, message):
    with pytest.raises(espalier.Error) as error:
        Parser().fit(X)
    assert str(error.value).startswith(message)


def test_refuses_options_that_do_not_fit(conllu, parser):
    with pytest.raises(espalier.Error, match="^y: given, but trees are in X"):
        Parser().fit(conllu, [1])
    with pytest.raises(espalier.Error, match="^structure: "):
        Parser(structure="flat").fit(conllu)
    with pytest.raises(espalier.Error, match="held-out"):
        Parser(l2="auto").fit(conllu)
    second = Parser(order=2, hash_bits=12, passes=2).fit(conllu)
    with pytest.raises(espalier.Error, match="order 2|second|k best"):
        second.predict_kbest([["a"]], 2)
    with pytest.raises(espalier.Error, match="tree|classif"):
        TreebankParser._of_model(parser.model_).predict([["a"]])


# Brackets


@pytest.mark.parametrize("options", [{}, {"tags": "predicted", "loss": "svm"}, {"features": "rules", "binarise": "right"}])
def test_same_weights_of_brackets_as_the_command_line(brackets, treebank, tmp_path, options):
    (tmp_path / "train.txt").write_text(brackets)
    words = [w for name, value in options.items() for w in ("--" + name, value)]
    if "features" not in options:
        options, words = {**options, "hash_bits": 10}, [*words, "--hash-bits", 10]
    run("train", "treebank", tmp_path / "train.txt", "--passes", 3, *words, "-o", tmp_path / "theirs.esp", "--quiet")
    lines = brackets.strip().split("\n")
    for X in (brackets, tmp_path / "train.txt", lines, [nested(line) for line in lines]):
        fitted = TreebankParser(passes=3, **options).fit(X)
        fitted.save(tmp_path / "ours.esp")
        assert (tmp_path / "ours.esp").read_bytes() == (tmp_path / "theirs.esp").read_bytes()


def nested(line):
    """A tree as tuples, read by other means than the library's."""
    stack = [[]]
    for token in line.replace("(", " ( ").replace(")", " ) ").split():
        if token == "(":
            stack.append([])
        elif token == ")":
            tree = tuple(stack.pop())
            stack[-1].append(tree)
        else:
            stack[-1].append(token)
    return stack[0][0]


def leaves(tree):
    return [(tree[1], tree[0])] if isinstance(tree[1], str) else [leaf for child in tree[1:] for leaf in leaves(child)]


def test_trees_of_brackets_are_those_of_the_command_line(treebank, tmp_path):
    gold = run("generate", "treebank", "-n", 8, "--seed", 2)
    (tmp_path / "gold.txt").write_text(gold)
    treebank.save(tmp_path / "model.esp")
    theirs = run("predict", tmp_path / "model.esp", tmp_path / "gold.txt").strip().split("\n")
    expected = [nested(line) for line in theirs]
    sentences = [leaves(nested(line)) for line in gold.strip().split("\n")]
    for X in (gold, tmp_path / "gold.txt", gold.strip().split("\n"), sentences, [nested(g) for g in gold.strip().split("\n")]):
        assert treebank.predict(X) == expected
    texts = clone(treebank).set_params(output="brackets")
    texts.model_ = treebank.model_
    assert texts.predict(gold) == theirs
    rates = treebank.evaluate(gold)
    assert treebank.score(gold) == rates["f1"] and 0.5 < rates["f1"] <= 1
    for sentence, trees in zip(sentences, treebank.predict_kbest(sentences, 2)):
        assert leaves(trees[0][0]) == sentence and trees[0][1] >= trees[-1][1] and 0 < trees[0][2] <= 1 + 1e-12
    assert [trees[0][0] for trees in treebank.predict_kbest(sentences, 1)] == expected


def test_words_without_tags(brackets):
    fitted = TreebankParser(tags="predicted", hash_bits=10, passes=5).fit(brackets)
    words = [word for word, _ in leaves(nested(brackets.split("\n")[0]))]
    assert [word for word, _ in leaves(fitted.predict([words])[0])] == words


class Tree(list):
    """What NLTK's trees look like."""

    def __init__(self, label, children):
        super().__init__(children)
        self._label = label

    def label(self):
        return self._label


def test_trees_with_labels_beside_them():
    tree = Tree("S", [Tree("NP", [Tree("DT", ["the"]), Tree("NN", ["dog"])]), Tree("VP", [Tree("VBZ", ["barks"])])])
    fitted = TreebankParser().fit([tree] * 2)
    assert fitted.predict([tree]) == [("S", ("NP", ("DT", "the"), ("NN", "dog")), ("VP", ("VBZ", "barks")))]


@pytest.mark.parametrize("X, message", [
    (["(S (NN dog)"], "data in memory:1: "),
    ([("S",)], "X[0]: ('S',); expected a tree: brackets,"),
    ([("S", ("NN", 3))], "X[0]: 3; expected a tree"),
    ([3], "X[0]: 3; expected a tree"),
    ([("S", ("N N", "a"), ("V", "b"))], "data in memory:1: 'N N'; expected labels and words without white space"),
    ([], "data in memory: no trees; expected"),
    (3, "X: int 3; expected a list"),
])
def test_refuses_what_are_no_brackets(X, message):
    with pytest.raises(espalier.Error) as error:
        TreebankParser().fit(X)
    assert str(error.value).startswith(message)


def test_refuses_what_cannot_be_parsed(treebank, brackets):
    with pytest.raises(espalier.Error, match="the word 'a' without a tag; expected one"):
        treebank.predict([["a"]])
    with pytest.raises(espalier.Error, match=r"X\[0\]: a sentence without words"):
        treebank.predict([[]])
    with pytest.raises(espalier.Error, match=r"X\[0\]\[1\]: \('a', 'b', 'c'\)"):
        treebank.predict([[("a", "b"), ("a", "b", "c")]])
    with pytest.raises(espalier.Error, match="^output: 'xml'"):
        TreebankParser(output="xml").fit(brackets)


# Both


@pytest.mark.parametrize("name", ["parser", "treebank"])
def test_pickle_copy_clone_save_and_load(name, request, tmp_path, conllu, brackets):
    fitted = request.getfixturevalue(name)
    X = conllu if name == "parser" else brackets
    expected = fitted.predict(X)
    fitted.save(tmp_path / "model.esp")
    loaded = espalier.load(tmp_path / "model.esp")
    assert type(loaded) is type(fitted) and loaded.l2 == fitted.l2
    for other in (loaded, pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted)):
        assert other.predict(X) == expected
        assert other.certificate_.relative_gap == fitted.certificate_.relative_gap <= fitted.gap
    assert not hasattr(clone(fitted), "model_")
    with pytest.raises(ValueError, match="not fitted"):
        clone(fitted).predict(X)


def test_selection(conllu, brackets):
    dev = run("generate", "parse", "-n", 10, "--seed", 5)
    path = espalier.path(Parser(hash_bits=12, unlabelled=True, gap=0.1), conllu, X_dev=dev, l2_max=10, l2_min=1, factor=0.1)
    assert len(path) == 2 and path.best["dev_error"] == pytest.approx(1 - path.estimator.score(dev))
    auto = Parser(hash_bits=12, unlabelled=True, l2="auto", gap=0.1, passes=20).fit(conllu, X_dev=dev)
    assert auto.model_.info["l2"] > 0
    result = espalier.cross_validate(TreebankParser(features="rules", gap=0.1), brackets, l2=1.0, folds=2)
    assert len(result) == 1 and result.metric == "F1 %"


def test_threads_share_a_parser(parser, conllu):
    expected = parser.predict(conllu)
    results = []
    threads = [threading.Thread(target=lambda: results.append(parser.predict(conllu) == expected)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 4
