#!/usr/bin/env python3
"""Holds `label_issues_` of nmn's Python package against cleanlab on a set whose true labels are known.

  pip install dist/nmn_*.whl scikit-learn cleanlab
  NMN_DATA=FOLDER python bench/python_audit.py            # FOLDER/mulan/scene-train.arff.gz and scene.xml

A share of the labels that hold is taken away at random. nmn fits a NoisyLabelClassifier on what is left; cleanlab gets
out-of-sample probabilities of five folds of usual models of scikit-learn. Prints the average precision of finding the
labels that were taken away, among labels 0, which alone can be wrong here, and over pictures that lack one.
"""
import argparse
import os
import subprocess
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from cleanlab.multilabel_classification.filter import find_label_issues
from cleanlab.multilabel_classification.rank import get_label_quality_scores_per_class
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import nmn
from nmn._program import program

MODELS = {
    "logistic regression": lambda seed: make_pipeline(StandardScaler(), OneVsRestClassifier(LogisticRegression(max_iter=1000))),
    "random forest": lambda seed: OneVsRestClassifier(RandomForestClassifier(random_state=seed)),
    "net of 256, early stopping": lambda seed: make_pipeline(
        StandardScaler(), MLPClassifier((256,), early_stopping=True, random_state=seed)),
}


def scene(folder):
    """Features and labels of the training pictures."""
    at = Path(os.environ["NMN_DATA"]) / "mulan"
    subprocess.run([program(), "features", at / "scene-train.arff.gz", "--labels", at / "scene.xml", "--output", folder / "x.npy",
                    "--output-labels", folder / "y.csv"], check=True, stdout=subprocess.DEVNULL)
    return np.load(folder / "x.npy"), np.loadtxt(folder / "y.csv", delimiter=",", skiprows=1, dtype=int)[:, -6:]


def measures(score, wrong, z):
    """Average precision among labels 0, and over pictures by their worst label 0."""
    worst = np.where(z == 0, score, 0).max(1)
    return average_precision_score(wrong[z == 0], score[z == 0]), average_precision_score(wrong.any(1), worst)


def cleanlab_measures(z, p, wrong):
    lists = [list(np.flatnonzero(row)) for row in z]
    per_class = 1 - get_label_quality_scores_per_class(lists, p)
    ranked = find_label_issues(lists, p, return_indices_ranked_by="self_confidence")
    found = np.zeros(len(z))
    found[ranked] = np.arange(len(ranked), 0, -1)  # what it does not flag comes last
    return *measures(per_class, wrong, z), average_precision_score(wrong.any(1), found)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--missing", type=float, default=0.4)
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore", category=UserWarning)
    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        x, y = scene(Path(folder))
    for seed in range(1, arguments.seeds + 1):
        random = np.random.default_rng(seed)
        wrong = (y == 1) & (random.random(y.shape) < arguments.missing)
        z = np.where(wrong, 0, y)
        began = time.perf_counter()
        model = nmn.NoisyLabelClassifier(random_state=seed, min_error=0).fit(x, z)
        issues = model.label_issues_
        score = np.zeros(y.shape)
        score[issues["row"], issues["label"]] = issues["p_wrong"]
        rows.setdefault("nmn, label_issues_", []).append((*measures(score, wrong, z), np.nan, time.perf_counter() - began))
        for name, make in MODELS.items():
            began = time.perf_counter()
            folds = KFold(5, shuffle=True, random_state=seed)
            p = np.clip(cross_val_predict(make(seed), x, z, cv=folds, method="predict_proba"), 1e-6, 1 - 1e-6)
            rows.setdefault(f"cleanlab, {name}", []).append((*cleanlab_measures(z, p, wrong), time.perf_counter() - began))
        show(rows, f"scene, {arguments.missing:.0%} of the labels that hold are missing, seeds 1 to {seed}, AP in percent")


def show(rows, title):
    print(f"\n{title}\n")
    print("| | labels 0 | pictures, by their worst label 0 | pictures, find_label_issues | seconds |\n|:--|--:|--:|--:|--:|")
    for name, values in rows.items():
        v = np.array(values)
        cells = [f"{100 * m:.1f} ± {100 * s:.1f}" if np.isfinite(m) else "" for m, s in zip(v.mean(0)[:3], v.std(0, ddof=min(1, len(v) - 1))[:3])]
        print(f"| {name} | {' | '.join(cells)} | {v[:, 3].mean():.0f} |", flush=True)


if __name__ == "__main__":
    main()
