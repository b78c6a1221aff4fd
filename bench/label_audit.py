#!/usr/bin/env python3
"""Holds nmn's label audit against cleanlab's multi-label scores on the golden fixture.

  pip install cleanlab
  python bench/label_audit.py audit/testdata/oracle/label_audit.json ./nmn

Prints the largest differences between cleanlab as installed and the fixture, which the tests of
package audit hold nmn to, and between the posterior and what the program itself writes; then how well
each finds the labels that were flipped.
"""
import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import cleanlab
import numpy as np
from cleanlab.multilabel_classification import get_label_quality_scores
from cleanlab.multilabel_classification.filter import find_label_issues, find_multilabel_issues_per_class
from cleanlab.multilabel_classification.rank import get_label_quality_scores_per_class


def matrix(tensor):
    return np.array(tensor["data"]).reshape(tensor["shape"])


def write_matrix(path, values, form):
    with open(path, "w", newline="") as f:
        w = csv.writer(f)
        w.writerow(["id"] + [f"c{k}" for k in range(values.shape[1])])
        w.writerows([i] + [form % v for v in row] for i, row in enumerate(values))


def nmn_audit(program, p, z, q01, q10, truth):
    """Runs nmn audit and returns 1 - rho of every label, and its judgement."""
    with tempfile.TemporaryDirectory() as folder:
        at = Path(folder)
        write_matrix(at / "p.csv", p, "%.9g")
        write_matrix(at / "z.csv", z, "%d")
        write_matrix(at / "y.csv", truth, "%d")
        with open(at / "q.csv", "w") as f:
            f.write("word,q01,q10\n" + "".join(f"c{k},{a!r},{b!r}\n" for k, (a, b) in enumerate(zip(q01.tolist(), q10.tolist()))))
        out = subprocess.run(
            [program, "audit", "--scores", at / "p.csv", "--labels", at / "z.csv", "--truth", at / "y.csv", "--rates", at / "q.csv",
             "--min-error", "1e-12", "--suspects", at / "s.csv", "--json"], check=True, capture_output=True, text=True).stdout
        wrong = np.zeros(p.shape)
        for row in csv.DictReader(open(at / "s.csv")):
            wrong[int(row["id"]), int(row["word"][1:])] = float(row["p_wrong"])
        return wrong, json.loads(out)["truth"]


def average_precision(score, positive):
    order = np.argsort(-score, kind="stable")
    hits = positive[order]
    return float((np.cumsum(hits) / np.arange(1, len(hits) + 1))[hits == 1].mean())


def main():
    fixture, program = json.load(open(sys.argv[1])), sys.argv[2]
    given, want = fixture["inputs"], fixture["expected"]
    p, z = matrix(given["pred_probs"]), matrix(given["noisy_labels"]).astype(int)
    q01, q10 = matrix(given["q01"]), matrix(given["q10"])
    flips = matrix(want["true_flips"]).astype(int)

    labels = [list(map(int, np.flatnonzero(row))) for row in z]
    own = np.asarray(get_label_quality_scores_per_class(labels, p))
    own = own if own.shape == z.shape else own.T
    settings = dict(return_indices_ranked_by="self_confidence", n_jobs=1)
    per_class = [list(map(int, found)) for found in find_multilabel_issues_per_class(labels, p, **settings)[0]]
    bags = list(map(int, find_label_issues(labels, p, **settings)))
    print(f"cleanlab {cleanlab.__version__}; {z.shape[0]} bags x {z.shape[1]} classes, {flips.sum()} labels flipped")
    print(f"self-confidence     largest difference {np.abs(own - matrix(want['self_confidence'])).max():.2g}")
    quality = get_label_quality_scores(labels, p)
    print(f"quality of a bag    largest difference {np.abs(quality - matrix(want['quality_score'])).max():.2g}")
    print(f"issues by class     {'equal' if per_class == want['issues_per_class_ranked'] else 'DIFFERENT'}")
    print(f"bags with issues    {'equal' if bags == want['issues_ranked']['data'] else 'DIFFERENT'}")

    wrong, judged = nmn_audit(program, p, z, q01, q10, z ^ flips)
    print(f"nmn's posterior     largest difference {np.abs(1 - wrong - matrix(want['audit_score'])).max():.2g}")
    flagged = [(i, k) for k, found in enumerate(per_class) for i in found]
    hits = sum(int(flips[c]) for c in flagged)
    print(f"flagged             cleanlab {len(flagged)} labels, {hits} of them flipped; nmn's own count {judged['confident']['labels']}, "
          f"precision {judged['confident']['precision']:.4f} against {hits / len(flagged):.4f}")
    flat = flips.ravel()
    print(f"average precision   self-confidence {average_precision(1 - own.ravel(), flat):.4f} (nmn {judged['difference']['ap']:.4f}), "
          f"posterior {average_precision(wrong.ravel(), flat):.4f} (nmn {judged['posterior']['ap']:.4f})")


main()
