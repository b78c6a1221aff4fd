"""Filters and rankings of confident learning, held against cleanlab and against their definitions."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import nmn
from nmn import _confident, _fits

Array = npt.NDArray[Any]

FILTERS = _confident.FILTERS
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
def test_one_label_each_as_cleanlab(by: str) -> None:
    theirs = pytest.importorskip("cleanlab.filter").find_label_issues
    for rare in (False, True):
        z, p = one(rare=rare)
        forms: list[dict[str, Any]] = [{}]
        if by in _confident.PRUNING:
            joint = np.full((6, 6), 7) + np.diag(np.full(6, 60))
            forms += [
                {"frac_noise": 0.4},
                {"min_examples_per_class": 150},
                {"frac_noise": 0.7, "min_examples_per_class": 40},
                {"confident_joint": joint},
            ]
        if by == "prune_by_class":
            forms.append({"num_to_remove_per_class": [9, 0, 5, 1, 0, 3]})
        for more in forms:
            want = quietly(theirs, z, p, filter_by=by, **more)
            assert want.any()
            # Numbers of pairs that are equally far from whole ones are rounded to keep the sum, in any order.
            ties = 0 if "confident_joint" in more or by not in ("prune_by_noise_rate", "both") else 3
            assert (nmn.find_label_issues(z, p, filter_by=by, **more) != want).sum() <= ties, more
        joint = pytest.importorskip("cleanlab.count").compute_confident_joint(z, p)
        for ranking in RANKINGS:
            more = {"filter_by": by, "return_indices_ranked_by": ranking, "confident_joint": joint}
            ours = quietly(nmn.find_label_issues, z, p, **more)
            want = quietly(theirs, z, p, **more)
            assert ours.tolist() == want.tolist(), ranking


@pytest.mark.parametrize("by", FILTERS)
def test_several_labels_a_row_as_cleanlab(by: str) -> None:
    filters = pytest.importorskip("cleanlab.multilabel_classification.filter")
    z, p = several()
    forms: list[dict[str, Any]] = [{}]
    if by in _confident.PRUNING:
        forms += [{"frac_noise": 0.5}, {"min_examples_per_class": 200}]
        forms.append({"confident_joint": np.tile([[500, 30], [20, 250]], (5, 1, 1))})
    if by == "prune_by_noise_rate":
        forms.append({"num_to_remove_per_class": [9, 0, 5, 1, 20]})
    for more in forms:
        want = quietly(filters.find_label_issues, lists(z), p, filter_by=by, **more)
        assert want.any()
        assert (nmn.find_label_issues(lists(z), p, filter_by=by, **more) == want).all(), more
        want = quietly(filters.find_multilabel_issues_per_class, lists(z), p, filter_by=by, **more)
        assert (nmn.find_label_issues(z, p, filter_by=by, per_class=True, **more) == want).all(), more
    for ranking in RANKINGS:
        ours = nmn.find_label_issues(z, p, filter_by=by, return_indices_ranked_by=ranking)
        if by.startswith("low"):  # cleanlab's order of these is that of no measure
            assert sorted(ours) == np.flatnonzero(nmn.find_label_issues(z, p, filter_by=by)).tolist()
            continue
        want = quietly(filters.find_label_issues, lists(z), p, filter_by=by, return_indices_ranked_by=ranking)
        assert ours.tolist() == want.tolist(), ranking


def test_adjusted_rankings_as_cleanlab() -> None:
    of_one = pytest.importorskip("cleanlab.filter").find_label_issues
    of_several = pytest.importorskip("cleanlab.multilabel_classification.filter").find_label_issues
    for (labels, scores), theirs in ((one(), of_one), (several(), of_several)):
        forms = lists(labels) if labels.ndim == 2 else labels
        for ranking in RANKINGS[:2]:
            more: dict[str, Any] = {
                "filter_by": "confident_learning",
                "return_indices_ranked_by": ranking,
                "rank_by_kwargs": {"adjust_pred_probs": True},
            }
            want = quietly(theirs, forms, scores, **more)
            assert nmn.find_label_issues(labels, scores, **more).tolist() == want.tolist()


def test_rankings_by_their_definitions() -> None:
    z, p = one(rows=300)
    at = np.arange(len(z))
    fit = p[at, z]
    others = np.where(np.eye(p.shape[1], dtype=bool)[z], -1, p).max(axis=1)
    weighted = -(p * np.log(p)).sum(axis=1) / np.log(p.shape[1]) / fit
    measures = {"self_confidence": fit, "normalized_margin": fit - others, "confidence_weighted_entropy": -weighted}
    for filter_by in (None, "predicted_neq_given"):
        mask = nmn.find_label_issues(z, p, filter_by=filter_by)
        assert mask.any()
        for by, measure in measures.items():
            ranked = nmn.find_label_issues(z, p, filter_by=filter_by, return_indices_ranked_by=by)
            assert ranked.tolist() == [i for i in np.argsort(measure, kind="stable") if mask[i]]
    assert (nmn.find_label_issues(z, p, filter_by="predicted_neq_given") == (p.argmax(axis=1) != z)).all()


def test_average_of_a_row_is_that_of_all_its_labels() -> None:
    z, p = several(rows=200, width=70)
    fit = np.sort(np.where(z == 1, p, 1 - p).astype(float), axis=1)[:, ::-1]
    average = fit[:, 0].copy()
    for k in range(1, fit.shape[1]):
        average = 0.8 * fit[:, k] + 0.2 * average
    mask = nmn.find_label_issues(z, p, filter_by="confident_learning")
    ranked = nmn.find_label_issues(z, p, filter_by="confident_learning", return_indices_ranked_by="self_confidence")
    assert sorted(ranked) == np.flatnonzero(mask).tolist()
    assert (np.diff(average[ranked]) >= -1e-7).all()


def test_cells_tables_and_log_odds() -> None:
    z, p = several()
    with np.errstate(divide="ignore"):
        logits = np.log(p / (1 - p.astype(float)))
    mask = nmn.find_label_issues(z, p, filter_by="both", per_class=True)
    assert (nmn.find_label_issues(z, logits, logits=True, filter_by="both", per_class=True) != mask).sum() <= 2
    pairs = nmn.find_label_issues(
        z, p, filter_by="both", per_class=True, return_indices_ranked_by="self_confidence", n_jobs=2, verbose=True
    )
    assert mask[pairs[:, 0], pairs[:, 1]].all()
    assert len(pairs) == mask.sum()
    table = nmn.find_label_issues(z, p, filter_by="both", details=True, classes=list("abcde"))
    assert np.asarray(table["row"]).tolist() == pairs[:, 0].tolist()
    assert ["abcde".index(c) for c in table["class"]] == pairs[:, 1].tolist()
    assert np.allclose(table["fit"], np.where(np.asarray(table["given"]) == 1, table["p"], 1 - np.asarray(table["p"])))
    c, s = one()
    table = nmn.find_label_issues(c, s, filter_by="prune_by_class", details=True)
    rows = np.asarray(table["row"])
    assert np.asarray(table["suggested"]).tolist() == s[rows].argmax(axis=1).tolist()
    assert (np.diff(table["fit"]) >= 0).all()
    odds = np.log(s) + 3
    want = nmn.find_label_issues(c, s, filter_by="prune_by_class")
    assert (nmn.find_label_issues(c, odds, logits=True, filter_by="prune_by_class") == want).all()


def test_numbers_of_each_class_are_limits() -> None:
    z, p = several()
    by_class = nmn.find_label_issues(
        z, p, filter_by="prune_by_class", num_to_remove_per_class=[5, 0, 3, 900, 1], per_class=True
    )
    worst = np.sort(np.where(z == 1, p, 2), axis=0)
    for k, n in enumerate((5, 0, 3)):
        likely = (z[:, k] == 1) & (p[:, k] <= (worst[n - 1, k] if n else -1)) & (p[:, k] <= 0.5)
        assert (by_class[:, k] == likely).all()  # labels that are there alone
    assert ((by_class <= (z == 1)).all(axis=0)).all()
    for labels, scores, width in ((z, p, 5), (*one(), 6)):
        cells = labels if labels.ndim == 2 else np.eye(width, dtype=int)[labels]
        own = nmn.find_label_issues(labels, scores)
        few = nmn.find_label_issues(labels, scores, num_to_remove_per_class=[2] * width)
        assert 0 < few.sum() <= 2 * width
        assert own[few].all()
        sure = nmn.find_label_issues(
            labels, scores, return_indices_ranked_by="p_wrong", num_to_remove_per_class=[1] * width
        )
        assert len(sure) <= width
        assert len(set(sure)) == len(sure)
        assert few[sure].all()
        assert (nmn.find_label_issues(labels, scores, min_examples_per_class=0) == own).all()
        counts = cells.sum(axis=0)
        left = nmn.find_label_issues(labels, scores, min_examples_per_class=int(counts.max()))
        if labels.ndim == 1:
            assert not left.any()
        else:  # missing labels stay
            more = nmn.find_label_issues(labels, scores, min_examples_per_class=int(counts.max()), per_class=True)
            assert more.any()
            assert not (more & (labels == 1)).any()
            assert (more.any(axis=1) == left).all()


BAD: list[tuple[str, dict[str, Any], str]] = [
    ("a filter", {"filter_by": "prune"}, "filter_by is 'prune': choose one of prune_by_noise_rate, .* None"),
    ("a ranking of the model", {"filter_by": "both", "return_indices_ranked_by": "quality"}, "the noise model gives"),
    ("an error", {"filter_by": "both", "min_error": 0.9}, "min_error is for the noise model"),
    ("rates", {"filter_by": "both", "rates": {}}, "rates is for the noise model"),
    ("too few numbers", {"filter_by": "both", "num_to_remove_per_class": [1]}, "has 1 numbers for 5 classes"),
    ("too few numbers of the model", {"num_to_remove_per_class": [1]}, "has 1 numbers for 5 classes"),
    ("a negative number", {"num_to_remove_per_class": [-1] * 5}, "want a whole number for each class"),
    ("a broken number", {"num_to_remove_per_class": [0.5] * 5}, "want a whole number for each class"),
    ("numbers of no pruning", {"filter_by": "confident_learning", "num_to_remove_per_class": [1] * 5}, "choose one of"),
    ("left", {"min_examples_per_class": -1}, "min_examples_per_class is -1"),
    ("a joint of the model", {"confident_joint": np.eye(5)}, "pass rates="),
    ("a joint", {"filter_by": "both", "confident_joint": np.eye(5)}, r"want counts, of shape \(5, 2, 2\)"),
    ("a keyword", {"rank_by_kwargs": {"x": 1}}, "rank_by_kwargs has 'x'"),
    ("adjusted", {"rank_by_kwargs": {"adjust_pred_probs": True}}, "adjust_pred_probs is for the rankings"),
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
    with pytest.raises(ValueError, match=r"'p.csv' is a file of text.*pandas"):
        nmn.find_label_issues([[0], []], tmp_path / "p.csv", filter_by="both", multi_label=True)
    with pytest.warns(UserWarning, match="frac_noise changes nothing"):
        nmn.find_label_issues(z, p, filter_by="low_self_confidence", frac_noise=0.5)


def test_classes_that_nobody_gave_and_a_single_one() -> None:
    _, p = several(rows=50)
    for by in FILTERS:
        for labels in (np.zeros((50, 5), np.uint8), np.ones((50, 5), np.uint8), (p > 0.5).astype(np.uint8)):
            assert nmn.find_label_issues(labels, p, filter_by=by).shape == (50,)
        assert nmn.find_label_issues(np.zeros(50, int), p / p.sum(axis=1, keepdims=True), filter_by=by).shape == (50,)
        assert nmn.find_label_issues((p[:, :1] > 0.5).astype(np.uint8), p[:, :1], filter_by=by).shape == (50,)
