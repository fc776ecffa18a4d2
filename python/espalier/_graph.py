"""The estimator for graphs whose nodes have labels: GraphModel."""

from . import _espalier
from ._estimator import Parameter, count_of, drawn
from ._task import TaskEstimator, as_sequence


class GraphModel(TaskEstimator):
    """A Markov random field over any graph: a label for each node, trained with certificates.

    A graph is a dict. ``nodes`` is an array with a row of features for each node, or a list of nodes: a list of names, a
    row of numbers, or a dict with ``features`` (one of these, or a dict), ``type``, ``allowed`` and ``cost``. ``edges`` are
    pairs of nodes, which count from 0, with ``edge_features`` if there are any; ``cliques`` are lists of nodes, or
    dicts with ``nodes``, ``features``, ``type`` and ``forbidden``. Labels are the y of a graph, or its key ``labels``.

    >>> import numpy as np
    >>> from espalier import GraphModel
    >>> X = [{"nodes": np.array([[1.0, 0.0], [0.2, 0.1], [0.9, 0.1]]), "edges": [(0, 1), (1, 2)]},
    ...      {"nodes": np.array([[0.1, 1.0], [0.1, 0.2]]), "edges": [(0, 1)]}]
    >>> y = [["sky", "sky", "sky"], ["sea", "sea"]]
    >>> model = GraphModel(l2=0.1).fit(X, y)
    >>> model.predict(X)
    [['sky', 'sky', 'sky'], ['sea', 'sea']]
    >>> model.score(X, y)
    1.0
    """

    _task = "graph"
    _engine_type = _espalier.GraphLabeller
    _own_parameters = (
        Parameter("l2", 1.0, "l2/2 |w|^2 against the sum of losses; 'auto': the best on X_dev"),
        Parameter("types", None, "labels of node types, and node types and forbidden labellings of clique types, by name"),
        Parameter("verbose", False, "print progress"),
        Parameter("warm_start", False, "fit() starts from the weights that the last one ended with"),
    )
    _left_out = ("format", "first")

    def fit(self, X, y=None, X_dev=None, y_dev=None):
        """Trains on graphs with the labels y of their nodes, or without y with their ``labels``; returns the estimator.

        X_dev and y_dev are held-out data, for ``l2='auto'``, ``patience`` and progress.
        """
        return self._fit(*self._prepare(X, y, X_dev, y_dev))

    def _prepare(self, X, y=None, X_dev=None, y_dev=None, sample_weight=None):
        if sample_weight is not None:
            X = _weighted(X, sample_weight)
        labels = {}
        train = _espalier.Graphs(as_sequence(X), _labels(X, y, labels), self.types)
        dev = None
        if X_dev is not None:
            dev = _espalier.Graphs(as_sequence(X_dev, "X_dev"), _labels(X_dev, y_dev, {}), None, "X_dev", "y_dev")
        data = _espalier.graph_training(train, dev, self._options("task"))
        self._labels = {name: label for name, label in labels.items() if not isinstance(label, str)}
        return data, self._settings()

    def _settings(self):
        """Memory for inference, where it is given, is a limit of the run, too."""
        memory = self._options("task").get("memory")
        return super()._settings() | ({} if memory is None else {"memory": memory})

    def predict(self, X):
        """The best labels of each graph's nodes: a list for each."""
        return [self._given(names) for names in self._engine().labels(_espalier.Graphs(as_sequence(X)))]

    def predict_marginals(self, X):
        """The probability of every label at every node: for each graph a list of dicts ``{label: probability}``.

        Where inference is approximate these are its beliefs.
        """
        given = self._given_labels()
        marginals = self._engine().marginals(_espalier.Graphs(as_sequence(X)))
        if not given:
            return marginals
        return [[{given.get(name, name): p for name, p in node.items()} for node in graph] for graph in marginals]

    def predict_kbest(self, X, k):
        """The k best labellings of each graph, best first, as tuples ``(labels, score, probability)``.

        The probability is None where the loss has none, as that of an SVM. Raises espalier.Error where inference is
        not exact.
        """
        best = self._engine().kbest(_espalier.Graphs(as_sequence(X)), count_of(k))
        return [[(self._given(names), score, p) for names, score, p in graph] for graph in best]

    def sample(self, X, n=1, seed=1):
        """n labellings of each graph, drawn from the model's distribution: those of ``espalier predict --samples n --seed seed``.

        They are independent of each other and have the form of ``predict_kbest``; the first of many are those of few. Raises
        espalier.Error where inference is not exact.
        """
        drawn_labels = self._engine().samples(_espalier.Graphs(as_sequence(X)), *drawn(n, seed))
        return [[(self._given(names), score, p) for names, score, p in graph] for graph in drawn_labels]

    def entropy(self, X):
        """The entropy of the model's distribution for each graph, in nats: 0 where it is certain."""
        return self._engine().entropies(_espalier.Graphs(as_sequence(X)))

    def evaluate(self, X, y=None):
        """How good the labels are: a dict, as ``espalier eval --json`` prints it."""
        X = as_sequence(X)
        return self._engine().evaluate(_espalier.Graphs(X, _labels(X, y, {})))

    def score(self, X, y=None):
        """The share of nodes whose label is right."""
        return self.evaluate(X, y)["accuracy"]

    @property
    def classes_(self):
        """The labels of all types of nodes."""
        return self._given(self._fitted().labels())

    def _given_labels(self):
        return self.__dict__.get("_labels", {})

    def _given(self, names):
        """Labels as they were given: the library knows their texts."""
        given = self._given_labels()
        return [given.get(name, name) for name in names] if given else names


def _labels(X, y, known):
    """Labels as texts; those that are not are kept in ``known`` by their text."""
    if y is None:
        missing = next((i for i, graph in enumerate(X) if not isinstance(graph, dict) or "labels" not in graph), None)
        if missing is not None:
            raise _espalier.Error(f"X[{missing}]: no labels; expected y, or the key 'labels' in each graph")
        y = [graph["labels"] for graph in X]
    result = []
    for labels in as_sequence(y, "y"):
        names = []
        for label in labels:
            name = label if isinstance(label, str) else str(label)
            label = label.item() if hasattr(label, "item") else label
            if known.setdefault(name, label) != label:
                raise _espalier.Error(f"y: the labels {label!r} and {known[name]!r}; expected names that differ")
            names.append(name)
        result.append(names)
    return result


def _weighted(X, sample_weight):
    if len(X) != len(sample_weight):
        raise _espalier.Error(
            f"sample_weight has {len(sample_weight)} weights for {len(X)} graphs; expected one for each"
        )
    return [{**graph, "weight": float(weight)} for graph, weight in zip(X, sample_weight)]
