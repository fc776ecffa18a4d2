"""How items become attributes: as python-crfsuite flattens them."""

import math

import numpy
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import espalier
from espalier.pycrfsuite import ItemSequence


def items(*tokens):
    return ItemSequence(list(tokens)).items()


def test_values_of_each_kind():
    item = {"text": "Anna", "yes": True, "no": False, "whole": 3, "real": 0.5, b"bytes": b"b", "list": ["a", "b"]}
    item.update({"set": {"s"}, "nested": {"a": "b", "deeper": {"x": 2, "y": ["z"]}}})
    assert items(item) == [
        {
            "text:Anna": 1.0,
            "yes": 1.0,
            "no": 0.0,
            "whole": 3.0,
            "real": 0.5,
            "bytes:b": 1.0,
            "list:a": 1.0,
            "list:b": 1.0,
            "set:s": 1.0,
            "nested:a:b": 1.0,
            "nested:deeper:x": 2.0,
            "nested:deeper:y:z": 1.0,
        }
    ]


def test_lists_of_names():
    expected = {"a": 1.0, "b": 1.0}
    for names in (["a", "b"], ("a", "b"), {"a", "b"}, {"a": 5, "b": 6}.keys(), iter(["a", "b"]), [b"a", "b"]):
        assert items(names) == [expected]
    assert items([], {}) == [{}, {}]
    assert ItemSequence([]).items() == []


def test_texts_are_unicode():
    assert items({"ключ": "мир", "好": 1, "": "x"}) == [{"ключ:мир": 1.0, "好": 1.0, ":x": 1.0}]


def test_numbers_of_numpy():
    item = {"a": numpy.float32(0.25), "b": numpy.int64(2), "c": numpy.bool_(True), "d": numpy.str_("x")}
    assert items(item) == [{"a": 0.25, "b": 2.0, "c": 1.0, "d:x": 1.0}]


def test_rows_of_numbers():
    rows = [[1.5, 0, -2], [0, 0, 0]]
    expected = [{"0": 1.5, "2": -2.0}, {}]
    for array in (
        numpy.array(rows),
        numpy.array(rows, dtype=numpy.float32),
        numpy.asfortranarray(rows),
        scipy.sparse.csr_matrix(rows),
        scipy.sparse.csr_array(rows),
        [numpy.array(row) for row in rows],
        [scipy.sparse.csr_matrix(row) for row in rows],
    ):
        assert ItemSequence(array).items() == expected
    assert ItemSequence(numpy.array([[1, 2]])).items() == [{"0": 1.0, "1": 2.0}]


@pytest.mark.parametrize(
    "sentence, message",
    [
        ("text", "xseq: str ''text''; expected a list of items, one for each token"),
        ({"a": 1}, "xseq: dict '{'a': 1}'; expected a list of items, one for each token"),
        (5, "xseq: int '5'; expected a list of items, one for each token"),
        (["text"], "xseq[0]: str ''text''; expected a dict, or a list or set of texts"),
        ([{}, 5], "xseq[1]: int '5'; expected a dict, or a list or set of texts"),
        ([[{"a": 1}]], "xseq[0]: dict '{'a': 1}'; expected texts, the names of attributes"),
        ([{1: 2}], "xseq[0]: int '1'; expected texts as keys"),
        (
            [{"a": None}],
            "xseq[0]: NoneType 'None' as the value of 'a'; expected a number, a bool, a text, a dict, a list or a set",
        ),
        ([{"a": math.nan}], "xseq[0]: the value nan of 'a'; expected a finite number"),
        ([{"a": {"b": -math.inf}}], "xseq[0]: the value -inf of 'a:b'; expected a finite number"),
        ([{"a": 1e300}], "xseq[0]: the value 1e+300 of 'a'; expected a finite number"),
        (numpy.array([[1, math.nan]]), "xseq[0]: the value nan of '1'; expected a finite number"),
        (numpy.zeros((1, 1, 1)), "xseq: an array that is not one of numbers with a row per token; expected two dimensions"),
        ([numpy.zeros((2, 2))], "xseq[0]: an array that is not a row; expected one dimension, the values of a token"),
        (
            scipy.sparse.csc_matrix([[1.0]]),
            "xseq: a sparse matrix that is not of compressed rows of numbers; expected matrix.tocsr()",
        ),
        ([scipy.sparse.csr_matrix([[1.0], [2.0]])], "xseq[0]: a matrix of several rows; expected one row for a token"),
    ],
)
def test_what_is_no_item_is_refused(sentence, message):
    with pytest.raises(espalier.Error) as error:
        ItemSequence(sentence)
    assert str(error.value) == message


def test_text_that_is_no_unicode_is_refused():
    with pytest.raises(ValueError):
        ItemSequence([["\ud800"]])


def flattened(item, prefix=""):
    """What the documentation says, in Python."""
    if not isinstance(item, dict):
        return {prefix + name: 1.0 for name in item}
    result = {}
    for key, value in item.items():
        if isinstance(value, str):
            result[f"{prefix}{key}:{value}"] = 1.0
        elif isinstance(value, (dict, list, set)):
            result.update(flattened(value, f"{prefix}{key}:"))
        else:
            result[prefix + key] = float(value)
    return result


# Without ':', so that two ways to the same name do not meet.
names = st.text(st.characters(blacklist_characters=":", blacklist_categories=["Cs"]), min_size=1, max_size=8)
values = st.recursive(
    st.one_of(names, st.booleans(), st.integers(-99, 99), st.floats(-9, 9, width=32), st.lists(names), st.sets(names)),
    lambda inner: st.dictionaries(names, inner, max_size=3),
    max_leaves=6,
)


@given(st.lists(st.one_of(st.dictionaries(names, values, max_size=5), st.lists(names)), max_size=4))
def test_items_are_flattened(sentence):
    assert ItemSequence(sentence).items() == [flattened(item) for item in sentence]
    assert ItemSequence(ItemSequence(sentence)).items() == ItemSequence(sentence).items()
