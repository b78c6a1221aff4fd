#!/usr/bin/env python3
"""Makes figures of what bench/gpu.sh has run, and the table for docs/benchmarks.md of them.

    gpu_table.py curve FIGURES PRECISION CPU_LOG GPU_LOG   how far the losses of two runs are apart
    gpu_table.py idle FIGURES LOG DMON                     how long a card waited in a run
    gpu_table.py ncu FIGURES CSV                           the heaviest kernels of a profile
    gpu_table.py table FOLDER                              the table, in Markdown
"""
import collections
import csv
import json
import os
import statistics
import sys

from table import number


def keep(path, figures):
    with open(path, "a") as out:
        out.write(json.dumps(figures) + "\n")


def steps(path):
    """The lines of a run's log that tell a step."""
    with open(path) as lines:
        return [m for m in map(json.loads, lines) if m.get("msg") == "step"]


def curve(figures, precision, cpu, gpu):
    host, card = ([m["loss"] for m in steps(path)] for path in (cpu, gpu))
    if len(host) != len(card) or not host:
        sys.exit(f"gpu_table.py: {len(host)} steps on the CPU, {len(card)} on the card")
    apart = [abs(b - a) / abs(a) for a, b in zip(host, card)]
    keep(figures, {"case": f"curve {precision}", "who": "nmn", "steps": len(host), "first_loss": host[0], "last_loss_cpu": host[-1],
                   "last_loss_gpu": card[-1], "first_difference": apart[0], "largest_difference": max(apart)})


def idle(figures, log, dmon):
    measured = steps(log)[10:]  # the first steps choose plans
    busy = []
    with open(dmon) as lines:
        for fields in map(str.split, lines):
            if fields and fields[0] == "0" and fields[1].isdigit():
                busy.append(int(fields[1]))
    while busy and busy[0] == 0:
        busy.pop(0)  # before the run begins
    while busy and busy[-1] == 0:
        busy.pop()  # behind its end
    if not measured:
        sys.exit("gpu_table.py: too few steps to tell how long the card waited")
    total = sum(m["step_ms"] for m in measured)
    keep(figures, {"case": "idle", "who": "nmn", "steps": len(measured), "data_wait_share": sum(m["data_wait_ms"] for m in measured) / total,
                   "images_per_s": statistics.median(m["images_per_s"] for m in measured),
                   "gpu_idle_share": 1 - statistics.mean(busy) / 100 if busy else None})


def ncu(figures, path):
    with open(path) as lines:
        rows = list(csv.reader(line for line in lines if line.startswith('"')))
    if len(rows) < 3:
        sys.exit("gpu_table.py: the profile has no kernels")
    names, units = rows[0], rows[1]
    scale = {"ns": 1e-3, "us": 1, "usecond": 1, "nsecond": 1e-3, "ms": 1e3, "msecond": 1e3, "s": 1e6, "second": 1e6,
             "byte": 1, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9, "%": 1, "": 1}

    def value(row, name):
        i = names.index(name)
        return float(row[i].replace(",", "")) * scale[units[i]]

    kernels = collections.defaultdict(list)
    for row in rows[2:]:
        kernels[row[names.index("Kernel Name")]].append(row)
    sums = []
    for name, launches in kernels.items():
        total = lambda metric: sum(value(row, metric) for row in launches)
        us = total("gpu__time_duration.sum")
        weighted = lambda metric: sum(value(row, metric) * value(row, "gpu__time_duration.sum") for row in launches) / us
        sums.append({"case": "ncu", "who": "nmn", "kernel": name, "launches": len(launches), "us": us,
                     "gb_per_s": (total("dram__bytes_read.sum") + total("dram__bytes_write.sum")) / us / 1e3,
                     "dram_percent": weighted("dram__throughput.avg.pct_of_peak_sustained_elapsed"),
                     "sm_percent": weighted("sm__throughput.avg.pct_of_peak_sustained_elapsed")})
    for kernel in sorted(sums, key=lambda k: -k["us"])[:5]:
        keep(figures, kernel)


