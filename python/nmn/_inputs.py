"""Scores and labels as files that the program reads."""

from __future__ import annotations

import dataclasses
import itertools
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from nmn import _arrays, _labels
from nmn._scores import Labelled, Scores, parts
from nmn._tables import is_table

__all__ = ["Inputs", "check_values", "diagnosed", "inputs_of", "opened", "shape_of"]

_LABEL_TYPES = ("u1", "?", "i1", "i2", "i4", "i8", "u2", "u4", "u8", "f4", "f8", "f2")

#: Number of lists of labels that are converted together.
_TOGETHER = 1 << 15


@dataclasses.dataclass(frozen=True)
class Inputs:
    """Files of scores and labels.

    Attributes
    ----------
    scores, labels : str
        The files.
    multi_label : bool or None
        Whether a row may have several classes. ``None`` if only the program can find out, from a file.
    rows, width : int or None
        Shape of the scores. ``None`` for a text file.
    classes : sequence or None
        Names of the classes in the order of columns. ``None`` for numbers.
    index : array or None
        The index of the table or Series with the rows.
    gaps : bool
        Whether labels may be unknown: -1 in the file of labels, or NaN.
    """

    scores: str
    labels: str
    multi_label: bool | None
    rows: int | None
    width: int | None
    classes: Sequence[Any] | None
    index: Any
    gaps: bool = False

    def names(self, width: int) -> npt.NDArray[Any]:
        """Return the names of the classes, or their numbers from 0."""
        if self.classes is None:
            return np.arange(width)
        names = np.asarray(self.classes)
        if names.ndim == 1 and len({type(c) for c in self.classes}) == 1:
            return names
        names = np.empty(width, object)  # an array would convert mixed types to text
        names[:] = list(self.classes)
        return names


def inputs_of(
    labels: Any,
    scores: Any,
    folder: str,
    *,
    names: tuple[str, str] = ("labels", "pred_probs"),
    classes: Sequence[Any] | None = None,
    multi_label: bool | None = None,
    unknown: Any = None,
    gaps: bool = False,
) -> Inputs:
    """Write labels and scores to files. Existing files are used in place.

    With `gaps` labels may be unknown: the files hold -1 for an unknown label or class. `unknown` is a value that means
    unknown in a vector of labels. None and NaN always do.

    Raises
    ------
    ValueError
        If shapes, indices or names of classes disagree, or labels are unknown without `gaps`.
    TypeError
        If the type of an argument cannot hold labels or scores.
    """
    called, scored = names
    index = _one_index(labels, scores, names)
    if classes is not None:
        classes = list(classes)
    elif is_table(scores):
        columns = list(scores.columns)
        classes = None if columns == list(range(len(columns))) else columns
    elif is_table(labels) and len(labels.columns) > 1:
        classes = list(labels.columns)
    shape = shape_of(scores, scored)
    if shape is not None and len(shape) == 1:
        shape = (shape[0], 1)
        scores = np.asarray(scores).reshape(-1, 1)
        if not _arrays.is_path(labels) and np.ndim(labels) == 1:
            labels, multi_label = np.asarray(labels).reshape(-1, 1), True
    elif shape is not None and not multi_label:
        labels = _one_column(labels, shape)
    if shape is not None and len(shape) != 2:
        raise ValueError(f"{scored} has shape {shape}: want a row for each sample and a column for each class")
    if shape is not None and classes is not None and len(classes) != shape[1]:
        raise ValueError(f"classes: {len(classes)} names for the {shape[1]} columns of {scored}: name each column once")
    file, several, rows, classes = _label_file(
        labels, shape, folder, called, scored, classes, multi_label, unknown, gaps
    )
    if shape is not None and rows is not None and rows != shape[0]:
        raise ValueError(
            f"{called} has {rows} rows and {scored} has {shape[0]}: both need one for each sample, in the same order"
        )
    path = _arrays.as_npy(scores, folder, scored, dtypes=("f4", "f8", "f2"), finite=False)
    height, width = (None, None) if shape is None else (shape[0], shape[-1])
    return Inputs(path, file, several, height, width, classes, index, gaps)


