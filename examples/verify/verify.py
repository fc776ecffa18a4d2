#!/usr/bin/env python3
"""Checks the certificate of an Espalier model without Espalier.

    python3 verify.py MODEL TRAINING_DATA [--program espalier]

It shares no code with Espalier, which is asked for nothing but the text of the model (espalier show). From the weights
and the training data it computes, in double precision and with NumPy alone:

  primal   P(theta) = l2/2 |theta|^2 + sum_i L_i(theta)
           L_i(theta) = 1/beta log sum_y exp beta( theta.F_i(chi(y) - z_i) + gamma cost_i(y) )
  dual     D(u) = sum_i [ H(u_i)/beta + gamma E_u cost_i ] - |w(u)|^2/(2 l2),   w(u) = sum_i F_i(z_i - E_u chi)

of classes (LIBSVM files) and of chains (files of CRFsuite attributes, order 1), for any beta and gamma. D(u) is below
the optimum for any distributions u_i. The first ones are those that the weights imply, u_i(y) ~ exp beta(...), for
beta = infinity those at a few finite betas; then come block steps, which move the u_i of one example at a time towards
those that the weights w(u)/l2 imply, as far as raises the dual most.

Exit status: 0 if the primal is what the model says, and the proven gap is at most three times the claimed one; 1 else.
"""

import argparse
import json
import subprocess
import sys

import numpy as np

ENOUGH = 3  # times the claimed gap
BETAS = (1, 4, 16, 64, 256, 1024)  # where the loss is a maximum


def log_sum_exp(x, axis=None):
    top = np.max(x, axis=axis, keepdims=True)
    return np.squeeze(top + np.log(np.sum(np.exp(x - top), axis=axis, keepdims=True)), axis=axis)


def softmax(x):
    e = np.exp(x - np.max(x))
    return e / e.sum()


def as_float(text):
    """Weights and values are floats: those next to what the text says."""
    return float(np.float32(text))


# What `espalier show` prints. ---------------------------------------------------------------------------------------


def unescape(name):
    """A field of `show --weights`: \\t, \\n, \\r and \\\\ stand for characters that would end it."""
    parts, escaped = [], False
    for letter in name:
        if escaped:
            parts.append({"t": "\t", "n": "\n", "r": "\r"}.get(letter, letter))
        elif letter != "\\":
            parts.append(letter)
        escaped = letter == "\\" and not escaped
    return "".join(parts)


class Model:
    def __init__(self, path, program):
        def show(option):
            return subprocess.run([program, "show", path, option], check=True, capture_output=True, text=True).stdout

        self.about = json.loads(show("--json"))
        self.labels = {name: k for k, name in enumerate(self.about["labels"])}
        self.l2 = self.about["l2"]
        name = self.about["loss"]
        named = {"crf": (1.0, 0.0), "softmax-margin": (1.0, 1.0), "svm": (np.inf, 1.0)}
        self.beta, self.gamma = named[name] if name in named else map(float, name.split(","))
        settings = self.about["settings"]
        for what in ("kernel", "costs", "constraints", "example_weights", "features", "order"):
            if settings.get(what):
                sys.exit(f"{path}: a model with {what}, which this program does not know")
        if self.about.get("l1") or self.about.get("rescaling") or self.about.get("objective") or not self.l2:
            sys.exit(f"{path}: a model of another objective than this program knows")
        # A row of weights for each attribute, and a table for the steps of chains.
        self.rows, self.steps = {}, np.zeros((len(self.labels), len(self.labels)))
        for line in show("--weights").splitlines():
            attribute, *labels, weight = map(unescape, line.split("\t"))
            place = tuple(self.labels[label] for label in labels)
            if len(place) == 1:
                self.rows.setdefault(attribute, np.zeros(len(self.labels)))[place] = as_float(weight)
            else:
                self.steps[place] = as_float(weight)


# Training data. Every example is a matrix with a row for each token and a column for each attribute, and labels. ----


def read_libsvm(path, bias):
    examples = []
    for line in open(path, encoding="utf-8"):
        fields = line.split("#")[0].split()
        if not fields:
            continue
        token = [(name, as_float(value)) for name, value in (field.rsplit(":", 1) for field in fields[1:])]
        if bias:
            token.append(("(bias)", 1.0))
        examples.append(([token], [fields[0]]))
    return examples


