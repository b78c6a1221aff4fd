"""A run folder with its tables and pages."""

from __future__ import annotations

import csv
import html
import io
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nmn import _arrays, _program, _tables
from nmn._errors import NmnError

__all__ = ["Run"]


class Page:
    """An HTML page. Notebooks show it in a frame, browsers open `path`.

    Parameters
    ----------
    path
        A self-contained HTML file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def _repr_html_(self) -> str:
        text = html.escape(self.path.read_text(encoding="utf-8"), quote=True)
        return f'<iframe srcdoc="{text}" width="100%" height="600" style="border:0" sandbox="allow-scripts"></iframe>'

    def __fspath__(self) -> str:
        return str(self.path)

    def __repr__(self) -> str:
        return f"Page({str(self.path)!r})"


class Run:
    """A run folder. Files are read when an attribute is used.

    Parameters
    ----------
    folder : path
        The folder of ``nmn.train`` or ``nmn train --run-dir``.

    Attributes
    ----------
    folder : Path
        The folder.

    Raises
    ------
    NmnError
        If the folder holds no run.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        if not (self.folder / "config.yaml").is_file():
            raise NmnError(f"{self.folder} holds no run: name the folder that nmn.train or nmn train has written")

    def __repr__(self) -> str:
        return f"Run({str(self.folder)!r})"

    @property
    def complete(self) -> bool:
        """Whether the run has ended. The call that started it resumes a run that has not."""
        return (self.folder / "result.json").is_file()

    @property
    def config(self) -> dict[str, Any]:
        """The settings by their keys, such as ``data.noise``, with defaults.

        Values are numbers, bools, texts and lists. Unset values are ``None`` or empty. A setting that this version of
        the program no longer has is an error.
        """
        file = self._file("config.yaml")
        text = _program.call(["config", f"--config={file}", "--json"])
        found: dict[str, Any] = json.loads(text)
        return found

    @property
    def result(self) -> dict[str, Any]:
        """The output of ``nmn train --json``: the evaluation and other results."""
        with open(self._file("result.json"), encoding="utf-8") as file:
            result: dict[str, Any] = json.load(file)
        result.pop("shown", None)  # only for the page of an experiment
        return result

    @property
    def threshold(self) -> float:
        """The probability from which a label is predicted."""
        result = self.result
        return float(result.get("threshold") or result.get("evaluation", {}).get("plug_in_threshold") or 0.5)

    @property
    def metrics(self) -> _tables.Table:
        """A row for each measure and a column for each group of classes. Fractions, or NaN if unknown."""
        evaluation = self.result.get("evaluation") or {}
        groups = list(evaluation.get("group_size", {}))
        rows: dict[str, Mapping[str, Any]] = {}
        for section in ("human", "labels", "truth", "transition"):
            _collect(rows, section, evaluation.get(section), groups)
        columns = {g: np.array([_float(row.get(g)) for row in rows.values()]) for g in groups}
        return _tables.frame(columns, index=list(rows), index_name="measure")

    @property
    def classes(self) -> _tables.Table:
        """A row for each class, with its own measures."""
        flat = [dict(_leaves(row)) for row in (self.result.get("evaluation") or {}).get("by_class") or []]
        names = list(dict.fromkeys(name for row in flat for name in row))
        columns = {name: _column([row.get(name) for row in flat]) for name in names if name != "class"}
        return _tables.frame(columns, index=[row.get("class") for row in flat], index_name="class")

    @property
    def history(self) -> _tables.Table:
        """A row for each epoch and each validation, with the figures of ``log.jsonl``. ``msg`` distinguishes them."""
        rows: dict[tuple[Any, ...], dict[str, Any]] = {}
        with open(self._file("log.jsonl"), encoding="utf-8") as lines:
            for line in lines:
                if not line.endswith("}\n"):  # cut off when a process was killed
                    continue
                row = json.loads(line)
                if row["msg"] in ("epoch", "evaluation", "validation"):
                    # A resumed run may log the last one again.
                    rows[row["msg"], row["step"], row["epoch"]] = row
        names = dict.fromkeys(name for row in rows.values() for name in row if name not in ("time", "level"))
        return _tables.frame({name: _column([row.get(name) for row in rows.values()]) for name in names})

    @property
    def noise_rates(self) -> _tables.Table:
        """A row for each class: q01, p(label missing | it is true), and q10, p(label given | it is false).

        Arms without a noise model, such as ``baseline`` and ``caption-filter``, have none.
        """
        estimated = self.folder / "recipe" / "rates.csv"
        if self.complete and not estimated.is_file() and not (self.folder / "q.csv").is_file():
            arm = self.result.get("arm")
            raise NmnError(f"{self.folder}: the arm {arm} learns no noise rates; arm held-rates does")
        return _table(estimated if estimated.is_file() else self._file("q.csv"), index="class")

    @property
    def page(self) -> Page:
        """The page of the run, with tables, curves and examples."""
        return Page(self._file("report.html"))

    def predict(self, samples: Any, *, checkpoint: str | None = None, observed: bool = False) -> _tables.Table:
        """Predict probabilities of the classes.

        Parameters
        ----------
        samples : array, path, or sequence of paths
            Rows of features for a run on features, otherwise pictures or folders of them.
        checkpoint : {"last", "best"}, optional
            The checkpoint to use; the last by default.
        observed : bool
            Whether to predict the given (noisy) label instead of the true one.

        Returns
        -------
        DataFrame or dict of arrays
            A row for each sample, a column for each class.
        """
        options = [f"--checkpoint={checkpoint}"] if checkpoint else []
        if observed:
            options.append("--observed")
        with _program.scratch() as folder:
            names: dict[str, str] = {}
            if _arrays.is_path(samples):
                paths = [os.fspath(samples)]
            elif isinstance(samples, Sequence) and samples and all(_arrays.is_path(s) for s in samples):
                paths = [os.fspath(s) for s in samples]
            else:
                paths = [_arrays.as_npy(samples, folder, "samples")]
                names[paths[0]] = "samples"
            arguments = ["predict", *options, "--format=csv", "--quiet", "--max-bad-samples=0"]
            text = _program.call([*arguments, "--", str(self.folder), *paths], names=names)
        return _read(io.StringIO(text), index=0)

    def _file(self, name: str) -> Path:
        path = self.folder / name
        if not path.is_file():
            raise NmnError(f"{self.folder} has no {name} yet: repeat the call that started the run to finish it")
        return path

    def _repr_html_(self) -> str:
        parts = [f"<p><b>{html.escape(str(self.folder))}</b>{'' if self.complete else ', not finished'}</p>"]
        if self.complete:
            metrics = self.metrics
            if hasattr(metrics, "to_html"):
                parts.append(metrics.to_html(float_format=lambda v: f"{v:.4f}", na_rep="–"))
        return "\n".join(parts)


