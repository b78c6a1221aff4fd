"""Captions of other pictures, and scores of generated ones."""

from __future__ import annotations

import importlib.util
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nmn

SAID = {"a": "a dog runs", "b": "two cats"}
WRITTEN = {"a": ["a dog is running", "the dog runs"], "b": ["two cats sit"]}


@pytest.fixture(autouse=True)
def nothing_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Have temporary files in a folder of the test, which must be empty in the end."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setenv("TMPDIR", str(place))
    monkeypatch.setattr(tempfile, "tempdir", None)
    yield
    assert os.listdir(place) == []


def described(bags: int = 300, of_each: int = 5, seed: int = 4) -> tuple[list[list[str]], set[int]]:
    """Return captions of bags with one object each, some replaced by captions of other bags, and their places."""
    rng = np.random.default_rng(seed)
    words = [f"{a}{b}" for a in ("ant", "bee", "cow", "dog", "eel", "fox") for b in ("house", "wood", "field", "river")]
    things = rng.integers(0, len(words), bags)
    captions, foreign = [], set()
    for bag in range(bags):
        own = []
        for i in range(of_each):
            of = bag
            if rng.random() < 0.2:
                of = int(rng.integers(0, bags))
                if things[of] != things[bag]:
                    foreign.add(bag * of_each + i)
            first, second = words[things[of]], words[(things[of] * 7 + 3) % len(words)]
            own.append(f"a {first} near the {second} number {rng.integers(0, 9)}")
        captions.append(own)
    return captions, foreign


