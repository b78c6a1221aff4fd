#!/usr/bin/env python3
"""How well does `nmn audit captions` find captions of other pictures, whichever way they were exchanged?

    bench/caption_share.py captions.json [--nmn ./nmn] [--sets 3] [--pictures 100,300,5000] [--kinds uniform,pair]

draws sets of pictures with five captions from a file in COCO's form, and gives some pictures captions of other
pictures:

    uniform  one, two or three captions of each picture, each from a random other picture
    uneven   a share that differs from picture to picture (Beta distribution)
    similar  one, two or three of each picture, each from the most similar of 60 random pictures (tf-idf of words)
    pair     two or three of each picture, all from one random other picture
    none     nothing is exchanged

It prints, for each kind, share and size, how many intervals hold the true share, the mean error and width of the
share and its interval, and AUC, precision and recall of what is dropped at an expected precision of .9. The standard
library is all that it needs.
"""

import argparse
import collections
import gzip
import json
import math
import os
import random
import re
import subprocess
import tempfile

EACH = 5  # captions of a picture
CANDIDATES = 60  # the most similar of them gives its captions
CASES = [("uniform", 0.2), ("uniform", 0.4), ("uniform", 0.6), ("uneven", 0.2), ("uneven", 0.4), ("uneven", 0.6),
         ("similar", 0.2), ("similar", 0.4), ("similar", 0.6), ("pair", 0.4), ("pair", 0.6), ("none", 0.0)]


def vectors(captions):
    """Returns the tf-idf vector of each picture's words, of length 1."""
    bags = [{w for text in own for w in re.findall(r"[a-z0-9']+", text.lower())} for own in captions]
    count = collections.Counter(w for bag in bags for w in bag)
    out = []
    for bag in bags:
        weights = {w: math.log(len(bags) / count[w]) for w in bag}
        length = math.sqrt(sum(v * v for v in weights.values())) or 1
        out.append({w: v / length for w, v in weights.items()})
    return out


def other(picture, pictures, draw):
    """Returns a random other picture."""
    donor = draw.randrange(pictures - 1)
    return donor + (donor >= picture)


def exchange(captions, kind, share, draw):
    """Returns the captions with some exchanged, and which: a set of (picture, place)."""
    out, foreign = [list(own) for own in captions], set()
    if kind == "none":
        return out, foreign
    of = vectors(captions) if kind == "similar" else None
    for picture in range(len(captions)):
        if kind == "uneven":
            own_share = draw.betavariate(share, 1 - share)
            places = [c for c in range(EACH) if draw.random() < own_share]
        else:
            places = draw.sample(range(EACH), round(share * EACH))
        one = other(picture, len(captions), draw)
        from_one = draw.sample(range(EACH), len(places))
        for i, place in enumerate(places):
            donor, taken = other(picture, len(captions), draw), draw.randrange(EACH)
            if kind == "pair":
                donor, taken = one, from_one[i]
            elif kind == "similar":
                candidates = [other(picture, len(captions), draw) for _ in range(CANDIDATES)]
                donor = max(candidates, key=lambda n: sum(v * of[n].get(w, 0) for w, v in of[picture].items()))
            out[picture][place] = captions[donor][taken]
            foreign.add((picture, place))
    return out, foreign


def audit(nmn, captions, foreign, folder):
    """Returns the JSON of an audit."""
    path, truth = os.path.join(folder, "captions.json"), os.path.join(folder, "truth.txt")
    pictures = [{"id": n, "file_name": f"{n}.jpg"} for n in range(len(captions))]
    annotations = [{"id": EACH * n + c, "image_id": n, "caption": text}
                   for n, own in enumerate(captions) for c, text in enumerate(own)]
    with open(path, "w") as file:
        json.dump({"images": pictures, "annotations": annotations}, file)
    command = [nmn, "audit", "captions", path, "--json"]
    if foreign:
        with open(truth, "w") as file:
            file.writelines(f"{EACH * n + c}\n" for n, c in sorted(foreign))
        command += ["--truth", truth]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("captions")
    parser.add_argument("--nmn", default="./nmn")
    parser.add_argument("--sets", type=int, default=3)
    parser.add_argument("--pictures", default="100,300,5000")
    parser.add_argument("--kinds", default="uniform,uneven,similar,pair,none")
    args = parser.parse_args()
    with gzip.open(args.captions) if args.captions.endswith(".gz") else open(args.captions) as file:
        of = {}
        for a in json.load(file)["annotations"]:
            of.setdefault(a["image_id"], []).append(a["caption"])
    every = [own[:EACH] for own in of.values() if len(own) >= EACH]
    print("| kind | foreign | pictures | share found | error | intervals that hold it | width | AUC | precision | recall |")
    print("|:--|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        for kind, share in CASES:
            if kind not in args.kinds.split(","):
                continue
            for pictures in map(int, args.pictures.split(",")):
                rows = []
                for seed in range(args.sets):
                    draw = random.Random(f"{seed} {pictures} {kind} {share}")
                    captions, foreign = exchange(draw.sample(every, min(pictures, len(every))), kind, share, draw)
                    found = audit(args.nmn, captions, foreign, folder)
                    interval = found.get("foreign_interval") or {"low": 0, "high": 1}
                    truth, judged = len(foreign) / (EACH * len(captions)), found.get("truth") or {}
                    rows.append((found["foreign"], abs(found["foreign"] - truth),
                                 interval["low"] <= truth <= interval["high"], interval["high"] - interval["low"],
                                 judged.get("auc") or 0, judged.get("precision") or 0, judged.get("recall") or 0))
                mean = [sum(column) / len(rows) for column in zip(*rows)]
                right = "" if not share else f" {mean[4]:.3f} | {mean[5]:.3f} | {mean[6]:.3f} |"
                print(f"| {kind} | {share:.0%} | {pictures} | {mean[0]:.3f} | {mean[1]:.3f} | {sum(r[2] for r in rows)} of "
                      f"{len(rows)} | {mean[3]:.3f} |{right or ' | | |'}", flush=True)


if __name__ == "__main__":
    main()
