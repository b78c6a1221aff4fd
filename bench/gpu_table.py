#!/usr/bin/env python3
"""Makes figures of what bench/gpu.sh has run, and the table for docs/background/benchmarks.md of them.

    gpu_table.py curve FIGURES PRECISION CPU_LOG GPU_LOG   how far the losses of two runs are apart
    gpu_table.py idle FIGURES LOG DMON                     how long a card waited in a run
    gpu_table.py ncu FIGURES CSV                           the heaviest kernels of a profile
    gpu_table.py suite FIGURES NAME CODE SECONDS           how many tests passed, of the output of go test -v
    gpu_table.py sanitizer FIGURES TOOL CODE SECONDS       what compute-sanitizer found, of its output
    gpu_table.py table FOLDER                              the table, in Markdown

CODE is the exit code of what gave the output; 124 stands for one that was cut off by its limit of time.
"""
import collections
import csv
import json
import os
import re
import statistics
import sys

from table import append, lines_of, number, spread

CUT = 124  # exit code of what a limit of time has ended


def steps(path):
    """The lines of a run's log with a step."""
    return [m for m in lines_of(path) if m.get("msg") == "step"]


def curve(figures, precision, cpu, gpu):
    host, card = ([m["loss"] for m in steps(path)] for path in (cpu, gpu))
    if len(host) != len(card) or not host:
        sys.exit(f"gpu_table.py: {len(host)} steps on the CPU, {len(card)} on the card")
    apart = [abs(b - a) / abs(a) for a, b in zip(host, card)]
    append(figures, {"case": f"curve {precision}", "who": "nmn", "steps": len(host), "first_loss": host[0], "last_loss_cpu": host[-1],
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
        busy.pop()  # after its end
    if not measured:
        sys.exit("gpu_table.py: too few steps to tell how long the card waited")
    total = sum(m["step_ms"] for m in measured)
    append(figures, {"case": "idle", "who": "nmn", "steps": len(measured), "data_wait_share": sum(m["data_wait_ms"] for m in measured) / total,
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
        append(figures, kernel)


def ended(code):
    """The round of a figure: 0, which does not count as measured, where something was cut off or found."""
    return 1 if int(code) == 0 else 0


def suite(figures, name, code, seconds):
    results = {m[2]: m[1] for m in re.finditer(r"^ *--- (PASS|FAIL|SKIP): (\S+)", sys.stdin.read(), re.MULTILINE)}
    parents = {test.rpartition("/")[0] for test in results}
    counts = collections.Counter(result for test, result in results.items() if test not in parents)
    append(figures, {"case": f"tests {name}", "who": "nmn", "round": ended(code), "passed": counts["PASS"], "failed": counts["FAIL"],
                     "skipped": counts["SKIP"], "cut": int(code) == CUT, "code": int(code), "wall_s": float(seconds)})


def sanitizer(figures, tool, code, seconds):
    output = sys.stdin.read()
    summary = re.findall(r"ERROR SUMMARY: (\d+) error|RACECHECK SUMMARY: (\d+) hazard", output)
    found = sum(int(a or b) for a, b in summary) if summary else None
    first = re.search(r"^========= ((?!COMPUTE-SANITIZER|ERROR SUMMARY|RACECHECK SUMMARY)\S.*)$", output, re.MULTILINE)
    append(figures, {"case": f"sanitizer {tool}", "who": "nmn", "round": ended(code), "found": found, "first": first[1] if first and found else "",
                     "cut": int(code) == CUT, "code": int(code), "wall_s": float(seconds)})


class Table:
    def __init__(self, folder):
        self.folder = folder
        self.figures = list(lines_of(os.path.join(folder, "figures.jsonl")))
        self.ops = None
        if os.path.exists(ops := os.path.join(folder, "ops.json")) and os.path.getsize(ops):
            with open(ops) as text:
                self.ops = json.load(text)

    def of(self, case, who=None):
        return [m for m in self.figures if m["case"] == case and (who is None or m["who"] == who)]

    def median(self, case, who, figure):
        """Over the rounds; None without measurements."""
        values = [m[figure] for m in self.of(case, who) if figure in m]
        return statistics.median(values) if values else None

    def peers(self, case, figure):
        """PyTorch's forms of a case, the fastest first, with their medians."""
        who = dict.fromkeys(m["who"] for m in self.of(case) if m["who"] != "nmn" and figure in m)
        return sorted(((self.median(case, name, figure), name) for name in who))

    def middle(self, case, who, figure, scale=1):
        median = self.median(case, who, figure)
        return "" if median is None else number(median * scale)

    def cell(self, case, who, figure):
        return spread([m[figure] for m in self.of(case, who) if figure in m])

    def copy(self):
        """Bytes copied for each nanosecond, by nmn or else PyTorch."""
        return next((m["gb_per_s"] for who in ("nmn", "torch") for m in self.of("copy", who)), None)

    def print_steps(self):
        print("\n| step | nmn, ms | pictures/s | TFLOP/s | memory, MiB | PyTorch's best, ms | memory, MiB | nmn / PyTorch |\n|:--|--:|--:|--:|--:|--:|--:|--:|")
        for case in (f"{shape} {precision}" for precision in ("bf16", "tf32", "fp32") for shape in ("1x26x565", "32x224")):
            ours, peers = self.median(case, "nmn", "step_ms"), self.peers(case, "step_ms")
            if not ours and not peers:
                continue
            cells = ["not measured", "", "", ""]
            if ours:
                cells = [self.cell(case, "nmn", "step_ms"), self.middle(case, "nmn", "images_per_s"),
                         self.middle(case, "nmn", "gflops", 1e-3), self.middle(case, "nmn", "device_memory_mib")]
            cells += ["not measured", "", ""]
            if peers:
                theirs, who = peers[0]
                cells[4:] = [f"{self.cell(case, who, 'step_ms')}, {who}", self.middle(case, who, "peak_memory_mib"),
                             f"**{ours / theirs:.2f}**" if ours else ""]
            print(f"| {case} | " + " | ".join(cells) + " |")
        for case in dict.fromkeys(m["case"] for m in self.figures if "step_ms" in m):
            if peers := self.peers(case, "step_ms"):
                print(f"\nPyTorch at {case}: " + "; ".join(f"{who} {self.cell(case, who, 'step_ms')} ms" for _, who in peers) + ".")
        for m in self.of("captioner"):
            print(f"\nA step of the captioner, {m['batch']} clips of {m['frames']} frames: {number(m['step_ms'])} ms.")
        for case, what in (("first start", "with no plan of a convolution chosen"), ("later start", "with all plans kept")):
            if m := next(iter(self.of(case)), None):
                print(f"\nFrom the start of the program to its end, two steps of 1x26x565 in bf16, {what}: {number(m['wall_s'])} s.")

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
        self.print_step()
        print(f"\nOwn kernels in a step of {self.ops['frames']} frames of {self.ops['size']} pixels, {self.ops['precision']}; "
              f"convolutions take {number(sum(o['ms'] for o in self.ops['ops'] if 'gflop' in o))} of {number(self.ops['total_ms'])} ms.\n\n"
              "| operation | calls | ms | GB/s | of copying as many bytes |\n|:--|--:|--:|--:|--:|")
        sums = collections.defaultdict(lambda: [0, 0.0, 0])
        for o in self.ops["ops"]:
            if "gflop" not in o and o["layer"] != "host":
                s = sums[o["pass"]]
                s[:] = s[0] + 1, s[1] + o["ms"], s[2] + o["bytes"]
        for name, (calls, ms, bytes) in sorted(sums.items(), key=lambda item: -item[1][1]):
            rate = bytes / ms / 1e6 if ms else 0
            print(f"| {name} | {calls} | {number(ms)} | {number(rate)} | {rate / copy:.0%} |")
        self.print_gaps()
        peers = self.peers("noise step", "ms")
        if peers and (ours := sums.get("noise step")):
            print(f"\nNoise step: {number(ours[1])} ms, {ours[1] * copy * 1e6 / ours[2]:.2f} times copying its bytes; "
                  f"PyTorch, {peers[0][1]}: {number(peers[0][0])} ms.")

    def print_step(self):
        """What each operation of a step takes, and what it would take at the card's own rates."""
        print("\n| part of the step | ms | least at the card's own rates, ms | TFLOP/s |\n|:--|--:|--:|--:|")
        sums = collections.defaultdict(lambda: [0.0, 0.0, 0.0])
        for o in self.ops["ops"]:
            if o["layer"] != "host":
                for name in (o["pass"], "**all**"):
                    for i, value in enumerate((o["ms"], o["ms"] * o.get("reached", 0), o.get("gflop", 0))):
                        sums[name][i] += value
        for name, (ms, least, gflop) in sorted(sums.items(), key=lambda item: (item[0] == "**all**", -item[1][0])):
            print(f"| {name} | {number(ms)} | {number(least)} | {number(gflop / ms) if gflop and ms else ''} |")

    def print_gaps(self):
        """The operations that lose most time to the card's own rates of products and of copies."""
        gaps = sorted((o for o in self.ops["ops"] if o.get("reached")), key=lambda o: (o["reached"] - 1) * o["ms"])[:12]
        if gaps:
            print("\n| furthest from the card's rates | pass | ms | reached | algorithm |\n|:--|:--|--:|--:|:--|")
        for o in gaps:
            print(f"| {o['layer']} | {o['pass']} | {number(o['ms'])} | {o['reached']:.0%} | {o.get('algorithm', '')} |")

    def print_tests(self):
        last = {m["case"]: m for m in self.figures if m["case"].split()[0] in ("tests", "sanitizer")}
        for case, m in last.items():
            end = "" if m["round"] else f", cut off after {m['wall_s']:.0f} s" if m["cut"] else f", exit code {m['code']}"
            if case.startswith("tests"):
                print(f"\nTests, {case[6:]}: {m['passed']} passed, {m['failed']} failed, {m['skipped']} skipped{end}.")
            else:
                found = "no summary" if m["found"] is None else f"{m['found']} found"
                print(f"\ncompute-sanitizer, {case[10:]}: {found}{end}" + (f": {m['first']}" if m["first"] else "") + ".")

    def print_rest(self):
        for m in self.figures:
            if m["case"].startswith("curve"):
                print(f"\nLoss, {m['case'][6:]}: {m['steps']} steps from {m['first_loss']:.5g} to {m['last_loss_gpu']:.5g} (CPU {m['last_loss_cpu']:.5g}); "
                      f"the first {m['first_difference']:.1e} apart, at most {m['largest_difference']:.1e}.")
        for m in self.of("idle"):
            busy = "" if m["gpu_idle_share"] is None else f"; nvidia-smi saw the card idle for {m['gpu_idle_share']:.0%}"
            print(f"\nTraining at 565 pixels: {number(m['images_per_s'])} pictures/s, {m['data_wait_share']:.1%} of the time waiting for pictures{busy}.")
        for m in (m for ranks in (1, 2) for m in self.of(f"ranks {ranks}")):
            sums = (f"Summing {m['mib']} MiB takes {number(m['ms'])} ms, {number(m['gb_per_s'])} GB/s; 4 bytes {number(m['us_small'])} µs."
                    if m["ranks"] > 1 else "One has nothing to sum.")
            print(f"\nNCCL {m['nccl']}, ranks on this card: {m['ranks']}. {sums}")
        if kernels := self.of("ncu"):
            print("\n| heaviest own kernels (ncu) | launches | µs | GB/s | memory, % of peak | multiprocessors, % of peak |\n|:--|--:|--:|--:|--:|--:|")
        for m in kernels:
            print(f"| {m['kernel']} | {m['launches']} | {number(m['us'])} | {number(m['gb_per_s'])} | {m['dram_percent']:.0f} | {m['sm_percent']:.0f} |")

    def print_parts(self):
        print("\nParts of gpu.sh:\n")
        for line in self.parts:
            print("- " + line)

    def print(self):
        with open(os.path.join(self.folder, "parts.txt")) as lines:
            self.parts = [line.strip() for line in lines if line.strip()]
        subject = self.parts.pop(0).lstrip("# ") if self.parts and self.parts[0].startswith("#") else "unknown"
        device = next((m["device"] for m in self.figures if m["who"] == "nmn" and "device" in m), "no card")
        peer = next((m["peer"] for m in self.figures if "peer" in m), "no PyTorch")
        print(f"On {device}, commit {subject}; {peer}.")
        for section in (self.print_steps, self.print_machine, self.print_kernels, self.print_tests, self.print_rest, self.print_parts):
            try:
                section()
            except (KeyError, TypeError, ValueError, ZeroDivisionError) as e:  # figures that miss something cost their section alone
                print(f"\n{section.__name__} has failed: {e!r}")


if __name__ == "__main__":
    commands = {"curve": (curve, 4), "idle": (idle, 3), "ncu": (ncu, 2), "suite": (suite, 4),
                "sanitizer": (sanitizer, 4), "table": (lambda folder: Table(folder).print(), 1)}
    command, count = commands.get(sys.argv[1] if len(sys.argv) > 1 else "", (None, 0))
    if command is None or len(sys.argv) - 2 != count:
        sys.exit(__doc__)
    command(*sys.argv[2:])
