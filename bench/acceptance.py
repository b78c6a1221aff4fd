"""Prints the results of an experiment with the recipe of cross-fitting, check by check, next to the earlier results of
a correct implementation. bench/acceptance.sh fills the folder and calls it: acceptance.py FOLDER NAME SEEDS."""

import json
import pathlib
import sys

LEVELS = {
    "flips-0.3-0.1": "30 % missing and 10 % incorrect",
    "flips-0.4-0": "40 % missing",
    "flips-0-0.2": "20 % incorrect",
    "flips-0-0": "no noise",
}
EARLY, LATE = 3, 12  # epochs of stage 2 at which arms are compared


class Group:
    """The arms of one level of noise and seed."""

    def __init__(self, folder, level, seed):
        self.folder, self.level = folder / level / f"seed-{seed}", level

    def read(self, *path):
        return json.loads(self.folder.joinpath(*path).read_text())

    def last(self, arm, *names):
        return of(self.read(arm, "result.json")["evaluation"], *names, "All")

    def after(self, arm, epoch, *names):
        found = [e["evaluation"] for e in self.read(arm, "epochs.json") if e["epoch"] == epoch]
        if not found:
            raise SystemExit(f"acceptance: {self.folder / arm}: no figures after epoch {epoch}")
        return of(found[0], *names, "All")

    def audit(self, scores, order):
        return 100 * of(self.read(f"audit-{scores}.json"), "truth", order, "ap")


def of(values, *names):
    for name in names:
        values = values[name]
    return values


MEASURES = {"AP": ("truth", "ap"), "Brier": ("truth", "brier"), "ECE": ("truth", "ece")}


def measure(group, arm, epoch, name):
    if name == "OF1":
        value = group.after(arm, epoch, "truth", "at_threshold")["of1"]
    elif epoch:
        value = group.after(arm, epoch, *MEASURES[name])
    else:
        value = group.last(arm, *MEASURES[name])
    return 100 * value


def of_arm(arm, epoch, name):
    return lambda g: measure(g, arm, epoch, name)


def ahead(arm, epoch, name):
    """How much more an arm has than the paper's plain form of the same seed, after the same epoch."""
    return lambda g: measure(g, arm, epoch, name) - measure(g, "nmn-fi", epoch, name)


def rate_error(rate):
    return lambda g: g.last("soft-labels", "transition", rate + "_error")


def plain_rate(group):
    """The mean of the rate that matters at the level, as the paper's plain form has learned it."""
    return group.after("nmn-fi", LATE, "transition", "q10" if group.level == "flips-0-0.2" else "q01")


def around(mean, tolerance):
    return mean - tolerance, mean + tolerance, f"{mean:g} ± {tolerance:g}", False


def most(high):
    return -float("inf"), high, f"≤ {high:g}", False


def least(low):
    return low, float("inf"), f"≥ {low:g}", False


def must(band):
    """An implementation is judged by these bands. The others are the tolerance of a mean of four seeds."""
    return *band[:2], f"**{band[2]}**", True


