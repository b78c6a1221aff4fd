#!/usr/bin/env python3
"""Time and memory of nmn.find_label_issues beside cleanlab's, on the same scores and labels with known flips.

  pip install dist/nmn_*.whl cleanlab
  python bench/cleanlab_speed.py [--rounds 3] [--ranked] [10000x20 1000000x100 ...]

Each size is generated once: a third of the rows carry a class, 10 % of these labels are missing and 1 % of the others
made up. By turns, each in a process of its own that has loaded its arrays:

  files   nmn.find_label_issues on the paths of two .npy files
  arrays  nmn.find_label_issues on two arrays in memory, which are written for the program
  lists   nmn.find_label_issues on lists of classes, cleanlab's form, and an array of scores
  cleanlab  cleanlab.multilabel_classification.filter.find_label_issues on these lists and this array

Only the call is timed, neither imports nor loading nor the making of the lists. Printed are medians of seconds, and in
parentheses the least and the most; the growth of resident memory from before the call to its peak, of nmn that of the
program it runs and of Python together; how many rows are flagged and the share of them that has a flipped label. A
second table splits the time of nmn into parts. `--python`, `--nmn` name another interpreter and program.
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

WAYS = ("files", "arrays", "lists", "cleanlab")


def generate(folder, rows, classes, seed=1):
    """Scores of a good classifier, labels, and which of them are flipped."""
    import numpy as np

    rng = np.random.default_rng(seed)
    arrays = {
        name: np.lib.format.open_memmap(folder / f"{name}.npy", "w+", kind, (rows, classes))
        for name, kind in (("pred_probs", "<f4"), ("labels", "u1"), ("flips", "?"))
    }
    for at in range(0, rows, 10000):
        part = slice(at, min(at + 10000, rows))
        shape = arrays["labels"][part].shape
        o = np.where(rng.random(shape) < 0.08, 1, -1) * rng.normal(4, 1.5, shape).astype(np.float32)
        truth = rng.random(shape) < 1 / (1 + np.exp(-o))
        flips = np.where(truth, 0.1, 0.01) > rng.random(shape)
        arrays["pred_probs"][part] = 1 / (1 + np.exp(-o))
        arrays["labels"][part], arrays["flips"][part] = truth ^ flips, flips
    for a in arrays.values():
        a.flush()


def measured(way, folder, ranked):
    """Run one way in this process and print what it took; called in a process of its own."""
    import resource
    import threading

    import numpy as np

    names = [os.path.join(folder, f"{n}.npy") for n in ("labels", "pred_probs")]
    if way == "files":
        labels, scores = names
    else:
        labels, scores = (np.load(n) for n in names)
    if way in ("lists", "cleanlab"):
        labels = [np.flatnonzero(row).tolist() for row in labels]
    more = {"return_indices_ranked_by": "self_confidence"} if ranked else {}
    if way == "cleanlab":
        from cleanlab.multilabel_classification.filter import find_label_issues
    else:
        from nmn import find_label_issues
    parts = timed_parts() if way != "cleanlab" else {}
    before, done, peak = resident(os.getpid()), threading.Event(), [0]

    def watch():
        while not done.wait(0.05):
            peak[0] = max(peak[0], sum(resident(p) for p in family(os.getpid())))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    start, cpu = time.perf_counter(), processor(resource)
    issues = find_label_issues(labels, scores, **more)
    seconds = time.perf_counter() - start
    cpu = processor(resource) - cpu
    done.set()
    watcher.join()
    mask = np.zeros(len(labels) if way != "files" else len(np.load(names[0], mmap_mode="r")), bool)
    mask[issues] = True
    flipped = np.load(os.path.join(folder, "flips.npy"), mmap_mode="r").any(axis=1)
    print(json.dumps({"seconds": seconds, "cpu": cpu, "memory": max(0, peak[0] - before), "flagged": int(mask.sum()),
                      "right": float(flipped[mask].mean()), "parts": parts}))


def processor(resource):
    """Seconds of the processors, of this process and those that it has waited for."""
    return sum(u.ru_utime + u.ru_stime for u in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


def family(pid):
    """The process and all that come from it."""
    yield pid
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        for task in Path(f"/proc/{pid}/task").iterdir():
            if task.name != str(pid):
                children += (task / "children").read_text().split()
    except OSError:
        return
    for child in children:
        yield from family(int(child))


def resident(pid):
    """Private memory of a process in bytes, or its resident memory if the system does not report it."""
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) << 10
    except OSError:
        pass
    return 0


def timed_parts():
    """Have nmn's functions note how long they take: writing what the program reads, the program, and reading results."""
    from nmn import _inputs, _issues, _program

    parts = {}

    def timing(module, name, part):
        inner = getattr(module, name)

        def outer(*a, **k):
            start = time.perf_counter()
            try:
                return inner(*a, **k)
            finally:
                parts[part] = parts.get(part, 0) + time.perf_counter() - start

        setattr(module, name, outer)

    timing(_inputs, "inputs_of", "inputs")
    timing(_program, "call", "program")
    timing(_issues, "_of_rows", "results")
    return parts


