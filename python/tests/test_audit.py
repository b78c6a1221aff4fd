"""Labels that are wrong, rates of noise, and measures of scores."""

from __future__ import annotations

import errno
import importlib
import importlib.util
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import nmn

Array = npt.NDArray[Any]


def several(rows: int = 2000, width: int = 4, seed: int = 1) -> tuple[Array, Array, Array]:
    """Return scores of a good classifier, labels with known flips, and the flips."""
    rng = np.random.default_rng(seed)
    o = rng.choice([-1.0, 1.0], (rows, width), p=[0.7, 0.3]) * rng.normal(6, 1, (rows, width))
    truth = rng.random((rows, width)) < 1 / (1 + np.exp(-o))
    flips = np.where(truth, rng.random((rows, width)) < 0.2, rng.random((rows, width)) < 0.02)
    return (1 / (1 + np.exp(-o))).astype(np.float32), (truth ^ flips).astype(np.uint8), flips


def one(rows: int = 2000, width: int = 3, seed: int = 2) -> tuple[Array, Array, Array]:
    """Return the same where each row has one class."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, width, rows)
    o = rng.normal(0, 1, (rows, width)) + 6 * np.eye(width)[truth]
    scores = np.exp(o) / np.exp(o).sum(axis=1, keepdims=True)
    flips = rng.random(rows) < 0.1
    return scores.astype(np.float32), np.where(flips, (truth + 1) % width, truth), flips


@pytest.fixture(autouse=True)
def nothing_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Have temporary files in a folder of the test, which must be empty in the end."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setenv("TMPDIR", str(place))
    monkeypatch.setattr(tempfile, "tempdir", None)
    yield
    assert os.listdir(place) == []


def found(mask: Array, flips: Array) -> tuple[float, float]:
    """Return precision and recall."""
    return float((mask & flips).sum() / mask.sum()), float((mask & flips).sum() / flips.sum())


def test_every_form_of_labels_gives_the_same_mask(tmp_path: Path) -> None:
    p, z, flips = several()
    mask = nmn.find_label_issues(z, p)
    assert mask.dtype == bool
    assert mask.shape == (len(z),)
    precision, recall = found(mask, flips.any(axis=1))
    assert precision > 0.95
    assert recall > 0.95
    np.save(tmp_path / "p.npy", p)
    np.save(tmp_path / "z.npy", z)
    names = np.array(["ant", "bee", "cat", "dog"])
    forms: list[tuple[Any, Any, dict[str, Any]]] = [
        (z.astype(bool), p, {}),
        (z.astype(float), p.astype(np.float64), {}),
        (np.asfortranarray(z), np.asfortranarray(p), {}),
        ([np.flatnonzero(row).tolist() for row in z], p, {}),
        ([set(np.flatnonzero(row)) for row in z], p, {"multi_label": True}),
        (z.tolist(), p, {"multi_label": True}),
        ([names[row == 1].tolist() for row in z], p, {"classes": list(names)}),
        (str(tmp_path / "z.npy"), tmp_path / "p.npy", {}),
        (np.load(tmp_path / "z.npy", mmap_mode="r"), np.load(tmp_path / "p.npy", mmap_mode="r"), {}),
        (z, np.log(p / (1 - p)), {"logits": True}),
        (z, p, {"n_jobs": 1}),
    ]
    for labels, scores, more in forms:
        other = nmn.find_label_issues(labels, scores, **more)
        assert (other != mask).sum() <= (2 if more.get("logits") else 0), (type(labels), more)


def test_tables_are_joined_by_the_names_of_their_columns() -> None:
    pandas = pytest.importorskip("pandas")
    p, z, _ = several(rows=800)
    names, index = ["ant", "bee", "cat", "dog"], [f"r{i}" for i in range(len(z))]
    scores = pandas.DataFrame(p, columns=names, index=index)
    labels = pandas.DataFrame(z, columns=names, index=index)
    want = nmn.find_label_issues(z, p)
    assert (nmn.find_label_issues(labels[names[::-1]], scores) == want).all()
    table = nmn.find_label_issues(labels, scores, details=True)
    assert set(table["class"]) <= set(names)
    assert list(table.index) == [index[i] for i in table["row"]]
    assert (np.diff(table["p_wrong"]) <= 0).all()
    assert list(table["given"]) == [labels.loc[i, c] for i, c in zip(table.index, table["class"])]
    with pytest.raises(ValueError, match=r"labels and pred_probs have rows of different names.*reindex"):
        nmn.find_label_issues(labels.iloc[::-1], scores)
    with pytest.raises(ValueError, match=r"labels .*'eel'"):
        nmn.find_label_issues(labels.rename(columns={"ant": "eel"}), scores)


def test_rankings_and_cells() -> None:
    p, z, flips = several()
    mask = nmn.find_label_issues(z, p)
    for by in ("quality", "self_confidence", "normalized_margin", "confidence_weighted_entropy", "p_wrong"):
        ranked = nmn.find_label_issues(z, p, return_indices_ranked_by=by)
        assert ranked.dtype == np.int64
        assert sorted(ranked) == list(np.flatnonzero(mask))
        assert flips.any(axis=1)[ranked[:50]].mean() > 0.9
    cells = nmn.find_label_issues(z, p, per_class=True)
    assert cells.shape == z.shape
    assert (cells.any(axis=1) == mask).all()
    pairs = nmn.find_label_issues(z, p, per_class=True, return_indices_ranked_by="p_wrong")
    assert pairs.shape == (cells.sum(), 2)
    assert cells[pairs[:, 0], pairs[:, 1]].all()
    table = nmn.find_label_issues(z, p, details=True)
    assert (np.asarray(table["row"]) == pairs[:, 0]).all()
    half = nmn.find_label_issues(z, p, per_class=True, return_indices_ranked_by="p_wrong", frac_noise=0.5)
    assert (half == pairs[: len(pairs) // 2]).all()
    sure = nmn.find_label_issues(z, p, min_error=0.9)
    assert 0 < sure.sum() <= mask.sum()
    assert mask[sure].all()


def test_an_error_of_0_ranks_all_labels(tmp_path: Path) -> None:
    p, z, _ = several(rows=600)
    gaps = z.astype(np.int8)
    gaps[::7, 2] = -1
    gaps[5] = -1
    rates = {"q01": [0.2] * 4, "q10": [0.02] * 4, "usable": [True, False, True, True]}
    asked = (gaps >= 0) & rates["usable"]
    np.save(tmp_path / "z.npy", gaps)
    np.save(tmp_path / "p.npy", p)
    table: Any = None
    for labels, scores in ((gaps, p), (np.where(gaps < 0, np.nan, gaps), p), (tmp_path / "z.npy", tmp_path / "p.npy")):
        table = nmn.find_label_issues(labels, scores, noise_rates=rates, details=True, min_error=0)
        at, k = np.asarray(table["row"]), np.asarray(table["class"])
        assert len(at) == asked.sum()
        assert asked[at, k].all()
        assert len(set(zip(at.tolist(), k.tolist()))) == len(at)
        wrong = np.asarray(table["p_wrong"])
        assert (np.diff(wrong) <= 0).all()
        odds = np.log(p[at, k] / (1 - p[at, k].astype(float)))  # by Bayes' rule
        odds += np.where(gaps[at, k] == 1, np.log(0.8 / 0.02), np.log(0.2 / 0.98))
        assert np.allclose(wrong, 1 / (1 + np.exp(np.where(gaps[at, k] == 1, odds, -odds))), atol=1e-5)
    more: dict[str, Any] = {"noise_rates": rates, "min_error": 0}
    assert (nmn.find_label_issues(gaps, p, **more) == asked.any(axis=1)).all()
    assert (nmn.find_label_issues(gaps, p, per_class=True, **more) == asked).all()
    for by in ("quality", "p_wrong", "self_confidence"):
        ranked = nmn.find_label_issues(gaps, p, return_indices_ranked_by=by, **more)
        assert sorted(ranked) == np.flatnonzero(asked.any(axis=1)).tolist()
        pairs = nmn.find_label_issues(gaps, p, return_indices_ranked_by=by, per_class=True, **more)
        assert len(pairs) == asked.sum()
    half = nmn.find_label_issues(gaps, p, details=True, frac_noise=0.5, **more)
    assert np.asarray(half["row"]).tolist() == np.asarray(table["row"])[: asked.sum() // 2].tolist()
    forms: list[tuple[Any, Any]] = [([np.flatnonzero(row).tolist() for row in z], p)]
    if importlib.util.find_spec("scipy"):
        forms.append((importlib.import_module("scipy.sparse").csr_matrix(z), p))
    if importlib.util.find_spec("pandas"):
        frame = importlib.import_module("pandas").DataFrame
        forms.append((frame(z, columns=list("abcd")), frame(p, columns=list("abcd"))))
    np.savetxt(tmp_path / "z.csv", z, "%d", ",", header="a,b,c,d", comments="")
    np.savetxt(tmp_path / "p.csv", p, "%.9g", ",", header="a,b,c,d", comments="")
    forms.append((tmp_path / "z.csv", tmp_path / "p.csv"))
    want: Any = nmn.find_label_issues(z, p, details=True, min_error=0)
    assert len(want["row"]) == z.size
    for labels, scores in forms:
        other: Any = nmn.find_label_issues(labels, scores, details=True, min_error=0)
        assert np.asarray(other["row"]).tolist() == np.asarray(want["row"]).tolist()
        assert np.asarray(other["p_wrong"]).tolist() == np.asarray(want["p_wrong"]).tolist()
    surest = nmn.find_label_issues(gaps, p, details=True, noise_rates=rates)
    assert np.asarray(table["row"])[: len(surest["row"])].tolist() == np.asarray(surest["row"]).tolist()


def test_an_error_of_0_ranks_all_labels_of_one_each(tmp_path: Path) -> None:
    p, z, _ = one(rows=600)
    gaps = np.where(np.arange(len(z)) % 7, z, -1)
    known = gaps >= 0
    names = np.array(["ant", "bee", "cat", None], object)
    np.save(tmp_path / "z.npy", gaps)
    numbers = np.arange(3)
    for labels, called, more in (
        (gaps, numbers, {"unknown": -1}),
        (gaps.tolist(), numbers, {"unknown": -1}),
        (tmp_path / "z.npy", numbers, {"unknown": -1}),
        (np.where(known, gaps, np.nan), numbers, {}),
        (names[gaps], names, {}),
    ):
        table: Any = nmn.find_label_issues(labels, p, details=True, min_error=0, **more)
        at = np.asarray(table["row"])
        assert sorted(at) == np.flatnonzero(known).tolist()
        assert (np.diff(table["p_wrong"]) <= 0).all()
        assert np.asarray(table["given"]).tolist() == called[gaps[at]].tolist()
        assert (np.asarray(table["suggested"]) != np.asarray(table["given"])).all()
        surest = nmn.find_label_issues(labels, p, details=True, **more)
        first = at[: len(surest["row"])]
        assert first.tolist() == np.asarray(surest["row"]).tolist()
        assert (np.asarray(table["suggested"])[: len(first)] == np.asarray(surest["suggested"])).all()
    more = {"min_error": 0, "unknown": -1}
    assert (nmn.find_label_issues(gaps, p, **more) == known).all()
    ranked = nmn.find_label_issues(gaps, p, return_indices_ranked_by="quality", **more)
    assert ranked[:50].tolist() == at[:50].tolist()
    assert nmn.find_label_issues(gaps, p, frac_noise=0.25, **more).sum() == known.sum() // 4


def test_one_label_each() -> None:
    p, z, flips = one()
    mask = nmn.find_label_issues(z, p)
    precision, recall = found(mask, flips)
    assert precision > 0.95
    assert recall > 0.95
    names = np.array(["ant", "bee", "cat"])
    assert (nmn.find_label_issues(names[z], p, classes=list(names)) == mask).all()
    assert (nmn.find_label_issues(names[z].tolist(), p) == mask).all()
    assert (nmn.find_label_issues(z.tolist(), p, multi_label=False) == mask).all()
    ranked = nmn.find_label_issues(z, p, return_indices_ranked_by="self_confidence")
    assert sorted(ranked) == list(np.flatnonzero(mask))
    table = nmn.find_label_issues(names[z], p, details=True)
    right = names[np.where(flips, (z - 1) % 3, z)]
    rows = np.asarray(table["row"])
    assert (np.asarray(table["given"]) == names[z][rows]).all()
    assert (np.asarray(table["suggested"]) == right[rows]).mean() > 0.95


def test_two_classes_as_a_vector_of_probabilities() -> None:
    p, z, flips = several(width=1)
    mask = nmn.find_label_issues(z[:, 0], p[:, 0])
    assert mask.shape == (len(z),)
    assert (mask == nmn.find_label_issues(z, p)).all()
    assert found(mask, flips[:, 0])[0] > 0.9


def test_rates() -> None:
    p, z, flips = several()
    rates = nmn.estimate_rates(z, p, classes=["ant", "bee", "cat", "dog"])
    truth = z ^ flips
    for k in range(4):
        q01 = np.asarray(rates["q01"])[k]
        assert abs(q01 - flips[truth[:, k] == 1, k].mean()) < 0.03
        assert np.asarray(rates["q01_low"])[k] <= q01 <= np.asarray(rates["q01_high"])[k]
        assert abs(np.asarray(rates["q10"])[k] - flips[truth[:, k] == 0, k].mean()) < 0.01
    if importlib.util.find_spec("pandas"):
        assert list(rates.index) == ["ant", "bee", "cat", "dog"]
        assert set(rates["remarks"]) <= {"", "q01 may be 0", "q10 may be 0"}
        assert rates.attrs["threshold"] > 0
    assert np.asarray(rates["usable"]).all()
    again = nmn.find_label_issues(z, p, noise_rates=rates, calibrate=True)
    assert (again == nmn.find_label_issues(z, p)).mean() > 0.95  # which does not take the rates for certain
    left_out = {"q01": rates["q01"], "q10": rates["q10"], "usable": [True, False, True, False]}
    cells = nmn.find_label_issues(z, p, noise_rates=left_out, per_class=True)
    assert cells.any(axis=0).tolist() == left_out["usable"]
    given = nmn.find_label_issues(z, p, noise_rates=rates)
    assert abs(int(given.sum()) - int(nmn.find_label_issues(z, p).sum())) < 30
    none = nmn.find_label_issues(z, p, noise_rates={"q01": [1e-9] * 4, "q10": [1e-9] * 4}, min_error=0.9)
    assert none.sum() < given.sum() / 10


def test_rates_of_one_label_each() -> None:
    p, z, flips = one()
    matrix = nmn.estimate_rates(z, p)
    values = np.stack([np.asarray(matrix[k]) for k in range(3)], axis=1)
    assert np.allclose(values.sum(axis=1), 1)
    assert np.allclose(np.diag(values), 1 - flips.mean(), atol=0.04)


def test_measures_are_those_of_scikit_learn() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    p, z, flips = several(rows=500)
    truth = (z ^ flips).astype(np.uint8)
    measures = nmn.evaluate(z, p, truth=truth, threshold=0.4, top_k=2)
    assert list(measures.index) == ["labels", "truth"]
    for reference, y in (("labels", z), ("truth", truth)):
        row = measures.loc[reference]
        assert row["ap"] == pytest.approx(metrics.average_precision_score(y, p), abs=1e-9)
        assert row["of1"] == pytest.approx(metrics.f1_score(y, p >= np.float32(0.4), average="micro"))
        assert row["macro_f1"] == pytest.approx(metrics.f1_score(y, p >= np.float32(0.4), average="macro"))
        assert row["brier"] == pytest.approx(float(np.mean((p - y) ** 2)), abs=1e-6)
    each = nmn.evaluate(None, p, truth=truth, per_class=True)
    assert [*each["truth_positives"]] == truth.sum(axis=0).tolist()
    assert each["truth_ap"][2] == pytest.approx(metrics.average_precision_score(truth[:, 2], p[:, 2]), abs=1e-9)
    s, c, _ = one(rows=300)
    assert nmn.evaluate(c, s)["ap"].iloc[0] == pytest.approx(metrics.average_precision_score(np.eye(3)[c], s), abs=1e-9)
    with pytest.raises(ValueError, match="labels and truth are None"):
        nmn.evaluate(None, p)


def test_unknown_labels_count_for_nothing(tmp_path: Path) -> None:
    p, z, _ = several()
    want = nmn.find_label_issues(z, p, per_class=True)
    twice, unknown = np.concatenate([p, p[::-1]]), np.full(z.shape, -1, np.int8)
    both = np.concatenate([z.astype(np.int8), unknown])
    np.save(tmp_path / "z.npy", both)
    forms = [both, both.astype(int), np.where(both < 0, np.nan, both), tmp_path / "z.npy"]
    forms.append([*z.tolist(), *np.full(z.shape, None).tolist()])
    forms.append([*(np.flatnonzero(row).tolist() for row in z), *[None] * len(z)])
    for labels in forms:
        got = nmn.find_label_issues(labels, twice, per_class=True)
        assert (got[: len(z)] == want).all()
        assert not got[len(z) :].any()
    rows = nmn.find_label_issues(both, twice, return_indices_ranked_by="self_confidence")
    assert rows.max() < len(z)
    hidden = both[: len(z)].copy()
    hidden[::5, 1] = -1  # of rows with known labels
    got = nmn.find_label_issues(hidden, p, per_class=True)
    assert (got[:, [0, 2, 3]] == want[:, [0, 2, 3]]).mean() > 0.995
    assert not got[::5, 1].any()
    assert got[:, 1].any()
    p, z, _ = one()
    want = nmn.find_label_issues(z, p)
    twice, both = np.concatenate([p, p[::-1]]), np.concatenate([z, np.full(len(z), -1)])
    names = np.array(["ant", "bee", "cat", None], object)
    np.save(tmp_path / "z.npy", both)
    for labels in (
        both,
        both.tolist(),
        both[:, None],
        np.where(both < 0, np.nan, both),
        names[both],
        tmp_path / "z.npy",
    ):
        got = nmn.find_label_issues(labels, twice, unknown=-1)
        assert (got[: len(z)] == want).all()
        assert not got[len(z) :].any()


def test_rates_without_unknown_labels() -> None:
    p, z, _ = several()
    want = nmn.estimate_rates(z, p)
    both = np.concatenate([z.astype(float), np.full(z.shape, np.nan)])
    rates = nmn.estimate_rates(both, np.concatenate([p, p]))
    for column in ("q01", "q10", "labels", "true_labels", "q01_low"):
        assert np.asarray(rates[column]).tolist() == np.asarray(want[column]).tolist()
    s, c, _ = one()
    matrix = nmn.estimate_rates(np.concatenate([c, np.full(len(c), -1)]), np.concatenate([s, s]), unknown=-1)
    alone = nmn.estimate_rates(c, s)
    assert all(np.array_equal(matrix[k], alone[k]) for k in range(3))
    with pytest.raises(ValueError, match="labels holds no known label"):
        nmn.estimate_rates(np.full(10, -1), np.full((10, 3), 1 / 3), unknown=-1)
    with pytest.raises(ValueError, match="unknown label at row 2000"):
        nmn.evaluate(both, np.concatenate([p, p]))


def test_without_pandas_tables_are_dictionaries_of_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    p, z, _ = several(rows=400)
    there = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "pandas" else there(name))
    rates = nmn.estimate_rates(z, p)
    assert isinstance(rates, dict)
    assert rates["class"].tolist() == [0, 1, 2, 3]
    issues = nmn.find_label_issues(z, p, details=True)
    assert isinstance(issues, dict)
    assert len({len(v) for v in issues.values()}) == 1


def test_cleanlab_finds_the_same_flips() -> None:
    pytest.importorskip("cleanlab")
    from cleanlab.filter import find_label_issues as of_one
    from cleanlab.multilabel_classification.filter import find_label_issues as of_several

    p, z, flips = several(rows=1000)
    lists = [np.flatnonzero(row).tolist() for row in z]
    for by in (None, "self_confidence"):
        ours = nmn.find_label_issues(lists, p, return_indices_ranked_by=by)
        theirs = of_several(lists, p, return_indices_ranked_by=by, n_jobs=1)
        assert (ours.dtype, ours.ndim) == (theirs.dtype, theirs.ndim)
        if by is None:
            assert found(ours, flips.any(axis=1))[1] > 0.85
            assert (ours & theirs).sum() > 0.9 * min(ours.sum(), theirs.sum())
    s, c, wrong = one(rows=1000)
    for by in (None, "self_confidence"):
        ours, theirs = (f(c, s, return_indices_ranked_by=by) for f in (nmn.find_label_issues, of_one))
        assert (ours.dtype, ours.ndim) == (theirs.dtype, theirs.ndim)
        if by is None:
            assert (ours == theirs).mean() > 0.97
            assert found(ours, wrong)[0] > 0.95


BAD: list[tuple[str, Any, Any, dict[str, Any], str]] = [
    ("rows", np.zeros((5, 2), int), np.full((4, 2), 0.5), {}, "labels has 5 rows and pred_probs has 4"),
    ("columns", np.zeros((4, 3), int), np.full((4, 2), 0.5), {}, "labels has 3 classes and pred_probs has 2"),
    (
        "above 1",
        np.eye(4, dtype=int),
        np.full((4, 4), 1.5),
        {},
        r"pred_probs holds 1.5 at row 0, column 0.*logits=True",
    ),
    ("below 0", np.eye(4, dtype=int), -np.eye(4), {}, r"pred_probs holds -1.0 at row 0, column 0"),
    ("NaN", np.eye(4, dtype=int), np.where(np.eye(4), np.nan, 0.1), {}, "pred_probs holds nan at row 0.*score"),
    ("infinite", np.eye(4, dtype=int), np.full((4, 4), np.inf), {"logits": True}, "pred_probs holds inf at row 0"),
    ("label 2", np.full((4, 4), 2), np.full((4, 4), 0.5), {}, r"labels holds 2 at row 0, column 0"),
    ("label 2 as a byte", np.full((4, 4), 2, np.uint8), np.full((4, 4), 0.5), {}, r"labels holds 2 at row 0, column 0"),
    ("label -2", np.array([[1, -2], [0, 1]]), np.full((2, 2), 0.5), {}, "labels holds -2 at row 0, column 1"),
    ("byte -2", np.array([[1, -2], [0, 1]], np.int8), np.full((2, 2), 0.5), {}, "labels holds -2 at row 0, column 1"),
    ("class -2", [0, -2], np.full((2, 2), 0.5), {}, "labels holds .*-2 at row 1"),
    ("class -1", [0, -1, 1], np.full((3, 2), 0.5), {}, "labels holds the label -1 at row 1.* pass unknown=-1"),
    ("sums", [0, 1], np.array([[0.5, 0.5], [0.5, 0.2]]), {"n_jobs": 1}, r"pred_probs sums to 0\.7 at row 1, want 1"),
    ("a class beyond", [0, 1, 2], np.full((3, 2), 0.5), {}, "labels holds .*2"),
    ("a class beyond in a list", [[0], [5]], np.full((2, 3), 0.5), {}, "labels holds the class 5 at row 1.*0 to 2"),
    ("twice in a list", [[0, 0, 1], [1]], np.full((2, 3), 0.5), {}, "labels names a class twice at row 0"),
    ("an unknown name", [["ant"], ["cow"]], np.full((2, 2), 0.5), {"classes": ["ant", "bee"]}, "'cow'.*not among"),
    ("names", [["ant"], ["cow"]], np.full((2, 2), 0.5), {"classes": ["ant"]}, "classes: 1 names for the 2 columns"),
    ("empty", np.zeros((0, 2), int), np.zeros((0, 2)), {}, r"pred_probs has shape \(0, 2\)"),
    ("three dimensions", np.zeros((2, 2), int), np.zeros((2, 2, 2)), {}, r"pred_probs has shape \(2, 2, 2\)"),
    ("a ranking", np.eye(2, dtype=int), np.eye(2), {"return_indices_ranked_by": "margin"}, "quality"),
    ("below 0", np.eye(2, dtype=int), np.eye(2), {"min_error": -0.1}, "min_error is -0.1: want 0 to 1"),
    ("an error above 1", np.eye(2, dtype=int), np.eye(2), {"min_error": 1.1}, "min_error is 1.1: want 0 to 1"),
    ("a share", np.eye(2, dtype=int), np.eye(2), {"frac_noise": 0}, "frac_noise is 0: want above 0 to 1"),
    ("threads", np.eye(2, dtype=int), np.eye(2), {"n_jobs": 0}, "n_jobs is 0"),
    ("cells of one label each", [0, 1], np.eye(2), {"per_class": True}, "per_class needs several labels"),
    ("of another form", [0, 1], np.eye(2), {"multi_label": True}, "multi_label is True"),
    ("rates", np.eye(2, dtype=int), np.eye(2), {"noise_rates": {"q01": [0.1]}}, "noise_rates: want q01, q10"),
    (
        "a rate",
        np.eye(2, dtype=int),
        np.eye(2),
        {"noise_rates": {"q01": [0, 2], "q10": [0, 0]}},
        "q01 of .*1.* is 2: want",
    ),
    ("calibration", np.eye(2, dtype=int), np.eye(2), {"calibrate": True}, "calibrate needs noise_rates"),
    ("too few rates", np.eye(2, dtype=int), np.eye(2), {"noise_rates": {"q01": [0.1], "q10": [0.1]}}, "for 2 classes"),
]


@pytest.mark.parametrize(("labels", "scores", "more", "says"), [b[1:] for b in BAD], ids=[b[0] for b in BAD])
def test_bad_input_names_the_argument(labels: Any, scores: Any, more: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        nmn.find_label_issues(labels, scores, **more)
    if not more:  # the program is not called
        with pytest.raises(ValueError, match=says):
            nmn.find_label_issues(labels, scores, filter_by="both")


def test_other_types_are_refused(tmp_path: Path) -> None:
    scores = np.full((2, 2), 0.5)
    for labels in (None, 3, {"a": 1}, np.array([[1, "a"], [0, 1]], object)):
        with pytest.raises(TypeError, match="labels"):
            nmn.find_label_issues(labels, scores)
    with pytest.raises((TypeError, ValueError), match="pred_probs"):
        nmn.find_label_issues(np.eye(2, dtype=int), np.array([["a", "b"], ["c", "d"]], object))
    with pytest.raises(FileNotFoundError, match="pred_probs: there is no file"):
        nmn.find_label_issues(np.eye(2, dtype=int), tmp_path / "none.npy")
    broken = tmp_path / "broken.npy"
    broken.write_bytes(b"no array")
    with pytest.raises(ValueError, match=r"pred_probs: .*broken.npy.* numpy.save"):
        nmn.find_label_issues(np.eye(2, dtype=int), broken)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"confidence": 2}, r"^confidence is 2, want 0\.5 to 0\.9999$"),
        ({"min_labels": -1}, "^min_labels is -1, want 0 to"),
        ({"min_slope": -1}, r"^min_slope is -1, want 0\.001 to 8$"),
    ],
)
def test_values_that_the_program_refuses_are_of_arguments(more: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        nmn.estimate_rates(np.eye(3, dtype=int), np.full((3, 3), 0.5), **more)
    with pytest.raises(ValueError, match=r"^threshold is 3, want 0 to 1$"):
        nmn.evaluate(np.eye(3, dtype=int), np.full((3, 3), 0.5), threshold=3)


def test_no_room_for_temporary_files(monkeypatch: pytest.MonkeyPatch) -> None:
    p, z, _ = several(rows=50)
    with monkeypatch.context() as patch:
        patch.setattr(tempfile, "tempdir", "/dev/null/none")
        with pytest.raises(nmn.NmnError, match=r"no temporary folder can be made.*TMPDIR"):
            nmn.find_label_issues(z, p)
    for error in (OSError(errno.ENOSPC, "No space left on device"), OSError("400 requested and 96 written")):
        with monkeypatch.context() as patch:
            patch.setattr(nmn._inputs, "inputs_of", failing(error))
            with pytest.raises(nmn.NmnError, match=r"no room is left in .*temporary.*TMPDIR"):
                nmn.find_label_issues(z, p)


def failing(error: Exception) -> Any:
    """Return a function that raises an error."""

    def fail(*_: Any, **__: Any) -> None:
        raise error

    return fail


def test_files_of_text(tmp_path: Path) -> None:
    p, z, _ = several(rows=300, width=2)
    for name, values in (("p", p), ("z", z)):
        lines = ["id,ant,bee", *(f"r{i}," + ",".join(map(str, row.tolist())) for i, row in enumerate(values))]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines))
    mask = nmn.find_label_issues(tmp_path / "z.csv", tmp_path / "p.csv")
    assert (mask == nmn.find_label_issues(z, p)).all()
    rates = nmn.estimate_rates(tmp_path / "z.csv", tmp_path / "p.csv")
    if importlib.util.find_spec("pandas"):
        assert list(rates.index) == ["ant", "bee"]
