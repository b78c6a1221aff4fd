"""The folder of a run, with its tables, figures and pages."""

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


class Figure:
    """A drawing, which a notebook shows.

    Parameters
    ----------
    path
        An SVG file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def _repr_svg_(self) -> str:
        return self.path.read_text(encoding="utf-8")

    def __repr__(self) -> str:
        return f"Figure({str(self.path)!r})"


class Page:
    """A page of HTML, which a notebook shows in a frame and a browser opens from `path`.

    Parameters
    ----------
    path
        An HTML file that loads nothing from anywhere.
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
    """A run, by its folder; what it holds is read when it is asked for.

    Parameters
    ----------
    folder : path
        What ``nmn train --run-dir`` has written, in Python or on the command line.

    Attributes
    ----------
    folder : Path
        The folder.

    Raises
    ------
    NmnError
        Where there is no run.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        if not (self.folder / "config.yaml").is_file():
            raise NmnError(f"{self.folder} holds no run: name the folder that nmn.train or nmn train has written")

    def __repr__(self) -> str:
        return f"Run({str(self.folder)!r})"

    @property
    def complete(self) -> bool:
        """Whether it has ended; the call that began it goes on with one that has not."""
        return (self.folder / "result.json").is_file()

    @property
    def config(self) -> dict[str, Any]:
        """The settings by their keys, such as ``data.noise``, with defaults.

        Numbers, bools, texts and lists are Python's; what is not set is ``None`` or empty. A setting that does not
        exist any more in this version of the program is an error.
        """
        file = self._file("config.yaml")
        text = _program.call(["config", f"--config={file}", "--json"])
        found: dict[str, Any] = json.loads(text)
        return found

    @property
    def result(self) -> dict[str, Any]:
        """What ``nmn train --json`` writes: the evaluation and what was found on the way."""
        with open(self._file("result.json"), encoding="utf-8") as file:
            result: dict[str, Any] = json.load(file)
        result.pop("shown", None)  # which is for the page of an experiment
        return result

    @property
    def threshold(self) -> float:
        """The probability from which a label is predicted."""
        result = self.result
        return float(result.get("threshold") or result.get("evaluation", {}).get("plug_in_threshold") or 0.5)

    @property
    def metrics(self) -> _tables.Table:
        """A row for each measure, a column for each group of words; shares of 1, NaN where nothing is known."""
        evaluation = self.result.get("evaluation") or {}
        groups = list(evaluation.get("group_size", {}))
        rows: dict[str, Mapping[str, Any]] = {}
        for section in ("human", "labels", "truth", "transition"):
            _collect(rows, section, evaluation.get(section), groups)
        columns = {g: np.array([_float(row.get(g)) for row in rows.values()]) for g in groups}
        return _tables.frame(columns, index=list(rows), index_name="measure")

    @property
    def words(self) -> _tables.Table:
        """A row for each class, with its own measures."""
        flat = [dict(_leaves(word)) for word in (self.result.get("evaluation") or {}).get("words") or []]
        names = list(dict.fromkeys(name for word in flat for name in word))
        columns = {name: _column([word.get(name) for word in flat]) for name in names if name != "word"}
        return _tables.frame(columns, index=[word.get("word") for word in flat], index_name="word")

    @property
    def history(self) -> _tables.Table:
        """A row for each epoch and each validation, with the figures of ``log.jsonl``; ``msg`` tells them apart."""
        rows: dict[tuple[Any, ...], dict[str, Any]] = {}
        with open(self._file("log.jsonl"), encoding="utf-8") as lines:
            for line in lines:
                if not line.endswith("}\n"):  # a process that was killed had not finished it
                    continue
                row = json.loads(line)
                if row["msg"] in ("epoch", "evaluation", "validation"):
                    # A run that goes on may tell of the last one again.
                    rows[row["msg"], row["step"], row["epoch"]] = row
        names = dict.fromkeys(name for row in rows.values() for name in row if name not in ("time", "level"))
        return _tables.frame({name: _column([row.get(name) for row in rows.values()]) for name in names})

    @property
    def noise_rates(self) -> _tables.Table:
        """A row for each class: q01, p(label missing | it holds), and q10, p(label there | it does not hold)."""
        estimated = self.folder / "recipe" / "rates.csv"
        return _table(estimated if estimated.is_file() else self._file("q.csv"), index="word")

    @property
    def figures(self) -> dict[str, Figure]:
        """The drawings by their names, such as ``lr-finder``."""
        return {path.stem: Figure(path) for path in sorted(self.folder.glob("*.svg"))}

    @property
    def page(self) -> Page:
        """The page of the run, with tables, curves and examples."""
        return Page(self._file("report.html"))

    def predict(self, samples: Any, *, checkpoint: str | None = None, observed: bool = False) -> _tables.Table:
        """Predict probabilities of the classes.

        Parameters
        ----------
        samples : array, path, or sequence of paths
            Rows of features for a run on features; else pictures, or folders of them.
        checkpoint : {"last", "best"}, optional
            The checkpoint to take; the last by default.
        observed : bool
            Whether to predict that the label is given, in the place of that it holds.

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
            raise NmnError(f"{self.folder} has no {name} yet: the call that began the run goes on with it")
        return path

    def _repr_html_(self) -> str:
        parts = [f"<p><b>{html.escape(str(self.folder))}</b>{'' if self.complete else ', not finished'}</p>"]
        if self.complete:
            metrics = self.metrics
            if hasattr(metrics, "to_html"):
                parts.append(metrics.to_html(float_format=lambda v: f"{v:.4f}", na_rep="–"))
        return "\n".join(parts)


def _collect(rows: dict[str, Mapping[str, Any]], name: str, value: Any, groups: Sequence[str]) -> None:
    """Gather what has a value for each group, by the path to it."""
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
    """Make numbers of what holds nothing else; nothing is NaN then."""
    if all(v is None or v == "" or (isinstance(v, (int, float)) and not isinstance(v, bool)) for v in values):
        return np.array([_float(v) for v in values])
    return np.array(["" if v is None else v for v in values], object)


def _table(path: Path, index: str) -> _tables.Table:
    with open(path, encoding="utf-8", newline="") as file:
        return _read(file, index)


def _read(file: io.TextIOBase | Any, index: str | int) -> _tables.Table:
    """Read a table with a header; columns of numbers become such."""
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
