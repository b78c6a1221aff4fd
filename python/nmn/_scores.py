"""Scores and labels that are read in parts, from arrays or mapped files."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["UNKNOWN", "Array", "Labelled", "Scores", "as_bytes", "parts", "suggested"]

Array = npt.NDArray[Any]

#: Bytes of scores that are processed together.
_TOGETHER = 1 << 22

#: An unknown label in a matrix of bytes.
UNKNOWN = 255


def parts(rows: int, width: int) -> Iterator[slice]:
    """Yield slices of rows that fit into the processor's cache."""
    step = max(1, _TOGETHER // (8 * width))
    for start in range(0, rows, step):
        yield slice(start, min(start + step, rows))


@dataclasses.dataclass(frozen=True)
class Scores:
    """Probabilities of shape (N, K), which may be stored as log-odds.

    Attributes
    ----------
    values : ndarray of shape (N, K)
        The stored values.
    logits : bool
        Whether the values are log-odds, or logits of a softmax.
    exclusive : bool
        Whether the classes of a row exclude each other.
    """

    values: Array
    logits: bool
    exclusive: bool

    @property
    def rows(self) -> int:
        """Return N."""
        return int(self.values.shape[0])

    @property
    def width(self) -> int:
        """Return K."""
        return int(self.values.shape[1])

    def at(self, rows: Any) -> Array:
        """Return the probabilities of some rows, by a slice or by their numbers."""
        part = self._numbers(self.values[rows])
        if self.logits and self.exclusive:
            part = np.exp(part - part.max(axis=1, keepdims=True))
            return np.asarray(part / part.sum(axis=1, keepdims=True))
        return _expit(part) if self.logits else part

    def columns(self, first: int, last: int) -> Array:
        """Return some columns, each contiguous, of shape (last - first, N), with several labels a row."""
        out = np.empty((last - first, self.rows), self._numbers(self.values[:0]).dtype)
        for part in parts(self.rows, self.width):
            out[:, part] = self.values[part, first:last].T
        return _expit(out) if self.logits else out

    @staticmethod
    def _numbers(part: Array) -> Array:
        return part.astype(np.float32) if part.dtype.itemsize < 4 else np.asarray(part)


def _expit(logits: Array) -> Array:
    with np.errstate(over="ignore"):
        return np.asarray(1 / (1 + np.exp(-logits)))


@dataclasses.dataclass(frozen=True)
class Labelled:
    """Scores with their labels.

    Attributes
    ----------
    scores : Scores
        The scores, of shape (N, K).
    labels : ndarray
        One label a row: the number of its class, of shape (N,), negative if unknown. Several: 1, 0, and any other
        value for unknown, of shape (N, K).
    """

    scores: Scores
    labels: Array

    @property
    def several(self) -> bool:
        """Whether a row may have several labels."""
        return self.labels.ndim == 2

    def at(self, rows: Any) -> Array:
        """Return the labels of some rows."""
        return as_bytes(self.labels[rows]) if self.several else np.asarray(self.labels[rows])


def as_bytes(labels: Array) -> npt.NDArray[np.uint8]:
    """Return a matrix of labels as bytes of 1, 0 and `UNKNOWN`."""
    if labels.dtype.kind == "b":
        return labels.view(np.uint8)
    if labels.dtype == np.uint8:
        return np.asarray(labels)
    out = np.full(labels.shape, UNKNOWN, np.uint8)
    out[labels == 0] = 0
    out[labels == 1] = 1
    return out


def suggested(found: Array, given: Array, p: Array) -> Array:
    """Return the class of each row if the given one is wrong: the one found, or else the best other one by score.

    Parameters
    ----------
    found : ndarray of shape (M,)
        A class that is more probable than the given one, or negative if there is none.
    given : ndarray of shape (M,)
        The class given.
    p : ndarray of shape (M, K)
        Scores. The largest other score counts.
    """
    others = np.array(p, np.float64)
    others[np.arange(len(given)), given] = -np.inf
    return np.asarray(np.where(found < 0, others.argmax(axis=1), found), np.int64)
