"""Commands on scores and labels whose output is JSON."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from nmn import _arrays, _inputs, _program
from nmn._errors import NmnError

__all__ = ["asked", "files", "has_several", "noise", "threads"]


def has_several(inputs: _inputs.Inputs) -> bool:
    """Report whether rows may have several labels, by the rule of ``nmn audit``."""
    if inputs.multi_label is not None:
        return inputs.multi_label
    if inputs.labels.lower().endswith(".csv"):
        return _columns(inputs.labels) != 1 or (inputs.width or _columns(inputs.scores)) == 1
    return True


def _columns(path: str) -> int:
    """Return the number of columns of a `.csv`, without ``id``."""
    with open(path, encoding="utf-8-sig", errors="replace") as file:
        header = [c.strip().strip('"') for c in file.readline().split(",")]
    return len(header) - (header[0] == "id")


def files(inputs: _inputs.Inputs, logits: bool) -> list[str]:
    return ["--scores", inputs.scores, "--labels", inputs.labels, *(["--logits"] if logits else [])]


def threads(n_jobs: int | None) -> list[str]:
    if n_jobs is None or n_jobs == -1:
        return []
    if n_jobs < 1:
        raise ValueError(f"n_jobs is {n_jobs}: want at least 1, or None for one for each processor")
    return ["--threads", str(int(n_jobs))]


def noise(
    inputs: _inputs.Inputs, several: bool, noise_rates: Any, calibrate: bool, n_jobs: int | None, folder: str
) -> list[str]:
    """Return the flags of ``nmn audit`` for the source of its noise rates."""
    if several:
        return threads(n_jobs) + _rates(noise_rates, calibrate, inputs, folder)
    if noise_rates is not None or calibrate:
        raise ValueError("noise_rates need several labels a row, and these rows have one: leave noise_rates out")
    return []


def _rates(rates: Any, calibrate: bool, inputs: _inputs.Inputs, folder: str) -> list[str]:
    """Write given rates to a file, under the names that the program has for the columns."""
    flags = ["--calibrate"] if calibrate else []
    if rates is None:
        if calibrate:
            raise ValueError("calibrate needs noise_rates: pass the table that estimate_rates returns")
        return []
    if _arrays.is_path(rates):
        return ["--noise-rates", _arrays.checked_path(rates, "noise_rates"), *flags]
    if inputs.width is None:
        raise ValueError("noise_rates: pass a file of rates if pred_probs is a text file")
    names = ["q01", "q10", *(["a", "b"] if calibrate else [])]
    try:
        columns = [np.array(rates[name], np.float64) for name in names]
    except (KeyError, TypeError, IndexError, ValueError) as error:
        raise ValueError(
            f"noise_rates: want {', '.join(names)}, a number for each class, as estimate_rates returns them"
        ) from error
    for name, column in zip(names, columns):
        if column.shape != (inputs.width,):
            raise ValueError(
                f"noise_rates: {column.size} of {name} for {inputs.width} classes: want one for each class"
            )
        wrong = (column < 0) | (column > 1)
        if name in ("q01", "q10") and wrong.any():
            raise ValueError(
                f"noise_rates: {name} of {inputs.names(inputs.width)[wrong][0]!r} is {column[wrong][0]:g}: want a rate "
                f"from 0 to 1, or NaN if it is unknown"
            )
    usable = ~np.isnan(columns[0]) & ~np.isnan(columns[1])
    if "usable" in rates:
        usable &= np.asarray(rates["usable"], bool)
    path = os.path.join(folder, "rates.csv")
    with open(path, "w", encoding="utf-8") as file:
        file.write(",".join(["class", *names]) + "\n")
        for k in range(inputs.width):
            cells = [repr(float(c[k])) if usable[k] else "" for c in columns]
            file.write(",".join([str(k + 1), *cells]) + "\n")
    return ["--noise-rates", path, *flags]


#: Names of arguments in messages, by the program's names of settings.
_ARGUMENTS = {
    "noise rates: Confidence": "confidence",
    "noise rates: MinPositives": "min_labels",
    "noise rates: MinSlope": "min_slope",
    "evaluation: Threshold": "threshold",
    "evaluation: PlugIn": "plug_in",
    "evaluation: TopK": "top_k",
}


def asked(arguments: list[str], inputs: _inputs.Inputs, logits: bool, scores: str = "pred_probs") -> dict[str, Any]:
    """Run a command and return its JSON. If it refuses values, raise a ValueError that names the argument."""
    try:
        out = _program.call(arguments, names={inputs.scores: scores, inputs.labels: "labels", **_ARGUMENTS})
    except NmnError as error:
        found = _inputs.diagnosed(inputs, scores, logits)
        if found is not None:
            raise found from error
        raise
    said: dict[str, Any] = json.loads(out)
    return said
