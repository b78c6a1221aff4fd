"""Scores of label quality by the usual measures, low if a label is probably wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from nmn._scores import UNKNOWN, Array, Labelled, as_bytes, parts

__all__ = [
    "RANKINGS",
    "columns",
    "of_all",
    "of_cells",
    "of_rows",
    "thresholds",
    "thresholds_of_column",
]

RANKINGS = ("self_confidence", "normalized_margin", "confidence_weighted_entropy")

#: The least mean probability of a class, and the least divisor of entropies.
_LEAST_THRESHOLD = 2e-6
_LEAST_DIVISOR = 1e-6

#: Number of columns that are transposed together.
_TOGETHER = 16

#: Weight of the next worse label in the average of a row, and number of worst labels that count. The weights of the
#: others are below the rounding of numbers.
_NEWEST = 0.8
_WORST = 25

Ints = npt.NDArray[np.int64]


def of_rows(data: Labelled, by: str, rows: Ints, *, adjust: bool = False) -> npt.NDArray[np.float64]:
    """Return the quality of some rows.

    With several labels a row it is an average that the worst labels dominate,

        e_1 = s_(1),  e_k = .8 s_(k) + .2 e_(k-1),  e_K

    over the known labels, in descending order. It is NaN if no label of the row is known.

    Parameters
    ----------
    data : Labelled
        All rows.
    by : str
        One of `RANKINGS`.
    rows : ndarray of shape (M,)
        Their numbers.
    adjust : bool
        Whether to measure probabilities of a class from their mean over rows with that label.

    Returns
    -------
    ndarray of shape (M,)
        Fits.
    """
    means = _means(data) if adjust else None
    out = np.full(len(rows), np.nan)
    for part in parts(len(rows), data.scores.width):
        at = rows[part]
        p, given = data.scores.at(at), data.at(at)
        if data.several:
            out[part] = _averaged(_of_two(p, given, by, means), given == UNKNOWN)
            continue
        known = np.flatnonzero(given >= 0)
        out[part.start + known] = _of_classes(p[known], given[known].astype(np.int64), by, means)
    return out


def of_cells(data: Labelled, by: str, rows: Ints, classes: Ints, *, adjust: bool = False) -> npt.NDArray[np.float64]:
    """Return the quality of single labels, with several labels a row. See `of_rows`."""
    means = _means(data) if adjust else None
    out = np.empty(len(rows))
    for part in parts(len(rows), data.scores.width):
        at, k = rows[part], classes[part]
        i = np.arange(len(at))
        p, given = data.scores.at(at)[i, k], data.at(at)[i, k]
        out[part] = _of_two(p, given, by, None if means is None else means[k])
    return out


def of_all(data: Labelled, by: str, *, adjust: bool = False) -> npt.NDArray[np.float64]:
    """Return the quality of each label, of shape (N, K), with several labels a row. Unknown labels are NaN."""
    means = _means(data) if adjust else None
    out = np.empty((data.scores.rows, data.scores.width))
    for part in parts(*out.shape):
        given = data.at(part)
        out[part] = np.where(given == UNKNOWN, np.nan, _of_two(data.scores.at(part), given, by, means))
    return out


def _of_classes(p: Array, given: Ints, by: str, means: npt.NDArray[np.float64] | None) -> Array:
    """Return the quality of rows with one label."""
    if means is not None:
        p = p - means + means.max()
        p = p / p.sum(axis=1, keepdims=True)
    i = np.arange(len(p))
    fit = np.asarray(p[i, given])
    if by == "self_confidence":
        return fit
    if by == "normalized_margin":
        others = p.copy()
        others[i, given] = -np.inf
        return np.asarray((fit - others.max(axis=1) + 1) / 2)
    return _weighted(_plogp(p).sum(axis=1) / np.log(p.shape[1]), fit)


def _of_two(p: Array, given: npt.NDArray[np.uint8], by: str, means: npt.NDArray[np.float64] | None) -> Array:
    """Return the quality of labels that are present or absent. `means` has two values for each class."""
    other = 1 - p
    if means is not None:
        most = means.max(axis=-1)
        other, p = other - means[..., 0] + most, p - means[..., 1] + most
        other, p = other / (other + p), p / (other + p)
    fit, against = np.where(given == 1, p, other), np.where(given == 1, other, p)
    if by == "self_confidence":
        return fit
    if by == "normalized_margin":
        return np.asarray((fit - against + 1) / 2)
    return _weighted((_plogp(p) + _plogp(other)) / np.log(2), fit)


def _plogp(p: Array) -> Array:
    """Return -p log p."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(p > 0, -p * np.log(p), 0)


