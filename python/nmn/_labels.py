"""Convert labels of any form to a matrix of 1, 0 and -1, or to a class for each row."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from nmn import _arrays

__all__ = ["Labels", "labels_of"]

UNKNOWN = -1


@dataclasses.dataclass(frozen=True)
class Labels:
    """Labels of N rows and K classes.

    Attributes
    ----------
    form : str
        Form of the input: ``"indicator"`` (a matrix), ``"names"`` (a list for each row) or ``"one"`` (one label a row).
    classes : ndarray of shape (K,)
        Names or numbers of the classes as given, in the order of columns. 0 to K-1 for an array without names.
    matrix : ndarray of shape (N, K) or None
        1 for a true label, 0 for a false one, -1 for an unknown one. ``uint8`` or ``bool`` if all are known. ``None``
        for one label a row.
    numbers : ndarray of shape (N,) or None
        For one label a row, the place of its class in `classes`, or -1 if unknown. Otherwise ``None``.

    """

    form: str
    classes: npt.NDArray[Any]
    matrix: npt.NDArray[Any] | None = None
    numbers: npt.NDArray[np.int64] | None = None

    def __len__(self) -> int:
        values = self.numbers if self.matrix is None else self.matrix
        assert values is not None
        return int(values.shape[0])

    @property
    def exclusive(self) -> bool:
        """Whether each row has exactly one class."""
        return self.form == "one"

    @property
    def binary(self) -> bool:
        """Whether each row has one of two classes."""
        return self.exclusive and len(self.classes) == 2

    @property
    def names(self) -> list[str]:
        """Names of the classes, as text."""
        return [_text(c) for c in self.classes]

    def indicator(self) -> npt.NDArray[Any]:
        """Return the matrix. One label a row becomes one column for each class, and an unknown label a row of -1."""
        if self.matrix is not None:
            return self.matrix
        assert self.numbers is not None
        known = self.numbers >= 0
        out = np.zeros((len(self.numbers), len(self.classes)), np.uint8 if known.all() else np.int8)
        out[np.flatnonzero(known), self.numbers[known]] = 1
        out[~known] = UNKNOWN if not known.all() else 0
        return out

    def unknown_rows(self) -> npt.NDArray[np.bool_]:
        """Return the rows without a known label."""
        if self.numbers is not None:
            return self.numbers < 0
        assert self.matrix is not None
        if self.matrix.dtype.kind in "bu":
            return np.zeros(len(self), bool)
        return np.asarray((self.matrix == UNKNOWN).all(axis=1))

    def some_unknown(self) -> bool:
        """Report whether a row has both known and unknown labels."""
        if self.matrix is None or self.matrix.dtype.kind in "bu":
            return False
        unknown = self.matrix == UNKNOWN
        return bool((unknown.any(axis=1) & ~unknown.all(axis=1)).any())


def labels_of(
    Y: Any,
    *,
    classes: Sequence[Any] | None = None,
    name: str = "Y",
    one: bool | None = None,
    unknown: Any = None,
) -> Labels:
    """Convert labels to one form.

    Parameters
    ----------
    Y : array, Series, DataFrame, sparse matrix, lists, str or path
        An indicator matrix of bool, integers or floats (1 and 0, or -1, NaN or None if unknown; columns of a DataFrame
        name the classes), a list of names for each row (None if unknown), one label for each row (strings or integers;
        None or NaN if unknown), or the path of a `.npy` with one of the arrays.
    classes : sequence, optional
        The classes, in order. By default the columns, or the sorted values.
    name : str
        Name of the argument in messages.
    one : bool, optional
        Whether a vector or a matrix of one column is one label for each row. By default a vector is and a matrix is
        not.
    unknown : scalar, optional
        With one label for each row, a value for an unknown label. None and NaN always mean unknown.

    Returns
    -------
    Labels

    Raises
    ------
    TypeError
        If the values are not labels.
    ValueError
        If there are no labels, rows differ in length, a value is neither 1, 0 nor unknown, or a name is not among
        `classes`. The message names row, value and a fix.

    """
    if _arrays.is_path(Y):
        Y = _load(Y, name)
    if _arrays.is_sparse(Y):
        return _indicator(_dense(Y, name), None, classes, name)
    if hasattr(Y, "columns") and hasattr(Y, "to_numpy"):
        return _table(Y, classes, name, one, unknown)
    if hasattr(Y, "to_numpy"):
        Y = Y.to_numpy()
    if hasattr(Y, "__array__") and not isinstance(Y, np.ndarray):
        Y = np.asarray(Y)
    if isinstance(Y, (str, bytes, dict)) or not isinstance(Y, (np.ndarray, Iterable)):
        raise TypeError(f"{name} is of type {type(Y).__name__}: pass an array of labels, or a list for each row")
    if not isinstance(Y, np.ndarray):
        Y = _listed(list(Y))
    return _array(Y, classes, name, one, unknown)


def _load(path: Any, name: str) -> npt.NDArray[Any]:
    text = _arrays.checked_path(path, name)
    if not text.endswith(".npy"):
        raise ValueError(
            f"{name}: {os.path.basename(text)!r} is no .npy: read it, for example with pandas, and pass the result"
        )
    try:
        array: npt.NDArray[Any] = np.load(text, mmap_mode="r", allow_pickle=False)
    except ValueError as error:
        raise ValueError(f"{name}: {text!r} cannot be read, {error}: write it with numpy.save") from error
    return array


def _dense(matrix: Any, name: str) -> npt.NDArray[np.uint8]:
    """Convert a sparse indicator matrix to a dense one of bytes."""
    coo = matrix.tocoo()
    _check_shape(tuple(coo.shape), name)
    values = _known(np.asarray(coo.data)[:, None], name, np.asarray(coo.row))[:, 0]
    out = np.zeros(coo.shape, values.dtype)
    out[coo.row, coo.col] = values
    return out


def _table(table: Any, classes: Sequence[Any] | None, name: str, one: bool | None, unknown: Any) -> Labels:
    columns = list(table.columns)
    if len(columns) == 1 and (one or _is_text(table)):
        return _array(table.to_numpy()[:, 0], classes, name, one, unknown)
    _check_shape(tuple(table.shape), name)
    parts = [_known(part, name, np.arange(start, start + len(part))) for start, part in _arrays.blocks(table, name)]
    matrix = np.concatenate([p.astype(np.int8) for p in parts])
    if not (matrix < 0).any():
        matrix = matrix.view(np.uint8)
    return _chosen(matrix, columns, classes, name)


def _is_text(table: Any) -> bool:
    first = table.to_numpy()[:, 0]
    known = [v for v in first if not _is_unknown(v)]
    return bool(known) and not all(isinstance(v, (bool, int, float, np.generic)) for v in known)


def _listed(rows: list[Any]) -> npt.NDArray[Any]:
    """Return lists as an array of numbers if possible, else of objects."""
    if not rows:
        return np.empty(0, object)
    if any(isinstance(r, (list, tuple, set, frozenset, np.ndarray)) for r in rows):
        flat = [v for r in rows if isinstance(r, (list, tuple, set, frozenset)) for v in r]
        lengths = {len(r) for r in rows if not _is_unknown(r) and hasattr(r, "__len__")}
        matrix = len(lengths) == 1 and not any(isinstance(r, (set, frozenset)) for r in rows)
        if matrix and not any(isinstance(v, (str, bytes)) for v in flat) and not _numbers_of_classes(rows):
            return np.asarray([list(r) for r in rows], object if None in flat else None)
        out = np.empty(len(rows), object)
        for i, r in enumerate(rows):
            out[i] = r
        return out
    if any(v is None for v in rows):
        return np.asarray(rows, object)
    return np.asarray(rows)


def _numbers_of_classes(rows: Sequence[Any]) -> bool:
    """Report whether rows of equal length are lists of class numbers rather than rows of 0 and 1."""
    for r in rows:
        for v in () if _is_unknown(r) else r:
            if isinstance(v, (int, np.integer)) and v not in (0, 1, -1):
                return True
    return False


def _array(Y: npt.NDArray[Any], classes: Sequence[Any] | None, name: str, one: bool | None, unknown: Any) -> Labels:
    if Y.ndim == 2 and Y.shape[1] == 1 and one:
        Y = Y[:, 0]
    if Y.ndim == 2:
        _check_shape(Y.shape, name)
        return _indicator(Y, None, classes, name)
    if Y.ndim != 1:
        raise ValueError(
            f"{name} has shape {Y.shape}: pass a matrix with a column for each class, or one label for each row"
        )
    if len(Y) == 0:
        raise ValueError(f"{name} is empty: pass at least one row")
    if Y.dtype.kind == "O" and any(isinstance(v, (list, tuple, set, frozenset, np.ndarray)) for v in Y):
        rows = _listed(list(Y))  # a Series of lists may hold rows of a matrix
        return _names(Y, classes, name) if rows.ndim == 1 else _indicator(rows, None, classes, name)
    return _one(Y, classes, name, unknown)


def _check_shape(shape: tuple[int, ...], name: str) -> None:
    if len(shape) != 2 or 0 in shape:
        raise ValueError(f"{name} has shape {shape} and is empty: pass at least one row and one class")


def _indicator(Y: npt.NDArray[Any], columns: Sequence[Any] | None, classes: Sequence[Any] | None, name: str) -> Labels:
    if Y.dtype.kind == "b" or (Y.dtype.kind in "ui" and _only_bits(Y, name)):
        matrix = Y
    else:
        matrix = np.concatenate(
            [_known(part, name, np.arange(start, start + len(part))) for start, part in _arrays.blocks(Y, name)]
        )
    return _chosen(matrix, list(range(Y.shape[1])) if columns is None else columns, classes, name)


def _only_bits(Y: npt.NDArray[Any], name: str) -> bool:
    """Report whether bytes are only 0 and 1, so that no conversion is needed."""
    return Y.dtype == np.uint8 and all(part.max() <= 1 for _, part in _arrays.blocks(Y, name))


def _known(part: npt.NDArray[Any], name: str, rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return rows of a matrix as bytes of 1, 0 and -1. `rows` are their numbers."""
    if part.dtype.kind == "b":
        return part.view(np.uint8)
    if part.dtype.kind == "O":
        part = _numeric(part, name, rows)
    if part.dtype.kind not in "iuf":
        raise TypeError(
            f"{name} is a matrix of type {part.dtype}: pass 1, 0 and -1 (unknown), or a list of names for each row"
        )
    unknown = np.isnan(part) | (part == UNKNOWN) if part.dtype.kind == "f" else part == -1
    wrong = ~(unknown | (part == 0) | (part == 1))
    if wrong.any():
        i, column = _arrays.first_place(wrong)
        value = part[wrong][0]
        raise ValueError(
            f"{name} holds {value} at row {int(rows[i])}{column}, want 1, 0, or NaN, None or -1 for an unknown "
            f"label: probabilities are not labels, and exclusive classes need a vector"
        )
    if not unknown.any():
        return part.astype(np.uint8)
    out = np.where(unknown, 0, part).astype(np.int8)
    out[unknown] = UNKNOWN
    return out


