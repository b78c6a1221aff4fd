#!/usr/bin/env python3
"""Compares nmn audit annotators with cleanlab.multiannotator (CROWDLAB) on simulated annotators.

  pip install cleanlab scipy
  python bench/annotators.py ./nmn [KIND...]

Each setting has 1,000 bags with one or five labels of two values, labelled by some of 5 to 50 annotators. Kinds:

  rates        each annotator has rates of its own, and every fifth may guess: nmn's own model
  constant     as rates, but three of ten annotators always give the same labels
  adversarial  as rates, but two of ten annotators swap 0 and 1 in four of five answers
  colluding    as rates, but three of ten annotators copy one list of guesses
  hard         every bag has a difficulty, and annotators err more often on difficult bags

cleanlab takes problems of one label: it gets each label by itself, with the probabilities of a classifier, which it
needs. nmn gets all labels at once, or one by one, without the classifier and with it.

Prints means over seeds: the share of right labels of the consensus, the AUC of finding its wrong ones by the method's
own confidence, the rank correlation of the annotators' estimated with their true accuracy, and seconds.
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
from scipy.stats import rankdata, spearmanr

BAGS, SEEDS = 1000, (1, 2, 3)

# annotators, annotators of a bag, labels, share of annotators who guess, spread of rates among labels (in logits)
SETTINGS = [
    (5, 2, 1, .2, 0), (5, 3, 1, .2, 0), (5, 5, 1, .2, 0), (50, 2, 1, .2, 0), (50, 3, 1, .2, 0), (50, 5, 1, .2, 0),
    (50, 3, 1, 0, 0),
    (5, 2, 5, .2, 0), (5, 3, 5, .2, 0), (50, 2, 5, .2, 0), (50, 3, 5, .2, 0), (50, 5, 5, .2, 0), (50, 3, 5, 0, 0),
    (50, 3, 5, .2, 1), (50, 5, 5, .2, 1),
]
KINDS = {"rates": SETTINGS, **{kind: [(10, 3, 1, 0, 0), (10, 5, 1, 0, 0), (10, 3, 5, 0, 0), (10, 5, 5, 0, 0), (50, 5, 5, 0, 0)]
                               for kind in ("constant", "adversarial", "colluding", "hard")}}


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def logit(p):
    return np.log(p) - np.log1p(-p)


def simulate(kind, annotators, each, labels, guess, spread, seed):
    """Returns truth N×K, labels N×J×K with NaN where an annotator did not look, and a classifier's probabilities N×K."""
    r = np.random.default_rng([seed, annotators, each, labels, int(10 * guess), int(spread)])
    prior = np.linspace(.15, .4, labels) if labels > 1 else np.array([.3])
    y = r.random((BAGS, labels)) < prior
    q01, q10 = r.uniform(.1, .5, annotators), r.uniform(.02, .2, annotators)
    guessing = round(guess * annotators)
    q01[:guessing], q10[:guessing] = .5, .5
    q01 = sigmoid(logit(q01)[:, None] + spread * r.normal(size=(1, labels)))
    q10 = sigmoid(logit(q10)[:, None] + spread * r.normal(size=(1, labels)))
    z = np.full((BAGS, annotators, labels), np.nan)
    more = np.random.default_rng([seed, annotators, each, labels, 7])  # so that the kind changes no other draw
    hardness = more.normal(size=BAGS) if kind == "hard" else np.zeros(BAGS)
    given = more.random((annotators, labels)) < .5  # the answers of constant annotators
    copied = more.random((BAGS, labels)) < prior  # the answers of colluding ones
    for i in range(BAGS):
        who = r.permutation(annotators)[:each]
        u = r.random((each, labels))
        miss, invent = sigmoid(logit(q01[who]) + 1.5 * hardness[i]), sigmoid(logit(q10[who]) + 1.5 * hardness[i])
        answers = np.where(y[i], u >= miss, u < invent)
        for a, j in enumerate(who):
            if kind == "constant" and j % 10 < 3:
                answers[a] = given[j]
            elif kind == "colluding" and j % 10 < 3:
                answers[a] = copied[i]
            elif kind == "adversarial" and j % 10 < 2:
                answers[a] = np.where(more.random(labels) < .8, ~y[i], y[i])
        z[i, who] = answers
    score = 1.5 * r.normal(np.where(y, .75, -.75))  # an AUC of .86, calibrated
    return y, z, sigmoid(score + logit(prior))


def auc(score, positive):
    n, m = positive.sum(), (~positive).sum()
    if n == 0 or m == 0:
        return np.nan
    return (rankdata(score)[positive].sum() - n * (n + 1) / 2) / (n * m)


