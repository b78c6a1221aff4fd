"""Labels of every form become one matrix, or one class for each row."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

from nmn._labels import labels_of

WANT = [[1, 0, 1], [0, 1, 0]]


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int8, np.int64, np.float32, np.float64, object])
def test_matrices(dtype: type) -> None:
    got = labels_of(np.array(WANT, dtype))
    assert got.form == "indicator"
    assert not got.exclusive
    np.testing.assert_array_equal(got.indicator(), WANT)
    np.testing.assert_array_equal(got.classes, [0, 1, 2])


def test_bytes_are_not_copied(tmp_path: pathlib.Path) -> None:
    matrix = np.array(WANT, np.uint8)
    assert labels_of(matrix).matrix is matrix
    np.save(tmp_path / "y.npy", matrix)
    assert isinstance(labels_of(tmp_path / "y.npy").matrix, np.memmap)


def test_unknown_labels_of_matrices() -> None:
    want = [[1, -1, 0], [-1, -1, -1]]
    for given in (
        want,
        np.array(want, np.int8),
        [[1.0, np.nan, 0.0], [np.nan] * 3],
        [[1, None, 0], [None, None, None]],
        [[True, None, False], [None, -1, np.nan]],
    ):
        got = labels_of(given)
        np.testing.assert_array_equal(got.indicator(), want)
        np.testing.assert_array_equal(got.unknown_rows(), [False, True])
        assert got.some_unknown()


def test_lists_of_names() -> None:
    got = labels_of([["cat", "dog"], [], ("dog",), {"cat"}, None])
    assert got.form == "names"
    np.testing.assert_array_equal(got.classes, ["cat", "dog"])
    np.testing.assert_array_equal(got.indicator(), [[1, 1], [0, 0], [0, 1], [1, 0], [-1, -1]])
    np.testing.assert_array_equal(got.unknown_rows(), [False] * 4 + [True])
    got = labels_of([["dog"], ["cat", "cat"]], classes=["dog", "emu", "cat"])
    np.testing.assert_array_equal(got.indicator(), [[1, 0, 0], [0, 0, 1]])
    got = labels_of([[0, 2], [1]])
    np.testing.assert_array_equal(got.indicator(), [[1, 0, 1], [0, 1, 0]])


@pytest.mark.parametrize(
    ("given", "classes", "numbers"),
    [
        ([0, 1, 1], [0, 1], [0, 1, 1]),
        ([-1, 1, 1], [-1, 1], [0, 1, 1]),
        ([-1, 0, 2], [-1, 0, 2], [0, 1, 2]),
        (np.array([-1.0, 0.0, 1.0, np.nan]), [-1, 0, 1], [0, 1, 2, -1]),
        ([5.0, np.nan, 3.0], [3, 5], [1, -1, 0]),
        (["b", None, "a"], ["a", "b"], [1, -1, 0]),
        (["b", "a"], ["a", "b"], [1, 0]),
        ([True, False], [False, True], [1, 0]),
        ([3, 3], [3], [0, 0]),
        (np.array(["b", float("nan"), "a"], object), ["a", "b"], [1, -1, 0]),
    ],
)
def test_one_label_each(given: object, classes: object, numbers: object) -> None:
    got = labels_of(given)
    assert got.exclusive
    np.testing.assert_array_equal(got.classes, classes)
    np.testing.assert_array_equal(got.numbers, numbers)


@pytest.mark.parametrize(
    ("given", "unknown", "classes", "numbers"),
    [
        ([-1, 0, 2], -1, [0, 2], [-1, 0, 1]),
        ([-1.0, 0.0, np.nan], -1, [0], [-1, 0, -1]),
        (["b", "?", "a"], "?", ["a", "b"], [1, -1, 0]),
        (np.array(["b", "?", None], object), "?", ["b"], [0, -1, -1]),
        ([3, 4], "?", [3, 4], [0, 1]),
        (["3", "4"], 3, ["3", "4"], [0, 1]),
    ],
)
def test_a_value_that_means_unknown(given: object, unknown: object, classes: list[object], numbers: object) -> None:
    got = labels_of(given, unknown=unknown)
    assert list(got.classes) == classes
    np.testing.assert_array_equal(got.numbers, numbers)


def test_minus_one_is_no_class_of_numbered_columns() -> None:
    with pytest.raises(ValueError, match=r"y holds the label -1 at row 1, .* 0, 1; pass unknown=-1 if"):
        labels_of([0, -1, 1], classes=[0, 1], name="y")


def test_one_label_each_as_indicator() -> None:
    got = labels_of(["b", None, "a"])
    assert got.binary
    np.testing.assert_array_equal(got.indicator(), [[0, 1], [-1, -1], [1, 0]])
    np.testing.assert_array_equal(labels_of([1, 0]).indicator(), [[0, 1], [1, 0]])


def test_tables() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(WANT, columns=["sky", "sea", "sun"])
    got = labels_of(frame)
    np.testing.assert_array_equal(got.classes, ["sky", "sea", "sun"])
    np.testing.assert_array_equal(got.indicator(), WANT)
    got = labels_of(frame, classes=["sun", "sky", "sea"])
    np.testing.assert_array_equal(got.indicator(), [[1, 1, 0], [0, 0, 1]])
    nullable = frame.astype("Int8")
    nullable.iloc[0, 1] = pandas.NA
    np.testing.assert_array_equal(labels_of(nullable).indicator(), [[1, -1, 1], [0, 1, 0]])
    np.testing.assert_array_equal(labels_of(pandas.Series(["b", "a", None])).numbers, [1, 0, -1])
    np.testing.assert_array_equal(labels_of(pandas.Series([["b"], ["a", "b"]])).indicator(), [[0, 1], [1, 1]])
    np.testing.assert_array_equal(labels_of(pandas.Series([[1, 0, 1], [0, 0, 1]])).indicator(), [[1, 0, 1], [0, 0, 1]])
    np.testing.assert_array_equal(labels_of(pandas.DataFrame({"y": ["b", "a"]})).numbers, [1, 0])
    np.testing.assert_array_equal(labels_of(pandas.Series(["b", "a"], dtype="category")).numbers, [1, 0])
    with pytest.raises(ValueError, match=r"Y has no column 'moon'"):
        labels_of(frame, classes=["sky", "sea", "sun", "moon"])


def test_sparse() -> None:
    scipy = pytest.importorskip("scipy.sparse")
    for form in (scipy.csr_matrix, scipy.csc_matrix, scipy.coo_matrix, scipy.lil_matrix):
        np.testing.assert_array_equal(labels_of(form(np.array(WANT))).indicator(), WANT)
    np.testing.assert_array_equal(labels_of(scipy.csr_matrix([[1, -1], [0, 0]])).indicator(), [[1, -1], [0, 0]])
    with pytest.raises(ValueError, match="Y holds 3 at row 1"):
        labels_of(scipy.csr_matrix([[1, 0], [0, 3]]))


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ([], ValueError, "Y is empty"),
        (np.empty((0, 3)), ValueError, r"Y has shape \(0, 3\)"),
        (np.ones((2, 2, 2)), ValueError, r"Y has shape \(2, 2, 2\)"),
        ([[1, 0], [0.3, 1]], ValueError, r"Y holds 0\.3 at row 1, column 0, want 1, 0"),
        ([[1, 0], [np.inf, 1]], ValueError, r"Y holds inf at row 1, column 0"),
        (np.array([[1, 0], [1, 2]]), ValueError, r"Y holds 2 at row 1, column 1"),
        ([[1, 0], ["dog", 1]], TypeError, "names the label 'dog'|mixes labels"),
        (np.array([[1, {}], [0, 1]], object), TypeError, r"Y holds \{\} at row 0, column 1"),
        ([["a"], "b"], TypeError, r"Y holds 'b' at row 1 and lists elsewhere: pass \['b'\]"),
        ([[], []], ValueError, "is empty|names no label"),
        ([["a"], [2.5]], TypeError, r"Y names the label 2\.5 at row 1"),
        ([0.1, 0.7], ValueError, r"Unknown label type: Y holds 0\.1 at row 0"),
        ([0, np.inf], ValueError, "Y contains infinity at row 1"),
        ([None, np.nan], ValueError, "Y holds no known label"),
        ([1, "a", None], TypeError, "Y mixes labels of several types"),
        ("ab", FileNotFoundError, "Y: there is no file"),
        (3, TypeError, "Y is of type int"),
    ],
)
def test_refused(given: object, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        labels_of(given)


def test_labels_that_are_no_class_are_refused_with_their_row() -> None:
    with pytest.raises(ValueError, match=r"y holds the label 'c' at row 2, which is not among"):
        labels_of(["a", "b", "c"], classes=["a", "b"], name="y")
    with pytest.raises(ValueError, match=r"Y names the label 'c' at row 1"):
        labels_of([["a"], ["b", "c"]], classes=["a", "b"])
