#!/usr/bin/env python3
"""Draws a set of pictures that no setting of nmn was chosen on: letters on patterned grounds, with noise of another
kind than that of the built-in scenes.

  python bench/letters.py FOLDER [SEED [TRAIN [TEST]]]

A picture of 48 × 48 pixels has one to four of fifteen letters, each with a colour, a style (outlined, slanted, bold or
none) and a size, on one of five patterns. FOLDER gets

  images/             the pictures
  captions.json       one to seven captions of each training picture, in COCO's form. How many belong to another
                      picture differs from picture to picture, two fifths on average, and half of these are of one of
                      the pictures most like it
  test.json           test pictures, whose captions mention all that holds: evaluated on them, a net is held against
                      the truth
  tags.csv            the same pictures with labels. The smaller and fainter a letter, the sooner its labels are
                      missing; a label is confused with others of its kind, and one in fifty made up
  vocabulary.txt

Nothing here is drawn from the noise model that nmn learns through.
"""
import json
import struct
import sys
import zlib
from pathlib import Path

import numpy as np

SIZE = 48
# Letters of 5 × 7 cells, a row of bits each.
GLYPHS = {
    "A": "01110 10001 10001 11111 10001 10001 10001", "C": "01110 10001 10000 10000 10000 10001 01110",
    "E": "11111 10000 10000 11110 10000 10000 11111", "F": "11111 10000 10000 11110 10000 10000 10000",
    "H": "10001 10001 10001 11111 10001 10001 10001", "J": "00111 00010 00010 00010 00010 10010 01100",
    "K": "10001 10010 10100 11000 10100 10010 10001", "L": "10000 10000 10000 10000 10000 10000 11111",
    "N": "10001 11001 10101 10101 10011 10001 10001", "R": "11110 10001 10001 11110 10100 10010 10001",
    "S": "01111 10000 10000 01110 00001 00001 11110", "T": "11111 00100 00100 00100 00100 00100 00100",
    "V": "10001 10001 10001 10001 10001 01010 00100", "X": "10001 10001 01010 00100 01010 10001 10001",
    "Z": "11111 00001 00010 00100 01000 10000 11111",
}
LETTERS = list(GLYPHS)
MASKS = [np.array([[int(b) for b in row] for row in g.split()]) for g in GLYPHS.values()]
COLOURS = {"red": (.9, .15, .1), "green": (.2, .75, .25), "blue": (.2, .3, .95), "yellow": (.95, .9, .2),
           "pink": (.95, .5, .7), "white": (.97, .97, .97), "black": (.04, .04, .04)}
STYLES = ["outlined", "slanted", "bold"]
SIZES = ["tiny", "huge"]
GROUNDS = ["bricks", "checks", "waves", "speckles", "plain"]
KINDS = [LETTERS, list(COLOURS), STYLES, SIZES, GROUNDS, ["single", "crowd"]]
WORDS = [w.lower() for kind in KINDS for w in kind]
INDEX = {w: i for i, w in enumerate(WORDS)}


def write_png(path, rgb):
    """Writes height × width × 3 bytes as PNG."""
    height, width, _ = rgb.shape
    rows = b"".join(b"\0" + row.tobytes() for row in rgb)

    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
                     chunk(b"IDAT", zlib.compress(rows, 6)) + chunk(b"IEND", b""))


