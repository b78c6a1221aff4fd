#!/usr/bin/env python3
"""Compares nmn audit annotators with votes, crowd-kit and cleanlab where each item has one class.

  pip install cleanlab crowd-kit scikit-learn
  python bench/crowds.py ./nmn [results.json]

Each crowd is drawn by a model of its own: matrices (Dawid and Skene), one accuracy for each annotator, abilities and
difficulties (GLAD), annotators with a boundary of their own in a plane (Welinder et al., 2010). cleanlab needs a
classifier, a logistic regression that learns the votes, out of fold; nmn is run without it and with it.
Prints the share of right classes of the consensus, as a mean of three seeds, and for nmn the share of wrong ones that
it expects beside the true share. Votes that are tied count as right by the share of right ones among them. Results are
kept in a file, from which only the results of nmn are computed anew.
"""
import csv
import json
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

SEEDS = (1, 2, 3)
ITEMS = 2000


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def ask(r, annotators, least, most=None, share=None):
    """Lists the (item, annotator) pairs: each item has least to most annotators; share draws some more often."""
    pairs = []
    for i in range(ITEMS):
        n = r.integers(least, (most or least) + 1)
        pairs += [(i, j) for j in r.choice(annotators, n, replace=False, p=share)]
    return pairs


def other(r, truth, classes):
    return (truth + r.integers(1, classes)) % classes


def by_accuracy(r, truth, pairs, accuracy, classes):
    """One-coin model; accuracy is a function of item and annotator."""
    return [(i, j, truth[i] if r.random() < accuracy(i, j) else other(r, truth[i], classes)) for i, j in pairs]


def by_matrix(r, truth, pairs, matrices):
    return [(i, j, r.choice(matrices.shape[2], p=matrices[j, truth[i]])) for i, j in pairs]


def matrices(r, annotators, classes, low, high, strength=10):
    """Rows are drawn around an accuracy between low and high."""
    out = np.zeros((annotators, classes, classes))
    for j in range(annotators):
        a = r.uniform(low, high)
        for l in range(classes):
            mean = np.full(classes, (1 - a) / (classes - 1))
            mean[l] = a
            out[j, l] = r.dirichlet(strength * mean)
    return out


def captured(r):
    """Two constant answerers, an adversary, items of different difficulty (the set that one pair of rates failed on)."""
    truth = r.choice(5, ITEMS, p=[.33, .25, .18, .14, .1])
    skill, hard = r.uniform(.2, 2.2, 10), r.normal(0, 1, ITEMS)
    answers = []
    for i, j in ask(r, 10, 3, 5):
        if j < 2:
            k = 0
        elif j == 2:
            k = other(r, truth[i], 5) if r.random() < .8 else truth[i]
        else:
            k = truth[i] if r.random() < .2 + .8 * sigmoid(skill[j] - hard[i]) else other(r, truth[i], 5)
        answers.append((i, j, k))
    return truth, answers, 5


def lazy(r):
    """Matrices; a fifth of the annotators always give one class, a fifth guess by habits of their own."""
    truth = r.choice(4, ITEMS, p=[.4, .3, .2, .1])
    m = matrices(r, 40, 4, .5, .9)
    for j in range(8):
        m[j] = np.eye(4)[r.integers(4)]
        m[8 + j] = r.dirichlet(np.ones(4))
    return truth, by_matrix(r, truth, ask(r, 40, 3, 5), m), 4


def adversarial(r):
    """One accuracy each; a fifth of the annotators give the next class for the true one."""
    truth = r.integers(0, 4, ITEMS)
    accuracy = r.uniform(.5, .9, 20)
    answers = by_accuracy(r, truth, ask(r, 20, 3, 5), lambda i, j: accuracy[j], 4)
    return truth, [(i, j, (truth[i] + 1) % 4 if j < 4 and r.random() < .8 else k) for i, j, k in answers], 4


def colluding(r):
    """One accuracy each; five of twenty annotators copy the guesses of one of them."""
    truth = r.integers(0, 5, ITEMS)
    accuracy, copied = r.uniform(.5, .9, 20), r.integers(0, 5, ITEMS)
    answers = by_accuracy(r, truth, ask(r, 20, 5), lambda i, j: accuracy[j], 5)
    return truth, [(i, j, copied[i] if j < 5 else k) for i, j, k in answers], 5


