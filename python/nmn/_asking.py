"""Commands of the program on scores and labels that answer in JSON."""

from __future__ import annotations

import json
from typing import Any

from nmn import _inputs, _program
from nmn._errors import NmnError

__all__ = ["asked", "files", "has_several", "threads"]


def has_several(inputs: _inputs.Inputs) -> bool:
    """Report whether the program takes the labels as several for each row, by the rule of ``nmn audit``."""
    if inputs.multi_label is not None:
        return inputs.multi_label
    if inputs.labels.lower().endswith(".csv"):
        return _columns(inputs.labels) != 1 or (inputs.width or _columns(inputs.scores)) == 1
    return True


def _columns(path: str) -> int:
    """Return the number of columns of a `.csv` beside ``id``."""
    with open(path, encoding="utf-8-sig", errors="replace") as file:
        header = [c.strip().strip('"') for c in file.readline().split(",")]
    return len(header) - (header[0] == "id")


def files(inputs: _inputs.Inputs, logits: bool) -> list[str]:
    return ["--scores", inputs.scores, "--labels", inputs.labels, *(["--logits"] if logits else [])]


def threads(n_jobs: int | None) -> list[str]:
    if n_jobs is None or n_jobs == -1:
        return []
    if n_jobs < 1:
        raise ValueError(f"n_jobs is {n_jobs}: want at least 1, or None for one on each processor")
    return ["--threads", str(int(n_jobs))]


def asked(arguments: list[str], inputs: _inputs.Inputs, logits: bool, scores: str = "pred_probs") -> dict[str, Any]:
    """Run a command that answers in JSON. Values that it refuses become a ValueError that names the argument."""
    try:
        out = _program.call(arguments, names={inputs.scores: scores, inputs.labels: "labels"})
    except NmnError as error:
        found = _inputs.diagnosed(inputs, scores, logits)
        if found is not None:
            raise found from error
        raise
    said: dict[str, Any] = json.loads(out)
    return said