def _collect(rows: dict[str, Mapping[str, Any]], name: str, value: Any, groups: Sequence[str]) -> None:
    """Collect values that exist for each group, by their path."""
    if not isinstance(value, Mapping):
        return
    of_groups = [value[g] for g in groups if g in value]
    if not of_groups:
        for key, inner in value.items():
            _collect(rows, f"{name}.{key}", inner, groups)
    elif any(isinstance(v, Mapping) for v in of_groups):
        inside = dict.fromkeys(key for v in of_groups if isinstance(v, Mapping) for key in v)
        for key in inside:
            _collect(rows, f"{name}.{key}", {g: (value[g] or {}).get(key) for g in groups if g in value}, groups)
    else:
        rows[name] = value


def _leaves(value: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    out: list[tuple[str, Any]] = []
    for key, inner in value.items():
        if isinstance(inner, Mapping):
            out += _leaves(inner, f"{prefix}{key}.")
        else:
            out.append((prefix + key, inner))
    return out


def _float(value: Any) -> float:
    return float(value) if isinstance(value, (int, float)) else float("nan")


def _column(values: Sequence[Any]) -> np.ndarray[Any, Any]:
    """Return a column of numbers if it holds nothing else, with NaN for missing values."""
    if all(v is None or v == "" or (isinstance(v, (int, float)) and not isinstance(v, bool)) for v in values):
        return np.array([_float(v) for v in values])
    return np.array(["" if v is None else v for v in values], object)


def _table(path: Path, index: str) -> _tables.Table:
    with open(path, encoding="utf-8", newline="") as file:
        return _read(file, index)


def _read(file: io.TextIOBase | Any, index: str | int) -> _tables.Table:
    """Read a table with a header. Numeric columns become numbers."""
    header, *body = csv.reader(file)
    columns = {name: _numbers([row[i] for row in body]) for i, name in enumerate(header)}
    name = header[index] if isinstance(index, int) else index
    place = header.index(name)
    del columns[name]
    return _tables.frame(columns, index=[row[place] for row in body], index_name=name)


def _numbers(values: Sequence[str]) -> np.ndarray[Any, Any]:
    try:
        return np.array([float(v) if v != "" else float("nan") for v in values])
    except ValueError:
        return np.array(values, object)
