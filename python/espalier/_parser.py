"""The estimator for dependency trees: Parser."""

import os

from . import _espalier
from ._estimator import Parameter, count_of, drawn
from ._task import TaskEstimator, as_sequence, is_path

_FIELDS = ("form", "lemma", "upos", "xpos", "feats", "head", "deprel")


class Parser(TaskEstimator):
    """A dependency parser: the head of each word and the relation to it, projective or not, certified.

    Sentences are CoNLL-U: its text, or the path of a file; or lists of tokens. A token is a dict with ``form`` and, as
    far as they are known, ``lemma``, ``upos``, ``xpos``, ``feats``, ``head`` and ``deprel``; or a tuple of these in
    this order, which may end early. Words count from 1, and the head 0 is the root.

    >>> from espalier import Parser
    >>> trees = [
    ...     [("the", "_", "DET", "_", "_", 2, "det"), ("dog", "_", "NOUN", "_", "_", 3, "nsubj"),
    ...      ("barks", "_", "VERB", "_", "_", 0, "root")],
    ...     [("a", "_", "DET", "_", "_", 2, "det"), ("cat", "_", "NOUN", "_", "_", 3, "nsubj"),
    ...      ("sleeps", "_", "VERB", "_", "_", 0, "root")],
    ... ]
    >>> parser = Parser(l2=0.1).fit(trees)
    >>> parser.predict([[{"form": "the", "upos": "DET"}, {"form": "cat", "upos": "NOUN"}]])[0][0]
    {'form': 'the', 'upos': 'DET', 'head': 2, 'deprel': 'det'}
    >>> parser.score(trees)
    1.0
    """

    _task = "parse"
    _engine_type = _espalier.Parser
    _own_parameters = (
        Parameter("l2", 1.0, "l2/2 |w|^2 against the sum of losses; 'auto': the best on X_dev"),
        Parameter("verbose", False, "print progress"),
        Parameter("warm_start", False, "fit() starts from the weights that the last one ended with"),
    )
    _left_out = ("format", "first")

    def fit(self, X, y=None, X_dev=None, y_dev=None):
        """Trains on sentences with their trees, and returns the estimator.

        y is not used: heads and relations are in X. X_dev is held-out data, for ``l2='auto'``, ``patience`` and
        progress.
        """
        return self._fit(*self._prepare(X, y, X_dev, y_dev))

    def _prepare(self, X, y=None, X_dev=None, y_dev=None, sample_weight=None):
        _refuse(y=y, y_dev=y_dev, sample_weight=sample_weight)
        train = _sentences(X, True)
        dev = None if X_dev is None else _sentences(X_dev, True, "X_dev")
        return _espalier.parse_training(train, dev, self._options("task"), self.threads, self.loss), self._settings()

    def predict(self, X):
        """The trees, in the shape of X: the text of CoNLL-U for its text or a file, or tokens with ``head`` and ``deprel``.

        Tokens that are dicts are copied and completed; all others become tuples of all seven fields.
        """
        sentences = _sentences(X, False)
        if _is_conllu(X):
            return self._engine().parse_text(sentences)
        return [_with_tree(tokens, *tree) for tokens, tree in zip(X, self._engine().parse(sentences))]

    def predict_heads(self, X):
        """The head of each word: a list of numbers for each sentence."""
        return [heads for heads, _ in self._engine().parse(_sentences(X, False))]

    def predict_proba(self, X):
        """How probable every head of a word is: an array of n rows and n + 1 columns, the root first, for each sentence."""
        return self._engine().head_probabilities(_sentences(X, False))

    def predict_kbest(self, X, k):
        """The k best trees of each sentence, best first, as tuples ``(heads, relations, score, probability)``.

        Relations are None where the model has none, and so is the probability where the loss has none.
        """
        return self._engine().kbest(_sentences(X, False), count_of(k))

    def sample(self, X, n=1, seed=1):
        """n trees of each sentence, drawn from the model's distribution: those of ``espalier predict --samples n --seed seed``.

        They are independent of each other and have the form of ``predict_kbest``; the first of many are those of few. Raises
        espalier.Error for a parser of order 2.
        """
        return self._engine().samples(_sentences(X, False), *drawn(n, seed))

    def entropy(self, X):
        """The entropy of the model's distribution for each sentence, in nats: 0 where it is certain."""
        return self._engine().entropies(_sentences(X, False))

    def evaluate(self, X):
        """How good the trees are against those of X: a dict, as ``espalier eval --json`` prints it."""
        return self._engine().evaluate(_sentences(X, True))

    def score(self, X, y=None):
        """The share of words with the right head and relation (LAS); without relations that of right heads (UAS)."""
        rates = self.evaluate(X)
        return rates["las" if self._engine().labelled else "uas"]

    @property
    def relations_(self):
        """The relations that the model knows."""
        return self._engine().relations


def _is_conllu(X):
    return isinstance(X, (str, os.PathLike))


def _sentences(X, needs_heads, name="X"):
    if is_path(X):
        return _espalier.DependencySentences.of_file(os.fspath(X), needs_heads)
    if isinstance(X, str):
        return _espalier.DependencySentences.of_text(X, needs_heads)
    return _espalier.DependencySentences.of_lists(as_sequence(X, name), needs_heads, name)


def _with_tree(tokens, heads, relations):
    result = []
    for t, token in enumerate(tokens):
        relation = "_" if relations is None else relations[t]
        if isinstance(token, dict):
            result.append({**token, "head": heads[t], "deprel": relation})
            continue
        fields = [token] if isinstance(token, str) else list(token[:5])
        fields += ["_"] * (5 - len(fields))
        result.append((*fields, heads[t], relation))
    return result


def _refuse(**unused):
    for name, value in unused.items():
        if value is not None:
            raise _espalier.Error(f"{name}: given, but trees are in X; expected none")
