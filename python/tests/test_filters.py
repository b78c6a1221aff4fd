"""Filters, which are cleanlab's, and rankings of the noise model's issues by the usual measures."""

from __future__ import annotations

import sys
import warnings
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import nmn
from nmn import _fits, _issues

Array = npt.NDArray[Any]

FILTERS = _issues._FILTERS
RANKINGS = _fits.RANKINGS


def several(rows: int = 900, width: int = 5, seed: int = 3) -> tuple[Array, Array]:
    """Return labels of several a row, and middling scores."""
    rng = np.random.default_rng(seed)
    o = rng.normal(-0.5, 2.5, (rows, width))
    truth = rng.random((rows, width)) < 1 / (1 + np.exp(-o))
    flips = np.where(truth, 0.25, 0.05) > rng.random((rows, width))
    scores = 1 / (1 + np.exp(-(o + rng.normal(0, 0.7, o.shape))))
    return (truth ^ flips).astype(np.uint8), scores.astype(np.float32)


def one(rows: int = 1500, width: int = 6, seed: int = 4, rare: bool = False) -> tuple[Array, Array]:
    """Return one label each, and middling scores."""
    rng = np.random.default_rng(seed)
    weights = np.geomspace(1, 0.01 if rare else 0.3, width)
    truth = rng.choice(width, rows, p=weights / weights.sum())
    o = rng.normal(0, 1, (rows, width)) + 2.5 * np.eye(width)[truth]
    p = np.exp(o) / np.exp(o).sum(axis=1, keepdims=True)
    wrong = rng.random(rows) < 0.2
    return np.where(wrong, (truth + rng.integers(1, width, rows)) % width, truth), p


def lists(labels: Array) -> list[list[int]]:
    return [np.flatnonzero(row).tolist() for row in labels]


