"""Confident learning, by its published definitions: which labels the scores speak against.

Northcutt, Jiang and Chuang, "Confident Learning: Estimating Uncertainty in Dataset Labels", JAIR 70, 2021; several
labels a row are as many problems of two classes, as in Thyagarajan, Snorrason, Northcutt and Mueller, "Identifying
Incorrect Annotations in Multi-Label Classification Data", 2022. Sets are those of cleanlab 2.9.0 where the definition
is the same.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from nmn import _fits
from nmn._scores import Array, Labelled, parts

__all__ = ["FILTERS", "PRUNING", "Filter", "cells", "rows"]

#: How much nearer than another the given class counts as, so that rounding makes no issue.
_NEAR = 1e-6

PRUNING = ("prune_by_noise_rate", "prune_by_class", "both")
_LOWEST = ("low_normalized_margin", "low_self_confidence")
FILTERS = (*PRUNING, "confident_learning", "predicted_neq_given", *_LOWEST)

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclasses.dataclass(frozen=True)
class Filter:
    """Which labels are issues.

    Attributes
    ----------
    by : str
        One of `FILTERS`.
    share : float
        Of the labels expected to be wrong of each pair of classes those to take, the worst; of the pruning filters.
    remove : ndarray of shape (K,) or None
        How many labels of each class to take in place of those expected to be wrong.
    left : int
        How many labels of a class to leave at least.
    joint : ndarray or None
        Counts of (given, true) classes in place of those found: of shape (K, K), or (K, 2, 2) of several labels a row.
    """

    by: str
    share: float = 1
    remove: Ints | None = None
    left: int = 1
    joint: Array | None = None

    @property
    def prunes(self) -> bool:
        """Whether numbers of labels are taken that are expected to be wrong."""
        return self.by in PRUNING

    def of_class(self, k: int) -> Filter:
        """Return the filter of the problem of two classes, 0 for absent and 1 for present."""
        return Filter(
            self.by,
            self.share,
            None if self.remove is None else np.array([0, self.remove[k]]),
            self.left,
            None if self.joint is None else self.joint[k],
        )


@dataclasses.dataclass(frozen=True)
class _Judged:
    """What is known of each label: N of K classes, or one column of several with 2.

    `fit` is p(given class), `off` where another class is confident, `kept` where the given class is the most probable.
    """

    given: npt.NDArray[Any]
    fit: Array
    off: Mask
    kept: Mask
    joint: npt.NDArray[np.float64]

    def counts(self) -> Ints:
        """Return how many labels there are of each class."""
        return np.bincount(self.given, minlength=self.joint.shape[0])

    def confident(self) -> int:
        """Return how many labels confident learning finds."""
        return int((self.off & ~self.kept).sum())


def rows(data: Labelled, how: Filter) -> Mask:
    """Return the rows with an issue."""
    if not data.several:
        return _of_one(data, how)
    out = np.zeros(data.scores.rows, bool)
    lowest = how.by in _LOWEST  # as many rows as confident learning finds, by all their labels together
    for k, known, judged in _columns(data):
        found = _of_column(judged, dataclasses.replace(how, by="confident_learning") if lowest else how.of_class(k))
        out[found if known is None else known[found]] = True
    if lowest:
        fit = _fits.of_rows(data, "self_confidence", np.arange(len(out)))
        return _lowest(fit, int(out.sum()))
    return out


def cells(data: Labelled, how: Filter) -> Mask:
    """Return the labels of several a row that are issues, of shape (N, K)."""
    out = np.zeros((data.scores.rows, data.scores.width), bool)
    for k, known, judged in _columns(data):
        found = _of_column(judged, how.of_class(k))
        out[found if known is None else known[found], k] = True
    return out


def _of_one(data: Labelled, how: Filter) -> Mask:
    known = np.flatnonzero(np.asarray(data.labels) >= 0)
    judged = _judge(data, known)
    if how.by == "low_normalized_margin":
        found = _lowest(_fits.of_rows(data, "normalized_margin", known), judged.confident())
    elif how.prunes:

        def by_rate(k: int, at: Ints, numbers: Ints) -> Mask:
            return _beaten(data.scores.at(known[at]), judged.fit[at], k, numbers)

        found = _pruned(judged, how, by_rate)
    else:
        found = _of_column(judged, how)
    out = np.zeros(data.scores.rows, bool)
    out[known[found]] = True
    return out


def _of_column(judged: _Judged, how: Filter) -> Mask:
    if how.by == "predicted_neq_given":
        return ~judged.kept
    if how.by == "confident_learning":
        return judged.off & ~judged.kept
    if how.by in _LOWEST:  # of two classes the margin is in the order of the probability
        return _lowest(judged.fit, judged.confident())
    return _pruned(judged, how, lambda k, at, numbers: _lowest(judged.fit[at], numbers[1 - k]))


def _pruned(judged: _Judged, how: Filter, by_rate: Callable[[int, Ints, Ints], Mask]) -> Mask:
    """Take as many labels of each class as are expected to be wrong."""
    of_class, of_pair = _expected(judged, how)
    order = np.argsort(judged.given, kind="stable")
    out = np.zeros(len(order), bool)
    start = 0
    for k, n in enumerate(judged.counts()):
        at = order[start : start + n]
        start += n
        if n <= how.left:
            continue
        found = np.ones(n, bool)
        if how.by != "prune_by_noise_rate":
            found &= _lowest(judged.fit[at], of_class[k])
        if how.by != "prune_by_class":
            found &= by_rate(k, at, of_pair[:, k])
        out[at] = found
    return out & ~judged.kept


def _beaten(p: Array, fit: Array, k: int, numbers: Ints) -> Mask:
    """Return the labels of class k that each other class beats by most, so many of it."""
    out = np.zeros(len(fit), bool)
    for j in np.flatnonzero(numbers):
        if j != k:
            out |= _lowest(fit - p[:, j], numbers[j])
    return out


def _lowest(values: Array, n: int | np.integer[Any]) -> Mask:
    """Return the n least values."""
    out = np.zeros(len(values), bool)
    if n >= len(values):
        out[:] = True
    elif n > 0:
        out[np.argpartition(values, int(n) - 1)[: int(n)]] = True
    return out


def _expected(judged: _Judged, how: Filter) -> tuple[Ints, Ints]:
    """Return how many labels of each given class to take, and of each pair of (true, given) classes."""
    counts = judged.counts()
    joint = _calibrated(judged.joint, counts) if how.joint is None else np.asarray(how.joint, np.float64)
    wrong = joint.T.copy()
    right = np.maximum(wrong.diagonal(), how.left)
    pairs = np.maximum(np.count_nonzero(wrong, axis=0) - 1, 1)
    wrong = np.maximum(wrong - (right - wrong.diagonal()) / pairs, 0)
    np.fill_diagonal(wrong, 0)
    taken = (wrong * how.share).astype(np.int64)
    if how.remove is None:
        right = (right + (wrong - wrong * how.share).sum(axis=0)).astype(np.int64)
        return np.maximum(counts - right, 0), taken
    remove = np.minimum(how.remove, np.maximum(counts - how.left, 0))
    sums = taken.sum(axis=0)
    return remove, _rounded((taken / np.maximum(sums, 1) * remove).T).T


def _calibrated(joint: npt.NDArray[np.float64], counts: Ints) -> npt.NDArray[np.float64]:
    """Scale counts of (given, true) pairs so that a given class has as many as labels, in whole numbers."""
    joint = joint.copy()
    np.fill_diagonal(joint, np.maximum(joint.diagonal(), 1))
    joint = joint / joint.sum(axis=1, keepdims=True) * counts[:, None]
    return _rounded(joint).astype(np.float64)


def _rounded(matrix: npt.NDArray[np.float64]) -> Ints:
    """Round numbers so that sums of rows stay: those are moved that rounding has moved the most."""
    out = np.rint(matrix)
    short = np.rint(np.rint(matrix.sum(axis=1)) - out.sum(axis=1)).astype(np.int64)
    for i in np.flatnonzero(short):
        order = np.argsort(matrix[i] - out[i], kind="stable")
        step = 1 if short[i] > 0 else -1
        out[i, order[::-step][: abs(short[i])]] += step
    return out.astype(np.int64)


def _judge(data: Labelled, known: Ints) -> _Judged:
    """Judge one label each, of the rows of which it is known."""
    k = data.scores.width
    every = len(known) == data.scores.rows
    given = np.asarray(data.labels, np.int64) if every else np.asarray(data.labels, np.int64)[known]
    fit = np.empty(len(known), data.scores.at(slice(0, 0)).dtype)
    off, kept = np.empty(len(known), bool), np.empty(len(known), bool)
    spans = list(parts(len(known), k))
    for part in spans:
        p = data.scores.at(part if every else known[part])
        fit[part] = p[np.arange(len(p)), given[part]]
    thresholds = _fits.thresholds(given, fit, k)
    joint = np.zeros(k * k)
    for part in spans:
        p = data.scores.at(part if every else known[part])
        sure = p >= thresholds - _NEAR
        n = np.count_nonzero(sure, axis=1)
        guess = np.where(n > 1, p.argmax(axis=1), sure.argmax(axis=1))
        joint += np.bincount((given[part] * k + guess)[n > 0], minlength=k * k)
        off[part] = (n > 0) & (guess != given[part])
        kept[part] = fit[part] + p.dtype.type(_NEAR) >= p.max(axis=1)
    return _Judged(given, fit, off, kept, joint.reshape(k, k))


def _columns(data: Labelled) -> Iterator[tuple[int, Ints | None, _Judged]]:
    """Yield each class of several with the rows of which its label is known (None for all), and what is known of it."""
    for k, given, p in _fits.columns(data):
        known = None
        if given.size and given.max() > 1:
            known = np.flatnonzero(given <= 1)
            given, p = given[known], p[known]
        yield k, known, _judge_column(given, p)


def _judge_column(given: npt.NDArray[np.uint8], p: Array) -> _Judged:
    present = given == 1
    other = 1 - p
    t = _fits.thresholds_of_column(present, p)
    sure, against = p >= t[1] - _NEAR, other >= t[0] - _NEAR
    guess = np.where(sure & against, p > other, sure)
    some = sure | against
    fit = np.where(present, p, other)
    joint = [[np.count_nonzero(some & (present == z) & (guess == y)) for y in (0, 1)] for z in (0, 1)]
    kept = fit + p.dtype.type(_NEAR) >= 1 - fit
    return _Judged(given, fit, some & (guess != present), kept, np.asarray(joint, np.float64))