def read_attributes(path):
    """LABEL TAB ATTRIBUTE[:VALUE] ..., with \\: and \\\\ for those characters in names; a blank line ends a sequence."""

    def token_of(fields):
        token = []
        for field in fields:
            name, value, k = "", 1.0, 0
            while k < len(field):
                if field[k] == "\\" and k + 1 < len(field):
                    name, k = name + field[k + 1], k + 2
                elif field[k] == ":":
                    value, k = as_float(field[k + 1 :]), len(field)
                else:
                    name, k = name + field[k], k + 1
            token.append((name, value))
        return token

    examples, tokens, labels = [], [], []
    for line in [*open(path, encoding="utf-8"), "\n"]:
        label, *fields = line.rstrip("\n").split("\t")
        if label:
            labels.append(label)
            tokens.append(token_of(fields))
        elif tokens:
            examples.append((tokens, labels))
            tokens, labels = [], []
    return examples


# The problem. -------------------------------------------------------------------------------------------------------


class Example:
    """One sequence of tokens; a class is a sequence of one. Statistics are (nodes, steps): how often each token has each
    label, and how often each label follows each other one."""

    def __init__(self, tokens, labels, model, columns):
        ids = [[(columns.setdefault(name, len(columns)), value) for name, value in token] for token in tokens]
        self.ids = [np.array([a for a, _ in token], dtype=np.intp) for token in ids]
        self.values = [np.array([value for _, value in token]) for token in ids]
        self.gold = [model.labels[label] for label in labels]
        size = len(model.labels)
        self.z = np.eye(size)[self.gold], np.zeros((size, size))
        for before, after in zip(self.gold, self.gold[1:]):
            self.z[1][before, after] += 1
        self.cost = 1 - self.z[0]

    def scores(self, theta, steps):
        """F_i'theta of the nodes, and the steps' own."""
        return np.array([value @ theta[ids] for ids, value in zip(self.ids, self.values)]), steps

    def add(self, difference, theta, steps):
        """theta += F_i difference, which is one of statistics."""
        for ids, value, row in zip(self.ids, self.values, difference[0]):
            np.add.at(theta, ids, np.outer(value, row))
        steps += difference[1]

    def infer(self, nodes, steps):
        """log Z and the expected statistics at these scores."""
        length = len(nodes)
        forward, backward = nodes.copy(), np.zeros_like(nodes)
        for t in range(1, length):
            forward[t] += log_sum_exp(forward[t - 1][:, None] + steps, axis=0)
        for t in range(length - 2, -1, -1):
            backward[t] = log_sum_exp(steps + (nodes[t + 1] + backward[t + 1])[None, :], axis=1)
        log_z = log_sum_exp(forward[-1])
        used = np.zeros_like(steps)
        for t in range(1, length):
            used += np.exp(forward[t - 1][:, None] + steps + (nodes[t] + backward[t])[None, :] - log_z)
        return log_z, (np.exp(forward + backward - log_z), used)

    def best(self, nodes, steps):
        """The highest score of all outputs."""
        score = nodes[0]
        for node in nodes[1:]:
            score = np.max(score[:, None] + steps, axis=0) + node
        return np.max(score)


def dot(a, b):
    return np.sum(a[0] * b[0]) + np.sum(a[1] * b[1])