def copying(r):
    """One accuracy each; seven of twenty annotators copy from one who is right in 44 % of the items."""
    truth = r.integers(0, 5, ITEMS)
    accuracy, copied = r.uniform(.5, .9, 20), np.where(r.random(ITEMS) < .3, truth, r.integers(0, 5, ITEMS))
    answers = by_accuracy(r, truth, ask(r, 20, 5), lambda i, j: accuracy[j], 5)
    return truth, [(i, j, copied[i] if j < 7 else k) for i, j, k in answers], 5


def hard(r):
    """A quarter of the annotators always answer the first class; items differ much in difficulty."""
    truth = r.choice(5, ITEMS, p=[.33, .25, .18, .14, .1])
    skill, difficulty = r.uniform(-.5, 1.5, 12), r.normal(0, 1.5, ITEMS)
    answers = by_accuracy(r, truth, ask(r, 12, 3, 5), lambda i, j: .2 + .8 * sigmoid(skill[j] - difficulty[i]), 5)
    return truth, [(i, j, 0 if j < 3 else k) for i, j, k in answers], 5


def three(r):
    """One accuracy each, three answers an item."""
    truth = r.integers(0, 3, ITEMS)
    accuracy = r.beta(4, 2, 50)
    return truth, by_accuracy(r, truth, ask(r, 50, 3), lambda i, j: accuracy[j], 3), 3


def difficult(r):
    """GLAD: ability times the inverse of difficulty."""
    truth = r.integers(0, 4, ITEMS)
    ability, ease = r.normal(1, 1, 50), np.exp(r.normal(0, 1, ITEMS))
    return truth, by_accuracy(r, truth, ask(r, 50, 5), lambda i, j: sigmoid(ability[j] * ease[i]), 4), 4


def many(r):
    """Fifty classes with falling frequencies; neighbours are confused."""
    p = 1 / np.arange(1, 51)
    truth = r.choice(50, ITEMS, p=p / p.sum())
    accuracy = r.uniform(.4, .9, 100)
    answers = by_accuracy(r, truth, ask(r, 100, 3, 5), lambda i, j: accuracy[j], 50)
    return truth, [(i, j, k if k == truth[i] or r.random() < .5 else truth[i] ^ 1) for i, j, k in answers], 50


def rare(r):
    """Two classes, one of them of a tenth of the items; annotators see it and invent it with rates of their own."""
    truth = (r.random(ITEMS) < .1).astype(int)
    m = np.stack([np.array([[1 - b, b], [a, 1 - a]]) for a, b in zip(r.uniform(.1, .6, 30), r.uniform(.01, .25, 30))])
    return truth, by_matrix(r, truth, ask(r, 30, 5), m), 2


def visitors(r):
    """Six hundred annotators, most of whom answer few times."""
    truth = r.integers(0, 3, ITEMS)
    accuracy, share = r.beta(4, 2, 600), r.pareto(1.2, 600) + .1
    return truth, by_accuracy(r, truth, ask(r, 600, 4, share=share / share.sum()), lambda i, j: accuracy[j], 3), 3


def boundaries(r):
    """Items are points of a plane that six sectors divide; every annotator sees them blurred, and turned a bit."""
    at = r.normal(size=(ITEMS, 2))
    sector = lambda p: int((np.arctan2(p[1], p[0]) / (2 * np.pi) % 1) * 6)
    truth = np.array([sector(p) for p in at])
    blur, turn = r.uniform(.1, .8, 30), r.normal(0, .3, 30)
    answers = []
    for i, j in ask(r, 30, 4):
        x, y = at[i] + blur[j] * r.normal(size=2)
        c, s = np.cos(turn[j]), np.sin(turn[j])
        answers.append((i, j, sector((c * x - s * y, s * x + c * y))))
    return truth, answers, 6


CROWDS = [captured, lazy, adversarial, colluding, three, difficult, many, rare, visitors, boundaries, copying, hard]


def tally(answers, classes):
    counts = np.zeros((ITEMS, classes))
    for i, _, k in answers:
        counts[i, k] += 1
    return counts


def votes(truth, answers, classes, _):
    counts = tally(answers, classes)
    top = counts == counts.max(1, keepdims=True)
    return (top[np.arange(ITEMS), truth] / top.sum(1)).mean()


