"""Find labels that are probably wrong, by the noise model or by a cleanlab filter."""

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

#: Filters of cleanlab 2.9.0.
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
    """Find labels that are probably wrong, from out-of-fold scores of a classifier.

    The signature equals ``cleanlab.filter.find_label_issues`` and
    ``cleanlab.multilabel_classification.filter.find_label_issues``. A label is an issue if the noise model, given label
    and score, estimates a probability of at least `min_error` that it is wrong. Noise rates are estimated from the same
    scores. With `filter_by`, cleanlab decides instead.

    Parameters
    ----------
    labels : array, Series, DataFrame, lists, str or path
        Labels of N rows. Several labels a row: a matrix of 0 and 1 of shape (N, K), or a list of classes for each row,
        as in cleanlab (numbers 0 to K-1, or names). One label a row: a vector of numbers 0 to K-1 or of names. Unknown
        labels (NaN, None, -1 in a matrix, and `unknown`) are ignored and never issues. A path names a file for ``nmn
        audit --labels``: `.npy`, `.csv`, or a manifest.
    pred_probs : array, DataFrame, str or path
        Scores of shape (N, K), out of fold: from a classifier that was not trained on the row. A path, or a memory map
        of a whole float32 `.npy`, is not copied.
    details : bool
        Return a table of the issues, the surest first, instead of a mask or indices.
    return_indices_ranked_by : str, optional
        ``None`` returns a mask. Otherwise return the rows with issues, the worst first, by:

        - ``"quality"``: the noise model, all labels of a row together; without `filter_by`.
        - ``"p_wrong"``: the noise model, the surest issue of a row; without `filter_by`.
        - ``"self_confidence"``: the score of the given label.
        - ``"normalized_margin"``: the score of the given label minus the largest other score.
        - ``"confidence_weighted_entropy"``: the entropy of the scores over the score of the given label.

        With several labels a row, the last three are averages dominated by the worst labels of the row, as in cleanlab.
    multi_label : bool, optional
        Whether a row may have several labels. By default decided by the form of the labels.
    per_class : bool
        With several labels a row, return a mask of shape (N, K), or ranked (row, class) pairs of shape (M, 2).
    min_error : float
        Least probability that an issue is wrong. 0 ranks every audited label. With one label a row and up to .5, the
        default, there are at least as many issues as confident learning prunes by the rate of noise. If the labels show
        no noise that is equal for all rows of a class, the issues are the rows that confident learning prunes.
    frac_noise : float
        Keep only this share of the issues, the surest; above 0 and up to 1. With `filter_by`, cleanlab's argument.
    logits : bool
        Scores are log-odds (with one label a row: logits of a softmax) instead of probabilities.
    classes : sequence, optional
        Names of the columns of `pred_probs`, in order. By default the columns of a DataFrame, else numbers.
    unknown : scalar, optional
        In a vector of labels, the value for an unknown label, such as -1.
    noise_rates : table, mapping, str or path, optional
        ``q01`` and ``q10`` of each class instead of an estimate, as returned by `estimate_rates`, or a file of ``nmn
        rates --output``. They are treated as exact, while estimates have uncertainty. Classes whose rates are NaN or
        not ``usable`` are left out. Only for several labels a row.
    calibrate : bool
        Calibrate the scores by ``a`` and ``b`` of `noise_rates`, if these were estimated from the same scores. Without
        it, scores must be probabilities of the true labels, as from nets trained with the noise model.
    filter_by : str, optional
        A filter of cleanlab to use instead of the noise model: ``"prune_by_noise_rate"``, ``"prune_by_class"``,
        ``"both"``, ``"confident_learning"``, ``"predicted_neq_given"``, ``"low_normalized_margin"``,
        ``"low_self_confidence"``. cleanlab must be installed. It accepts no unknown labels.
    num_to_remove_per_class, min_examples_per_class, confident_joint : optional
        Arguments of cleanlab, with `filter_by`.
    rank_by_kwargs : mapping, optional
        ``{"adjust_pred_probs": True}`` subtracts the mean of each class from scores before ranking.
    n_jobs : int, optional
        Number of threads; by default one for each processor. Results do not depend on it. With `filter_by`, the number
        of cleanlab's processes.
    verbose, low_memory : bool
        Arguments of cleanlab, with `filter_by`; otherwise without effect.

    Returns
    -------
    ndarray or table
        A mask of bools of shape (N,), or with `per_class` (N, K); indices (int64) of rows, or pairs; or a table with
        ``row``, ``class``, ``given``, ``p_wrong`` and more. The table is a DataFrame with the index of `labels` or
        `pred_probs` if pandas is installed, else a dictionary of arrays.

    Raises
    ------
    ValueError
        If shapes disagree, a score is not a probability, or an argument is out of range. Includes ``UsageError``.
    TypeError
        If the type of an argument cannot hold labels or scores.
    NmnError
        If the program fails, or cleanlab is needed and not installed.

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
            raise ValueError("per_class needs several labels a row, and these rows have one: leave per_class out")
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
    """Check the ranking, and return whether probabilities are adjusted for it."""
    if by is not None and by not in _RANKINGS:
        raise ValueError(f"return_indices_ranked_by is {by!r}: choose None or one of {', '.join(_RANKINGS)}")
    if filter_by is not None and by in _OWN_RANKINGS:
        raise ValueError(
            f"return_indices_ranked_by is {by!r}, a ranking of the noise model, and filter_by is {filter_by!r}: choose "
            f"one of {', '.join(_fits.RANKINGS)}, or leave out filter_by"
        )
    strange = [name for name in more or {} if name != "adjust_pred_probs"]
    if strange:
        raise ValueError(f"rank_by_kwargs has {strange[0]!r}: only adjust_pred_probs is supported")
    adjust = bool((more or {}).get("adjust_pred_probs"))
    if adjust and by not in ("self_confidence", "normalized_margin"):
        raise ValueError(
            f"rank_by_kwargs: adjust_pred_probs needs the ranking self_confidence or normalized_margin, and "
            f"return_indices_ranked_by is {by!r}: choose one of them, or leave adjust_pred_probs out"
        )
    return adjust


def _check_filter(by: str | None, own: Mapping[str, bool], filters: Mapping[str, Any]) -> None:
    """Refuse arguments of the noise model with a filter, and arguments of filters without one."""
    if by is None:
        for name in filters:
            raise ValueError(f"{name} needs a filter of cleanlab: pass filter_by= too, or leave {name} out")
        return
    if by not in _FILTERS:
        raise ValueError(f"filter_by is {by!r}: choose one of {', '.join(_FILTERS)}, or None for the noise model")
    for name, given in own.items():
        if given:
            raise ValueError(f"{name} needs the noise model, and filter_by is {by!r}: leave one of them out")


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
    """Return the rows with issues. Equal rows keep their order."""
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
    """Return the class of each row if the given one is wrong."""
    if not inputs.scores.lower().endswith(".npy"):
        return np.asarray(np.where(rows["suggested"] < 0, rows["class"], rows["suggested"]), np.int64)
    scores = np.load(inputs.scores, mmap_mode="r", allow_pickle=False)[at]
    return suggested(rows["suggested"], rows["class"], scores)
