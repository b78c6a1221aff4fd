#!/usr/bin/env python3
"""Keeps figures of nmn and of PyTorch and compares them. Needs nothing but Python.

    nmn bench step --json | bench/table.py add FIGURES CASE nmn ROUND [SECONDS]
    bench/table.py has FIGURES CASE WHO ROUND
    bench/table.py best FIGURES CASE FIGURE
    bench/table.py ratios FIGURES

FIGURES has a JSON line for each measurement, which is written at once; of a line that a kill has cut off nothing is
read. SECONDS are what the measurement took with everything around it. has exits with 0 where FIGURES has that
measurement, with 1 where it has not. best prints which of PyTorch's forms has the least median of a figure. ratios
prints a table in Markdown: for each case and figure the medians over the rounds with their least and largest, and
nmn's over the best of PyTorch's.
"""
import collections
import json
import os
import statistics
import sys

# Figures by their name in JSON; less is better in all of them.
FIGURES = {"step_ms": "step, ms", "step_cpu_ms": "step, ms of all processors", "forward_ms": "forward, ms", "peak_memory_mib": "peak memory, MiB", "ms": "time, ms",
           "image_ms": "a picture, ms", "image_cpu_ms": "a picture, ms of all processors"}


def append(path, *lines):
    """Writes lines of figures at once, after a line that a kill has cut off if there is one."""
    with open(path, "ab+") as out:
        torn = b""
        if out.seek(0, os.SEEK_END):
            out.seek(-1, os.SEEK_END)
            torn = b"" if out.read(1) == b"\n" else b"\n"
        out.write(torn + "".join(json.dumps(line) + "\n" for line in lines).encode())
        out.flush()
        os.fsync(out.fileno())


def lines_of(path):
    """The lines of figures that are whole."""
    with open(path) as lines:
        for line in lines:
            try:
                yield json.loads(line)
            except ValueError:
                pass


def add(path, case, who, round, seconds=None):
    figures = json.load(sys.stdin)
    if seconds is not None:
        figures["wall_s"] = float(seconds)
    figures.update(figures.pop("copy", {}))
    products = figures.pop("products", None)
    cases = {f"{case} {p['size']}": {**figures, **p} for p in products} if products else {case: figures}
    append(path, *({**figures, "case": case, "who": who, "round": int(round)} for case, figures in cases.items()))
    for case, figures in cases.items():
        told = ", ".join(f"{name} {figures[name]:.4g}" for name in FIGURES if name in figures)
        print(f"{case}, {who}, round {round}: {told}", file=sys.stderr)


def has(path, case, who, round):
    """The name of a case of matrix products ends in a number."""
    sys.exit(not any(m["who"] == who and m.get("round", 1) == int(round) and (m["case"] == case or "size" in m and m["case"] == f"{case} {m['size']}")
                     for m in lines_of(path)))


def best(path, case, figure):
    who = {peer: values for peer, values in read(path)[case][figure].items() if peer != "nmn"}
    if not who:
        sys.exit(1)
    print(min(who, key=lambda peer: statistics.median(who[peer])))


def read(path):
    """Values by case, figure and who."""
    values = collections.defaultdict(lambda: collections.defaultdict(lambda: collections.defaultdict(list)))
    for m in lines_of(path):
        for name in FIGURES:
            if name in m:
                values[m["case"]][name][m["who"]].append(m[name])
    return values


def number(x):
    return f"{x:.0f}" if x >= 1000 else f"{x:.3g}"


def spread(values):
    middle = number(statistics.median(values))
    return middle if len(values) == 1 else f"{middle} ({number(min(values))} to {number(max(values))})"


def ratios(path):
    print("| case | figure | nmn | PyTorch's best | nmn / PyTorch |\n|:--|:--|--:|--:|--:|")
    for case, figures in read(path).items():
        for name in FIGURES:
            who = dict(figures.get(name, {}))
            ours = who.pop("nmn", None)
            rounded = {peer for peer in who if peer.endswith("-bf16")}  # another precision than nmn's
            for peers in (who.keys() - rounded, rounded):
                if ours is None or not peers:
                    continue
                best = min(peers, key=lambda peer: statistics.median(who[peer]))
                ratio = statistics.median(ours) / statistics.median(who[best])
                print(f"| {case} | {FIGURES[name]} | {spread(ours)} | {spread(who[best])}, {best} | {ratio:.2f} |")


if __name__ == "__main__":
    commands = {"add": (add, 4, 5), "has": (has, 4, 4), "best": (best, 3, 3), "ratios": (ratios, 1, 1)}
    command, least, most = commands.get(sys.argv[1] if len(sys.argv) > 1 else "", (None, 0, 0))
    if command is None or not least <= len(sys.argv) - 2 <= most:
        sys.exit(__doc__)
    command(*sys.argv[2:])
