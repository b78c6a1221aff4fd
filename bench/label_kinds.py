#!/usr/bin/env python3
"""Holds nmn's ranking of labels against cleanlab's, from the same out-of-fold scores, within each kind of error.

  pip install cleanlab scikit-learn scipy
  python bench/label_kinds.py [--seeds N] [--noise 40:0,0:20,30:10] SET.arff...

Each file is a set of Mulan. SET.xml must lie in the same folder. SET.arff.gz works too. Labels are made wrong at random: --noise has
pairs of the percentage of labels 1 that go missing and of labels 0 that are made up. Scores are out of fold, by logistic
regression on the wrong labels. Printed is the average precision of finding the wrong labels, missing ones among labels 0
and incorrect ones among labels 1, and the mean of both if there are both; means over the seeds. Within one class both
programs rank labels by the score. They differ in how they compare labels of different classes.
"""
import argparse
import gzip
import io
import re
import warnings
from pathlib import Path

import numpy as np
from cleanlab.multilabel_classification.rank import get_label_quality_scores_per_class
from scipy.io import arff
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

import nmn


def read(path):
    """Features and labels of a set."""
    text = gzip.open(path, "rt").read() if path.suffix == ".gz" else path.read_text()
    described = path.with_name(path.name.removesuffix(".gz").removesuffix(".arff") + ".xml")
    names = re.findall(r'<label name="([^"]*)"', described.read_text())
    rows, about = arff.loadarff(io.StringIO(text))
    others = [name for name in about.names() if name not in names]
    x = np.array([[float(row[name]) for name in others] for row in rows])
    return StandardScaler().fit_transform(x), np.array([[int(row[name]) for name in names] for row in rows])


def out_of_fold(x, z, seed):
    """Log-odds of each label by five folds; a class whose labels are all equal in a fold gets the same for all."""
    scores = np.zeros(z.shape)
    for learned, held in KFold(5, shuffle=True, random_state=seed).split(x):
        for k in range(z.shape[1]):
            if z[learned, k].min() == z[learned, k].max():
                scores[held, k] = 5 if z[learned[0], k] else -5
            else:
                fit = LogisticRegression(C=0.1, max_iter=500).fit(x[learned], z[learned, k])
                scores[held, k] = fit.decision_function(x[held])
    return scores


def average_precision(score, wrong):
    hits = wrong[np.argsort(-score, kind="stable")]
    return (np.cumsum(hits) / np.arange(1, len(hits) + 1))[hits].mean() if hits.any() else np.nan


def within(score, y, z):
    """Average precision within each kind of error that there is, their mean."""
    return np.nanmean([average_precision(score[z == given], (y != z)[z == given]) for given in (0, 1)])


def by_nmn(z, scores):
    found = nmn.find_label_issues(z, scores.astype(np.float32), logits=True, details=True, min_error=0, multi_label=True)
    wrong = np.zeros(z.shape)
    wrong[np.asarray(found["row"]), np.asarray(found["class"])] = found["p_wrong"]
    return wrong


def by_cleanlab(z, scores):
    return 1 - get_label_quality_scores_per_class([list(np.flatnonzero(row)) for row in z], 1 / (1 + np.exp(-scores)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--noise", default="40:0,0:20,30:10")
    parser.add_argument("sets", nargs="+", type=Path)
    given = parser.parse_args()
    warnings.filterwarnings("ignore", category=RuntimeWarning)  # means of nothing: a kind of error that is not there
    print("| set | missing | incorrect | nmn | cleanlab |\n|:--|--:|--:|--:|--:|")
    for path in given.sets:
        x, y = read(path)
        for missing, incorrect in (map(float, pair.split(":")) for pair in given.noise.split(",")):
            rows = []
            for seed in range(given.seeds):
                u = np.random.default_rng(seed).random(y.shape)
                z = np.where(y == 1, u >= missing / 100, u < incorrect / 100).astype(np.uint8)
                scores = out_of_fold(x, z, seed)
                rows.append([within(by(z, scores), y, z) for by in (by_nmn, by_cleanlab)])
            a, b = 100 * np.mean(rows, axis=0)
            name = path.name.split(".")[0]
            print(f"| {name} | {missing:g} % | {incorrect:g} % | {a:.1f} | {b:.1f} |", flush=True)


if __name__ == "__main__":
    main()