def _weighted(entropy: Array, fit: Array) -> Array:
    """Return a quality from 0 to 1 that falls with the entropy over the probability of the label."""
    ratio = entropy / np.maximum(fit, _LEAST_DIVISOR)
    return np.asarray(np.log(ratio + 1) / np.maximum(ratio, _LEAST_DIVISOR))


def _averaged(fits: Array, unknown: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    """Return the average of each row, dominated by the worst labels."""
    values = fits.astype(np.float64)
    if unknown.any():
        values[unknown] = -np.inf
        best = values.max(axis=1, keepdims=True)  # repeating it at the start of the average changes nothing
        values = np.where(unknown, np.where(np.isfinite(best), best, np.nan), values)
    n = min(values.shape[1], _WORST)
    if n < values.shape[1]:
        values = np.partition(values, n - 1, axis=1)[:, :n]
    values = np.sort(values, axis=1)
    average = values[:, -1].copy()
    for k in range(n - 2, -1, -1):
        average *= 1 - _NEWEST
        average += _NEWEST * values[:, k]
    return np.asarray(average)


def columns(data: Labelled) -> Iterator[tuple[int, npt.NDArray[np.uint8], Array]]:
    """Yield the number, labels and probabilities of each class, with several labels a row."""
    for first in range(0, data.scores.width, _TOGETHER):
        last = min(first + _TOGETHER, data.scores.width)
        p = data.scores.columns(first, last)
        given = np.empty(p.shape, np.uint8)
        for part in parts(data.scores.rows, data.scores.width):
            given[:, part] = as_bytes(data.labels[part, first:last]).T
        for k in range(last - first):
            yield first + k, given[k], p[k]


def _means(data: Labelled) -> npt.NDArray[np.float64]:
    """Return the mean probability of each class over rows with that label, or of its absence and presence."""
    if data.several:
        out = np.empty((data.scores.width, 2))
        for k, z, p in columns(data):
            out[k] = thresholds_of_column(z[z <= 1] == 1, p[z <= 1])
        return out
    known = np.flatnonzero(np.asarray(data.labels) >= 0)
    given = np.asarray(data.labels, np.int64)[known]
    fit = np.empty(len(known))
    for part in parts(len(known), data.scores.width):
        fit[part] = data.scores.at(known[part])[np.arange(part.stop - part.start), given[part]]
    return thresholds(given, fit, data.scores.width)


def thresholds(given: Ints, fit: Array, classes: int) -> npt.NDArray[np.float64]:
    """Return the mean probability of each class over rows with that label. Unused classes get a value above 1."""
    n = np.bincount(given, minlength=classes)
    sums = np.bincount(given, weights=fit, minlength=classes)
    return np.asarray(np.maximum(np.where(n > 0, sums / np.maximum(n, 1), 2), _LEAST_THRESHOLD))


def thresholds_of_column(present: npt.NDArray[np.bool_], p: Array) -> npt.NDArray[np.float64]:
    """Return the mean of 1 - p over absent labels, and of p over present labels. See `thresholds`."""
    n = int(np.count_nonzero(present))
    there = float(p.sum(where=present, dtype=np.float64))
    gone = float(len(p) - n - (p.sum(dtype=np.float64) - there))
    means: list[Any] = [gone / (len(p) - n) if n < len(p) else 2, there / n if n else 2]
    return np.maximum(means, _LEAST_THRESHOLD)