def quietly(call: Any, *a: Any, **k: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call(*a, n_jobs=1, **k)


@pytest.mark.parametrize("by", FILTERS)
def test_one_label_each_is_what_cleanlab_says(by: str) -> None:
    theirs = pytest.importorskip("cleanlab.filter").find_label_issues
    z, p = one()
    forms: list[dict[str, Any]] = [{}, {"return_indices_ranked_by": "normalized_margin"}]
    forms.append({"return_indices_ranked_by": "self_confidence", "rank_by_kwargs": {"adjust_pred_probs": True}})
    if by in ("prune_by_noise_rate", "prune_by_class", "both"):
        forms += [{"frac_noise": 0.4, "min_examples_per_class": 40}, {"num_to_remove_per_class": [9, 0, 5, 1, 0, 3]}]
        forms.append({"confident_joint": np.full((6, 6), 7) + np.diag(np.full(6, 60))})
    for more in forms:
        ours, want = (quietly(f, z, p, filter_by=by, **more) for f in (nmn.find_label_issues, theirs))
        assert want.any()
        assert ours.dtype == want.dtype
        assert ours.tolist() == want.tolist(), more


@pytest.mark.parametrize("by", FILTERS)
def test_several_labels_a_row_are_what_cleanlab_says(by: str) -> None:
    filters = pytest.importorskip("cleanlab.multilabel_classification.filter")
    z, p = several()
    for more in ({}, {"return_indices_ranked_by": "self_confidence"}, {"low_memory": by == "confident_learning"}):
        want = quietly(filters.find_label_issues, lists(z), p, filter_by=by, **more)
        assert want.any()
        for labels in (z, lists(z)):
            assert quietly(nmn.find_label_issues, labels, p, filter_by=by, **more).tolist() == want.tolist(), more
    want = quietly(filters.find_multilabel_issues_per_class, lists(z), p, filter_by=by)
    mask = quietly(nmn.find_label_issues, z, p, filter_by=by, per_class=True)
    assert (mask == want).all()
    pairs = quietly(
        nmn.find_label_issues, z, p, filter_by=by, per_class=True, return_indices_ranked_by="self_confidence"
    )
    assert (mask[pairs[:, 0], pairs[:, 1]].all(), len(pairs)) == (True, mask.sum())
    fit = np.where(z == 1, p, 1 - p)[pairs[:, 0], pairs[:, 1]]
    assert (np.diff(fit) >= 0).all()


@pytest.fixture
def noted(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """Put modules in cleanlab's place that note what they are asked, and call the first row an issue."""
    calls: list[tuple[Any, ...]] = []
    for name in ("cleanlab", "cleanlab.filter", "cleanlab.multilabel_classification"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, "cleanlab.multilabel_classification.filter", ModuleType("filter"))

    def find(labels: Any, pred_probs: Any, *, filter_by: str, **more: Any) -> Any:
        calls.append((labels, pred_probs, filter_by, more))
        return np.arange(len(pred_probs)) == 0

    def find_each(labels: Any, pred_probs: Any, *, filter_by: str, **more: Any) -> Any:
        return find(labels, pred_probs, filter_by=filter_by, **more)[:, None] & np.ones(pred_probs.shape, bool)

    sys.modules["cleanlab.filter"].find_label_issues = find  # type: ignore[attr-defined]
    several_ = sys.modules["cleanlab.multilabel_classification.filter"]
    several_.find_label_issues, several_.find_multilabel_issues_per_class = find, find_each  # type: ignore[attr-defined]
    return calls


def test_cleanlab_is_asked_in_its_own_words(noted: list[tuple[Any, ...]]) -> None:
    z, p = several(rows=30)
    odds = np.log(p.astype(float)) - np.log1p(-p.astype(float))
    named = [[list("abcde")[k] for k in row] for row in lists(z)]
    mask = nmn.find_label_issues(
        named, odds, logits=True, classes=list("abcde"), filter_by="both", frac_noise=0.5, min_examples_per_class=3
    )
    labels, scores, by, more = noted.pop()
    assert (labels, by, mask.tolist()) == (lists(z), "both", [True] + [False] * 29)
    np.testing.assert_allclose(scores, p, atol=1e-6)
    assert more == {
        "frac_noise": 0.5,
        "min_examples_per_class": 3,
        "return_indices_ranked_by": None,
        "rank_by_kwargs": {},
        "low_memory": False,
        "verbose": False,
        "n_jobs": None,
    }
    assert nmn.find_label_issues(z, p, filter_by="both", per_class=True).sum() == 5
    pairs = nmn.find_label_issues(z, p, filter_by="both", per_class=True, return_indices_ranked_by="self_confidence")
    fit = np.where(z[0] == 1, p[0], 1 - p[0])
    assert pairs.tolist() == [[0, k] for k in np.argsort(fit, kind="stable")]
    c, s = one(rows=30)
    nmn.find_label_issues(c, np.log(s) + 3, logits=True, filter_by="prune_by_class", num_to_remove_per_class=[1] * 6)
    labels, scores, by, more = noted.pop()
    assert (labels.tolist(), by, more["num_to_remove_per_class"]) == (c.tolist(), "prune_by_class", [1] * 6)
    np.testing.assert_allclose(scores, s, atol=1e-6)
    for labels, scores, row in (
        (np.where(z == 0, -1, z.astype(int)), p, int((z == 0).any(axis=1).argmax())),
        (np.r_[c[:9], -1], s[:10], 9),
    ):
        with pytest.raises(ValueError, match=f"unknown label at row {row}, and cleanlab takes none: leave out"):
            nmn.find_label_issues(labels, scores, filter_by="both", unknown=-1)


def test_without_cleanlab_an_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cleanlab", None)
    for name in [name for name in sys.modules if name.startswith("cleanlab.")]:
        monkeypatch.delitem(sys.modules, name)
    for labels, scores in (several(rows=60), one(rows=60)):
        with pytest.raises(nmn.NmnError, match=r"filter_by='both' is a filter of cleanlab.*pip install cleanlab"):
            nmn.find_label_issues(labels, scores, filter_by="both")


def test_rankings_by_their_definitions() -> None:
    z, p = one(rows=300)
    at = np.arange(len(z))
    fit = p[at, z]
    others = np.where(np.eye(p.shape[1], dtype=bool)[z], -1, p).max(axis=1)
    weighted = -(p * np.log(p)).sum(axis=1) / np.log(p.shape[1]) / fit
    measures = {"self_confidence": fit, "normalized_margin": fit - others, "confidence_weighted_entropy": -weighted}
    mask = nmn.find_label_issues(z, p)
    assert mask.any()
    for by, measure in measures.items():
        ranked = nmn.find_label_issues(z, p, return_indices_ranked_by=by)
        assert ranked.tolist() == [i for i in np.argsort(measure, kind="stable") if mask[i]]
    means = np.array([fit[z == k].mean() for k in range(p.shape[1])])
    shifted = p - means + means.max()
    adjusted = (shifted / shifted.sum(axis=1, keepdims=True))[at, z]
    ranked = nmn.find_label_issues(
        z, p, return_indices_ranked_by="self_confidence", rank_by_kwargs={"adjust_pred_probs": True}
    )
    assert ranked.tolist() == [i for i in np.argsort(adjusted, kind="stable") if mask[i]]


def test_average_of_a_row_is_that_of_all_its_labels() -> None:
    z, p = several(rows=200, width=70)
    fit = np.sort(np.where(z == 1, p, 1 - p).astype(float), axis=1)[:, ::-1]
    average = fit[:, 0].copy()
    for k in range(1, fit.shape[1]):
        average = 0.8 * fit[:, k] + 0.2 * average
    mask = nmn.find_label_issues(z, p)
    ranked = nmn.find_label_issues(z, p, return_indices_ranked_by="self_confidence")
    assert mask.any()
    assert sorted(ranked) == np.flatnonzero(mask).tolist()
    assert (np.diff(average[ranked]) >= -1e-7).all()


BAD: list[tuple[str, dict[str, Any], str]] = [
    ("a filter", {"filter_by": "prune"}, "filter_by is 'prune': choose one of prune_by_noise_rate, .* None"),
    (
        "a ranking of the model",
        {"filter_by": "both", "return_indices_ranked_by": "quality"},
        "a ranking of the noise model",
    ),
    ("an error", {"filter_by": "both", "min_error": 0.9}, "min_error needs the noise model"),
    ("rates", {"filter_by": "both", "noise_rates": {}}, "noise_rates needs the noise model"),
    ("a table", {"filter_by": "both", "details": True}, "details needs the noise model"),
    (
        "numbers of the model",
        {"num_to_remove_per_class": [1] * 5},
        "needs a filter of cleanlab: pass filter_by= too",
    ),
    ("left of the model", {"min_examples_per_class": 0}, "min_examples_per_class needs a filter of cleanlab: pass"),
    ("a joint of the model", {"confident_joint": np.eye(5)}, "confident_joint needs a filter of cleanlab"),
    ("a keyword", {"rank_by_kwargs": {"x": 1}}, "rank_by_kwargs has 'x'"),
    ("adjusted", {"rank_by_kwargs": {"adjust_pred_probs": True}}, "adjust_pred_probs needs the ranking"),
    ("threads", {"filter_by": "both", "n_jobs": 0}, "n_jobs is 0"),
]


@pytest.mark.parametrize(("more", "says"), [b[1:] for b in BAD], ids=[b[0] for b in BAD])
def test_bad_arguments_are_named(more: dict[str, Any], says: str) -> None:
    z, p = several(rows=60)
    with pytest.raises(ValueError, match=says):
        nmn.find_label_issues(z, p, **more)


def test_bad_scores_and_files(tmp_path: Any) -> None:
    z, p = several(rows=60)
    for value in (np.nan, np.inf, -0.1, 1.5):
        bad = p.copy()
        bad[7, 2] = value
        with pytest.raises(ValueError, match=r"pred_probs holds .* at row 7, column 2"):
            nmn.find_label_issues(z, bad, filter_by="both")
    (tmp_path / "p.csv").write_text("id,a\nx,0.5\ny,0.2\n")
    with pytest.raises(ValueError, match=r"'p.csv' is a text file.*pandas"):
        nmn.find_label_issues([[0], []], tmp_path / "p.csv", filter_by="both", multi_label=True)
