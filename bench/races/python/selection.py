"""espalier.path and espalier.cross_validate against scikit-learn's GridSearchCV of the same espalier.CRF, on CoNLL-2003 as dicts.

    /usr/bin/python3 -m bench.races.python.selection

Both try the same values of l2, train each to the same gap on the same sentences and rate it by the F1 of entities: once on the same
held-out sentences, once over five folds, which each deals out for itself. Nobody trains once more with the best value. The module is
that of build/python.
"""

import argparse
import functools
import itertools
import statistics
import sys
from pathlib import Path

from bench import lib
from bench.races.python.race import read, seconds_of

L2_MAX, L2_MIN, FACTOR, FOLDS = 10.0, 0.03, 0.3, 5
HEADER = ["sentences", "rated on", "", "seconds", "best l2", "its F1"]


def values():
    return list(itertools.takewhile(lambda l2: l2 > 0.999 * L2_MIN, (L2_MAX * FACTOR**k for k in itertools.count())))


def median_of(times, call):
    """(the median of the seconds, what the first call returned)"""
    runs = [seconds_of(call) for _ in range(times)]
    return statistics.median(seconds for seconds, _ in runs), runs[0][1]


def grid_search(crf, scorer, X, y, folds):
    from sklearn.model_selection import GridSearchCV

    search = GridSearchCV(crf, {"l2": values()}, scoring=scorer, cv=folds, refit=False).fit(X, y)
    return search.best_params_["l2"], search.best_score_


def by_path(espalier, crf, train, dev):
    path = espalier.path(crf, *train, *dev, l2_max=L2_MAX, l2_min=L2_MIN, factor=FACTOR)
    return path.best_l2, 1 - path.best["dev_error"]


def by_cross_validation(espalier, crf, train):
    result = espalier.cross_validate(crf, *train, l2=(L2_MAX, L2_MIN, FACTOR), folds=FOLDS)
    return result.best_l2, result.best["mean"] / 100


def race(train, dev, gap, times):
    import espalier
    from espalier import metrics
    from sklearn.metrics import make_scorer
    from sklearn.model_selection import KFold, PredefinedSplit

    crf = espalier.CRF(gap=gap, all_possible_states=True, all_possible_transitions=True)
    scorer = make_scorer(metrics.entity_f1_score)
    held_out = PredefinedSplit([-1] * len(train[0]) + [0] * len(dev[0]))
    both = train[0] + dev[0], train[1] + dev[1]
    contests = [
        ("held-out sentences", [
            ("espalier.path", functools.partial(by_path, espalier, crf, train, dev)),
            ("GridSearchCV", functools.partial(grid_search, crf, scorer, *both, held_out)),
        ]),
        (f"{FOLDS} folds", [
            ("espalier.cross_validate", functools.partial(by_cross_validation, espalier, crf, train)),
            ("GridSearchCV", functools.partial(grid_search, crf, scorer, *train, KFold(FOLDS, shuffle=True, random_state=1))),
        ]),
    ]
    for rated_on, contenders in contests:
        for name, call in contenders:
            lib.note(f"{len(train[0])} sentences, {rated_on}: {name}")
            seconds, (l2, f1) = median_of(times, call)
            yield [str(len(train[0])), rated_on, name, f"{seconds:.2f}", f"{l2:.3g}", f"{100 * f1:.2f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=lib.DATA, help="folder with conll2003/")
    parser.add_argument("--sentences", type=int, nargs="+", default=[300, 3000],
                        help="how many to train on; a third as many are held out (default: 300 and 3000)")
    parser.add_argument("--gap", type=float, default=1e-3, help="that every value is trained to (default: %(default)s)")
    parser.add_argument("--repeat", type=int, default=3, help="runs, of which the median counts (default: %(default)s)")
    arguments = parser.parse_args()
    sys.path.insert(0, str(lib.PROGRAM.parent / "python"))

    lib.use_one_core()
    rows = []
    X, y = read(arguments.data / "conll2003" / "eng.train.gz")
    X_dev, y_dev = read(arguments.data / "conll2003" / "eng.testa.gz")
    for size in arguments.sentences:
        dev = X_dev[: size // 3], y_dev[: size // 3]
        rows += race((X[:size], y[:size]), dev, arguments.gap, arguments.repeat)
    shown = ", ".join(f"{l2:.3g}" for l2 in values())
    print(lib.table(HEADER, rows))
    print(f"\nValues of l2: {shown}; gap {arguments.gap:g}; one core.\n\n{lib.provenance()}")


if __name__ == "__main__":
    main()