def judge(y, z, consensus, confidence, accuracy, seconds):
    looked = ~np.isnan(z)
    true = ((z == y[:, None, :]) & looked).sum((0, 2)) / looked.sum((0, 2))
    finding = [auc(-confidence[:, k], consensus[:, k] != y[:, k]) for k in range(y.shape[1])]
    return (consensus == y).mean(), np.nanmean(finding), spearmanr(accuracy, true).statistic, seconds


def votes(y, z, _):
    begun = time.perf_counter()
    share = np.nanmean(z, axis=1)
    consensus = share > .5
    agree = np.nanmean(np.where(np.isnan(z), np.nan, z == consensus[:, None, :]), axis=(0, 2))
    return consensus, np.abs(share - .5), agree, time.perf_counter() - begun


def crowdlab(y, z, p):
    from cleanlab.multiannotator import get_label_quality_multiannotator
    consensus, confidence, quality = np.zeros(y.shape, bool), np.zeros(y.shape), []
    begun = time.perf_counter()
    for k in range(y.shape[1]):
        out = get_label_quality_multiannotator(z[:, :, k], np.stack([1 - p[:, k], p[:, k]], 1), verbose=False)
        consensus[:, k] = out["label_quality"]["consensus_label"] == 1
        confidence[:, k] = out["label_quality"]["consensus_quality_score"]
        quality.append(out["annotator_stats"].sort_index()["annotator_quality"].to_numpy())
    return consensus, confidence, np.mean(quality, 0), time.perf_counter() - begun


def nmn(program, scores, *flags):
    def run(y, z, p):
        with tempfile.TemporaryDirectory() as folder:
            at = Path(folder)
            with open(at / "z.csv", "w", newline="") as f:
                w = csv.writer(f)
                w.writerow(["picture", "annotator", "labels"])
                for i, j in zip(*np.nonzero(~np.isnan(z[:, :, 0]))):
                    w.writerow([i, j, ";".join(f"c{k}" for k in np.flatnonzero(z[i, j] == 1))])
            with open(at / "p.csv", "w", newline="") as f:
                w = csv.writer(f)
                w.writerow(["id"] + [f"c{k}" for k in range(y.shape[1])])
                w.writerows([i] + list(row) for i, row in enumerate(p))
            begun = time.perf_counter()
            out = json.loads(subprocess.run(
                [program, "audit", "annotators", "--labels", at / "z.csv", "--evidence", at / "e.npy", "--json"]
                + list(flags) + (["--scores", at / "p.csv"] if scores else []), check=True, capture_output=True, text=True).stdout)
            seconds = time.perf_counter() - begun
            evidence = np.load(at / "e.npy").astype(float)
        o = np.zeros(y.shape)
        for c, found in enumerate(out["classes"]):
            k = int(found["label"][1:])
            base = found["slope"] * logit(p[:, k]) + found["offset"] if scores else logit(np.float64(found["frequency"]))
            o[:, k] = base + evidence[:, c]
        accuracy = {a["annotator"]: a["accuracy"] for a in out["annotators"]}
        return o >= 0, np.abs(o), np.array([accuracy[str(j)] for j in range(z.shape[1])]), seconds
    return run


def main(program, *kinds):
    warnings.filterwarnings("ignore")
    methods = {"votes": votes, "cleanlab": crowdlab, "nmn": nmn(program, False), "nmn, scores": nmn(program, True)}
    methods["nmn, by label"] = nmn(program, False, "--by-label")
    methods["nmn, scores, by label"] = nmn(program, True, "--by-label")
    print("| kind | annotators | of a bag | labels | guess | spread | method | right | AUC of wrong | rank of accuracy | seconds |")
    print("|:--|--:|--:|--:|--:|--:|:--|--:|--:|--:|--:|")
    for kind, setting in ((kind, setting) for kind in kinds or KINDS for setting in KINDS[kind]):
        drawn = [simulate(kind, *setting, seed) for seed in SEEDS]
        for name, method in methods.items():
            if "by label" in name and setting[2] == 1:
                continue
            figures = np.array([judge(y, z, *method(y, z, p)) for y, z, p in drawn]).mean(0)
            print(f"| {kind} | %d | %d | %d | %g | %g |" % setting, name, "| %.3f | %.3f | %.3f | %.2f |" % tuple(figures), flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 2 or not set(sys.argv[2:]) <= KINDS.keys():
        sys.exit(__doc__)
    main(*sys.argv[1:])