class Table:
    def __init__(self, folder):
        self.folder = folder
        with open(os.path.join(folder, "figures.jsonl")) as lines:
            self.figures = [json.loads(line) for line in lines]
        self.ops = None
        if os.path.exists(ops := os.path.join(folder, "ops.json")) and os.path.getsize(ops):
            with open(ops) as text:
                self.ops = json.load(text)

    def of(self, case, who=None):
        return [m for m in self.figures if m["case"] == case and (who is None or m["who"] == who)]

    def best(self, case, figure):
        """PyTorch's best measurement of a case; None without one."""
        return min((m for m in self.of(case) if m["who"] != "nmn" and figure in m), key=lambda m: m[figure], default=None)

    def copy(self):
        """Bytes copied for each nanosecond, by nmn or else PyTorch."""
        return next((m["gb_per_s"] for who in ("nmn", "torch") for m in self.of("copy", who)), None)

    def print_steps(self):
        print("\n| step | nmn, ms | pictures/s | memory, MiB | PyTorch's best, ms | memory, MiB | nmn / PyTorch |\n|:--|--:|--:|--:|--:|--:|--:|")
        for case in (f"{shape} {precision}" for shape in ("1x26x565", "32x224") for precision in ("bf16", "tf32", "fp32")):
            ours, peer = next(iter(self.of(case, "nmn")), None), self.best(case, "step_ms")
            cells = ["not measured", "", ""]
            if ours:
                cells = [number(ours["step_ms"]), number(ours["images_per_s"]), number(ours["device_memory_mib"])]
            cells += [f"{number(peer['step_ms'])}, {peer['who']}", number(peer["peak_memory_mib"])] if peer else ["not measured", ""]
            cells.append(f"{ours['step_ms'] / peer['step_ms']:.2f}" if ours and peer else "")
            print(f"| {case} | " + " | ".join(cells) + " |")

    def print_machine(self):
        print("\n| rate | nmn | PyTorch |\n|:--|--:|--:|")
        for case in dict.fromkeys(m["case"] for m in self.figures if m["case"].split()[0] in ("copy", "gemm")):
            name, figure = ("gb_per_s", "GB/s") if case == "copy" else ("gflops", "GFLOP/s")
            ours = next(iter(self.of(case, "nmn")), None)
            peer = next((m for m in self.of(case) if m["who"] != "nmn"), None)
            print(f"| {case}, {figure} | " + " | ".join(number(m[name]) if m else "" for m in (ours, peer)) + " |")

    def print_kernels(self):
        copy = self.copy()
        if not self.ops or not copy:
            print("\nOwn kernels: not measured.")
            return
        print(f"\nOwn kernels in a step of {self.ops['frames']} frames of {self.ops['size']} pixels, {self.ops['precision']}; "
              f"convolutions take {number(sum(o['ms'] for o in self.ops['ops'] if 'gflop' in o))} of {number(self.ops['total_ms'])} ms.\n\n"
              "| operation | calls | ms | GB/s | of copying as many bytes |\n|:--|--:|--:|--:|--:|")
        sums = collections.defaultdict(lambda: [0, 0.0, 0])
        for o in self.ops["ops"]:
            if "gflop" not in o and o["layer"] != "host":
                s = sums[o["pass"]]
                s[0], s[1], s[2] = s[0] + 1, s[1] + o["ms"], s[2] + o["bytes"]
        for name, (calls, ms, bytes) in sorted(sums.items(), key=lambda item: -item[1][1]):
            rate = bytes / ms / 1e6 if ms else 0
            print(f"| {name} | {calls} | {number(ms)} | {number(rate)} | {rate / copy:.0%} |")
        peer = self.best("noise step", "ms")
        if peer and (ours := sums.get("noise step")):
            print(f"\nNoise step: {number(ours[1])} ms, {ours[1] * copy * 1e6 / ours[2]:.2f} times copying its bytes; "
                  f"PyTorch, {peer['who']}: {number(peer['ms'])} ms.")

    def print_rest(self):
        for m in self.figures:
            if m["case"].startswith("curve"):
                print(f"\nLoss, {m['case'][6:]}: {m['steps']} steps from {m['first_loss']:.5g} to {m['last_loss_gpu']:.5g} (CPU {m['last_loss_cpu']:.5g}); "
                      f"the first {m['first_difference']:.1e} apart, at most {m['largest_difference']:.1e}.")
        for m in self.of("idle"):
            busy = "" if m["gpu_idle_share"] is None else f"; nvidia-smi saw the card idle for {m['gpu_idle_share']:.0%}"
            print(f"\nTraining at 565 pixels: {number(m['images_per_s'])} pictures/s, {m['data_wait_share']:.1%} of the time waiting for pictures{busy}.")
        if kernels := self.of("ncu"):
            print("\n| heaviest own kernels (ncu) | launches | µs | GB/s | memory, % of peak | multiprocessors, % of peak |\n|:--|--:|--:|--:|--:|--:|")
        for m in kernels:
            print(f"| {m['kernel']} | {m['launches']} | {number(m['us'])} | {number(m['gb_per_s'])} | {m['dram_percent']:.0f} | {m['sm_percent']:.0f} |")
        print("\nParts of gpu.sh:\n")
        with open(os.path.join(self.folder, "parts.txt")) as lines:
            for line in lines:
                print("- " + line.strip())

    def print(self):
        device = next((m["device"] for m in self.figures if m["who"] == "nmn" and "device" in m), "no card")
        peer = next((m["peer"] for m in self.figures if "peer" in m), "no PyTorch")
        print(f"On {device}; {peer}.")
        self.print_steps()
        self.print_machine()
        self.print_kernels()
        self.print_rest()


if __name__ == "__main__":
    commands = {"curve": (curve, 4), "idle": (idle, 3), "ncu": (ncu, 2), "table": (lambda folder: Table(folder).print(), 1)}
    command, count = commands.get(sys.argv[1] if len(sys.argv) > 1 else "", (None, 0))
    if command is None or len(sys.argv) - 2 != count:
        sys.exit(__doc__)
    command(*sys.argv[2:])
