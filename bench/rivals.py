#!/usr/bin/env python3
"""Which settings suit the rivals of nmn's noise models?

    bench/rivals.py FOLDER [--nmn ./nmn] [--seeds 1] [--only REGEX] [--thresholds]

draws two sets of 5,000 scenes in FOLDER:

    captions  labels are the words of five captions, and two of the five belong to other pictures
    tags      30 % of the true labels are missing, and 5 % of the others made up

It trains each setting on both sets, a tenth of each held out and another tenth for the test, and prints a table for
each set. Complete runs are kept. The columns:

    noisy AP  on the held-out noisy labels
    loss      on the held-out noisy labels, in nats for a picture: the cross-entropy of the net alone
    AP, Brier, OF1 and CF1 at .5, at θ* and at θ  against the truth of the test pictures, in percent except for Brier

θ* is the threshold of `nmn predict`, which assumes calibrated probabilities. θ, from .2 to .6, has the highest OF1 on
the held-out noisy labels. --thresholds searches it. The standard library is all that it needs.
"""

import argparse
import csv
import json
import re
import statistics
import subprocess
from pathlib import Path

ONLINE, FOLDS = ("--noise-rates", "online"), ("--noise-rates", "folds:2")


def start(miss, false):
    return "--set", f"train.noise.miss_rate=[{miss}]", "--set", f"train.noise.false_rate=[{false}]"


# Name in the table, arm and flags.
SETTINGS = [("baseline", "baseline", ()), ("baseline 14", "baseline", ("--set", "train.stage1_epochs=10")),
            ("early", "baseline-early", ())]
SETTINGS += [(f"{arm} {delta}", arm, ("--set", f"train.loss={{kind: {arm}, delta: {delta}}}"))
             for arm in ("ll-r", "ll-ct") for delta in (.1, .2, .5, 1)]
SETTINGS += [(f"asl {gamma} 0 {margin}", "asl",
              ("--set", f"train.loss={{kind: asl, gamma_negative: {gamma}, margin: {margin}}}"))
             for gamma, margin in ((4, .05), (4, .2), (2, .05), (1, .05), (1, 0), (0, .05))]
SETTINGS += [("em", "em", ()), ("em 0.1 0.02", "em", start(.1, .02)), ("forward-online", "forward", ONLINE),
             ("held", "held-rates", ONLINE), ("pruned", "pruned", FOLDS), ("soft", "soft-labels", FOLDS),
             ("clean", "clean", ())]


def draw(nmn, folder):
    """Writes both sets and returns their lists of pictures."""
    captions, tags = folder / "caps", folder / "tags"
    if not (tags / "pictures.csv").exists():
        subprocess.run([nmn, "scenes", "--number", "5000", "--flips", "0.3:0.05", tags], check=True)
    if not (captions / "captions.csv").exists():
        subprocess.run([nmn, "scenes", "--number", "5000", "--replace-captions", "0.4", captions], check=True)
        words = {line.split(",")[0] for line in (captions / "vocabulary.txt").read_text().splitlines() if line}
        listed = json.loads((captions / "captions_train2014.json").read_text())
        names = {image["id"]: image["file_name"] for image in listed["images"]}
        said = {name: set() for name in names.values()}
        for a in listed["annotations"]:
            said[names[a["image_id"]]] |= words & set(a["caption"].split())
        with open(captions / "truth.csv") as truth, open(captions / "captions.csv", "w") as out:
            table = csv.writer(out)
            table.writerow(["path", "labels", "truth"])
            for row in csv.DictReader(truth):
                name = row.pop("id")
                table.writerow(["images/" + name, ";".join(sorted(said[name])),
                                ";".join(word for word, value in row.items() if value == "1")])
    return {"cap": captions / "captions.csv", "tag": tags / "pictures.csv"}


def evaluated(nmn, run, *flags):
    return json.loads(subprocess.run([nmn, "eval", run, "--json", *flags], check=True, capture_output=True).stdout)


def measured(nmn, pictures, run, arm, flags, seed, threads):
    """Trains a setting unless it is complete, and returns its figures."""
    kept = Path(f"{run}.json")
    if kept.exists():
        return json.loads(kept.read_text())
    subprocess.run([nmn, "train", pictures, "--vocab", pictures.parent / "vocabulary.txt", "--preset", "scenes", "--arm",
                    arm, "--seed", str(seed), "--threads", str(threads), "--run-dir", run, "-q", *flags],
                   check=True, stdout=subprocess.DEVNULL)
    held = evaluated(nmn, run, "--split", "validation")["labels"]
    test = json.loads((run / "result.json").read_text())["evaluation"]
    truth = test["truth"]
    row = {"noisyloss": held["log_loss"], "noisyap": held["ap"]["All"], "ap": truth["ap"]["All"],
           "brier": truth["brier"]["All"], "half": truth["at_threshold"]["All"], "star": truth["at_plug_in"]["All"],
           "theta": test["plug_in_threshold"]}
    kept.write_text(json.dumps(row))
    return row


def own(nmn, run):
    """Returns OF1 and CF1 at the threshold with the highest OF1 on held-out noisy labels."""
    kept = Path(f"{run}.own.json")
    if kept.exists():
        return json.loads(kept.read_text())
    at = {t: evaluated(nmn, run, "--split", "validation", "--threshold", str(t))["labels"]["at_threshold"]["All"]["of1"]
          for t in (.2, .25, .3, .35, .4, .45, .5, .55, .6)}
    best = max(at, key=at.get)
    row = {"theta": best, **evaluated(nmn, run, "--threshold", str(best))["truth"]["at_threshold"]["All"]}
    kept.write_text(json.dumps(row))
    return row


def shown(values, scale=100, digits=1):
    text = f"{scale * statistics.mean(values):.{digits}f}"
    return text if len(values) == 1 else f"{text} ± {scale * statistics.stdev(values):.{digits}f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--nmn", default="./nmn")
    parser.add_argument("--seeds", default="1")
    parser.add_argument("--only", default="", metavar="REGEX")
    parser.add_argument("--thresholds", action="store_true")
    parser.add_argument("--threads", type=int, default=1)
    o = parser.parse_args()
    seeds = [int(s) for s in o.seeds.split(",")]
    for data, pictures in draw(o.nmn, o.folder).items():
        print(f"\n{data}\n\n| setting | noisy AP | loss | AP | OF1 | CF1 | OF1 at θ* | CF1 at θ* | Brier | OF1 at θ "
              "| CF1 at θ |\n|:--" + "|--:" * 10 + "|")
        for name, arm, flags in SETTINGS:
            if not re.search(o.only, name):
                continue
            runs = [o.folder / "g" / data / f"{name}-{seed}" for seed in seeds]
            rows = [measured(o.nmn, pictures, run, arm, flags, seed, o.threads) for run, seed in zip(runs, seeds)]
            at = [own(o.nmn, run) for run in runs] if o.thresholds else []
            cells = [shown([r["noisyap"] for r in rows]), shown([r["noisyloss"] for r in rows], 1, 2),
                     shown([r["ap"] for r in rows])]
            cells += [shown([r[t][m] for r in rows]) for t in ("half", "star") for m in ("of1", "cf1")]
            cells += [shown([r["brier"] for r in rows], 1, 3)]
            cells += [shown([r[m] for r in at]) if at else "" for m in ("of1", "cf1")]
            print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