def _numeric(part: npt.NDArray[Any], name: str, rows: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    out = np.empty(part.shape)
    for index in np.ndindex(part.shape):
        value = part[index]
        if _is_unknown(value):
            out[index] = np.nan
            continue
        if not isinstance(value, (bool, int, float, np.bool_, np.number)):
            raise TypeError(
                f"{name} holds {value!r} at row {int(rows[index[0]])}, column {index[1]}: a matrix holds 1, 0 and "
                f"None; pass names of labels as a list for each row"
            )
        out[index] = float(value)
    return out


def _chosen(matrix: npt.NDArray[Any], columns: Sequence[Any], classes: Sequence[Any] | None, name: str) -> Labels:
    names = list(columns if classes is None else classes)
    if len(set(names)) < len(names):
        twice = next(n for i, n in enumerate(names) if n in names[:i])
        raise ValueError(f"{name} has two classes called {twice!r}: rename one of them, or leave it out")
    given = _vector(columns)
    if classes is None:
        return Labels("indicator", given, matrix)
    wanted = list(classes)
    if [*given] == list(range(len(columns))) and len(wanted) == len(columns):
        return Labels("indicator", _vector(wanted), matrix)  # an array has no names
    place = {c: i for i, c in enumerate(columns)}
    strange = [c for c in columns if c not in set(wanted)]
    if strange or len(place) != len(columns):
        column = (strange or columns)[0]
        raise ValueError(f"{name} has the column {column!r}, which is not among the classes {wanted!r}, or repeated")
    absent = [c for c in wanted if c not in place]
    if absent:
        raise ValueError(f"{name} has no column {absent[0]!r}: add it, with 0, or with -1 for unknown labels")
    if list(columns) == wanted:
        return Labels("indicator", given, matrix)
    return Labels("indicator", _vector(wanted), np.ascontiguousarray(matrix[:, [place[c] for c in wanted]]))


def _names(Y: npt.NDArray[Any], classes: Sequence[Any] | None, name: str) -> Labels:
    rows: list[list[Any] | None] = []
    for i, row in enumerate(Y):
        if _is_unknown(row):
            rows.append(None)
            continue
        if isinstance(row, (str, bytes)) or not isinstance(row, (list, tuple, set, frozenset, np.ndarray)):
            raise TypeError(f"{name} holds {row!r} at row {i} and lists elsewhere: pass [{row!r}], or None for unknown")
        rows.append([_plain(v) for v in row])
    found: dict[Any, int] = {}
    for i, row in enumerate(rows):
        for v in row or ():
            if _is_unknown(v) or not isinstance(v, (str, bytes, int)):
                raise TypeError(f"{name} names the label {v!r} at row {i}: labels are strings or integers")
            found.setdefault(v, i)
    order = list(classes) if classes is not None else _sorted(found, name)
    if not order:
        raise ValueError(f"{name} names no label: name some, or pass `classes`")
    place = {_plain(c): k for k, c in enumerate(order)}
    for v, i in found.items():
        if v not in place:
            raise ValueError(f"{name} names the label {v!r} at row {i}, which is not among the classes {order!r}")
    matrix = np.zeros((len(rows), len(order)), np.int8 if None in rows else np.uint8)
    for i, row in enumerate(rows):
        if row is None:
            matrix[i] = UNKNOWN
            continue
        for v in row:
            matrix[i, place[v]] = 1
    return Labels("names", _vector(order), matrix)


def _sorted(values: Iterable[Any], name: str) -> list[Any]:
    try:
        return sorted(values)
    except TypeError as error:
        raise TypeError(f"{name} mixes labels of several types, {error}: use only strings or only integers") from error


def _one(Y: npt.NDArray[Any], classes: Sequence[Any] | None, name: str, means_unknown: Any) -> Labels:
    if Y.dtype.kind == "c":
        raise ValueError(f"{name}: Complex data not supported: pass strings or integers")
    if Y.dtype.kind not in "biufUSO":
        raise TypeError(f"{name} is of type {Y.dtype}: pass strings or integers, one for each row")
    unknown = _unknown_of(Y, means_unknown)
    if Y.dtype.kind == "f":
        _check_whole(Y, unknown, name)
    values = Y[~unknown]
    if Y.dtype.kind == "O":
        found = _vector(_sorted({_plain(v) for v in values}, name))
    else:
        found = np.unique(values)
        if Y.dtype.kind == "f" and unknown.any():
            found = found.astype(np.int64)  # they are floats only because of NaN
    order = _vector(list(classes)) if classes is not None else found
    if len(order) == 0:
        raise ValueError(f"{name} holds no known label: pass some that are neither None nor NaN")
    place = {_plain(c): k for k, c in enumerate(order)}
    numbers = np.full(len(Y), UNKNOWN, np.int64)
    if Y.dtype.kind == "O":
        for i in np.flatnonzero(~unknown):
            numbers[i] = _place(place, _plain(Y[i]), name, int(i), order)
        return Labels("one", order, numbers=numbers)
    distinct, inverse = np.unique(Y[~unknown], return_inverse=True)
    known = np.flatnonzero(~unknown)
    places = [
        _place(place, _plain(v), name, int(known[np.argmax(inverse == j)]), order) for j, v in enumerate(distinct)
    ]
    numbers[known] = np.asarray(places, np.int64)[inverse]
    return Labels("one", order, numbers=numbers)


def _place(place: dict[Any, int], value: Any, name: str, row: int, order: npt.NDArray[Any]) -> int:
    try:
        return place[value]
    except KeyError:
        cure = "; pass unknown=-1 if it means unknown" if value == UNKNOWN else ""
        raise ValueError(
            f"{name} holds the label {value!r} at row {row}, which is not among the classes {_listing(order)}{cure}"
        ) from None


def _listing(classes: npt.NDArray[Any]) -> str:
    names = [repr(_plain(c)) for c in classes]
    return ", ".join(names if len(names) <= 20 else [*names[:10], "...", names[-1]])


def _unknown_of(Y: npt.NDArray[Any], unknown: Any) -> npt.NDArray[np.bool_]:
    if Y.dtype.kind == "O":
        named = unknown is not None
        return np.fromiter((_is_unknown(v) or (named and bool(v == unknown)) for v in Y), bool, len(Y))
    out = np.isnan(Y) if Y.dtype.kind == "f" else np.zeros(len(Y), bool)
    if unknown is not None and isinstance(unknown, (str, bytes)) == (Y.dtype.kind in "US"):
        out = out | np.equal(Y, unknown)
    return np.asarray(out, bool)


def _check_whole(Y: npt.NDArray[Any], unknown: npt.NDArray[np.bool_], name: str) -> None:
    if np.isinf(Y).any():
        row, _ = _arrays.first_place(np.isinf(Y))
        raise ValueError(f"{name} contains infinity at row {row}: pass strings or integers")
    broken = ~unknown & (np.floor(Y) != Y)
    if broken.any():
        row, _ = _arrays.first_place(broken)
        raise ValueError(
            f"Unknown label type: {name} holds {Y[row]} at row {row}, a continuous value and not a class: "
            f"this is a classifier, pass strings or integers"
        )


def _is_unknown(value: Any) -> bool:
    """Report whether a value means unknown: None, NaN, pandas.NA and NaT."""
    if value is None:
        return True
    if isinstance(value, (str, bytes, list, tuple, set, frozenset, np.ndarray)):
        return False
    if isinstance(value, (float, np.floating)):
        return bool(value != value)
    return type(value).__name__ in ("NAType", "NaTType")


def _plain(value: Any) -> Any:
    """Return a NumPy scalar as a Python scalar."""
    return value.item() if isinstance(value, np.generic) else value


def _vector(values: Sequence[Any]) -> npt.NDArray[Any]:
    """Return classes as an array of their common type, else of objects."""
    plain = [_plain(v) for v in values]
    kinds = {type(v) for v in plain}
    if len(kinds) == 1 and kinds <= {str, int, bool, float}:
        return np.asarray(plain)
    out = np.empty(len(plain), object)
    for i, v in enumerate(plain):
        out[i] = v
    return out


def _text(value: Any) -> str:
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(_plain(value))
