#!/usr/bin/env python3
"""Holds what nmn audit says of rows and classes against cleanlab.

  pip install cleanlab scikit-learn
  python bench/audit_rows.py ./nmn

On scikit-learn's digits with a fifth of the labels changed: the confident joint, what confident learning flags, average
precision by self-confidence and by normalised margin, which must be those of cleanlab, and what the posterior finds; and the
quality of rows of several labels, which must be cleanlab's aggregate of the posteriors. Ends with status 1 where anything differs.
"""
import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from cleanlab.count import compute_confident_joint
from cleanlab.filter import find_label_issues
from cleanlab.internal.multilabel_scorer import exponential_moving_average
from cleanlab.rank import get_normalized_margin_for_each_label, get_self_confidence_for_each_label
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import cross_val_predict
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
    for name, array in (("y", y), ("z", z), ("p", p)):
        np.save(at / f"{name}.npy", array)
    return y, z, p


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
        y, z, p = digits(at)
        classes(sys.argv[1], at, y, z, p)
        quality(sys.argv[1], at)
    sys.exit(failed)


main()
