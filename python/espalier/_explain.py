"""What a model makes of a sentence, and what its weights are: as text, as HTML for notebooks, as data frames."""

import html

from . import _espalier


class Explanation:
    """What the score of labels is made of, token by token. ``CRF.explain`` returns one.

    tokens
        A list of Token: the label, its contributions, and the scores of all labels in its place.
    score
        The sum of all contributions: the score of the labels.
    """

    class Token:
        """One token: ``label``; ``contributions``, a list of ``(feature, value, weight)`` whose products add up to
        ``score``; ``scores``, what each label would add in its place, ``{label: score}``."""

        __slots__ = ("label", "contributions", "scores")

        def __init__(self, label, contributions, scores):
            self.label, self.contributions, self.scores = label, contributions, scores

        @property
        def score(self):
            return sum(value * weight for _, value, weight in self.contributions)

    def __init__(self, tokens):
        self.tokens = [
            self.Token(
                label,
                [(_feature(attribute, before, label), value, weight) for attribute, before, value, weight in parts],
                scores,
            )
            for label, parts, scores in tokens
        ]

    @property
    def labels(self):
        return [token.label for token in self.tokens]

    @property
    def score(self):
        return sum(token.score for token in self.tokens)

    def rows(self):
        """``(token, label, feature, value, weight, contribution)`` of all, the largest of a token first."""
        for t, token in enumerate(self.tokens):
            parts = sorted(token.contributions, key=lambda part: -abs(part[1] * part[2]))
            for feature, value, weight in parts:
                yield t, token.label, feature, value, weight, value * weight

    def to_frame(self):
        """The rows as a pandas data frame."""
        import pandas

        return pandas.DataFrame(list(self.rows()), columns=_COLUMNS)

    def __str__(self):
        lines = []
        for t, token in enumerate(self.tokens):
            others = sorted(token.scores.items(), key=lambda item: -item[1])
            lines.append(f"token {t}: {token.label} ({', '.join(f'{name} {score:+.3f}' for name, score in others[:3])})")
            parts = sorted(token.contributions, key=lambda part: -abs(part[1] * part[2]))
            lines += [f"  {value * weight:+9.4f}  {feature}" for feature, value, weight in parts]
        return "\n".join([*lines, f"score {self.score:+.4f}"])

    __repr__ = __str__

    def _repr_html_(self):
        rows = [
            (str(t), label, feature, f"{value:g}", f"{weight:+.4f}", f"{contribution:+.4f}")
            for t, label, feature, value, weight, contribution in self.rows()
        ]
        return _table(_COLUMNS, rows) + f"<p>score {self.score:+.4f}</p>"


class WeightTable:
    """The heaviest weights of a model. ``CRF.explain_weights`` returns one.

    labels
        ``{label: [(attribute, weight), ...]}``, the ``top`` largest in magnitude, from positive to negative.
    transitions
        ``[((label before, label), weight), ...]``, likewise.
    """

    def __init__(self, states, transitions, top):
        if top is not None and top < 0:
            raise _espalier.Error(f"top {top}; expected a whole number >= 0, or None for all")
        of_labels = {}
        for (attribute, label), weight in states.items():
            of_labels.setdefault(label, []).append((attribute, weight))
        self.labels = {label: _heaviest(of_labels[label], top) for label in sorted(of_labels)}
        self.transitions = _heaviest(transitions.items(), top)

    def rows(self):
        """``(label, feature, weight)`` of all; transitions come last."""
        for label, weights in self.labels.items():
            for attribute, weight in weights:
                yield label, attribute, weight
        for labels, weight in self.transitions:
            yield labels[-1], " -> ".join(labels), weight

    def to_frame(self):
        """The rows as a pandas data frame."""
        import pandas

        return pandas.DataFrame(list(self.rows()), columns=("label", "feature", "weight"))

    def __str__(self):
        lines = []
        for label, weights in self.labels.items():
            lines += [label, *(f"  {weight:+9.4f}  {attribute}" for attribute, weight in weights)]
        lines += ["transitions", *(f"  {weight:+9.4f}  {' -> '.join(labels)}" for labels, weight in self.transitions)]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self):
        rows = [(label, feature, f"{weight:+.4f}") for label, feature, weight in self.rows()]
        return _table(("label", "feature", "weight"), rows)


_COLUMNS = ("token", "label", "feature", "value", "weight", "contribution")


def _feature(attribute, before, label):
    """An attribute by its name; what labels add by themselves as "B -> I"."""
    return " -> ".join([*before, label]) if before else attribute


def _heaviest(weights, top):
    kept = sorted(weights, key=lambda item: (-abs(item[1]), item[0]))[:top]
    return sorted(kept, key=lambda item: (-item[1], item[0]))


def _table(columns, rows):
    head = "".join(f"<th>{html.escape(column)}</th>" for column in columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