def _one_column(labels: Any, scores: tuple[int, ...]) -> Any:
    """Return labels of one column as a vector if scores have several classes. Others are unchanged."""
    shape: tuple[int, ...] = getattr(labels, "shape", ())
    if len(shape) != 2 or shape[1] != 1 or scores[-1] == 1 or _arrays.is_sparse(labels):
        return labels
    return labels.iloc[:, 0] if is_table(labels) else labels[:, 0]


def _one_index(labels: Any, scores: Any, names: tuple[str, str]) -> Any:
    """Return the index of the rows, which two tables must share."""
    found = [v.index for v in (labels, scores) if hasattr(v, "iloc") and hasattr(v, "index")]
    if len(found) == 2 and len(found[0]) == len(found[1]) and not found[0].equals(found[1]):
        raise ValueError(
            f"{names[0]} and {names[1]} have rows of different names: reorder one of them, for example by "
            f"{names[0]}.reindex({names[1]}.index), or pass {names[0]}.to_numpy()"
        )
    return found[0] if found else None


def shape_of(scores: Any, name: str) -> tuple[int, ...] | None:
    """Return the shape of scores, or ``None`` for a text file."""
    if _arrays.is_path(scores):
        path = _arrays.checked_path(scores, name)
        if not path.lower().endswith(".npy"):
            return None
        return _file_shape(path, name)
    shape = _arrays.shape_of(scores, name)
    if 0 in shape:
        raise ValueError(f"{name} has shape {shape} and is empty: pass at least one row")
    return shape


def _file_shape(path: str, name: str) -> tuple[int, ...]:
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise ValueError(f"{name}: {path!r} cannot be read as .npy, {error}: write it with numpy.save") from error
    return tuple(int(n) for n in array.shape)


def _label_file(
    labels: Any,
    shape: tuple[int, ...] | None,
    folder: str,
    name: str,
    scored: str,
    classes: Sequence[Any] | None,
    multi_label: bool | None,
    unknown: Any,
    gaps: bool,
) -> tuple[str, bool | None, int | None, Sequence[Any] | None]:
    """Return the file of labels, whether a row may have several, the number of rows and the names of classes."""
    if _arrays.is_path(labels):
        path = _arrays.checked_path(labels, name)
        if not path.lower().endswith(".npy"):
            return path, multi_label, None, classes
        labels = np.load(path, mmap_mode="r", allow_pickle=False) if _file_shape(path, name) else labels
    width = None if shape is None else shape[1]
    if width is not None and multi_label is not False and _are_lists(labels):
        matrix = _from_lists(labels, width, folder, name)
        if matrix is not None:
            return matrix, True, len(labels), classes
    plain = _plain(labels, gaps) if unknown is None else None
    if plain is None:
        offered = _offered(labels, classes, width, unknown)
        known = _labels.labels_of(labels, classes=offered, name=name, one=multi_label is False, unknown=unknown)
        if not gaps:
            _refuse_unknown(known, name)
        plain = known.numbers if known.exclusive else known.matrix
        assert plain is not None
        _check_width(known, width, name, scored)
        if classes is None and known.classes.dtype.kind not in "iu":
            classes = known.classes.tolist()  # names from the labels
    if multi_label is not None and multi_label != (plain.ndim == 2):
        raise ValueError(
            f"multi_label is {multi_label}, and {name} is of shape {plain.shape}: pass "
            + ("a matrix of 0 and 1, or a list for each row" if multi_label else "one label for each row")
        )
    if plain.ndim == 2 and width is not None and plain.shape[1] != width:
        raise ValueError(
            f"{name} has {plain.shape[1]} classes and {scored} has {width}: both need a column for each class"
        )
    if plain.ndim == 1 and width is not None and plain.dtype.kind in "iu" and plain.size:
        low, high = int(plain.min()), int(plain.max())
        least = _labels.UNKNOWN if gaps else 0
        if low < least or high >= width:
            row = int(np.argmax((plain < least) | (plain >= width)))
            raise ValueError(
                f"{name} holds the class {int(plain[row])} at row {row}, and {scored} has {width} columns: classes are "
                f"numbered 0 to {width - 1}"
            )
    return _arrays.as_npy(plain, folder, name, dtypes=_LABEL_TYPES), plain.ndim == 2, int(plain.shape[0]), classes


