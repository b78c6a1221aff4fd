#!/usr/bin/env python3
"""Holds what nmn audit says of rows, classes and neighbours against cleanlab.

  pip install cleanlab scikit-learn
  python bench/audit_rows.py ./nmn

On scikit-learn's digits with a fifth of the labels changed: the confident joint, what confident learning flags, average
precision by self-confidence and by normalised margin, which must be those of cleanlab, and what the posterior finds; outliers,
near-duplicates and distances, which must be those of cleanlab's rules on exact neighbours; and the quality of rows of several
labels, which must be cleanlab's aggregate of the posteriors. Ends with status 1 where anything differs.
"""
import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from cleanlab.count import compute_confident_joint
from cleanlab.datalab.internal.issue_manager.duplicate import NearDuplicateIssueManager
from cleanlab.datalab.internal.issue_manager.outlier import OutlierIssueManager
from cleanlab.filter import find_label_issues
from cleanlab.internal.multilabel_scorer import exponential_moving_average
from cleanlab.rank import get_normalized_margin_for_each_label, get_self_confidence_for_each_label
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

failed = False


def check(what, ok, detail=""):
    global failed
    failed |= not ok
    print(f"{'ok ' if ok else 'NOT'} {what} {detail}")


def nmn(program, *arguments):
    out = subprocess.run([program, "audit", *map(str, arguments), "--json"], check=True, capture_output=True, text=True).stdout
    return json.loads(out)


def read_rows(path):
    """Rows of the file in the order of the data: without names they are numbered from 1."""
    return sorted(csv.DictReader(open(path, newline="")), key=lambda r: int(r["id"]))


def digits(at):
    x, y = load_digits(return_X_y=True)
    rng = np.random.default_rng(0)
    z, flip = y.copy(), rng.random(len(y)) < .2
    z[flip] = np.where(rng.random(flip.sum()) < .6, (y[flip] + 1) % 10, (y[flip] + 1 + rng.integers(0, 9, flip.sum())) % 10)
    net = make_pipeline(StandardScaler(), LogisticRegression(C=.01, max_iter=400))
    p = cross_val_predict(net, x, z, cv=5, method="predict_proba").astype("f4")
    x = x.astype("f4")
    x[5], x[77], x[78] = x[900], x[300], x[300] + .1
    for name, array in (("x", x), ("y", y), ("z", z), ("p", p)):
        np.save(at / f"{name}.npy", array)
    return x, y, z, p


def classes(program, at, y, z, p):
    got = nmn(program, "--scores", at / "p.npy", "--labels", at / "z.npy", "--truth", at / "y.npy")
    joint = compute_confident_joint(z, p, calibrate=False)
    check("confident joint", np.array_equal(joint, got["confident_joint"]))
    flags = find_label_issues(z, p, filter_by="confident_learning", n_jobs=1)
    wrong = z != y
    check("confident learning flags", int(flags.sum()) == got["confident_flagged"],
          f"{flags.sum()} labels, precision {wrong[flags].mean():.4f} ({got['truth']['confident']['precision']:.4f})")
    for name, scores in (("self_confidence", get_self_confidence_for_each_label(z, p)),
                         ("normalized_margin", get_normalized_margin_for_each_label(z, p))):
        ap = average_precision_score(wrong, -scores)
        check(f"average precision by {name}", abs(ap - got["truth"][name]["ap"]) < 1e-4, f"{ap:.4f}")
    t = got["truth"]
    print(f"    posterior {t['posterior']['ap']:.4f}; of as many as confident learning flags "
          f"{t['confident']['posterior_precision']:.4f} are wrong; {t['suggested_right']:.4f} of suggestions right")


def neighbours(program, at, x):
    got = nmn(program, "--scores", at / "p.npy", "--labels", at / "z.npy", "--features", at / "x.npy", "--rows", at / "r.csv")
    rows = read_rows(at / "r.csv")
    unit = x.astype(float) / np.linalg.norm(x.astype(float), axis=1, keepdims=True)
    d, near = NearestNeighbors(n_neighbors=11, metric="cosine").fit(unit).kneighbors(unit)
    d = np.array([row[ids != i][:10] for i, (row, ids) in enumerate(zip(d, near))])
    mean = np.array([float(r["mean_distance"]) for r in rows])
    first = np.array([float(r["nearest_distance"]) for r in rows])
    check("mean distance to 10 neighbours", np.allclose(mean, d.mean(1), rtol=1e-5, atol=1e-7), f"{np.abs(mean - d.mean(1)).max():.2g}")
    check("distance to the nearest", np.allclose(first, d[:, 0], rtol=1e-5, atol=1e-7), f"{np.abs(first - d[:, 0]).max():.2g}")
    _, above, outliers = OutlierIssueManager._compute_threshold_and_issue_column_from_distances(None, d)
    ours = np.array([r["outlier"] == "true" for r in rows])
    check("outliers", np.array_equal(ours, outliers), f"{outliers.sum()} above {above:.5f} ({got['found']['outlier_above']:.5f})")
    close = d < .13 * np.median(d[:, 0])
    sets = {i for i in range(len(x)) if close[i].any()}
    check("near-duplicates", {i for i, r in enumerate(rows) if r["duplicates"]} == sets, f"{len(sets)} rows")
    assert NearDuplicateIssueManager  # whose default share is .13


def quality(program, at):
    """Several labels for each bag, with given rates: the quality is cleanlab's aggregate of the posteriors."""
    rng = np.random.default_rng(1)
    o = rng.normal(-1, 2, (500, 40))
    p = (1 / (1 + np.exp(-o))).astype("f4")
    z = (rng.random(p.shape) < p).astype("u1")
    np.save(at / "p.npy", p)
    np.save(at / "z.npy", z)
    with open(at / "q.csv", "w") as f:
        f.write("class,q01,q10\n" + "".join(f"{k + 1},.2,.05\n" for k in range(40)))
    nmn(program, "--scores", at / "p.npy", "--labels", at / "z.npy", "--noise-rates", at / "q.csv", "--rows", at / "r.csv")
    p = p.astype(float)
    true1, true0 = np.where(z, .8, .2), np.where(z, .05, .95)
    rho = p * true1 / (p * true1 + (1 - p) * true0)
    right = np.where(z, rho, 1 - rho)
    want = exponential_moving_average(right, alpha=.8)
    got = np.array([float(r["quality"]) for r in read_rows(at / "r.csv")])
    check("quality of rows", np.allclose(got, want, rtol=1e-5), f"{np.abs(got / want - 1).max():.2g}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        at = Path(folder)
        x, y, z, p = digits(at)
        classes(sys.argv[1], at, y, z, p)
        neighbours(sys.argv[1], at, x)
        quality(sys.argv[1], at)
    sys.exit(failed)


main()
