"""LIBLINEAR's Crammer-Singer SVM (-s 4): how long until the objective is below a target.

Every line printed is a fresh run with a tighter stopping criterion; the time is that of its train() alone.
"""

import argparse
import ctypes
import json
import time
from pathlib import Path

import numpy as np
from liblinear import liblinear, parameter, problem
from scipy import sparse

from bench.races import data


def objective(weights, x, y, l2):
    """l2/2 |w|^2 + sum_i max_y (w_y.x_i + [y != y_i]) - w_{y_i}.x_i; y holds columns of weights."""
    scores = x @ weights
    gold = scores[np.arange(len(y)), y]
    scores = scores + 1
    scores[np.arange(len(y)), y] -= 1
    return l2 / 2 * np.sum(weights**2) + np.sum(scores.max(axis=1) - gold)


class Given:
    """A problem in LIBLINEAR's memory layout. Its own conversion does not work with the SciPy of Debian 12."""

    def __init__(self, x, y):
        rows = np.repeat(np.arange(x.shape[0]), np.diff(x.indptr))
        # A row ends with a node whose index is -1.
        self.nodes = np.zeros(x.nnz + x.shape[0], np.dtype([("index", np.intc), ("value", float)], align=True))
        self.nodes["index"] = -1
        places = np.arange(x.nnz) + rows
        self.nodes["index"][places] = x.indices + 1
        self.nodes["value"][places] = x.data
        starts = x.indptr[:-1].astype(np.uintp) + np.arange(x.shape[0], dtype=np.uintp)
        self.rows = starts * self.nodes.itemsize + self.nodes.ctypes.data
        self.labels = y.astype(float)
        self.problem = problem.__new__(problem)
        self.problem.l, self.problem.n, self.problem.bias = *x.shape, -1
        for field, memory in (("y", self.labels), ("x", self.rows)):
            setattr(self.problem, field, ctypes.cast(memory.ctypes.data, dict(problem._fields_)[field]))


def train(given, x, y, l2, epsilon):
    options = parameter(f"-s 4 -c {1 / l2!r} -e {epsilon!r} -q")
    cpu, wall = time.process_time(), time.perf_counter()
    model = liblinear.train(given.problem, options).contents
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    classes = model.nr_class
    weights = np.ctypeslib.as_array(model.w, (model.nr_feature * classes,)).reshape(-1, classes)
    columns = {model.label[k]: k for k in range(classes)}
    return {"epsilon": epsilon, "cpu_seconds": cpu, "seconds": wall,
            "objective": objective(weights, x, np.array([columns[label] for label in y]), l2)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mnist", type=Path)
    parser.add_argument("--libsvm", type=Path)
    parser.add_argument("--first", type=int)
    parser.add_argument("--l2", type=float, required=True)
    parser.add_argument("--target", type=float, required=True)
    arguments = parser.parse_args()

    x, y = data.mnist(arguments.mnist, arguments.first) if arguments.mnist else data.libsvm(arguments.libsvm)
    x = sparse.csr_matrix(x)
    x, y = x[: arguments.first], y[: arguments.first]
    given = Given(x, y)
    epsilon = 16.0
    while epsilon > 1e-4:
        result = train(given, x, y, arguments.l2, epsilon)
        print(json.dumps(result), flush=True)
        if result["objective"] <= arguments.target:
            break
        epsilon /= 2


if __name__ == "__main__":
    main()
