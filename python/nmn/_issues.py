"""Labels that are probably wrong, by the noise model or by the filters of cleanlab."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal, overload

import numpy as np
import numpy.typing as npt

from nmn import _asking, _cleanlab, _fits, _inputs, _program
from nmn._scores import Labelled, suggested
from nmn._tables import Table, frame

__all__ = ["find_label_issues"]

_OWN_RANKINGS = ("quality", "p_wrong")
_RANKINGS = (*_OWN_RANKINGS, *_fits.RANKINGS)

#: cleanlab's, of version 2.9.0.
_FILTERS = (
    "prune_by_noise_rate",
    "prune_by_class",
    "both",
    "confident_learning",
    "predicted_neq_given",
    "low_normalized_margin",
    "low_self_confidence",
)


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
    unknown: Any = ...,
    noise_rates: Any = ...,
    calibrate: bool = ...,
    filter_by: str | None = ...,
    num_to_remove_per_class: Any = ...,
    min_examples_per_class: int | None = ...,
    confident_joint: Any = ...,
    rank_by_kwargs: Mapping[str, Any] | None = ...,
    n_jobs: int | None = ...,
    verbose: bool = ...,
    low_memory: bool = ...,
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
    unknown: Any = ...,
    noise_rates: Any = ...,
    calibrate: bool = ...,
    filter_by: str | None = ...,
    num_to_remove_per_class: Any = ...,
    min_examples_per_class: int | None = ...,
    confident_joint: Any = ...,
    rank_by_kwargs: Mapping[str, Any] | None = ...,
    n_jobs: int | None = ...,
    verbose: bool = ...,
    low_memory: bool = ...,
) -> npt.NDArray[Any]: ...


@overload
def find_label_issues(
    labels: Any,
    pred_probs: Any,
    *,
    details: bool,
    return_indices_ranked_by: str | None = ...,
    multi_label: bool | None = ...,
    per_class: bool = ...,
    min_error: float = ...,
    frac_noise: float = ...,
    logits: bool = ...,
    classes: Sequence[Any] | None = ...,
    unknown: Any = ...,
    noise_rates: Any = ...,
    calibrate: bool = ...,
    filter_by: str | None = ...,
    num_to_remove_per_class: Any = ...,
    min_examples_per_class: int | None = ...,
    confident_joint: Any = ...,
    rank_by_kwargs: Mapping[str, Any] | None = ...,
    n_jobs: int | None = ...,
    verbose: bool = ...,
    low_memory: bool = ...,
) -> npt.NDArray[Any] | Table: ...


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
    unknown: Any = None,
    noise_rates: Any = None,
    calibrate: bool = False,
    filter_by: str | None = None,
    num_to_remove_per_class: Any = None,
    min_examples_per_class: int | None = None,
    confident_joint: Any = None,
    rank_by_kwargs: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
    verbose: bool = False,
    low_memory: bool = False,
) -> Any:
    """Find labels that are probably wrong, from scores of a classifier that has not learned them.

    The signature is that of ``cleanlab.filter.find_label_issues`` and of
    ``cleanlab.multilabel_classification.filter.find_label_issues``. Without `filter_by` a label is an issue if the
    posterior of the noise model, given label and score, says that it is wrong with a probability of at least
    `min_error`; the rates of the noise are estimated from the same scores. With it cleanlab answers.

    Parameters
    ----------
    labels : array, Series, DataFrame, lists, str or path
        Of N rows. Several labels each: a matrix of 0 and 1 of shape (N, K), or a list of classes for each row, as
        cleanlab takes them (numbers 0 to K-1, or names). One label each: a vector of numbers 0 to K-1 or of names.
        Unknown ones (NaN, None, -1 in a matrix, and `unknown`) are never issues and count for nothing. A path names a
        file that ``nmn audit --labels`` takes: `.npy`, `.csv`, or a manifest.
    pred_probs : array, DataFrame, str or path
        Scores of shape (N, K), out-of-fold: by a classifier that was not trained on the row. float32 is passed on
        without a copy from a memory map of a whole `.npy`, and so is a path.
    details : bool
        Return a table of the issues, the surest first, in place of a mask or indices.
    return_indices_ranked_by : str, optional
        ``None`` returns a mask, anything else the rows with issues, those first whose labels fit least:

        - ``"quality"``: by the noise model, all labels of a row together; without `filter_by`.
        - ``"p_wrong"``: by the noise model, the row first that has the surest issue; without `filter_by`.
        - ``"self_confidence"``: the score of the given label.
        - ``"normalized_margin"``: the score of the given label less the largest of another.
        - ``"confidence_weighted_entropy"``: the entropy of the scores over that of the given label.

        Of several labels a row the last three are averages that the worst labels of the row dominate, as cleanlab's.
    multi_label : bool, optional
        Whether a row may have several labels. By default it is seen from the labels.
    per_class : bool
        Of several labels each, return a mask of shape (N, K), or ranked (row, class) pairs of shape (M, 2).
    min_error : float
        Least probability of being wrong of an issue. 0 ranks every label that is audited. One label each: up to .5, the
        default, there are at least as many issues as confident learning prunes by the rate of noise. If labels show no
        noise that is the same for all rows of a class, the issues are the rows that it prunes.
    frac_noise : float
        Keep so large a share of the issues alone, the surest; from above 0 to 1. With `filter_by` cleanlab's.
    logits : bool
        Scores are log-odds (of one label each: logits of a softmax) in place of probabilities.
    classes : sequence, optional
        Names of the columns of `pred_probs`, in their order. By default those of a DataFrame, else numbers.
    unknown : scalar, optional
        In a vector of labels, the value that means an unknown label, such as -1.
    noise_rates : table, mapping, str or path, optional
        ``q01`` and ``q10`` of each class in place of an estimate, as `estimate_rates` returns them, or a file of
        ``nmn rates --output``. They are taken for certain, where an estimate is not. Classes whose rates are NaN or not
        ``usable`` are left out. For several labels each.
    calibrate : bool
        Calibrate the scores by ``a`` and ``b`` of `noise_rates`, which were estimated from the same scores. Without it
        they are taken as those of the true labels, as those of nets are that were trained through the noise model.
    filter_by : str, optional
        One of cleanlab's filters in place of the noise model: ``"prune_by_noise_rate"``, ``"prune_by_class"``,
        ``"both"``, ``"confident_learning"``, ``"predicted_neq_given"``, ``"low_normalized_margin"``,
        ``"low_self_confidence"``. cleanlab must be installed, and takes no unknown labels.
    num_to_remove_per_class, min_examples_per_class, confident_joint : optional
        cleanlab's, with `filter_by`.
    rank_by_kwargs : mapping, optional
        ``{"adjust_pred_probs": True}`` ranks by scores that are measured from the mean of their class.
    n_jobs : int, optional
        Threads that estimate rates; by default one for each processor. Results do not depend on it. With `filter_by`
        the processes of cleanlab.
    verbose, low_memory : bool
        cleanlab's, with `filter_by`; else without effect.

    Returns
    -------
    ndarray or table
        A mask of bools of shape (N,), or with `per_class` (N, K); indices (int64) of rows, or pairs; or a table with
        ``row``, ``class``, ``given``, ``p_wrong`` and more. It is a DataFrame where pandas is installed, indexed by the
        index of `labels` or `pred_probs` where one of them has one, else a dictionary of arrays.

    Raises
    ------
    ValueError
        Where shapes disagree, a score is no probability, or an argument is out of range. ``UsageError`` is one.
    TypeError
        Where an argument is of a type that holds no labels or scores.
    NmnError
        Where the program fails, or cleanlab is wanted and not installed.

    Examples
    --------
    >>> import numpy as np, nmn
    >>> scores = np.load("oof.npy")                                            # doctest: +SKIP
    >>> nmn.find_label_issues(labels, scores, return_indices_ranked_by="quality")[:10]  # doctest: +SKIP
    """
    if not 0 <= min_error <= 1:
        raise ValueError(f"min_error is {min_error}: want 0 to 1; 0 ranks all labels")
    if not 0 < frac_noise <= 1:
        raise ValueError(f"frac_noise is {frac_noise}: want above 0 to 1")
    by = return_indices_ranked_by
    adjust = _ranking(by, filter_by, rank_by_kwargs)
    filters = {
        "num_to_remove_per_class": num_to_remove_per_class,
        "min_examples_per_class": min_examples_per_class,
        "confident_joint": confident_joint,
    }
    filters = {name: value for name, value in filters.items() if value is not None}
    own = {
        "min_error": min_error != 0.5,
        "noise_rates": noise_rates is not None,
        "calibrate": calibrate,
        "details": details,
    }
    _check_filter(filter_by, own, filters)
    with _program.scratch() as place:
        folder = str(place)
        inputs = _inputs.inputs_of(
            labels, pred_probs, folder, classes=classes, multi_label=multi_label, unknown=unknown, gaps=True
        )
        several = _asking.has_several(inputs)
        if per_class and not several:
            raise ValueError("per_class is for several labels a row, and each of these has one: leave it out")
        data = None
        if filter_by is not None or by in _fits.RANKINGS:
            data = _inputs.opened(inputs, logits, several, filter_by or f"return_indices_ranked_by={by!r}")
        if filter_by is not None:
            assert data is not None
            _asking.threads(n_jobs)
            _inputs.check_values(data, inputs, logits)
            more = {"frac_noise": frac_noise, "n_jobs": None if n_jobs == -1 else n_jobs, "verbose": verbose, **filters}
            if several:
                more["low_memory"] = low_memory
            if not per_class:
                more.update(return_indices_ranked_by=by, rank_by_kwargs=dict(rank_by_kwargs or {}))
                return _cleanlab.issues(data, filter_by, per_class, **more)
            at, k = np.nonzero(_cleanlab.issues(data, filter_by, per_class, **more))
            return _of_cells(at, k, data.labels.shape[:1], data.scores.width, by, adjust, data)
        rows_file, suspects_file = os.path.join(folder, "rows.npy"), os.path.join(folder, "suspects.npy")
        arguments = ["audit", *_asking.files(inputs, logits), "--json", "--top", "0"]
        arguments += ["--min-error", repr(float(min_error)), "--rows", rows_file]
        if several and (per_class or details):
            arguments += ["--suspects", suspects_file]
        arguments += _asking.noise(inputs, several, noise_rates, calibrate, n_jobs, folder)
        said = _asking.asked(arguments, inputs, logits)
        rows = np.load(rows_file)
        suspects = np.load(suspects_file) if "--suspects" in arguments else None
        del said["rows"]
        width = len(said["classes"])
        mask = rows["suspects"] > 0
        if details:
            return _details(rows, mask, suspects, inputs, frac_noise, width)
        if suspects is not None and per_class:
            some = suspects[: _kept(len(suspects), frac_noise)]
            return _of_cells(
                some["row"].astype(np.int64), some["class"].astype(np.int64), rows.shape, width, by, adjust, data
            )
        return _of_rows(rows, mask, by, adjust, frac_noise, data)


def _ranking(by: str | None, filter_by: str | None, more: Mapping[str, Any] | None) -> bool:
    """Check what issues are ranked by, and return whether probabilities are adjusted for it."""
    if by is not None and by not in _RANKINGS:
        raise ValueError(f"return_indices_ranked_by is {by!r}: choose None or one of {', '.join(_RANKINGS)}")
    if filter_by is not None and by in _OWN_RANKINGS:
        raise ValueError(
            f"return_indices_ranked_by is {by!r}, which the noise model gives, and filter_by is {filter_by!r}: choose "
            f"one of {', '.join(_fits.RANKINGS)}, or leave filter_by out"
        )
    strange = [name for name in more or {} if name != "adjust_pred_probs"]
    if strange:
        raise ValueError(f"rank_by_kwargs has {strange[0]!r}: the one that there is is adjust_pred_probs")
    adjust = bool((more or {}).get("adjust_pred_probs"))
    if adjust and by not in ("self_confidence", "normalized_margin"):
        raise ValueError(
            f"rank_by_kwargs: adjust_pred_probs is for the rankings self_confidence and normalized_margin, and "
            f"return_indices_ranked_by is {by!r}: choose one of them, or leave it out"
        )
    return adjust


def _check_filter(by: str | None, own: Mapping[str, bool], filters: Mapping[str, Any]) -> None:
    """Refuse arguments of the noise model with a filter, and arguments of filters without one."""
    if by is None:
        for name in filters:
            raise ValueError(f"{name} is for a filter of cleanlab's: pass filter_by= too, or leave {name} out")
        return
    if by not in _FILTERS:
        raise ValueError(f"filter_by is {by!r}: choose one of {', '.join(_FILTERS)}, or None for the noise model")
    for name, given in own.items():
        if given:
            raise ValueError(f"{name} is for the noise model, and filter_by is {by!r}: leave one of them out")


def _kept(n: int, share: float) -> int:
    return n if share == 1 else int(share * n)


def _of_rows(
    rows: npt.NDArray[Any],
    mask: npt.NDArray[np.bool_],
    ranked_by: str | None,
    adjust: bool,
    share: float,
    data: Labelled | None,
) -> npt.NDArray[Any]:
    if ranked_by is None and share == 1:
        return mask
    at = _ranked(rows, mask, "quality" if ranked_by in (None, *_fits.RANKINGS) else ranked_by)
    at = at[: _kept(len(at), share)]
    if ranked_by is None:
        out = np.zeros(len(rows), bool)
        out[at] = True
        return out
    if data is None:
        return at
    at = np.sort(at)
    return at[np.argsort(_fits.of_rows(data, ranked_by, at, adjust=adjust), kind="stable")]


def _ranked(rows: npt.NDArray[Any], mask: npt.NDArray[np.bool_], by: str | None) -> npt.NDArray[np.int64]:
    """Return the rows with issues; equal ones stay in their order."""
    at = np.flatnonzero(mask).astype(np.int64)
    key = -rows["p_wrong"][at] if by == "p_wrong" else rows["rank"][at]
    return at[np.argsort(key, kind="stable")]


def _of_cells(
    at: npt.NDArray[np.int64],
    classes: npt.NDArray[np.int64],
    shape: tuple[int, ...],
    width: int,
    ranked_by: str | None,
    adjust: bool,
    data: Labelled | None,
) -> npt.NDArray[Any]:
    if ranked_by is None:
        mask = np.zeros((*shape, width), bool)
        mask[at, classes] = True
        return mask
    pairs = np.stack([at, classes], axis=1)
    if data is None:
        return pairs
    return pairs[np.argsort(_fits.of_cells(data, ranked_by, at, classes, adjust=adjust), kind="stable")]


def _details(
    rows: npt.NDArray[Any],
    mask: npt.NDArray[np.bool_],
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
        at = _ranked(rows, mask, "p_wrong")
        at = at[: _kept(len(at), share)]
        columns = {
            "row": at,
            "given": names[rows["class"][at]],
            "suggested": names[_suggested(rows[at], at, inputs)],
            "p_wrong": rows["p_wrong"][at],
            "quality": rows["quality"][at],
        }
    return frame(columns, index=None if inputs.index is None else inputs.index[at])


def _suggested(rows: npt.NDArray[Any], at: npt.NDArray[np.int64], inputs: _inputs.Inputs) -> npt.NDArray[np.int64]:
    """Return the class of each row if the one given is wrong."""
    if not inputs.scores.lower().endswith(".npy"):
        return np.asarray(np.where(rows["suggested"] < 0, rows["class"], rows["suggested"]), np.int64)
    scores = np.load(inputs.scores, mmap_mode="r", allow_pickle=False)[at]
    return suggested(rows["suggested"], rows["class"], scores)