class Problem:
    def __init__(self, model, data):
        columns = {}
        self.model = model
        self.examples = [Example(tokens, labels, model, columns) for tokens, labels in data]
        self.theta = np.zeros((len(columns), len(model.labels)))
        for name, row in model.rows.items():
            if name in columns:
                self.theta[columns[name]] = row
            elif row.any():
                sys.exit(f"the weights of {name!r} are not zero, and the data do not have it")
        # Where the data have one token each, no step has a feature.
        self.chains = any(len(example.gold) > 1 for example in self.examples)
        self.steps = model.steps if self.chains else np.zeros_like(model.steps)

    def primal(self):
        beta, gamma = self.model.beta, self.model.gamma
        total = self.model.l2 / 2 * (np.sum(self.theta**2) + np.sum(self.steps**2))
        for example in self.examples:
            s = example.scores(self.theta, self.steps)
            augmented = s[0] + gamma * example.cost
            if np.isfinite(beta):
                value = example.infer(beta * augmented, beta * s[1])[0] / beta
            else:
                value = example.best(augmented, s[1])
            total += value - dot(s, example.z)
        return total

    def distribution(self, example, theta, steps, beta):
        """u(y) ~ exp beta(theta.F chi(y) + gamma cost(y)): its statistics, entropy and scores."""
        s = example.scores(theta, steps)
        scores = beta * (s[0] + self.model.gamma * example.cost), beta * s[1]
        log_z, mu = example.infer(*scores)
        return mu, log_z - dot(scores, mu), scores

    def worth(self, example, mu, entropy):
        """H(u_i)/beta + gamma E_u cost_i"""
        of_entropy = entropy / self.model.beta if np.isfinite(self.model.beta) else 0
        return of_entropy + self.model.gamma * np.sum(example.cost * mu[0])

    def implied(self, beta):
        """The dual point of the model's own weights at a beta."""
        w, steps = np.zeros_like(self.theta), np.zeros_like(self.steps)
        points = []
        for example in self.examples:
            points.append(self.distribution(example, self.theta, self.steps, beta))
            mu = points[-1][0]
            example.add((example.z[0] - mu[0], example.z[1] - mu[1]), w, steps)
        return points, w, steps

    def dual(self, points, w, steps):
        worth = sum(self.worth(example, mu, h) for example, (mu, h, _) in zip(self.examples, points))
        return worth - (np.sum(w**2) + np.sum(steps**2)) / (2 * self.model.l2)

    def step(self, points, w, steps):
        """One block step for each example; the points and w(u) change in place. Scores move towards those that w/l2
        implies or, where beta is infinite, along the gradient of the dual: the best of some lengths."""
        l2, beta = self.model.l2, self.model.beta
        for i, example in enumerate(self.examples):
            mu, entropy, scores = points[i]
            s = example.scores(w / l2, steps / l2)
            gradient = s[0] + self.model.gamma * example.cost, s[1]
            if np.isfinite(beta):
                ways = [((1 - eta), eta * beta) for eta in (1, 1 / 2, 1 / 4, 1 / 16, 1 / 64)]
            else:
                ways = [(1, eta) for eta in (1024, 256, 64, 16, 4, 1, 1 / 4)]
            before, best, taken = self.worth(example, mu, entropy), 0, None
            for keep, eta in ways:
                moved = keep * scores[0] + eta * gradient[0], keep * scores[1] + eta * gradient[1]
                log_z, new = example.infer(*moved)
                entropy_there = log_z - dot(moved, new)
                difference = mu[0] - new[0], mu[1] - new[1]
                dw, dsteps = np.zeros_like(w), np.zeros_like(steps)
                example.add(difference, dw, dsteps)
                square = np.sum(dw**2) + np.sum(dsteps**2)
                gain = self.worth(example, new, entropy_there) - before - dot(s, difference) - square / (2 * l2)
                if gain > best:
                    best, taken = gain, (new, entropy_there, moved, dw, dsteps)
                elif taken:
                    break
            if taken:
                points[i] = taken[:3]
                w += taken[3]
                steps += taken[4]


def main():
    parser = argparse.ArgumentParser(description="checks the certificate of an Espalier model without Espalier")
    parser.add_argument("model")
    parser.add_argument("data", help="what it was trained on: LIBSVM for classes, CRFsuite attributes for chains")
    parser.add_argument("--program", default="espalier", help="what prints the model")
    parser.add_argument("--passes", type=int, default=30, help="of block steps, at most")
    arguments = parser.parse_args()
    model = Model(arguments.model, arguments.program)
    settings = model.about["settings"]
    read = {
        ("classify", "libsvm"): lambda: read_libsvm(arguments.data, settings.get("bias")),
        ("tag", "crfsuite"): lambda: read_attributes(arguments.data),
    }.get((model.about["task"], settings.get("format")))
    if read is None:
        sys.exit(f"{arguments.model}: expected a model of classes (libsvm) or of chains (crfsuite)")
    problem = Problem(model, read())
    claimed = model.about["certificate"]

    primal = problem.primal()
    agrees = abs(primal - claimed["primal"]) <= 1e-9 * primal
    print(f"primal   claimed {claimed['primal']:.12g}, computed {primal:.12g}")

    betas = [model.beta] if np.isfinite(model.beta) else BETAS
    duals = [(problem.dual(*point), point) for point in map(problem.implied, betas)]
    dual, point = max(duals, key=lambda of_beta: of_beta[0])
    print(f"gap      claimed {claimed['gap']:.3g}, of the weights alone {primal - dual:.3g}")
    passes = 0
    while primal - dual > claimed["gap"] and passes < arguments.passes:
        problem.step(*point)
        dual, passes = max(dual, problem.dual(*point)), passes + 1
    if passes:
        print(f"         after {passes} passes of block steps {primal - dual:.3g}")
    proven = primal - dual <= ENOUGH * claimed["gap"] + 1e-9 * primal
    print("agrees" if agrees and proven else "does not agree")
    return 0 if agrees and proven else 1


if __name__ == "__main__":
    sys.exit(main())