def test_captions_of_other_pictures_are_found(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    captions, foreign = described()
    table = nmn.caption_issues(captions)
    assert len(table) == 1500
    assert (np.diff(table["own"]) >= 0).all()
    marked = set(table.index[table["foreign"]])
    assert len(marked & foreign) > 0.9 * len(marked)
    assert len(marked & foreign) > 0.6 * len(foreign)
    assert 0.1 < table.attrs["foreign_share"] < 0.3
    flat = [c for of in captions for c in of]
    assert [flat[i] for i in table.index] == list(table["caption"])
    assert (table["picture"] == table.index // 5).all()
    by_name = nmn.caption_issues({f"p{i}": of for i, of in enumerate(captions)})
    assert (by_name["own"].to_numpy() == table["own"].to_numpy()).all()
    assert by_name["picture"].iloc[0] == f"p{table['picture'].iloc[0]}"
    path = tmp_path / "captions.jsonl"
    path.write_text("\n".join(json.dumps({"sample": i // 5, "caption": c}) for i, c in enumerate(flat)))
    of_file = nmn.caption_issues(path, precision=0.5)
    assert (of_file["own"].to_numpy() == table["own"].to_numpy()).all()
    assert of_file["foreign"].sum() >= table["foreign"].sum()


def test_tables_keep_their_index() -> None:
    pandas = pytest.importorskip("pandas")
    captions, _ = described(bags=100)
    table = pandas.DataFrame(
        [(f"b{i}", c) for i, of in enumerate(captions) for c in of],
        columns=["image_id", "caption"],
        index=[f"c{i}" for i in range(500)],
    )
    issues = nmn.caption_issues(table, vocabulary_size=60, seed=3)
    assert sorted(issues.index) == sorted(table.index)
    assert (table.loc[issues.index, "caption"] == issues["caption"]).all()
    assert (table.loc[issues.index, "image_id"] == issues["picture"]).all()
    series = table.set_index("image_id")["caption"]
    assert (nmn.caption_issues(series, vocabulary_size=60, seed=3)["own"].to_numpy() == issues["own"].to_numpy()).all()


def test_words_and_scores_can_be_given() -> None:
    pandas = pytest.importorskip("pandas")
    captions, _ = described(bags=100)
    words = sorted({w for of in captions for c in of for w in c.split() if len(w) > 5 and w != "number"})
    held = np.array([[float(any(w in c.split() for c in of)) for w in words] for of in captions]) * 0.8 + 0.1
    alone = nmn.caption_issues(captions, vocabulary=words)
    scored = nmn.caption_issues(captions, vocabulary=words, scores=held)
    named = nmn.caption_issues(captions, scores=pandas.DataFrame(held, columns=words))
    assert len(alone) == len(scored) == 500
    assert (named["own"].to_numpy() == scored["own"].to_numpy()).all()
    assert (alone["own"].to_numpy() != scored["own"].to_numpy()).any()
    with pytest.raises(ValueError, match="scores is an array without names of words"):
        nmn.caption_issues(captions, scores=held)
    with pytest.raises(ValueError, match="scores has shape"):
        nmn.caption_issues(captions, scores=held[:4], vocabulary=words)


def test_features_judge_single_captions(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(2)
    things = np.arange(400) % 4
    said = np.where(rng.random(400) < 0.2, rng.integers(0, 4, 400), things)
    x = (np.eye(4)[things] + rng.normal(0, 0.2, (400, 4))).astype(np.float32)
    captions = {f"p{i}": f"a {('dog', 'cat', 'tree', 'boat')[of]}" for i, of in enumerate(said)}
    assert nmn.caption_issues(captions).attrs["refused"]
    table = nmn.caption_issues(captions, features=x)
    assert table.attrs["refused"] == ""
    foreign = {f"p{i}" for i in np.flatnonzero(said != things)}
    assert np.mean([name in foreign for name in table["picture"][table["foreign"]]]) > 0.8
    least = table.sort_values("own")["picture"][: len(foreign)]
    assert np.mean([name in foreign for name in least]) > 0.9
    shuffled = rng.permutation(400)
    named = pandas.DataFrame(x[shuffled], index=[f"p{i}" for i in shuffled])
    np.save(tmp_path / "x.npy", x)
    for features in (named, tmp_path / "x.npy"):
        assert (nmn.caption_issues(captions, features=features)["own"].to_numpy() == table["own"].to_numpy()).all()
    with pytest.raises(ValueError, match="features has 3 rows, and there are 400 pictures"):
        nmn.caption_issues(captions, features=x[:3])
    with pytest.raises(nmn.NmnError, match="features has no row for picture"):
        nmn.caption_issues(captions, features=named[:3])
    with pytest.raises(ValueError, match="scores and features exclude each other"):
        nmn.caption_issues(captions, features=x, scores=x)


def test_metrics_of_every_form(tmp_path: Path) -> None:
    metrics = nmn.caption_metrics(SAID, WRITTEN)
    assert list(metrics) == ["BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4", "METEOR", "ROUGE-L", "CIDEr-D"]
    assert metrics["BLEU-1"] == pytest.approx(np.exp(1 - 6 / 5))
    assert metrics["ROUGE-L"] == pytest.approx(0.7194092827)
    (tmp_path / "r.json").write_text(json.dumps([{"image_id": k, "caption": v} for k, v in SAID.items()]))
    for results, references in (
        ([{"image_id": k, "caption": v} for k, v in SAID.items()], WRITTEN),
        (list(SAID.values()), list(WRITTEN.values())),
        (tmp_path / "r.json", WRITTEN),
        ({1: SAID["a"], 2: SAID["b"]}, {1: WRITTEN["a"], 2: WRITTEN["b"]}),
    ):
        assert nmn.caption_metrics(results, references) == metrics
    each = nmn.caption_metrics(SAID, WRITTEN, per_caption=True)
    if importlib.util.find_spec("pandas"):
        assert list(each.index) == ["a", "b"]
    assert list(each["caption"]) == ["a dog runs", "two cats"]
    assert each["ROUGE-L"].mean() == pytest.approx(metrics["ROUGE-L"])


def test_bad_captions() -> None:
    for captions, says in (([], "captions is empty"), ({"a": []}, "captions is empty")):
        with pytest.raises(ValueError, match=says):
            nmn.caption_issues(captions)
    with pytest.raises(TypeError, match="captions of 0 holds 3"):
        nmn.caption_issues([["a dog", 3]])
    with pytest.raises(TypeError, match="captions is of type int"):
        nmn.caption_issues(3)
    with pytest.raises(FileNotFoundError, match="captions: there is no file"):
        nmn.caption_issues("none.json")
    with pytest.raises(ValueError, match="precision is 2"):
        nmn.caption_issues([["a"]], precision=2)
    with pytest.raises(ValueError, match="two pictures are called 1"):
        nmn.caption_issues({1: ["a"], "1": ["b"]})
    with pytest.raises(ValueError, match=r"results names 'c'.*no references"):
        nmn.caption_metrics({**SAID, "c": "a cow"}, WRITTEN)
    with pytest.raises(ValueError, match=r"references names 'b'.*partial=True"):
        nmn.caption_metrics({"a": "a dog"}, WRITTEN)
    assert nmn.caption_metrics({"a": "a dog"}, WRITTEN, partial=True)["BLEU-1"] > 0
    with pytest.raises(ValueError, match="results has two captions of 'a'"):
        nmn.caption_metrics({"a": ["a dog", "two"], "b": "two cats"}, WRITTEN)
    with pytest.raises(ValueError, match="results: entry 0 has the keys"):
        nmn.caption_metrics([{"caption": "a"}], WRITTEN)
