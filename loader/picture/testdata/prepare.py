"""Writes prepare.json: what Pillow makes of small pictures, resized along x, then along y, and cut from the middle.

    python loader/picture/testdata/prepare.py
"""

import base64
import json
import pathlib

from PIL import Image

CASES = [  # width, height, resize, square, filter, crop
    (40, 27, 20, False, "bicubic", 14),
    (27, 40, 20, False, "bicubic", 13),
    (40, 27, 20, False, "antialias", 13),
    (9, 14, 16, False, "bicubic", 16),
    (9, 14, 16, False, "antialias", 15),
    (33, 11, 8, False, "bicubic", 7),
    (30, 21, 12, True, "bicubic", 12),
    (30, 21, 12, True, "antialias", 9),
    (21, 16, 16, False, "bicubic", 11),
    (1, 5, 6, False, "bicubic", 6),
]
FILTERS = {"bicubic": Image.Resampling.BICUBIC, "antialias": Image.Resampling.BILINEAR}


def value(x, y, c):
    """Fine detail and hard edges; prepare_test.go has the same."""
    if (x // 5 + y // 3) % 2:
        return 255 if (x + c) % 3 else 0
    return (x * x * 7 + y * 13 + c * 29 + x * y * 3) % 256


cases = []
for width, height, resize, square, name, crop in CASES:
    pixels = bytes(value(x, y, c) for y in range(height) for x in range(width) for c in range(3))
    picture = Image.frombytes("RGB", (width, height), pixels)
    short, long = min(width, height), max(width, height)
    w = h = resize
    if not square:
        w, h = (resize, int(resize * long / short)) if width <= height else (int(resize * long / short), resize)
    picture = picture.resize((w, height), FILTERS[name]).resize((w, h), FILTERS[name])
    left, top = round((w - crop) / 2), round((h - crop) / 2)
    result = picture.crop((left, top, left + crop, top + crop)).tobytes()
    cases.append(
        {
            "width": width, "height": height, "resize": resize, "square": square, "filter": name, "crop": crop,
            "pixels": base64.b64encode(result).decode(),
        }
    )  # fmt: skip
path = pathlib.Path(__file__).with_suffix(".json")
path.write_text("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")
