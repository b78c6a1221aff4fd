#!/usr/bin/env python3
"""Draw docs/start/captions.svg: captions of built-in scenes before and after nmn audit captions.

Usage: python3 bench/caption_picture.py [NMN] >docs/start/captions.svg

Two captions of each five are shuffled among the pictures. nmn audits all of them, and the first pictures are drawn as they come, with
what nmn found and what it got wrong. It needs Python alone.
"""

import base64
import html
import json
import pathlib
import random
import subprocess
import sys
import tempfile

PICTURES, SHOWN = 4000, 4
INK, MUTED, RED, GREEN = "#1d2125", "#656d76", "#b42318", "#1a7f37"


def mix(file: pathlib.Path) -> set[int]:
    """Shuffle two captions of each five among the pictures, and return the ids of those that moved."""
    data = json.loads(file.read_text())
    chosen = [a for n, a in enumerate(data["annotations"]) if n % 5 in (1, 3)]
    pictures = [a["image_id"] for a in chosen]
    random.Random(1).shuffle(pictures)
    moved = {a["id"] for a, picture in zip(chosen, pictures) if a["image_id"] != picture}
    for caption, picture in zip(chosen, pictures):
        caption["image_id"] = picture
    file.with_name("mixed.json").write_text(json.dumps(data))
    return moved


def text(x: float, y: float, words: str, colour: str = INK, style: str = "") -> str:
    return f'<text x="{x}" y="{y}" fill="{colour}" {style}>{html.escape(words)}</text>'


def draw(folder: pathlib.Path, kept: set[int], moved: set[int]) -> list[str]:
    """Return the rows of the drawing: a picture, its captions as they came, and what nmn made of them."""
    data = json.loads((folder / "mixed.json").read_text())
    rows = []
    for i, image in enumerate(data["images"][:SHOWN]):
        top = 92 + 136 * i
        jpeg = base64.b64encode((folder / "images" / image["file_name"]).read_bytes()).decode()
        rows.append(f'<image x="24" y="{top}" width="116" height="116" href="data:image/jpeg;base64,{jpeg}"/>')
        captions = [a for a in data["annotations"] if a["image_id"] == image["id"]]
        for j, caption in enumerate(captions):
            y, own, foreign = top + 16 + 23 * j, caption["id"] in kept, caption["id"] in moved
            rows.append(text(164, y, caption["caption"]))
            rows.append(text(506, y, "✓" if own else "✗", GREEN if own else RED, 'font-weight="600"'))
            line = "" if own else 'text-decoration="line-through"'
            rows.append(text(530, y, caption["caption"], INK if own else RED, line))
            if own == foreign:
                note = "missed: foreign" if foreign else "mistake: its own"
                rows.append(text(812, y, note, MUTED, 'font-size="12" font-style="italic"'))
    return rows


def main() -> None:
    nmn = sys.argv[1] if len(sys.argv) > 1 else "./nmn"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name) / "scenes"
        subprocess.run([nmn, "scenes", folder, "--number", str(PICTURES)], check=True, stdout=sys.stderr)
        moved = mix(folder / "captions_train2014.json")
        kept_file = folder / "kept.json"
        subprocess.run([nmn, "audit", "captions", folder / "mixed.json", "--apply", kept_file],
                       check=True, stdout=sys.stderr)
        kept = {a["id"] for a in json.loads(kept_file.read_text())["annotations"]}
        rows = draw(folder, kept, moved)
    total = 5 * PICTURES
    dropped = set(range(1, total + 1)) - kept
    right = len(dropped & moved)
    height = 92 + 136 * SHOWN + 40
    summary = (f"{total:,} captions, {len(moved) / total:.0%} of them under other pictures. {len(dropped):,} dropped: "
               f"{right / len(dropped):.0%} of these are foreign, and {right / len(moved):.0%} of the foreign ones are found.")
    print(f'<svg xmlns="http://www.w3.org/2000/svg" width="930" height="{height}" viewBox="0 0 930 {height}" role="img" '
          "font-family=\"system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', 'Liberation Sans', sans-serif\" "
          'font-size="15">')
    print("<title>Captions before and after nmn audit captions</title>")
    print(f"<desc>{html.escape(summary)}</desc>")
    print(f'<rect width="930" height="{height}" rx="8" fill="#fff"/>')
    print(text(24, 38, "nmn audit captions", INK, 'font-size="19" font-weight="600"'))
    print(text(164, 72, "before", MUTED, 'font-weight="600"'), text(506, 72, "after", MUTED, 'font-weight="600"'))
    print('<path d="M164 80h280M506 80h400" stroke="#d0d7de"/>')
    print("\n".join(rows))
    print(text(24, height - 20, summary, MUTED, 'font-size="13"'))
    print("</svg>")


if __name__ == "__main__":
    main()