def ground(kind, rng):
    y, x = np.mgrid[:SIZE, :SIZE]
    base = rng.uniform(.3, .7, 3)
    shade = rng.uniform(.12, .3)
    if kind == "bricks":
        mark = (y % 8 == 0) | ((x + 6 * (y // 8 % 2)) % 12 == 0)
    elif kind == "checks":
        mark = (x // 6 + y // 6) % 2 == 0
    elif kind == "waves":
        mark = np.sin(.7 * y + 1.5 * np.sin(.3 * x + rng.uniform(0, 6))) > 0
    elif kind == "speckles":
        mark = rng.random((SIZE, SIZE)) < .12
    else:
        mark = np.zeros((SIZE, SIZE), bool)
    return np.clip(base + shade * mark[..., None] * rng.choice([-1, 1]), 0, 1)


def draw(rng):
    """A picture, and its letters as (words, how plainly they can be seen from 0 to 1), the plainest first."""
    kind = rng.choice(GROUNDS, p=[.25, .2, .2, .15, .2])
    picture = ground(kind, rng)
    letters = []
    corners = rng.permutation(4)
    for corner in corners[:rng.choice([1, 2, 3, 4], p=[.35, .35, .2, .1])]:
        letter = rng.choice(len(LETTERS), p=SHARES)
        colour = rng.choice(list(COLOURS))
        style = rng.choice(STYLES + ["none"], p=[.15, .2, .15, .5])
        size = rng.choice(SIZES + ["none"], p=[.3, .25, .45])
        scale = {"tiny": rng.uniform(1.1, 1.5), "none": rng.uniform(1.9, 2.5), "huge": rng.uniform(3, 3.6)}[size]
        centre = np.array([12 + 24 * (corner // 2), 12 + 24 * (corner % 2)]) + rng.uniform(-3, 3, 2)
        y, x = np.mgrid[:SIZE, :SIZE]
        v, u = (y - centre[0]) / scale, (x - centre[1]) / scale
        u = u + (.45 * v if style == "slanted" else 0)
        row, column = np.floor(v + 3.5).astype(int), np.floor(u + 2.5).astype(int)
        padded = np.pad(MASKS[letter], 2)
        if style == "bold":
            padded = padded | np.roll(padded, 1, axis=1)
        near = (row >= -1) & (row <= 7) & (column >= -1) & (column <= 5)
        row, column = np.clip(row, -1, 7) + 2, np.clip(column, -1, 5) + 2
        body = near & (padded[row, column] > 0)
        paint = np.array(COLOURS[colour])
        if style == "outlined":
            around = padded
            for step, axis in ((1, 0), (-1, 0), (1, 1), (-1, 1)):
                around = around | np.roll(padded, step, axis)
            picture[near & (around[row, column] > 0)] = 1 - paint
        contrast = np.abs(picture[body].mean(0) - paint).max() if body.any() else 0
        picture[body] = paint
        words = [LETTERS[letter].lower(), colour] + [w for w in (style, size) if w != "none"]
        letters.append((words, float(np.clip(contrast * scale / 2.5, .05, 1))))
    picture = np.clip(picture * rng.uniform(.75, 1.2) + rng.normal(0, .04, picture.shape), 0, 1)
    letters.sort(key=lambda a: -a[1])
    rest = [kind] + (["single"] if len(letters) == 1 else ["crowd"] if len(letters) > 2 else [])
    return (picture * 255).astype(np.uint8), letters, rest


def caption(letters, rest, rng):
    """Some words about one letter, rarely about a second: the plainer it is, the more of them."""
    plain = np.array([p for _, p in letters])
    words = []
    about = min(len(letters), rng.choice([1, 2], p=[.6, .4]))
    for i in rng.choice(len(letters), size=about, replace=False, p=plain / plain.sum()):
        said, seen = letters[i]
        words += [w for w in said[:1] if rng.random() < .6 + .35 * seen]
        words += [w for w in said[1:] if rng.random() < .2 + .6 * seen]
    return words + [w for w in rest if rng.random() < .35]


def tags(letters, rest, rng):
    """The labels of a picture, noisily."""
    z = set()
    for words, seen in letters:
        for w in words:
            if rng.random() < .85 - .55 * (1 - seen):
                kind = next(k for k in KINDS if w in [a.lower() for a in k])
                z.add(w if rng.random() > .06 else rng.choice(kind).lower())
    z |= {w for w in rest if rng.random() < .7}
    return z | {w for w in WORDS if rng.random() < .02}


def exchange(captions, y, rng):
    """Replaces some captions of each picture by captions of other pictures, half of them of similar ones."""
    n = len(captions)
    out = [list(c) for c in captions]
    for i in range(n):
        share = rng.beta(.8, 1.2)
        some = rng.choice(n, size=min(n, 200), replace=False)
        like = (y[some] @ y[i]) / np.maximum(1, (y[some] | y[i]).sum(1))
        like[some == i] = -1
        close = some[np.argsort(-like)[:10]]
        for j in range(len(out[i])):
            if rng.random() < share:
                other = rng.choice(close) if rng.random() < .5 else rng.choice(n)
                out[i][j] = captions[other][rng.integers(len(captions[other]))]
    return out


SHARES = 1 / (np.arange(len(LETTERS)) + 4)
SHARES /= SHARES.sum()


def coco(path, ids, captions):
    said = [(i, c) for i, cs in zip(ids, captions) for c in cs]
    path.write_text(json.dumps({
        "images": [{"id": i, "file_name": f"{i:06d}.png", "width": SIZE, "height": SIZE} for i in ids],
        "annotations": [{"id": n, "image_id": i, "caption": " ".join(c) or "picture"} for n, (i, c) in enumerate(said, 1)]}))


def main():
    folder = Path(sys.argv[1])
    seed, train, test = (int(a) for a in sys.argv[2:] + ["1", "5000", "1000"][len(sys.argv) - 2:])
    (folder / "images").mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng([seed, 1])
    truth, captions, rows = [], [], ["path,labels,truth,split"]
    for i in range(train + test):
        rgb, letters, rest = draw(rng)
        write_png(folder / "images" / f"{i:06d}.png", rgb)
        true = sorted({w for words, _ in letters for w in words} | set(rest))
        truth.append(true)
        captions.append([caption(letters, rest, rng) for _ in range(rng.integers(1, 8))])
        split = "test" if i >= train else "validation" if i % 10 == 0 else "train"
        rows.append(f"images/{i:06d}.png,{';'.join(sorted(tags(letters, rest, rng)))},{';'.join(true)},{split}")
    y = np.array([[w in t for w in WORDS] for t in truth[:train]], int)
    coco(folder / "captions.json", range(train), exchange(captions[:train], y, rng))
    coco(folder / "test.json", range(train, train + test), [[t] * 5 for t in truth[train:]])
    (folder / "tags.csv").write_text("\n".join(rows) + "\n")
    (folder / "vocabulary.txt").write_text("".join(w + "\n" for w in WORDS))
    noisy = np.array([[w in r.split(",")[1].split(";") for w in WORDS] for r in rows[1:train + 1]], int)
    missing, incorrect = ((1 - noisy) * y).sum() / y.sum(), (noisy * (1 - y)).sum() / (1 - y).sum()
    print(f"{train} + {test} pictures, {y.sum(1).mean():.1f} labels each; of tags {missing:.2f} are missing and "
          f"{incorrect:.3f} incorrect")


if __name__ == "__main__":
    main()