def _plain(labels: Any, gaps: bool) -> npt.NDArray[Any] | None:
    """Return an array that the program can read unchanged: a matrix or a vector of class numbers. Otherwise None."""
    if not isinstance(labels, np.ndarray):
        return None
    if labels.ndim == 2 and (labels.dtype.kind in "bu" or (gaps and labels.dtype == np.int8)) and labels.size:
        return labels
    if labels.ndim == 1 and labels.dtype.kind in "iu" and labels.size and labels.min() >= 0:
        return labels
    return None


def _offered(labels: Any, classes: Sequence[Any] | None, width: int | None, unknown: Any) -> Sequence[Any] | None:
    """Return the possible classes: the given names, or the numbers of columns."""
    if classes is not None or width is None:
        return classes
    if is_table(labels) or isinstance(labels, (str, dict)) or not hasattr(labels, "__iter__"):
        return None
    if getattr(labels, "ndim", 1) != 1:
        return None
    first = next((v for v in _flat(labels) if v is not None and (unknown is None or v != unknown)), None)
    return list(range(width)) if isinstance(first, (int, float, np.integer, np.floating)) else None


def _flat(labels: Any) -> Any:
    values = labels.to_numpy() if hasattr(labels, "to_numpy") else labels
    for v in values:
        if isinstance(v, (list, tuple, set, frozenset, np.ndarray)):
            yield from v
        else:
            yield v


def _check_width(known: _labels.Labels, width: int | None, name: str, scored: str) -> None:
    """Refuse a number of classes that differs from the number of columns."""
    if width is not None and len(known.classes) != width:
        raise ValueError(
            f"{name} has {len(known.classes)} classes and {scored} has {width} columns: name the columns by "
            f"`classes`, in their order"
        )


def _refuse_unknown(known: _labels.Labels, name: str) -> None:
    values = known.numbers if known.matrix is None else known.matrix
    assert values is not None
    if values.dtype.kind not in "bu" and bool((values < 0).any()):
        row = int(np.argwhere(values < 0)[0][0])
        raise ValueError(
            f"{name} has an unknown label at row {row}: only known labels can be evaluated; leave out such rows, "
            f"or write 0 if the label was not given"
        )


def _are_lists(labels: Any) -> bool:
    """Report whether labels are lists of class numbers, as in cleanlab."""
    values = labels.to_numpy() if hasattr(labels, "to_numpy") and not is_table(labels) else labels
    if isinstance(values, np.ndarray) and (values.ndim != 1 or values.dtype.kind != "O"):
        return False
    if not isinstance(values, (list, tuple, np.ndarray)) or len(values) == 0:
        return False
    return all(isinstance(row, (list, tuple, set, frozenset, np.ndarray)) for row in values)


def _from_lists(labels: Any, width: int, folder: str, name: str) -> str | None:
    """Write lists of class numbers as a matrix. Return ``None`` if they are names, or rows of a matrix.

    Lists are rows of 0 and 1 if each has one number for each class and one of them repeats a number.
    """
    rows = labels.to_numpy() if hasattr(labels, "to_numpy") else labels
    if all(len(row) == width for row in rows) and any(len(set(row)) < width for row in rows):
        return None
    path = os.path.join(folder, name + ".npy")
    with open(path, "wb") as file:
        header = {"descr": "|u1", "fortran_order": False, "shape": (len(rows), width)}
        np.lib.format.write_array_header_1_0(file, header)
        for start in range(0, len(rows), _TOGETHER):
            block = _block(rows[start : start + _TOGETHER], width, name, start)
            if block is None:
                return None
            file.write(block.data)
    return path


def _block(rows: Sequence[Any], width: int, name: str, start: int) -> npt.NDArray[np.uint8] | None:
    """Return some lists as rows of 0 and 1, or ``None`` if they hold names."""
    flat = list(itertools.chain.from_iterable(rows))
    if not all(map(_is_number, set(map(type, flat)))):
        return None
    numbers = np.asarray(flat, np.int64)
    lengths = np.fromiter(map(len, rows), np.int64, len(rows))
    at = np.repeat(np.arange(len(rows)), lengths)
    wrong = (numbers < 0) | (numbers >= width)
    if wrong.any():
        i = int(np.argmax(wrong))
        raise ValueError(
            f"{name} holds the class {int(numbers[i])} at row {start + int(at[i])}, and there are {width} columns of "
            f"scores: classes are numbered 0 to {width - 1}"
        )
    block = np.zeros((len(rows), width), np.uint8)
    block[at, numbers] = 1
    twice = np.count_nonzero(block, axis=1) != lengths
    if twice.any():
        raise ValueError(f"{name} names a class twice at row {start + int(np.argmax(twice))}: name each once")
    return block


