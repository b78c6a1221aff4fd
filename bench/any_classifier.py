#!/usr/bin/env python3
"""Compares nmn.NoisyLabels with plain classifiers and cleanlab's CleanLearning on tables with noisy labels.

  pip install dist/nmn_*.whl scikit-learn cleanlab
  OMP_NUM_THREADS=1 python bench/any_classifier.py [--seeds 3] [--sets digits cancer]

The sets are digits and breast_cancer of scikit-learn, make_classification (4 classes of 3 clusters), and an XOR of two
of 10 features. The noise is symmetric (40 % of the labels of several classes, 30 % of two), or near the boundary: a
random forest that learned the true labels scores each row out of fold, and rows with a small margin between the true
class and the best other one get the other one, at most half of them, 20 % of all rows.

Prints the accuracy on clean test labels in percent, the mean average precision of finding the wrong labels with the
same scores, and the processor seconds of all fits. These include the program nmn, and depend little on other load.
Settings are defaults. No setting of nmn was chosen on these sets.
"""
import argparse
import os
import warnings

import numpy as np
from cleanlab.classification import CleanLearning
from cleanlab.rank import get_label_quality_scores
from sklearn.datasets import load_breast_cancer, load_digits, make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import nmn

BOOSTING = "HistGradientBoosting"


def xor(seed):
    x = np.random.default_rng(seed).normal(size=(2000, 10))
    return x, ((x[:, 0] > 0) ^ (x[:, 1] > 0)).astype(int)


SETS = {
    "digits": lambda seed: load_digits(return_X_y=True),
    "cancer": lambda seed: load_breast_cancer(return_X_y=True),
    "4 classes of 3 clusters": lambda seed: make_classification(
        2000, 20, n_informative=8, n_redundant=2, n_classes=4, n_clusters_per_class=3, flip_y=0, random_state=seed),
    "XOR": xor,
}


def symmetric(x, y, classes, random, seed):
    return np.where(random.random(len(y)) < (.3 if classes == 2 else .4), (y + random.integers(1, classes, len(y))) % classes, y)


def near_boundary(x, y, classes, random, seed):
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    p = cross_val_predict(RandomForestClassifier(200, random_state=seed), x, y, cv=folds, method="predict_proba")
    rows = np.arange(len(y))
    own = p[rows, y]
    p[rows, y] = -1
    weight = (1 - np.clip(own - p.max(1), 0, 1)) ** 2
    scale = 1.0
    for _ in range(100):  # until a fifth of the labels is wrong, if half of those near the boundary are enough
        scale *= .2 / np.clip(scale * weight, 0, .5).mean()
    return np.where(random.random(len(y)) < np.clip(scale * weight, 0, .5), p.argmax(1), y)


NOISE = {"symmetric": symmetric, "near the boundary": near_boundary}


def boosting(seed):
    return HistGradientBoostingClassifier(random_state=seed)


def logistic(seed):
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))


CLASSIFIERS = {
    "logistic regression": logistic,
    BOOSTING: boosting,
    f"CleanLearning({BOOSTING})": lambda seed: CleanLearning(boosting(seed), seed=seed, cv_n_folds=5),
    f"NoisyLabels({BOOSTING})": lambda seed: nmn.NoisyLabels(boosting(seed), random_state=seed),
    f"NoisyLabels({BOOSTING}, rounds=0, guard=False)": lambda seed: nmn.NoisyLabels(
        boosting(seed), random_state=seed, rounds=0, guard=False),
    "NoisyLabels(logistic regression)": lambda seed: nmn.NoisyLabels(logistic(seed), random_state=seed),
    "NoisyLabelClassifier": lambda seed: nmn.NoisyLabelClassifier(random_state=seed),
    'NoisyLabelClassifier(options={"data.classes": "exclusive"})': lambda seed: nmn.NoisyLabelClassifier(
        random_state=seed, options={"data.classes": "exclusive"}),
    'NoisyLabelClassifier(arm="baseline")': lambda seed: nmn.NoisyLabelClassifier(random_state=seed, arm="baseline"),
}


def one(make, noise, seed):
    """Return accuracy and seconds of each classifier, the guard's choices, and average precisions."""
    x, y = make(seed)
    random, classes = np.random.default_rng(seed), y.max() + 1
    x, x_test, y, y_test = train_test_split(x, y, test_size=.4, random_state=seed, stratify=y)
    z = noise(x, y, classes, random, seed)
    right, seconds, plain = {}, {}, {}
    for name, build in CLASSIFIERS.items():
        began = sum(os.times()[:4])
        model = build(seed).fit(x, z)
        seconds[name] = sum(os.times()[:4]) - began
        right[name] = 100 * np.mean(model.predict(x_test) == y_test)
        plain[name] = getattr(model, "guard_", False)
        if name.endswith("guard=False)"):
            scores = model.pred_probs_
    issues = nmn.find_label_issues(z, scores, details=True, min_error=0)
    found = np.zeros(len(z))
    found[issues["row"]] = issues["p_wrong"]
    precision = [100 * average_precision_score(z != y, s) for s in (found, 1 - get_label_quality_scores(z, scores))]
    return right, seconds, plain, precision, np.mean(z != y)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=list(SETS))
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"| data, noise | wrong | {' | '.join(CLASSIFIERS)} | AP, nmn | AP, cleanlab | plain kept |")
    print(f"|:--|{'--:|' * (len(CLASSIFIERS) + 4)}")
    spent = {name: 0.0 for name in CLASSIFIERS}
    for data in arguments.sets:
        for kind, noise in NOISE.items():
            results = [one(SETS[data], noise, seed) for seed in range(1, arguments.seeds + 1)]
            right = [np.mean([r[0][name] for r in results]) for name in CLASSIFIERS]
            precision, wrong = np.mean([r[3] for r in results], 0), np.mean([r[4] for r in results])
            kept = sum(r[2][f"NoisyLabels({BOOSTING})"] for r in results)
            for name in CLASSIFIERS:
                spent[name] += sum(r[1][name] for r in results)
            print(f"| {data}, {kind} | {wrong:.0%} | {' | '.join(f'{v:.1f}' for v in right)} | {precision[0]:.1f} | "
                  f"{precision[1]:.1f} | {kept} |", flush=True)
    print(f"| processor seconds | | {' | '.join(f'{v:.0f}' for v in spent.values())} | | | |")


if __name__ == "__main__":
    main()