def crowdkit(name):
    def run(truth, answers, classes, _):
        import pandas as pd
        from crowdkit.aggregation import GLAD, DawidSkene
        frame = pd.DataFrame(answers, columns=["task", "worker", "label"])
        found = {"D-S": lambda: DawidSkene(n_iter=100), "GLAD": lambda: GLAD(n_iter=10)}[name]().fit_predict(frame)
        return (found.reindex(range(ITEMS)).to_numpy() == truth).mean()
    return run


def classifier(truth, answers, classes, seed):
    """Returns out-of-fold probabilities of a logistic regression that learns the votes."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold
    r = np.random.default_rng([seed, 99])
    x = r.normal(size=(classes, 8))[truth] + r.normal(0, 1.2, (ITEMS, 8))
    target = (tally(answers, classes) + 1e-3 * r.random((ITEMS, classes))).argmax(1)
    p = np.full((ITEMS, classes), 1e-4)
    for learn, hold in StratifiedKFold(5, shuffle=True, random_state=seed).split(x, target):
        fit = LogisticRegression(max_iter=500).fit(x[learn], target[learn])
        p[np.ix_(hold, fit.classes_)] = np.maximum(fit.predict_proba(x[hold]), 1e-4)
    return p / p.sum(1, keepdims=True)


def cleanlab(truth, answers, classes, seed):
    from cleanlab.multiannotator import get_label_quality_multiannotator
    annotators = max(j for _, j, _ in answers) + 1
    z = np.full((ITEMS, annotators), np.nan)
    for i, j, k in answers:
        z[i, j] = k
    z = z[:, ~np.isnan(z).all(0)]
    out = get_label_quality_multiannotator(z, classifier(truth, answers, classes, seed), verbose=False)
    return (out["label_quality"]["consensus_label"].to_numpy() == truth).mean()


def nmn(program, scores):
    def run(truth, answers, classes, seed):
        with tempfile.TemporaryDirectory() as folder:
            at = Path(folder)
            with open(at / "z.csv", "w", newline="") as f:
                csv.writer(f).writerows([("picture", "annotator", "labels")] + [(i, j, f"c{k}") for i, j, k in answers])
            flags = []
            if scores:
                with open(at / "p.csv", "w", newline="") as f:
                    w = csv.writer(f)
                    w.writerow(["id"] + [f"c{k}" for k in range(classes)])
                    w.writerows([i] + list(p) for i, p in enumerate(classifier(truth, answers, classes, seed)))
                flags = ["--scores", at / "p.csv"]
            command = [program, "audit", "annotators", "--labels", at / "z.csv", "--consensus", at / "c.csv", "--json"]
            out = json.loads(subprocess.run(command + flags, check=True, capture_output=True, text=True).stdout)
            with open(at / "c.csv", newline="") as f:
                rows = list(csv.DictReader(f))
        right = sum(row[f"c{truth[int(row['id'])]}"] == "1" for row in rows) / ITEMS
        return right, out["consensus"]["expected_wrong"]
    return run


def main(program, kept=None):
    warnings.filterwarnings("ignore")
    methods = {"votes": votes, "D-S": crowdkit("D-S"), "GLAD": crowdkit("GLAD"), "cleanlab": cleanlab,
               "nmn": nmn(program, False), "nmn, scores": nmn(program, True)}
    results = json.loads(Path(kept).read_text()) if kept and Path(kept).exists() else {}
    print("| crowd | " + " | ".join(methods) + " | nmn: wrong, expected / true |")
    print("|:--|" + "--:|" * (len(methods) + 1))
    for number, crowd in enumerate(CROWDS):
        drawn = {}
        for seed in SEEDS:
            drawn[seed] = crowd(np.random.default_rng([seed, number]))
        cells = []
        for name, method in methods.items():
            found = []
            for seed in SEEDS:
                key = f"{crowd.__name__} {seed} {name}"
                if key not in results or name.startswith("nmn"):
                    begun = time.perf_counter()
                    results[key] = method(*drawn[seed], seed)
                    print(key, results[key], f"{time.perf_counter() - begun:.1f} s", file=sys.stderr, flush=True)
                    if kept:
                        Path(kept).write_text(json.dumps(results))
                found.append(results[key])
            cells.append(np.mean(found, 0))
        wrong = cells[4]
        print(f"| {crowd.__name__} |", " | ".join(f"{np.atleast_1d(c)[0]:.3f}" for c in cells),
              f"| {wrong[1]:.3f} / {1 - wrong[0]:.3f} |", flush=True)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(*sys.argv[1:])