def _is_number(kind: type) -> bool:
    return issubclass(kind, (int, np.integer)) and not issubclass(kind, (bool, np.bool_))


def diagnosed(inputs: Inputs, name: str, logits: bool, labels: str = "labels") -> ValueError | None:
    """Return the error of values that the program refused, with their place and a fix.

    Valid values are never searched, so they cost nothing.
    """
    for path, called in ((inputs.scores, name), (inputs.labels, labels)):
        if not path.lower().endswith(".npy"):
            continue
        array = np.load(path, mmap_mode="r", allow_pickle=False)
        for start, part in _arrays.blocks(array, called):
            if called == name:
                bad = np.isnan(part) | np.isinf(part)
                what, cure = "want finite numbers", "score these rows again, or leave them out"
                if not logits and not bad.any():
                    bad = (part < 0) | (part > 1)
                    what, cure = "want probabilities from 0 to 1", "pass logits=True if they are log-odds"
                    if inputs.multi_label is False and not bad.any():
                        check_sums(part, name, start)
            elif part.ndim == 2:
                bad = (part != 0) & (part != 1)
                what, cure = "want 0 or 1", "pass one label for each row as a vector, or lists of classes"
                if inputs.gaps:
                    bad &= (part != _labels.UNKNOWN) & (part == part)
                    what += ", or -1 if it is unknown"
            else:
                continue
            if bad.any():
                row, column = _arrays.first_place(bad, start)
                value = part[row - start] if part.ndim == 1 else part[tuple(np.argwhere(bad)[0])]
                return ValueError(f"{called} holds {value} at row {row}{column}, {what}: {cure}")
    return None


#: Largest difference from 1 that the program allows for the sum of a row.
_SLACK = 0.02


def check_sums(part: npt.NDArray[Any], name: str, start: int = 0) -> None:
    total = part.sum(axis=1, dtype=np.float64)
    off = np.abs(total - 1) > _SLACK
    if off.any():
        row = int(np.argmax(off))
        raise ValueError(
            f"{name} sums to {total[row]:.4g} at row {start + row}, want 1: with one label for each row the classes "
            f"exclude each other; pass {name} / {name}.sum(axis=1, keepdims=True), or, if they do not exclude each "
            f"other, pass labels as a matrix of 0 and 1"
        )


def opened(inputs: Inputs, logits: bool, several: bool, what: str) -> Labelled:
    """Return scores and labels as mapped arrays."""
    for path, name in ((inputs.scores, "pred_probs"), (inputs.labels, "labels")):
        if not path.lower().endswith(".npy"):
            raise ValueError(
                f"{name}: {os.path.basename(path)!r} is a text file, and {what} needs arrays: read it, for "
                f"example with pandas, and pass the result"
            )
    scores = np.load(inputs.scores, mmap_mode="r", allow_pickle=False)
    return Labelled(Scores(scores, logits, not several), np.load(inputs.labels, mmap_mode="r", allow_pickle=False))


def check_values(data: Labelled, inputs: Inputs, logits: bool) -> None:
    """Refuse invalid scores and labels, as the program does."""
    for part in parts(data.scores.rows, data.scores.width):
        p = data.scores.values[part]
        if data.several and data.labels.dtype.kind != "b":
            z = data.labels[part]
            if z.max() > 1 or z.min() < -1:
                found = diagnosed(inputs, "pred_probs", logits)
                assert found is not None
                raise found
        low, high = float(p.min()), float(p.max())
        if not (np.isfinite(low) and np.isfinite(high)) or (not logits and not 0 <= low <= high <= 1):
            found = diagnosed(inputs, "pred_probs", logits)
            assert found is not None
            raise found