# Name, decimals, figure of a seed, and a band for the mean of each level. Measures are in percent, rates are fractions.
CHECKS = [
    ("mean error of q01", 3, rate_error("q01"), must(most(0.1)), must(most(0.13)), most(0.03), must(most(0.03))),
    ("mean error of q10", 3, rate_error("q10"), must(most(0.025)), most(0.01), must(most(0.035)), most(0.01)),
    ("stage 1: AP", 1, of_arm("stage1", 0, "AP"), around(78.1, 2.5), around(80.7, 2), around(79.7, 2), around(83, 1.2)),
    ("stage 1: Brier", 2, of_arm("stage1", 0, "Brier"), around(8.9, 0.7), around(8.6, 1), around(10.5, 1),
     around(6.2, 0.3)),
    ("baseline +12: AP", 1, of_arm("baseline", LATE, "AP"), around(70, 4), around(78.3, 2), around(75.1, 2),
     around(82.6, 1)),
    ("paper FI +12: AP", 1, of_arm("nmn-fi", LATE, "AP"), around(70.8, 4), around(78.4, 2), around(75.4, 2),
     around(82.8, 1)),
    ("paper FI +12: OF1", 1, of_arm("nmn-fi", LATE, "OF1"), around(61, 5), around(57, 5), around(67, 3),
     around(75.8, 1)),
    ("paper FI +12: its mean rate, q01 or q10", 3, plain_rate, most(0.05), most(0.05), most(0.05), None),
    ("held rates +3: AP", 1, of_arm("held-rates", EARLY, "AP"), around(79.5, 1.5), around(81.3, 1), around(80.8, 1),
     around(83.2, 0.8)),
    ("held rates +3: OF1", 1, of_arm("held-rates", EARLY, "OF1"), around(69.4, 4), around(68.9, 5), around(73.6, 1.5),
     around(75.3, 1)),
    ("held rates +3: Brier", 2, of_arm("held-rates", EARLY, "Brier"), around(7.1, 0.4), around(7, 0.6),
     around(6.9, 0.3),
     around(6.2, 0.2)),
    ("soft labels +12: AP", 1, of_arm("soft-labels", LATE, "AP"), around(79.4, 1.5), around(80.9, 1), around(80.7, 1),
     around(82.5, 0.8)),
    ("soft labels +12: OF1", 1, of_arm("soft-labels", LATE, "OF1"), around(70.7, 3.5), around(70.8, 4),
     around(74.2, 1.5),
     around(75.9, 0.8)),
    ("soft labels +12: Brier", 2, of_arm("soft-labels", LATE, "Brier"), around(7, 0.35), around(6.8, 0.5),
     around(6.8, 0.25), around(6.4, 0.2)),
    ("soft labels +12: ECE", 1, of_arm("soft-labels", LATE, "ECE"), most(2.5), most(4.5), most(3.5), most(5)),
    ("soft labels - FI, both +12: OF1", 1, ahead("soft-labels", LATE, "OF1"), must(least(5)), must(least(8)),
     must(least(4)), least(-1)),
    ("soft labels - FI, both +12: Brier", 2, ahead("soft-labels", LATE, "Brier"), must(most(-1)), must(most(-1.2)),
     must(most(-2.5)), None),
    ("held rates - FI, both +3: Brier", 2, ahead("held-rates", EARLY, "Brier"), must(most(-0.4)), must(most(-0.8)),
     must(most(-2)), None),
    ("audit AP: out-of-fold abs(z - p)", 1, lambda g: g.audit("oof", "difference"), None, None, None, None),
    ("audit AP: posterior of soft labels", 1, lambda g: g.audit("noise", "posterior"), None, None, None, None),
    ("audit AP: gain", 1, lambda g: g.audit("noise", "posterior") - g.audit("oof", "difference"), must(least(4)),
     must(least(30)), must(least(9)), None),
]  # fmt: skip


def main(folder, name, seeds):
    reached = banded = 0
    for at, (level, title) in enumerate(LEVELS.items()):
        groups = [Group(pathlib.Path(folder), level, seed) for seed in seeds.split(",")]
        print(f"**{name}, {title}, {len(groups)} seeds**\n\n| check | mean [min, max] | band | reached |")
        print("|:--|--:|--:|:--|")
        for check, decimals, figure, *bands in CHECKS:
            if check.startswith("audit") and level == "flips-0-0":
                continue  # there is nothing to find
            try:
                values = [figure(g) for g in groups]
                mean = sum(v / len(values) for v in values)
            except (OSError, ValueError, KeyError, TypeError) as error:
                where = groups[0].folder.parent
                raise SystemExit(f"acceptance: {check}: the files of {where} lack it: {error}") from error
            expected = verdict = ""
            if bands[at] and name == "scene":
                low, high, expected, strict = bands[at]
                inside = low <= mean <= high
                banded, reached = banded + 1, reached + inside
                verdict = "yes" if inside else "**no**" if strict else "no"
            print(f"| {check} | {mean:.{decimals}f} [{min(values):.{decimals}f}, {max(values):.{decimals}f}] "
                  f"| {expected} | {verdict} |")  # fmt: skip
        print()
    if banded:
        print(f"{reached} of {banded} reached.")


if __name__ == "__main__":
    main(*sys.argv[1:])
