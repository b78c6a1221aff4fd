"""Train on arrays, and return the results that an estimator keeps."""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import filecmp
import json
import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from nmn import _arrays, _program, _scores
from nmn._errors import NmnError, UsageError

#: Least free memory for scratch folders in memory.
_ROOM = 512 << 20

_SAFE = re.compile(r"[^\W_][\w .:+()/-]{0,200}")


@contextlib.contextmanager
def quick_scratch(size: int) -> Iterator[Path]:
    """Make a temporary folder that is always removed, in memory if `size` bytes leave enough of it.

    Training syncs each file that it writes. On a disk this takes much longer than training on some hundred rows.
    ``TMPDIR`` names another place.
    """
    memory = _program.MEMORY
    fits = False
    if sys.platform.startswith("linux") and not os.environ.get("TMPDIR"):
        with contextlib.suppress(OSError):
            fits = os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > _ROOM + 4 * size
    with _program.scratch(memory if fits else None) as folder:
        yield folder


@dataclasses.dataclass
class Trained:
    """Results of a training."""

    model: bytes
    threshold: float
    rates: dict[str, npt.NDArray[Any]] | None
    issues: dict[str, npt.NDArray[Any]] | None
    matrix: npt.NDArray[np.float64] | None = None


def safe_names(names: Sequence[str]) -> list[str]:
    """Return names of classes for the program: unchanged, or numbers if one would be misread."""
    named = [f"class {n}" if _is_number(n) else n for n in names]
    if len(set(named)) == len(named) and all(_SAFE.fullmatch(n) and n == n.strip() for n in named):
        return named
    return [f"class {k + 1}" for k in range(len(names))]


