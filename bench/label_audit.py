#!/usr/bin/env python3
"""Holds nmn's label audit against cleanlab's multi-label scores.

  pip install cleanlab
  python bench/label_audit.py labels/audit/testdata/oracle/label_audit.json ./nmn

Prints the largest differences between cleanlab as installed and the golden fixture, which the tests of
package audit hold nmn to, and between the posterior and what the program itself writes; then how well
each finds the labels that were flipped.

  python bench/label_audit.py ./nmn FOLDER...

FOLDER is the folder recipe of a run whose true labels are known. Prints how well each ranking finds the
wrong labels: cleanlab's, from the out-of-fold scores of nets that know no noise, and nmn's posterior from
the same scores, and from those of nets that were trained through the noise model. Means over the folders.
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
            f.write("class,q01,q10\n" + "".join(f"c{k},{a!r},{b!r}\n" for k, (a, b) in enumerate(zip(q01.tolist(), q10.tolist()))))
        out = subprocess.run(
            [program, "audit", "--scores", at / "p.csv", "--labels", at / "z.csv", "--truth", at / "y.csv", "--noise-rates", at / "q.csv",
             "--min-error", "0", "--suspects", at / "s.csv", "--json"], check=True, capture_output=True, text=True).stdout
        wrong = np.zeros(p.shape)
        for row in csv.DictReader(open(at / "s.csv")):
            wrong[int(row["id"]), int(row["class"][1:])] = float(row["p_wrong"])
        return wrong, json.loads(out)["truth"]


def average_precision(score, positive):
    order = np.argsort(-score, kind="stable")
    hits = positive[order]
    if not hits.any():
        return float("nan")  # nothing to find
    return float((np.cumsum(hits) / np.arange(1, len(hits) + 1))[hits == 1].mean())


def read_matrix(path):
    """Rows by the names in the first column."""
    with open(path, newline="") as f:
        rows = list(csv.reader(f))[1:]
    return [row[0] for row in rows], np.array([row[1:] for row in rows], dtype=float)


RANKINGS = "cleanlab, self-confidence", "nmn, posterior of the same scores", "nmn, posterior of nets trained through the noise model"


def measures(score, wrong, given):
    """Average precision over all labels, over those that are there and over the others; precision at 100 and 1,000."""
    best = np.argsort(-score.ravel(), kind="stable")
    return [average_precision(score.ravel(), wrong.ravel())] + \
        [average_precision(score[given == z], wrong[given == z]) for z in (1, 0)] + \
        [wrong.ravel()[best[:k]].mean() for k in (100, 1000)]


def of_nmn(program, folder, scores, *more):
    """The judgement of nmn audit, and the same measures from it."""
    out = subprocess.run(
        [program, "audit", "--logits", "--scores", folder / scores, "--labels", folder / "labels.csv", "--truth", folder / "truth.csv",
         "--top", "0", "--json", *more], check=True, capture_output=True, text=True).stdout
    judged = json.loads(out)["truth"]
    r = judged["posterior"]
    return judged, [r["ap"], r["incorrect_ap"], r["missing_ap"], r["precision_at"]["100"], r["precision_at"]["1000"]]


def compare(program, folder):
    """Measures of the three rankings; labels that cleanlab flags, precision, and that of as many by posterior."""
    ids, logits = read_matrix(folder / "oof.csv")
    labelled, given = read_matrix(folder / "labels.csv")
    known, truth = read_matrix(folder / "truth.csv")
    if not ids == labelled == known:
        sys.exit(f"{folder}: oof.csv, labels.csv and truth.csv have other rows")
    z, wrong, p = given.astype(int), (given != truth).astype(int), 1 / (1 + np.exp(-logits))
    labels = [list(map(int, np.flatnonzero(row))) for row in z]
    own = np.asarray(get_label_quality_scores_per_class(labels, p))
    own = own if own.shape == z.shape else own.T
    flags = find_multilabel_issues_per_class(labels, p, return_indices_ranked_by="self_confidence", n_jobs=1)[0]
    flagged = [(i, k) for k, found in enumerate(flags) for i in found]
    judged, plain = of_nmn(program, folder, "oof.csv")
    rows = [measures(1 - own, wrong, z), plain]
    if (folder / "oof-noise.csv").exists():
        rows.append(of_nmn(program, folder, "oof-noise.csv", "--noise-rates", folder / "rates.csv")[1])
    hits = sum(wrong[c] for c in flagged)
    return rows, [len(flagged), hits / max(len(flagged), 1), judged["confident"]["posterior_precision"]], wrong.mean()


def compare_all(program, folders):
    rows, flagged, wrong = zip(*(compare(program, Path(f)) for f in folders))
    print(f"cleanlab {cleanlab.__version__}; {len(folders)} runs, {100 * np.mean(wrong):.1f} % of the labels are wrong\n")
    print("| ranking | AP | z = 1 | z = 0 | precision at 100 | at 1,000 |\n|:--|--:|--:|--:|--:|--:|")
    for name, row in zip(RANKINGS, np.mean(np.array(rows, dtype=float), axis=0)):
        print(f"| {name} | " + " | ".join("" if np.isnan(v) else f"{100 * v:.1f}" for v in row) + " |")
    n, precision, same = np.mean(np.array(flagged), axis=0)
    print(f"\ncleanlab flags {n:.0f} labels, {100 * precision:.1f} % of them wrong; of as many by nmn's posterior of the same scores "
          f"{100 * same:.1f} % are.")


def main():
    if not sys.argv[1].endswith(".json"):
        return compare_all(sys.argv[1], sys.argv[2:])
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
