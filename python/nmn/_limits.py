"""How many labels of each class are issues at most."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt

from nmn._confident import Filter
from nmn._scores import Labelled

__all__ = ["Limits", "filter_of", "limits_of"]

Ints = npt.NDArray[np.int64]


@dataclasses.dataclass(frozen=True)
class Limits:
    """Limits to the issues that the noise model finds.

    Attributes
    ----------
    remove : ndarray of shape (K,) or None
        How many labels of each class are issues at most. Labels that are missing are none then.
    left : int
        How many labels of each class stay at least.
    """

    remove: Ints | None
    left: int

    def applied(
        self,
        counts: Ints,
        rows: npt.NDArray[Any],
        mask: npt.NDArray[np.bool_],
        suspects: npt.NDArray[Any] | None,
    ) -> tuple[npt.NDArray[np.bool_], npt.NDArray[Any] | None]:
        """Return rows and labels with issues within the limits, of which the surest stay."""
        most = np.maximum(counts - self.left, 0)
        if self.remove is not None:
            if len(self.remove) != len(counts):
                raise ValueError(_numbers(len(self.remove), len(counts)))
            most = np.minimum(most, self.remove)
        out = np.zeros(len(rows), bool)
        if suspects is None:
            at = np.flatnonzero(mask)
            at = at[np.argsort(-rows["p_wrong"][at], kind="stable")]
            out[at[_first(rows["class"][at].astype(np.int64), most)]] = True
            return out, None
        given = suspects["given"] == 1
        kept = ~given if self.remove is None else np.zeros(len(suspects), bool)
        kept[given] = _first(suspects["class"][given].astype(np.int64), most)
        suspects = suspects[kept]
        out[suspects["row"]] = True
        return out, suspects


def _first(classes: Ints, most: Ints) -> npt.NDArray[np.bool_]:
    """Return the first of each class, so many."""
    order = np.argsort(classes, kind="stable")
    starts = np.searchsorted(classes[order], np.arange(len(most)))
    place = np.empty(len(classes), np.int64)
    place[order] = np.arange(len(classes)) - starts[classes[order]]
    return np.asarray(place < most[classes])


def limits_of(remove: Any, left: Any) -> Limits | None:
    """Return the limits of the noise model, and ``None`` where there are none."""
    if remove is None and left is None:
        return None
    return Limits(_removed(remove), _left(left, 0))


def filter_of(by: str, share: float, remove: Any, left: Any, joint: Any, data: Labelled) -> Filter:
    """Return a filter of confident learning for some scores."""
    k = data.scores.width
    numbers = _removed(remove)
    if numbers is not None and len(numbers) != k:
        raise ValueError(_numbers(len(numbers), k))
    how = Filter(by, share, numbers, _left(left, 1))
    if joint is None or not how.prunes:
        return how
    counts = np.asarray(joint, np.float64)
    shape = (k, 2, 2) if data.several else (k, k)
    if counts.shape != shape or not np.isfinite(counts).all() or (counts < 0).any():
        raise ValueError(f"confident_joint has shape {counts.shape}: want counts, of shape {shape}, 0 or more")
    return dataclasses.replace(how, joint=counts)


def _numbers(there: int, wanted: int) -> str:
    return f"num_to_remove_per_class has {there} numbers for {wanted} classes: want one for each"


def _removed(remove: Any) -> Ints | None:
    if remove is None:
        return None
    numbers = np.asarray(remove)
    if numbers.ndim != 1 or numbers.dtype.kind not in "iuf" or (numbers < 0).any() or (numbers % 1 != 0).any():
        raise ValueError(f"num_to_remove_per_class is {remove!r}: want a whole number for each class, 0 or more")
    return numbers.astype(np.int64)


def _left(left: Any, otherwise: int) -> int:
    if left is None:
        return otherwise
    if int(left) != left or left < 0:
        raise ValueError(f"min_examples_per_class is {left}: want a whole number, 0 or more")
    return int(left)
