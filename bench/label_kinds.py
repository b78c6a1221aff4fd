#!/usr/bin/env python3
"""Holds nmn's ranking of labels against cleanlab's, from the same out-of-fold scores, within each kind of error.

  pip install cleanlab scikit-learn scipy
  python bench/label_kinds.py [--seeds N] [--noise 40:0,0:20,30:10] [--plot calibration.svg] SET.arff...

Each file is a set of Mulan. SET.xml must lie in the same folder. SET.arff.gz works too. Labels are made wrong at random: --noise has
pairs of the percentage of labels 1 that go missing and of labels 0 that are made up. Scores are out of fold, by logistic
regression on the wrong labels. Printed is the average precision of finding the wrong labels, missing ones among labels 0
and incorrect ones among labels 1, and the mean of both if there are both; means over the seeds.

A second table is of calibration: of the labels that nmn says to be wrong with a probability in each tenth, how many are.
--plot draws it.
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


def tenths(said, wrong):
    """For each tenth of probability: labels, the mean probability, the share that is wrong."""
    place = np.minimum((10 * said).astype(int), 9)
    for t in range(10):
        if (here := place == t).any():
            yield t, here.sum(), said[here].mean(), wrong[here].mean()


def plot(path, lines):
    """Draws the share of wrong labels over the probability that was said, a line for each name."""
    colours = ["#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e"]
    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 440 360" font-family="sans-serif" font-size="12">',
           '<rect width="440" height="360" fill="white"/><path d="M50 310H350V10H50ZM50 310L350 10" fill="none" stroke="#999"/>']
    for i in range(0, 11, 2):
        out.append(f'<text x="{50 + 30 * i}" y="326" text-anchor="middle">{i / 10}</text>'
                   f'<text x="44" y="{314 - 30 * i}" text-anchor="end">{i / 10}</text>')
    out.append('<text x="200" y="346" text-anchor="middle">p(wrong), mean of a tenth</text>'
               '<text transform="translate(14 160) rotate(-90)" text-anchor="middle">share that is wrong</text>')
    for k, (name, points) in enumerate(lines.items()):
        at = " ".join(f"{50 + 300 * p:.1f},{310 - 300 * w:.1f}" for _, n, p, w in points if n >= 20)
        out.append(f'<polyline points="{at}" fill="none" stroke="{colours[k % 5]}" stroke-width="2"/>'
                   f'<text x="360" y="{20 + 16 * k}" fill="{colours[k % 5]}">{name}</text>')
    path.write_text("\n".join(out) + "\n</svg>\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--noise", default="40:0,0:20,30:10")
    parser.add_argument("--plot", type=Path)
    parser.add_argument("sets", nargs="+", type=Path)
    given = parser.parse_args()
    warnings.filterwarnings("ignore", category=RuntimeWarning)  # means of nothing: a kind of error that is not there
    print("| set | missing | incorrect | nmn | cleanlab | first 40: expected | wrong |\n|:--|--:|--:|--:|--:|--:|--:|")
    lines = {}
    for path in given.sets:
        x, y = read(path)
        name, said, wrong = path.name.split(".")[0], [], []
        for missing, incorrect in (map(float, pair.split(":")) for pair in given.noise.split(",")):
            rows = []
            for seed in range(given.seeds):
                u = np.random.default_rng(seed).random(y.shape)
                z = np.where(y == 1, u >= missing / 100, u < incorrect / 100).astype(np.uint8)
                scores = out_of_fold(x, z, seed)
                p = by_nmn(z, scores)
                first = np.argsort(-p, axis=None, kind="stable")[:40]
                rows.append([within(p, y, z), within(by_cleanlab(z, scores), y, z), p.ravel()[first].mean(),
                             (y != z).ravel()[first].mean()])
                said.append(p.ravel())
                wrong.append((y != z).ravel())
            cells = " | ".join(f"{100 * v:.1f}" for v in np.mean(rows, axis=0))
            print(f"| {name} | {missing:g} % | {incorrect:g} % | {cells} |", flush=True)
        lines[name] = list(tenths(np.concatenate(said), np.concatenate(wrong)))
    print("\n| set | tenth | labels | p(wrong), mean | wrong |\n|:--|:--|--:|--:|--:|")
    for name, points in lines.items():
        for t, n, p, w in points:
            print(f"| {name} | {t / 10:g} to {t / 10 + 0.1:.1g} | {n} | {p:.3f} | {w:.3f} |")
    if given.plot:
        plot(given.plot, lines)


if __name__ == "__main__":
    main()
