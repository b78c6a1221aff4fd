#!/usr/bin/env python3
"""Time and memory of nmn audit beside cleanlab, on generated scores and labels.

  pip install cleanlab
  python bench/audit_speed.py ./nmn [--turns 3] [50000x80 1000000x100 ...]

For each size, by turns: nmn audit as a whole program that reads .npy files, without and with --truth and --rows, and
cleanlab.multilabel_classification: filter.find_label_issues (a flag for each row) and get_label_quality_scores. Of cleanlab only
the two calls are timed, neither its imports nor the reading and conversion of labels to lists. Prints medians of seconds, of the clock
and in parentheses of the processors, and the peak of resident memory of each whole process.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CLEANLAB = """
import json, resource, sys, time
import numpy as np
from cleanlab.multilabel_classification import get_label_quality_scores
from cleanlab.multilabel_classification.filter import find_label_issues
p, z = np.load(sys.argv[1] + "/p.npy"), np.load(sys.argv[1] + "/z.npy")
labels = [np.flatnonzero(row).tolist() for row in z]
def processor():
    return sum(u.ru_utime + u.ru_stime for u in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))

start, before = time.perf_counter(), processor()
issues = find_label_issues(labels, p)
scores = get_label_quality_scores(labels, p)
print(json.dumps([time.perf_counter() - start, processor() - before, int(issues.sum())]))
"""


def generate(folder, rows, classes, seed=1):
    """Scores of a fair classifier, 5 % of the bags with each word, 20 % of those missing and .5 % of the others made up."""
    import numpy as np
    rng = np.random.default_rng(seed)
    arrays = {name: np.lib.format.open_memmap(folder / f"{name}.npy", "w+", kind, (rows, classes))
              for name, kind in (("p", "<f4"), ("z", "u1"), ("y", "u1"))}
    for at in range(0, rows, 10000):
        part = slice(at, min(at + 10000, rows))
        shape = arrays["p"][part].shape
        o = rng.normal(-4, 2.5, shape)
        y = rng.random(shape) < 1 / (1 + np.exp(-o))
        draw = rng.random(shape)
        arrays["p"][part] = 1 / (1 + np.exp(-(o + rng.normal(0, .7, shape))))
        arrays["y"][part], arrays["z"][part] = y, np.where(y, draw >= .2, draw < .005)
    for a in arrays.values():
        a.flush()


def measured(command):
    """Wall-clock seconds, processor seconds, peak memory in MB, and output of a process."""
    start = time.perf_counter()
    with tempfile.TemporaryFile() as out:
        p = subprocess.Popen(command, stdout=out)
        _, status, usage = os.wait4(p.pid, 0)
        seconds = time.perf_counter() - start
        if status:
            sys.exit(f"{command[0]}: status {status}")
        out.seek(0)
        return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, out.read()


def main():
    a = argparse.ArgumentParser()
    a.add_argument("nmn")
    a.add_argument("sizes", nargs="*", default=["50000x80"])
    a.add_argument("--turns", type=int, default=3)
    a.add_argument("--folder", help="keep the data here")
    o = a.parse_intermixed_args()
    print("| bags × words | nmn audit | with --truth | with --rows | cleanlab: issues + quality | memory: nmn | --truth | --rows | cleanlab |")
    print("|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    for size in o.sizes:
        rows, classes = map(int, size.split("x"))
        with tempfile.TemporaryDirectory(dir=o.folder) as folder:
            at = Path(folder)
            generate(at, rows, classes)
            plain = [o.nmn, "audit", "--scores", at / "p.npy", "--labels", at / "z.npy", "--json", "--top", "10"]
            runs = {"plain": plain, "truth": plain + ["--truth", at / "y.npy"], "rows": plain + ["--rows", at / "rows.csv"],
                    "cleanlab": [sys.executable, "-c", CLEANLAB, folder]}
            seconds, busy, memory = ({k: [] for k in runs} for _ in range(3))
            for _ in range(o.turns):
                for name, command in runs.items():
                    wall, cpu, peak, out = measured(list(map(str, command)))
                    if name == "cleanlab":
                        wall, cpu = json.loads(out)[:2]
                    seconds[name].append(wall)
                    busy[name].append(cpu)
                    memory[name].append(peak)
            s = " | ".join(f"{statistics.median(seconds[k]):.1f} s ({statistics.median(busy[k]):.1f})" for k in runs)
            m = " | ".join(f"{max(memory[k]) / 1000:.1f} GB" for k in runs)
            print(f"| {rows:,} × {classes} | {s} | {m} |", flush=True)


main()
