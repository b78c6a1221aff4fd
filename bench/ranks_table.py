#!/usr/bin/env python3
"""Compares steps on ranks with those of one process, from the figures of bench/ranks.sh. Needs nothing but Python.

    bench/ranks_table.py table FIGURES
    bench/ranks_table.py slowest FIGURES...     of processes that ran at once: those of the slowest, the processors' time of all

FIGURES has a JSON line for each measurement (bench/table.py), of nmn, nmn-RANKS, apart-RANKS, torch-LAYOUT and ddp-RANKS-LAYOUT. Of
PyTorch's layouts the one with the lesser median counts. Prints a table in Markdown: medians over the rounds with the least
and the largest, the speed beside one process of the same program, and nmn's step over PyTorch's on as many ranks; ratios are
medians over the rounds, each of measurements of one round; the last column's second figure is by the processors' time, which a
busy machine changes less.
"""
import collections
import json
import statistics
import sys

from table import lines_of, number, spread


def read(path):
    """Figures by who, without the layout, and round."""
    layouts = collections.defaultdict(lambda: collections.defaultdict(dict))
    for m in lines_of(path):
        who, _, layout = m["who"].partition("-n") if m["who"].endswith(("nchw", "nhwc")) else (m["who"], "", "")
        layouts[who][layout][m["round"]] = m
    best = {}
    for who, by in layouts.items():
        layout = min(by, key=lambda name: statistics.median(m["step_ms"] for m in by[name].values()))
        best[who] = (by[layout], "n" + layout if layout else "")
    return best


def paired(ours, theirs, key="step_ms"):
    """The median over the rounds that both have of ours over theirs."""
    rounds = sorted(ours.keys() & theirs.keys())
    return statistics.median(ours[r][key] / theirs[r][key] for r in rounds) if rounds else float("nan")


def row(who, best):
    figures, layout = best[who]
    program, _, ranks = who.partition("-")
    one = best.get("nmn" if program in ("nmn", "apart") else "torch")
    peer = best.get({"nmn": "torch"}.get(who, f"ddp-{ranks}")) if program == "nmn" else None
    name = f"nmn, {ranks} ranks × 1 thread" if program == "nmn" and ranks else "nmn, one process × 2 threads"
    if program == "torch":
        name = f"PyTorch, one process × 2 threads, {layout}"
    elif program == "apart":
        name = f"nmn, {ranks} processes apart × 1 thread"
    elif program == "ddp":
        name = f"PyTorch DDP, {ranks} ranks × 1 thread, {layout}"
    of = lambda key: [m[key] for m in figures.values() if key in m]
    speed = f"{1 / paired(figures, one[0]):.2f}" if one else ""
    sums = spread(of("sums_ms")) if of("sums_ms") else ""
    cpu = spread(of("step_cpu_ms")) if of("step_cpu_ms") else ""
    work = f"{paired(figures, one[0], 'step_cpu_ms'):.2f}" if one and cpu else ""
    both = f"{paired(figures, peer[0]):.2f}" if peer else ""
    if both and cpu:
        both += f", {paired(figures, peer[0], 'step_cpu_ms'):.2f}"
    return [name, spread(of("step_ms")), speed, cpu, work, sums, number(statistics.median(of("peak_memory_mib"))), both]


def slowest(paths):
    all = []
    for path in paths:
        with open(path) as f:
            all.append(json.load(f))
    print(json.dumps({**max(all, key=lambda m: m["step_ms"]), "step_cpu_ms": sum(m["step_cpu_ms"] for m in all)}))


def table(path):
    best = read(path)
    print("| | step, ms | speed beside one process | processors' time, ms | work beside one process | sums alone, ms | memory of a process, MiB | nmn / PyTorch |\n|:--|--:|--:|--:|--:|--:|--:|--:|")
    for who in sorted(best, key=lambda w: (w.startswith(("torch", "ddp")), w.startswith("ddp"), w.rpartition("-")[2] if w.rpartition("-")[2].isdigit() else "", w)):
        print("| " + " | ".join(row(who, best)) + " |")


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "table":
        table(sys.argv[2])
    elif len(sys.argv) > 2 and sys.argv[1] == "slowest":
        slowest(sys.argv[2:])
    else:
        sys.exit(__doc__)
