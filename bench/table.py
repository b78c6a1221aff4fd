#!/usr/bin/env python3
"""Keeps figures of nmn and of PyTorch and compares them. Needs nothing but Python.

    nmn bench step --json | bench/table.py add FIGURES CASE nmn ROUND
    bench/table.py ratios FIGURES

FIGURES has a JSON line for each measurement. ratios prints a table in Markdown: for each case and
figure the medians over the rounds with their least and largest, and nmn's over the best of PyTorch's.
"""
import collections
import json
import statistics
import sys

# Figures by their name in JSON; less is better in all of them.
FIGURES = {"step_ms": "step, ms", "step_cpu_ms": "step, ms of all processors", "forward_ms": "forward, ms", "peak_memory_mib": "peak memory, MiB", "ms": "time, ms",
           "image_ms": "a picture, ms", "image_cpu_ms": "a picture, ms of all processors"}


def add(path, case, who, round, *_):
    figures = json.load(sys.stdin)
    products = figures.pop("products", None)
    cases = {f"{case} {p['size']}": figures | p for p in products} if products else {case: figures}
    with open(path, "a") as out:
        for case, figures in cases.items():
            out.write(json.dumps(figures | {"case": case, "who": who, "round": int(round)}) + "\n")
            told = ", ".join(f"{name} {figures[name]:.4g}" for name in FIGURES if name in figures)
            print(f"{case}, {who}, round {round}: {told}", file=sys.stderr)


def read(path):
    """Values by case, figure and who."""
    values = collections.defaultdict(lambda: collections.defaultdict(lambda: collections.defaultdict(list)))
    with open(path) as lines:
        for line in lines:
            m = json.loads(line)
            for name in FIGURES:
                if name in m:
                    values[m["case"]][name][m["who"]].append(m[name])
    return values


def number(x):
    return f"{x:.0f}" if x >= 1000 else f"{x:.3g}"


def spread(values):
    middle = number(statistics.median(values))
    return middle if len(values) == 1 else f"{middle} ({number(min(values))} to {number(max(values))})"


def ratios(path, *_):
    print("| case | figure | nmn | PyTorch's best | nmn / PyTorch |\n|:--|:--|--:|--:|--:|")
    for case, figures in read(path).items():
        for name in FIGURES:
            who = dict(figures.get(name, {}))
            ours = who.pop("nmn", None)
            if ours is None or not who:
                continue
            best = min(who, key=lambda peer: statistics.median(who[peer]))
            ratio = statistics.median(ours) / statistics.median(who[best])
            print(f"| {case} | {FIGURES[name]} | {spread(ours)} | {spread(who[best])}, {best} | {ratio:.2f} |")


if __name__ == "__main__":
    commands = {"add": (add, 6), "ratios": (ratios, 3)}
    command, arguments = commands.get(sys.argv[1] if len(sys.argv) > 1 else "", (None, 0))
    if command is None or len(sys.argv) < arguments:
        sys.exit(__doc__)
    command(*sys.argv[2:])
