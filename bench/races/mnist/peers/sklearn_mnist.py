"""scikit-learn's multinomial logistic regression by L-BFGS: how long until the objective is below a target.

It has no callback, so every line printed is a fresh fit with another limit on iterations. On a sparse matrix, the
quicker one, the limit doubles until the target is reached; bisection then narrows it to 5 %. A dense matrix gets the
limit so found, since the iterates are the same up to rounding.
"""

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
import sklearn
from scipy import sparse
from scipy.special import logsumexp
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_info

from bench.races import data


def blas():
    """Debian's reference BLAS, unlike the quick ones, is unknown to threadpoolctl."""
    return next((pool["internal_api"] for pool in threadpool_info() if pool["user_api"] == "blas"), "reference BLAS")


def objective(weights, x, y, l2):
    """l2/2 |w|^2 + sum of losses, in double precision."""
    scores = x @ weights.T
    return l2 / 2 * np.sum(weights**2) + np.sum(logsumexp(scores, axis=1) - scores[np.arange(len(y)), y])


def fit(x, y, l2, iterations):
    model = LogisticRegression(C=1 / l2, multi_class="multinomial", solver="lbfgs", fit_intercept=False,
                               max_iter=iterations)
    cpu, wall = time.process_time(), time.perf_counter()
    model.fit(x, y)
    return {"iterations": int(model.n_iter_[0]), "cpu_seconds": time.process_time() - cpu,
            "seconds": time.perf_counter() - wall, "objective": objective(model.coef_, x, y, l2)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mnist", type=Path, required=True)
    parser.add_argument("--first", type=int, required=True)
    parser.add_argument("--l2", type=float, required=True)
    parser.add_argument("--target", type=float, required=True)
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")  # it warns of every limit that it meets

    dense, y = data.mnist(arguments.mnist, arguments.first)
    matrices = {"sparse": sparse.csr_matrix(dense), "dense": dense}

    def reaches(matrix, limit):
        result = {"version": sklearn.__version__, "blas": blas(), "matrix": matrix, "limit": limit,
                  **fit(matrices[matrix], y, arguments.l2, limit)}
        result["reached"] = bool(result["objective"] <= arguments.target)
        print(json.dumps(result), flush=True)
        return result["reached"]

    too_few, enough = 0, 32
    while not reaches("sparse", enough):
        too_few, enough = enough, 2 * enough
        if enough > 2000:
            return
    while enough - too_few > max(1, enough // 20):
        middle = (too_few + enough) // 2
        if reaches("sparse", middle):
            enough = middle
        else:
            too_few = middle
    while not reaches("dense", enough):
        enough += 1


if __name__ == "__main__":
    main()
