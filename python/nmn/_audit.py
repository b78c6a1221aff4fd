"""Labels that are probably wrong, noise rates, and measures, of scores that somebody has."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, overload

import numpy as np
import numpy.typing as npt

from nmn import _arrays, _inputs, _labels, _program
from nmn._errors import NmnError
from nmn._tables import Table, frame

__all__ = ["estimate_rates", "evaluate", "find_label_issues"]

_RANKINGS = ("quality", "self_confidence", "p_wrong")


@overload
def find_label_issues(
    labels: Any,
    pred_probs: Any,
    *,
    details: Literal[True],
    return_indices_ranked_by: str | None = ...,
    multi_label: bool | None = ...,
    per_class: bool = ...,
    min_error: float = ...,
    frac_noise: float = ...,
    logits: bool = ...,
    classes: Sequence[Any] | None = ...,
    rates: Any = ...,
    calibrate: bool = ...,
    n_jobs: int | None = ...,
) -> Table: ...


@overload
def find_label_issues(
    labels: Any,
    pred_probs: Any,
    *,
    details: Literal[False] = ...,
    return_indices_ranked_by: str | None = ...,
    multi_label: bool | None = ...,
    per_class: bool = ...,
    min_error: float = ...,
    frac_noise: float = ...,
    logits: bool = ...,
    classes: Sequence[Any] | None = ...,
    rates: Any = ...,
    calibrate: bool = ...,
    n_jobs: int | None = ...,
) -> npt.NDArray[Any]: ...


def find_label_issues(
    labels: Any,
    pred_probs: Any,
    *,
    details: bool = False,
    return_indices_ranked_by: str | None = None,
    multi_label: bool | None = None,
    per_class: bool = False,
    min_error: float = 0.5,
    frac_noise: float = 1.0,
    logits: bool = False,
    classes: Sequence[Any] | None = None,
    rates: Any = None,
    calibrate: bool = False,
    n_jobs: int | None = None,
) -> Any:
    """Find labels that are probably wrong, from scores of a classifier that has not learned them.

    The signature is that of ``cleanlab.filter.find_label_issues`` and of
    ``cleanlab.multilabel_classification.filter.find_label_issues``, as far as it makes sense here. A label is an issue
    where the posterior of the noise model, given label and score, says that it is wrong with a probability of at least
    `min_error`; the rates of the noise are estimated from the same scores.

    Parameters
    ----------
    labels : array, Series, DataFrame, lists, str or path
        Of N rows. Several labels each: a matrix of 0 and 1 of shape (N, K), or a list of classes for each row, as
        cleanlab takes them (numbers 0 to K-1, or names). One label each: a vector of numbers 0 to K-1 or of names.
        A path names a file that ``nmn audit --labels`` takes: `.npy`, `.csv`, or a manifest.
    pred_probs : array, DataFrame, str or path
        Scores of shape (N, K), out-of-fold: by a classifier that was not trained on the row. float32 is passed on
        without a copy from a memory map of a whole `.npy`, and so is a path.
    details : bool
        Return a table of the issues, the surest first, in place of a mask or indices.
    return_indices_ranked_by : {None, "quality", "self_confidence", "p_wrong"}
        ``None`` returns a mask. ``"quality"``, or cleanlab's name of it, ``"self_confidence"``, returns the rows with
        issues, those first whose labels fit least as a whole, and ``"p_wrong"`` those first that have the surest issue.
    multi_label : bool, optional
        Whether a row may have several labels. By default it is seen from the labels.
    per_class : bool
        Of several labels each, return a mask of shape (N, K), or ranked (row, class) pairs of shape (M, 2).
    min_error : float
        Least probability of being wrong of an issue, above 0 to 1.
    frac_noise : float
        Keep so large a share of the issues alone, the surest; from above 0 to 1.
    logits : bool
        Scores are log-odds (of one label each: logits of a softmax) in place of probabilities.
    classes : sequence, optional
        Names of the columns of `pred_probs`, in their order. By default those of a DataFrame, else numbers.
    rates : table, mapping, str or path, optional
        ``q01`` and ``q10`` of each class in place of an estimate, as `estimate_rates` returns them, or a file of
        ``nmn rates --output``. Classes whose rates are NaN or not ``usable`` are left out. For several labels each.
    calibrate : bool
        Calibrate the scores by ``a`` and ``b`` of `rates`, which were estimated from the same scores. Without it they
        are taken as those of the true labels, as those of nets are that were trained through the noise model.
    n_jobs : int, optional
        Threads that estimate rates; by default one for each processor. Results do not depend on it.

    Returns
    -------
    ndarray or table
        A mask of bools of shape (N,), or with `per_class` (N, K); indices (int64) of rows, or pairs; or a table with
        ``row``, ``class``, ``given``, ``p_wrong`` and more. It is a DataFrame where pandas is installed, indexed by
        the index of `labels` or `pred_probs` where one of them has one, else a dictionary of arrays.

    Raises
    ------
    ValueError
        Where shapes disagree, a score is no probability, or an argument is out of range. ``UsageError`` is one.
    TypeError
        Where an argument is of a type that holds no labels or scores.
    NmnError
        Where the program fails.

    Examples
    --------
    >>> import numpy as np, nmn
    >>> scores = np.load("oof.npy")                                            # doctest: +SKIP
    >>> nmn.find_label_issues(labels, scores, return_indices_ranked_by="quality")[:10]  # doctest: +SKIP
    """
    if return_indices_ranked_by is not None and return_indices_ranked_by not in _RANKINGS:
        raise ValueError(
            f"return_indices_ranked_by is {return_indices_ranked_by!r}: choose None or one of {', '.join(_RANKINGS)}"
        )
    _check_share(min_error, "min_error")
    _check_share(frac_noise, "frac_noise")
    with _program.scratch() as place:
        folder = str(place)
        inputs = _inputs.inputs_of(labels, pred_probs, folder, classes=classes, multi_label=multi_label)
        several = _has_several(inputs)
        if per_class and not several:
            raise ValueError("per_class is for several labels a row, and each of these has one: leave it out")
        rows_file, suspects_file = os.path.join(folder, "rows.npy"), os.path.join(folder, "suspects.npy")
        arguments = ["audit", *_files(inputs, logits), "--json", "--top", "0"]
        arguments += ["--min-error", repr(float(min_error)), "--rows", rows_file]
        if several and (per_class or details):
            arguments += ["--suspects", suspects_file]
        if several:
            arguments += _threads(n_jobs) + _rates(rates, calibrate, inputs, folder)
        elif rates is not None or calibrate:
            raise ValueError("rates are for several labels a row, and each of these has one: leave them out")
        said = _asked(arguments, inputs, logits)
        rows = np.load(rows_file)
        suspects = np.load(suspects_file) if "--suspects" in arguments else None
        del said["rows"]
        width = len(said["classes"])
    if details:
        return _details(rows, suspects, inputs, frac_noise, width)
    if suspects is not None:
        return _of_cells(suspects[: _kept(len(suspects), frac_noise)], len(rows), width, return_indices_ranked_by)
    return _of_rows(rows, return_indices_ranked_by, frac_noise)


def _check_share(value: float, name: str) -> None:
    if not 0 < value <= 1:
        raise ValueError(f"{name} is {value}: want above 0 to 1")


def _has_several(inputs: _inputs.Inputs) -> bool:
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


def _files(inputs: _inputs.Inputs, logits: bool) -> list[str]:
    return ["--scores", inputs.scores, "--labels", inputs.labels, *(["--logits"] if logits else [])]


def _threads(n_jobs: int | None) -> list[str]:
    if n_jobs is None or n_jobs == -1:
        return []
    if n_jobs < 1:
        raise ValueError(f"n_jobs is {n_jobs}: want at least 1, or None for one on each processor")
    return ["--threads", str(int(n_jobs))]


def _rates(rates: Any, calibrate: bool, inputs: _inputs.Inputs, folder: str) -> list[str]:
    """Write rates that are given as the program reads them: by the names that it has for the columns."""
    flags = ["--calibrate"] if calibrate else []
    if rates is None:
        if calibrate:
            raise ValueError("calibrate belongs to rates: pass those that estimate_rates returns")
        return []
    if _arrays.is_path(rates):
        return ["--rates", _arrays.checked_path(rates, "rates"), *flags]
    if inputs.width is None:
        raise ValueError("rates: pass the file of rates where pred_probs is a file of text")
    names = ["q01", "q10", *(["a", "b"] if calibrate else [])]
    try:
        columns = [np.array(rates[name], np.float64) for name in names]
    except (KeyError, TypeError, IndexError, ValueError) as error:
        raise ValueError(
            f"rates: want {', '.join(names)}, a number for each class, as estimate_rates returns them"
        ) from error
    for name, column in zip(names, columns):
        if column.shape != (inputs.width,):
            raise ValueError(f"rates: {column.size} of {name} for {inputs.width} classes: want one for each")
    believed = ~np.isnan(columns[0]) & ~np.isnan(columns[1])
    if "usable" in rates:
        believed &= np.asarray(rates["usable"], bool)
    path = os.path.join(folder, "rates.csv")
    with open(path, "w", encoding="utf-8") as file:
        file.write(",".join(["word", *names]) + "\n")
        for k in range(inputs.width):
            cells = [repr(float(c[k])) if believed[k] else "" for c in columns]
            file.write(",".join([str(k + 1), *cells]) + "\n")
    return ["--rates", path, *flags]


def _asked(arguments: list[str], inputs: _inputs.Inputs, logits: bool, scores: str = "pred_probs") -> dict[str, Any]:
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


def _kept(n: int, share: float) -> int:
    return n if share == 1 else int(share * n)


def _of_rows(rows: npt.NDArray[Any], ranked_by: str | None, share: float) -> npt.NDArray[Any]:
    mask: npt.NDArray[np.bool_] = rows["suspects"] > 0
    if ranked_by is None and share == 1:
        return mask
    at = _ranked(rows, mask, ranked_by or "quality")
    at = at[: _kept(len(at), share)]
    if ranked_by is not None:
        return at
    out = np.zeros(len(rows), bool)
    out[at] = True
    return out


def _ranked(rows: npt.NDArray[Any], mask: npt.NDArray[np.bool_], by: str) -> npt.NDArray[np.int64]:
    """Return the rows with issues; equal ones stay in their order."""
    at = np.flatnonzero(mask).astype(np.int64)
    key = -rows["p_wrong"][at] if by == "p_wrong" else rows["rank"][at]
    return at[np.argsort(key, kind="stable")]


def _of_cells(suspects: npt.NDArray[Any], rows: int, width: int, ranked_by: str | None) -> npt.NDArray[Any]:
    if ranked_by is not None:
        return np.stack([suspects["row"], suspects["class"]], axis=1).astype(np.int64)
    mask = np.zeros((rows, width), bool)
    mask[suspects["row"], suspects["class"]] = True
    return mask


def _details(
    rows: npt.NDArray[Any],
    suspects: npt.NDArray[Any] | None,
    inputs: _inputs.Inputs,
    share: float,
    width: int,
) -> Table:
    names = inputs.names(width)
    columns: dict[str, Any]
    if suspects is not None:
        some = suspects[: _kept(len(suspects), share)]
        at = some["row"].astype(np.int64)
        columns = {
            "row": at,
            "class": names[some["class"]],
            "given": some["given"].copy(),
            "p_wrong": some["p_wrong"].copy(),
            "p": some["p"].copy(),
            "quality": rows["quality"][at],
            "pooled": some["pooled"].copy(),
        }
    else:
        at = _ranked(rows, rows["suspects"] > 0, "p_wrong")
        at = at[: _kept(len(at), share)]
        columns = {
            "row": at,
            "given": names[rows["class"][at]],
            "suggested": names[rows["suggested"][at]],
            "p_wrong": rows["p_wrong"][at],
            "quality": rows["quality"][at],
        }
    return frame(columns, index=None if inputs.index is None else inputs.index[at])


def estimate_rates(
    labels: Any,
    pred_probs: Any,
    *,
    multi_label: bool | None = None,
    logits: bool = False,
    classes: Sequence[Any] | None = None,
    confidence: float = 0.95,
    min_labels: int | None = None,
    min_slope: float | None = None,
    rates_floor: bool = False,
    n_jobs: int | None = None,
) -> Table:
    """Estimate how often each class is missing where it should be, and there where it should not be.

    Parameters
    ----------
    labels, pred_probs, multi_label, logits, classes, n_jobs
        As of `find_label_issues`.
    confidence : float
        Probability that an interval holds the rate.
    min_labels : int, optional
        Least labels, there and not there, of a class whose rates are believed; 10 by default.
    min_slope : float, optional
        Least slope of scores, as a factor; .05 where features hardly predict some classes, .3 by default.
    rates_floor : bool
        Raise the rates as far as the labels let them, for noise that is suspected to depend on the row.

    Returns
    -------
    table
        Several labels each: a row for each class, with ``labels``, ``true_labels`` (expected), ``q01`` (missing
        though true) and ``q10`` (there though untrue) with the ends of their intervals (``q01_low``, ``q01_high``,
        ...), ``auc``, the calibration ``a`` and ``b``, ``threshold`` (best expected F1), ``usable`` (whether the rates
        can be believed), and ``remarks``, which say why not, or that a rate is not told from 0. One label each: the
        matrix p(label | true class), a row for each true class and a column for each label.

    Raises
    ------
    ValueError, TypeError, NmnError
        As `find_label_issues` does.
    """
    with _program.scratch() as place:
        folder = str(place)
        inputs = _inputs.inputs_of(labels, pred_probs, folder, classes=classes, multi_label=multi_label)
        if not _has_several(inputs):
            said = _asked(["audit", *_files(inputs, logits), "--json", "--top", "0"], inputs, logits)
            return _transition(said, inputs)
        arguments = ["rates", *_files(inputs, logits), "--json", "--confidence", repr(float(confidence))]
        if min_labels is not None:
            arguments += ["--min-labels", str(int(min_labels))]
        if min_slope is not None:
            arguments += ["--min-slope", repr(float(min_slope))]
        if rates_floor:
            arguments.append("--rates-floor")
        said = _asked(arguments + _threads(n_jobs), inputs, logits)
    found = said["classes"]
    names = _class_names(found, inputs)

    def column(pick: Callable[[dict[str, Any]], Any]) -> npt.NDArray[np.float64]:
        return np.asarray([_number(pick(c)) for c in found])

    return frame(
        {
            "labels": np.asarray([c["positives"] for c in found], np.int64),
            "true_labels": column(lambda c: c["true_positives"]),
            "q01": column(lambda c: c["q01"]),
            "q01_low": column(lambda c: c["q01_interval"]["low"]),
            "q01_high": column(lambda c: c["q01_interval"]["high"]),
            "q10": column(lambda c: c["q10"]),
            "q10_low": column(lambda c: c["q10_interval"]["low"]),
            "q10_high": column(lambda c: c["q10_interval"]["high"]),
            "auc": column(lambda c: c["auc"]),
            "a": column(lambda c: c["a"]),
            "b": column(lambda c: c["b"]),
            "threshold": np.asarray([_number(t) for t in said["class_thresholds"]]),
            "usable": np.asarray(said["class_usable"], bool),
            "remarks": np.asarray(["; ".join(c["diagnoses"] or ()) for c in found], object),
        },
        index=names,
        index_name="class",
        pooled_q01=said["pooled_q01"],
        pooled_q10=said["pooled_q10"],
        threshold=said["threshold"],
        confidence=said["confidence"],
    )


def _class_names(found: Sequence[Mapping[str, Any]], inputs: _inputs.Inputs) -> list[Any]:
    """Return the names of classes: those of a file of text are known to the program alone."""
    if inputs.classes is None and inputs.width is None:
        return [c["word"] for c in found]
    return list(inputs.names(len(found)))


def _number(value: Any) -> float:
    """Return a number of JSON; what is undefined is null there."""
    return float("nan") if value is None else float(value)


def _transition(said: dict[str, Any], inputs: _inputs.Inputs) -> Table:
    names = _class_names(said["classes"], inputs)
    matrix = np.asarray([[_number(v) for v in row] for row in said["transition"]])
    columns = {name: matrix[:, k] for k, name in enumerate(list(names))}
    return frame(columns, index=names, index_name="true", pooled_rate=said["pooled_rate"])


def evaluate(
    labels: Any,
    scores: Any,
    *,
    truth: Any = None,
    logits: bool = False,
    classes: Sequence[Any] | None = None,
    threshold: float = 0.5,
    plug_in: float | None = None,
    top_k: int | None = None,
    per_class: bool = False,
) -> Table:
    """Hold scores against labels: average precision, F1, calibration.

    Parameters
    ----------
    labels : array, Series, DataFrame, lists, str or path
        Labels that were observed, in one of the forms of `find_label_issues`; ``None`` where `truth` alone is given.
        One label each counts as one column for each class.
    scores : array, DataFrame, str or path
        Of shape (N, K): probabilities, or log-odds with `logits`.
    truth : array, Series, DataFrame, lists, str or path, optional
        True labels, where they are known.
    logits : bool
        Scores are log-odds.
    classes : sequence, optional
        Names of the columns of `scores`.
    threshold : float
        Probability from which a label is predicted.
    plug_in : float, optional
        A second threshold; by default that of the best expected F1 of these scores.
    top_k : int, optional
        Labels that are predicted for each row by the top-k measures; 3 by default.
    per_class : bool
        Return the measures of each class in place of those of all.

    Returns
    -------
    table
        A row for each reference (``labels``, ``truth``): ``ap`` (the mAP), ``op``, ``or``, ``of1``, ``cp``, ``cr``,
        ``cf1``, ``macro_f1`` at the threshold, the same with ``_plug_in`` and ``_top_k``, ``brier``, ``ece``,
        ``log_loss``, and the thresholds. With `per_class` a row for each class and columns such as ``labels_ap``.

    Raises
    ------
    ValueError, TypeError, NmnError
        As `find_label_issues` does.
    """
    if labels is None and truth is None:
        raise ValueError("labels and truth are None: pass one of them to hold the scores against")
    with _program.scratch() as place:
        folder = str(place)
        files: list[str] = []
        inputs = None
        for value, called in ((labels, "labels"), (truth, "truth")):
            if value is None:
                continue
            given = scores if inputs is None else inputs.scores  # which are on disk by then
            value = _columns_of(value, given, classes, called)
            inputs = _inputs.inputs_of(value, given, folder, names=(called, "scores"), classes=classes)
            classes = inputs.classes
            files += [f"--{called}", inputs.labels]
        assert inputs is not None
        arguments = ["eval", "--scores", inputs.scores, *files, "--json", "--threshold", repr(float(threshold))]
        if logits:
            arguments.append("--logits")
        if plug_in is not None:
            arguments += ["--plug-in", repr(float(plug_in))]
        if top_k is not None:
            arguments += ["--top-k", str(int(top_k))]
        elif inputs.width is not None and inputs.width < 3:
            arguments += ["--top-k", str(inputs.width)]
        said = _asked(arguments, inputs, logits, "scores")
    return _of_classes(said, inputs) if per_class else _of_all(said)


def _columns_of(labels: Any, scores: Any, classes: Sequence[Any] | None, name: str) -> Any:
    """Return one label each as a column for each class, and anything else as it is."""
    array = labels
    if _arrays.is_path(labels):
        if not os.fspath(labels).lower().endswith(".npy"):
            return labels
        array = np.load(_arrays.checked_path(labels, name), mmap_mode="r", allow_pickle=False)
    if hasattr(array, "to_numpy"):
        array = array.to_numpy()
    if isinstance(array, np.ndarray) and (array.ndim != 1 or array.dtype.kind == "O"):
        return labels
    if not isinstance(array, np.ndarray) and (len(array) == 0 or not np.isscalar(array[0])):
        return labels
    shape = _inputs.shape_of(scores, "scores")
    if shape is None or len(shape) < 2 or shape[1] < 2:
        return labels
    given = classes
    if given is None and np.asarray(array).dtype.kind in "iu":
        given = list(range(shape[1]))
    return _labels.labels_of(array, classes=given, name=name).indicator()


_AT = (("at_threshold", ""), ("at_plug_in", "_plug_in"), ("at_top_k", "_top_k"))


def _of_all(said: dict[str, Any]) -> Table:
    references = [r for r in ("labels", "truth") if said.get(r)]
    columns: dict[str, list[Any]] = {}

    def put(name: str, value: Any) -> None:
        columns.setdefault(name, []).append(_number(value))

    for reference in references:
        m = said[reference]
        put("ap", m["ap"]["All"])
        for key, ending in _AT:
            for measure, value in m[key]["All"].items():
                put(measure + ending, value)
        for key in ("brier", "ece", "confidence_ece"):
            put(key, m[key]["All"])
        put("log_loss", m["log_loss"])
        put("threshold", said["threshold"])
        put("threshold_plug_in", said["plug_in_threshold"])
    return frame(
        {k: np.asarray(v) for k, v in columns.items()}, index=references, index_name="against", top_k=said["top_k"]
    )


def _of_classes(said: dict[str, Any], inputs: _inputs.Inputs) -> Table:
    words = said["words"]
    columns: dict[str, Any] = {}
    for reference in ("labels", "truth"):
        if words[0].get(reference):
            for measure in words[0][reference]:
                values = [_number(w[reference][measure]) for w in words]
                kind = np.int64 if measure == "positives" else np.float64
                columns[f"{reference}_{measure}"] = np.asarray(values).astype(kind)
    return frame(columns, index=_class_names(words, inputs), index_name="class")
