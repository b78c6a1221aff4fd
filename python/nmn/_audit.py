"""Noise rates and measures from scores of any classifier."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from nmn import _arrays, _asking, _inputs, _labels, _program
from nmn._tables import Table, frame

__all__ = ["estimate_rates", "evaluate"]


def estimate_rates(
    labels: Any,
    pred_probs: Any,
    *,
    multi_label: bool | None = None,
    logits: bool = False,
    classes: Sequence[Any] | None = None,
    unknown: Any = None,
    confidence: float = 0.95,
    min_labels: int | None = None,
    min_slope: float | None = None,
    noise_rates_floor: bool = False,
    n_jobs: int | None = None,
) -> Table:
    """Estimate the shares of missing and incorrect labels of each class.

    Parameters
    ----------
    labels, pred_probs, multi_label, logits, classes, unknown, n_jobs
        As for `find_label_issues`.
    confidence : float
        Probability that an interval holds the rate.
    min_labels : int, optional
        A class needs this many positive and negative labels for usable rates; 10 by default.
    min_slope : float, optional
        Least slope of scores, as a factor; .3 by default. Use .05 if features hardly predict some classes.
    noise_rates_floor : bool
        Raise the rates to their upper bound, if the noise may depend on the row.

    Returns
    -------
    table
        With several labels a row, a row for each class. Columns are ``labels``, ``true_labels`` (expected), ``q01``
        (share of true labels that are missing) and ``q10`` (share of false labels that are given) with the ends of
        their intervals (``q01_low``, ``q01_high``, ...), ``auc``, the calibration ``a`` and ``b``, ``threshold`` (best
        expected F1), ``usable`` (whether the rates are reliable), and ``remarks``, which give the reason if they are
        not, or if a rate does not differ from 0. With one label a row, the matrix p(label | true class): a row for each
        true class and a column for each label.

    Raises
    ------
    ValueError, TypeError, NmnError
        As in `find_label_issues`.
    """
    with _program.scratch() as place:
        folder = str(place)
        inputs = _inputs.inputs_of(
            labels, pred_probs, folder, classes=classes, multi_label=multi_label, unknown=unknown, gaps=True
        )
        if not _asking.has_several(inputs):
            said = _asking.asked(["audit", *_asking.files(inputs, logits), "--json", "--top", "0"], inputs, logits)
            return _transition(said, inputs)
        arguments = ["rates", *_asking.files(inputs, logits), "--json", "--confidence", repr(float(confidence))]
        if min_labels is not None:
            arguments += ["--min-labels", str(int(min_labels))]
        if min_slope is not None:
            arguments += ["--min-slope", repr(float(min_slope))]
        if noise_rates_floor:
            arguments.append("--noise-rates-floor")
        said = _asking.asked(arguments + _asking.threads(n_jobs), inputs, logits)
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
    """Return the names of classes. Only the program has the names from a text file."""
    if inputs.classes is None and inputs.width is None:
        return [c["class"] for c in found]
    return list(inputs.names(len(found)))


def _number(value: Any) -> float:
    """Return a number of JSON. Null becomes NaN."""
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
    """Compare scores with labels: average precision, F1, calibration.

    Parameters
    ----------
    labels : array, Series, DataFrame, lists, str or path
        Observed labels, in one of the forms of `find_label_issues`, or ``None`` if only `truth` is given. One label
        a row counts as one column for each class.
    scores : array, DataFrame, str or path
        Of shape (N, K): probabilities, or log-odds with `logits`.
    truth : array, Series, DataFrame, lists, str or path, optional
        True labels, if they are known.
    logits : bool
        Scores are log-odds.
    classes : sequence, optional
        Names of the columns of `scores`.
    threshold : float
        Probability from which a label is predicted.
    plug_in : float, optional
        A second threshold. By default the threshold of the best expected F1 of these scores.
    top_k : int, optional
        Number of labels that top-k measures predict for each row; 3 by default.
    per_class : bool
        Return the measures of each class instead of all classes together.

    Returns
    -------
    table
        A row for each reference (``labels``, ``truth``): ``ap`` (the mAP), ``op``, ``or``, ``of1``, ``cp``, ``cr``,
        ``cf1``, ``macro_f1`` at the threshold, and again with ``_plug_in`` and ``_top_k``, ``brier``, ``ece``,
        ``log_loss``, and the thresholds. With `per_class` a row for each class and columns such as ``labels_ap``.

    Raises
    ------
    ValueError, TypeError, NmnError
        As in `find_label_issues`.
    """
    if labels is None and truth is None:
        raise ValueError("labels and truth are None: pass one of them to compare the scores with")
    with _program.scratch() as place:
        folder = str(place)
        files: list[str] = []
        inputs = None
        for value, called in ((labels, "labels"), (truth, "truth")):
            if value is None:
                continue
            given = scores if inputs is None else inputs.scores  # which are on disk now
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
        said = _asking.asked(arguments, inputs, logits, "scores")
    return _of_classes(said, inputs) if per_class else _of_all(said)


def _columns_of(labels: Any, scores: Any, classes: Sequence[Any] | None, name: str) -> Any:
    """Return one label a row as a column for each class, and anything else unchanged."""
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
    classes = said["by_class"]
    columns: dict[str, Any] = {}
    for reference in ("labels", "truth"):
        if classes[0].get(reference):
            for measure in classes[0][reference]:
                values = [_number(c[reference][measure]) for c in classes]
                kind = np.int64 if measure == "positives" else np.float64
                columns[f"{reference}_{measure}"] = np.asarray(values).astype(kind)
    return frame(columns, index=_class_names(classes, inputs), index_name="class")