def _is_number(text: str) -> bool:
    """Report whether a name in the header of a table reads as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def flags(settings: Mapping[str, Any]) -> list[str]:
    """Return settings as flags of the program.

    Raises
    ------
    TypeError
        If no setting can hold a value.
    """
    return [f"--set={key}={yaml_of(key, value)}" for key, value in settings.items() if value is not None]


def yaml_of(key: str, value: Any) -> str:
    """Return a value as JSON, which YAML reads."""
    try:
        return json.dumps(value, default=_plain, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{key} is {value!r}: pass a number, a text, or several of them") from error


def _plain(value: Any) -> Any:
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    if isinstance(value, (set, frozenset, range)):
        return list(value)
    raise TypeError


@dataclasses.dataclass
class Job:
    """A training: files of features and labels, names of classes, settings and folder."""

    features: str
    labels: npt.NDArray[Any]
    names: list[str]
    settings: dict[str, Any]
    weights: npt.NDArray[np.float32] | None = None
    noise_rates: Any = None
    run_folder: str | None = None
    min_error: float | None = 0.5
    exclusive: npt.NDArray[np.int64] | None = None
    progress: str | None = None
    #: Names of settings in messages, by key.
    arguments: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def run(self, folder: Path) -> Trained:
        """Train in the run folder, or in a scratch folder without one."""
        run = Path(self.run_folder) if self.run_folder else folder / "run"
        vocabulary = str(folder / "classes.txt")
        Path(vocabulary).write_text("".join(f"{n}\n" for n in self.names), encoding="utf-8")
        features, labels = self.features, _arrays.as_npy(self.labels, folder, "y", dtypes=("u1", "i1"))
        if self.run_folder is not None:
            features, labels, vocabulary = (_kept_with(run, folder, f) for f in (features, labels, vocabulary))
        settings = dict(self.settings)
        if self.run_folder is None:
            settings.setdefault("train.checkpoint_epochs", 0)
        if self.noise_rates is not None:
            settings["noise_rates"] = self._noise_rates_file(folder)
            if self.run_folder is not None and os.path.isfile(settings["noise_rates"]):
                settings["noise_rates"] = _kept_with(run, folder, settings["noise_rates"])
        arguments = ["train", features, f"--labels={labels}", f"--vocab={vocabulary}"]
        arguments += [f"--run-dir={run}", "--json", *flags(settings)]
        names = {features: "X", f"{Path(features).stem}-train": "X", labels: "y", vocabulary: "the classes"}
        if self.weights is not None:
            weights = _arrays.as_npy(self.weights, folder, "weights")
            if self.run_folder is not None:
                weights = _kept_with(run, folder, weights)
            arguments.append(f"--set=data.features.weights={yaml_of('sample_weight', weights)}")
            names[weights] = "sample_weight"
        try:
            said = called(arguments, features, progress=self.progress, names=names | dict(self.arguments))
        except KeyboardInterrupt:
            if self.run_folder is not None:
                raise
            raise KeyboardInterrupt("interrupted; nothing is kept without run_folder") from None
        return self._kept(run, folder, json.loads(said))

    def _noise_rates_file(self, folder: Path) -> str:
        if isinstance(self.noise_rates, str) and re.fullmatch(r"folds:\d+|online", self.noise_rates):
            return self.noise_rates
        if _arrays.is_path(self.noise_rates):
            return _arrays.checked_path(self.noise_rates, "noise_rates")
        q01, q10 = rates_of(self.noise_rates, len(self.names))
        path = folder / "rates.csv"
        with open(path, "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["class", "q01", "q10"])
            writer.writerows(zip(self.names, map(repr, q01), map(repr, q10)))
        return str(path)

    def _kept(self, run: Path, folder: Path, result: Mapping[str, Any]) -> Trained:
        best = run / "last.safetensors"
        threshold = result.get("threshold")
        if threshold is None:
            threshold = result.get("evaluation", {}).get("plug_in_threshold", 0.5)
        trained = Trained(model=best.read_bytes(), threshold=float(threshold), rates=self._rates(run), issues=None)
        self._audit(trained, run, folder)
        return trained

    def _rates(self, run: Path) -> dict[str, npt.NDArray[Any]] | None:
        for path in (run / "recipe" / "rates.csv", run / "q.csv"):
            if path.exists():
                table = read_table(path)
                if len(table["q01"]) == len(self.names):
                    return {k: _numbers(table[k]) for k in _RATES if k in table} | {
                        "remarks": np.asarray(table.get("remarks", [""] * len(self.names)), object)
                    }
        return None

    def _audit(self, trained: Trained, run: Path, folder: Path) -> None:
        """Rank the labels by the probability that they are wrong, if there are out-of-fold scores."""
        recipe = run / "recipe"
        transition = recipe / "transition.csv"
        if transition.exists():
            trained.matrix = np.loadtxt(transition, delimiter=",", skiprows=1, usecols=range(1, len(self.names) + 1))
        scores = recipe / "oof-noise.csv"
        logits = ["--logits", f"--noise-rates={recipe / 'rates.csv'}"]
        if not scores.exists():
            scores, logits = recipe / "oof.csv", ["--logits", f"--noise-rates={recipe / 'rates.csv'}", "--calibrate"]
        if self.min_error is None or not scores.exists():
            return
        if self.exclusive is not None:
            self._audit_exclusive(trained, run, scores, folder)
            return
        suspects = recipe / "audit.csv"
        if self.min_error != 0.5:
            suspects = folder / "suspects.csv"
            arguments = ["audit", f"--scores={scores}", f"--labels={recipe / 'labels.csv'}", *logits]
            arguments += [f"--suspects={suspects}", f"--min-error={float(self.min_error)!r}", "--page="]
            _program.call([*arguments, "--top=1", "--json"])
        table = read_table(suspects)
        place = {n: k for k, n in enumerate(self.names)}
        trained.issues = {
            "row": np.asarray(table["id"], np.int64) - 1,
            "class": np.asarray([place[w] for w in table["class"]], np.int64),
            "given": np.asarray(table["given"], np.int64),
            "p_wrong": np.asarray(table["p_wrong"], np.float64),
        }

    def _audit_exclusive(self, trained: Trained, run: Path, scores: Path, folder: Path) -> None:
        """Rank rows with one class each, by the matrix of noise between classes."""
        assert self.exclusive is not None
        lines = np.loadtxt(scores, delimiter=",", skiprows=1, ndmin=2)
        lines = lines[np.argsort(lines[:, 0])]
        at, p = lines[:, 0].astype(np.int64) - 1, lines[:, 1:]  # rows that are not held out
        given = self.exclusive[at]
        rows = folder / "rows.csv"
        arguments = ["audit", f"--rows={rows}", "--json", "--top=1", f"--min-error={float(self.min_error or 0)!r}"]
        if trained.matrix is not None:
            _program.call([*arguments, str(run), "--page="])
            table, names, ids = read_table(rows), self.names, at
        else:
            p = sigmoid(p)
            p = np.hstack([1 - p, p]) if p.shape[1] == 1 else shares(p)
            files = [_arrays.as_npy(p, folder, "scores"), _arrays.as_npy(given, folder, "numbers")]
            said = _program.call([*arguments, f"--scores={files[0]}", f"--labels={files[1]}"])
            trained.matrix = np.asarray(json.loads(said)["transition"], np.float64)
            table, names, ids = read_table(rows), [str(k) for k in range(p.shape[1])], np.arange(len(at))
        found = [i for i, (k, n) in enumerate(zip(table["kind"], table["suspects"])) if k == "class" and int(n)]
        p_wrong = np.asarray([table["p_wrong"][i] for i in found], np.float64)
        places = np.searchsorted(ids, np.asarray([table["id"][i] for i in found], np.int64) - 1)
        place = {n: k for k, n in enumerate(names)}
        suggested = np.asarray([place.get(table["suggested"][i], -1) for i in found], np.int64)
        out = {
            "row": at[places],
            "given": given[places],
            "suggested": _scores.suggested(suggested, given[places], p[places]),
            "p_wrong": p_wrong,
        }
        order = np.argsort(-p_wrong, kind="stable")
        trained.issues = {k: v[order] for k, v in out.items()}


def _kept_with(run: Path, folder: Path, file: str) -> str:
    """Move a file from the scratch folder to the data of a run, for resuming and audits.

    Raises
    ------
    UsageError
        If the run has other data.
    """
    if Path(file).parent != folder:
        return file
    data = run.absolute() / "data"
    data.mkdir(parents=True, exist_ok=True)
    target = data / Path(file).name
    if not target.exists():
        shutil.move(file, target)
    elif not filecmp.cmp(file, target, shallow=False):
        raise UsageError(
            f"run_folder: {str(run)!r} holds a run on other data ({target.name} differs): name another folder"
        )
    return str(target)


_RATES = ("q01", "q10", "q01_low", "q01_high", "q10_low", "q10_high", "labels")


def _numbers(column: Sequence[str]) -> npt.NDArray[np.float64]:
    return np.asarray([float(v) if v else np.nan for v in column])


def read_table(path: Path) -> dict[str, list[str]]:
    """Return the columns of a CSV file by name."""
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    return {name: [r[i] for r in rows[1:]] for i, name in enumerate(rows[0])}


def rates_of(rates: Any, classes: int) -> tuple[list[float], list[float]]:
    """Return q01 and q10 of each class, from a table, a matrix with two columns, or one pair for all classes.

    Raises
    ------
    ValueError
        If the number of probabilities is wrong.
    """
    if hasattr(rates, "columns") and {"q01", "q10"} <= set(rates.columns):
        rates = np.column_stack([rates["q01"], rates["q10"]])
    try:
        q = np.asarray(rates, np.float64)
    except (TypeError, ValueError):
        q = np.empty(0)
    if q.shape == (2,):
        q = np.tile(q, (classes, 1))
    if q.shape != (classes, 2) or not ((q >= 0) & (q < 1)).all():
        raise ValueError(
            f"noise_rates is {rates!r}: pass a table with the columns q01 and q10, a matrix of {classes} rows of both, "
            f"two probabilities below 1 for all classes, the path of a file, or 'folds:5'"
        )
    return q[:, 0].tolist(), q[:, 1].tolist()


def called(arguments: Sequence[str], features: str, **more: Any) -> str:
    """Run the program on a file of features. If it refuses values, raise a ValueError that names their place."""
    try:
        return _program.call(arguments, **more)
    except NmnError as error:
        found = _arrays.refused(features, "X")
        if found is not None:
            raise found from error
        raise


def sigmoid(logits: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return 1 / (1 + exp(-x)) without overflow."""
    positive = np.exp(-np.logaddexp(0, -logits.astype(np.float64)))
    return np.asarray(positive, np.float64)


def shares(p: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return probabilities of single classes divided by their sum, or equal ones if all are 0."""
    p = p.astype(np.float64)
    total = p.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(p, total, out=np.full_like(p, 1 / p.shape[1]), where=total > 0))


def probabilities(model: bytes, X: Any, threads: int | None) -> npt.NDArray[np.float32]:
    """Return p(y=1) of each class for each row, computed by ``nmn predict``."""
    size = len(model) + int(np.prod(getattr(X, "shape", (0,)))) * 8
    with quick_scratch(size) as folder:
        features = _arrays.as_npy(X, folder, "X")
        path = folder / "model.safetensors"
        path.write_bytes(model)
        out = folder / "p.npy"
        arguments = ["predict", str(path), features, f"--output={out}", "--quiet"]
        if threads is not None:
            arguments.append(f"--threads={int(threads)}")
        called([*arguments, "--max-bad-samples=0"], features, names={features: "X", str(path): "the model"})
        p: npt.NDArray[np.float32] = np.load(out)
    return p
