#!/usr/bin/env python3
"""How often does the interval of `nmn audit captions` hold the true share of foreign captions?

    bench/caption_share.py captions.json [--nmn ./nmn] [--sets 5] [--pictures 100,170,300,600,1200,2500,5000]

draws sets of pictures with five captions from a file in COCO's form, replaces captions by captions of other pictures of
the set, drawn uniformly, and prints for each size how many intervals hold the share of the captions replaced: one, two
or three of five, or each with probability .2, .33 or .6. The standard library is all that it needs.
"""

import argparse
import json
import os
import random
import subprocess
import tempfile

KINDS = [("1 of 5", 1), ("2 of 5", 2), ("3 of 5", 3), ("each .2", 0.2), ("each .33", 0.33), ("each .6", 0.6)]


def replace(captions, kind, draw):
    """Returns the captions with some replaced, and how many were. captions has five texts for each picture."""
    out, replaced = [], 0
    for picture, own in enumerate(captions):
        if isinstance(kind, int):
            wrong = set(draw.sample(range(5), kind))
        else:
            wrong = {c for c in range(5) if draw.random() < kind}
        replaced += len(wrong)
        new = list(own)
        for c in wrong:
            donor = draw.randrange(len(captions) - 1)
            new[c] = draw.choice(captions[donor + (donor >= picture)])
        out.append(new)
    return out, replaced


def audit(nmn, captions, folder):
    """Returns the estimated share and its interval."""
    path = os.path.join(folder, "captions.json")
    pictures = [{"id": n, "file_name": f"{n}.jpg"} for n in range(len(captions))]
    annotations = [{"id": 5 * n + c, "image_id": n, "caption": text}
                   for n, own in enumerate(captions) for c, text in enumerate(own)]
    with open(path, "w") as file:
        json.dump({"images": pictures, "annotations": annotations}, file)
    out = subprocess.run([nmn, "audit", "captions", "--captions", path, "--json"], check=True, capture_output=True)
    found = json.loads(out.stdout)
    interval = found.get("foreign_interval") or {"low": 0, "high": 1}
    return found["foreign"], interval["low"], interval["high"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("captions")
    parser.add_argument("--nmn", default="./nmn")
    parser.add_argument("--sets", type=int, default=5)
    parser.add_argument("--pictures", default="100,170,300,600,1200,2500,5000")
    args = parser.parse_args()
    with open(args.captions) as file:
        of = {}
        for a in json.load(file)["annotations"]:
            of.setdefault(a["image_id"], []).append(a["caption"])
    every = [own[:5] for own in of.values() if len(own) >= 5]
    print("| pictures | replaced | intervals that hold the share | mean error of the share | mean width |")
    print("|--:|:--|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        for pictures in map(int, args.pictures.split(",")):
            for name, kind in KINDS:
                held = error = width = 0
                for seed in range(args.sets):
                    draw = random.Random(f"{seed} {pictures} {name}")
                    captions, replaced = replace(draw.sample(every, min(pictures, len(every))), kind, draw)
                    share, low, high = audit(args.nmn, captions, folder)
                    truth = replaced / (5 * len(captions))
                    held += low <= truth <= high
                    error += abs(share - truth) / args.sets
                    width += (high - low) / args.sets
                print(f"| {pictures} | {name} | {held} of {args.sets} | {error:.3f} | {width:.3f} |", flush=True)


if __name__ == "__main__":
    main()