def alone(program, folder, ranked):
    """Seconds of the same command of the program without Python."""
    command = [program, "audit", "--scores", folder / "pred_probs.npy", "--labels", folder / "labels.npy", "--json", "--top",
               "0", "--rows", folder / "rows.npy"]
    start = time.perf_counter()
    subprocess.run([str(c) for c in command], check=True, stdout=subprocess.DEVNULL)
    return {"seconds": time.perf_counter() - start, "parts": {}}


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("sizes", nargs="*", default=["10000x20"], help="rows x classes")
    a.add_argument("--rounds", type=int, default=3)
    a.add_argument("--ways", default=",".join(WAYS), help="some of " + ", ".join(WAYS))
    a.add_argument("--ranked", action="store_true", help="ask for ranked indices in place of a mask")
    a.add_argument("--folder", help="where the arrays are generated; they are removed in the end")
    a.add_argument("--python", default=sys.executable)
    a.add_argument("--nmn", help="the program, for NMN_PROGRAM")
    a.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    o = a.parse_intermixed_args()
    if o.one:
        return measured(*o.one, o.ranked)
    environment = {**os.environ, **({"NMN_PROGRAM": o.nmn} if o.nmn else {})}
    ways = [w for w in WAYS if w in o.ways.split(",")]
    results = {size: run(size, ways, o, environment) for size in o.sizes}
    print("| rows × classes | call | seconds | of the processors | memory | flagged | of them flipped |")
    print("|--:|---|--:|--:|--:|--:|--:|")
    for size, of in results.items():
        for way, turns in of.items():
            if way == "program":
                continue
            s, m = spread(turns, "seconds"), max(t["memory"] for t in turns) / 1e9
            print(f"| {named(size)} | {way} | {s} | {median(turns, 'cpu'):.2f} | {m:.2f} GB | {turns[0]['flagged']:,} | "
                  f"{turns[0]['right']:.1%} |")
        if "cleanlab" in of:
            for way in [w for w in of if w not in ("cleanlab", "program")]:
                print(f"|  | {way}: {median(of['cleanlab'], 'seconds') / median(of[way], 'seconds'):.1f} times as fast |  |  |  |  |  |")
    print("\n| rows × classes | call | inputs | program | results | rest | `nmn audit` alone | overhead but inputs |")
    print("|--:|---|--:|--:|--:|--:|--:|--:|")
    for size, of in results.items():
        program = median(of["program"], "seconds")
        for way in [w for w in of if w not in ("cleanlab", "program")]:
            part = {p: statistics.median(t["parts"].get(p, 0) for t in of[way]) for p in ("inputs", "program", "results")}
            whole = median(of[way], "seconds")
            rest = whole - sum(part.values())
            print(f"| {named(size)} | {way} | {part['inputs']:.3f} | {part['program']:.3f} | {part['results']:.3f} | {rest:.3f} | "
                  f"{program:.3f} | {whole - part['inputs'] - program:.3f} |")


def run(size, ways, o, environment):
    rows, classes = map(int, size.split("x"))
    turns = {way: [] for way in [*ways, "program"]}
    with tempfile.TemporaryDirectory(dir=o.folder) as folder:
        generate(Path(folder), rows, classes)
        program = o.nmn or subprocess.run(
            [o.python, "-c", "import nmn._program as p; print(p.program())"], check=True, capture_output=True, text=True,
            env=environment).stdout.strip()
        for _ in range(o.rounds):
            for way in ways:
                command = [o.python, __file__, "--one", way, folder, *(["--ranked"] if o.ranked else [])]
                done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
                turns[way].append(json.loads(done.stdout.splitlines()[-1]))
            turns["program"].append(alone(program, Path(folder), o.ranked))
    return turns


def median(turns, key):
    return statistics.median(t[key] for t in turns)


def spread(turns, key):
    values = [t[key] for t in turns]
    return f"{statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


def named(size):
    rows, classes = map(int, size.split("x"))
    return f"{rows:,} × {classes}"


if __name__ == "__main__":
    main()
