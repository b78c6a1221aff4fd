"""Captions that belong to other pictures, and measures of generated captions."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from nmn import _arrays, _program
from nmn._tables import Table, frame, is_table

__all__ = ["caption_issues", "caption_metrics"]

_PICTURE = ("picture", "sample", "image", "image_id", "video_id", "file_name", "filename", "id")


def caption_issues(
    captions: Any,
    *,
    scores: Any = None,
    score_ids: Sequence[Any] | None = None,
    logits: bool = False,
    features: Any = None,
    vocabulary: Sequence[str] | str | os.PathLike[str] | None = None,
    vocabulary_size: int | None = None,
    precision: float = 0.9,
    seed: int | None = None,
) -> Table:
    """Find captions that belong to another picture or clip, from the captions alone or with scores or features.

    Parameters
    ----------
    captions : mapping, list, DataFrame, Series, str or path
        A mapping from each picture or clip to its captions; a list with a list of captions for each picture; a table
        with a column ``caption`` and one that names the pictures, such as ``image``, ``image_id`` or ``video_id``; a
        Series of captions indexed by picture; or a file for ``nmn audit captions`` (COCO, MSR-VTT, `.csv`, `.jsonl`).
    scores : array, DataFrame, str or path, optional
        Out-of-fold scores of a classifier: a row for each picture, a column for each word. The columns of a DataFrame
        name the words, and its index the pictures.
    score_ids : sequence, optional
        The pictures of the rows of an array of scores; by default all pictures, in their order.
    logits : bool
        Scores are log-odds.
    features : array, DataFrame, str or path, optional
        Features of the pictures, in place of scores: nets are trained on them, and score pictures that they have not
        learned. A row for each picture, in the order of the captions; the index of a DataFrame names the pictures. One
        caption for each picture is then enough.
    vocabulary : sequence of str, str or path, optional
        The words used to compare captions, or the file of a vocabulary.
    vocabulary_size : int, optional
        Number of most frequent caption words to use without `vocabulary`; 1,000 by default.
    precision : float
        Expected share of captions marked as ``foreign`` that do belong to other pictures.
    seed : int, optional
        Seed of the captions that each caption is compared with.

    Returns
    -------
    table
        A row for each caption, the least probable first: ``picture``, ``caption``, ``own`` (the probability that it
        belongs to its picture), and ``foreign`` (whether to drop it at this precision). The index is that of the
        caption in a table or Series, the place in a mapping or list, or the id in a file. ``attrs`` of a DataFrame hold
        ``foreign_share``, its ``interval``, ``refused`` (the reason if nothing is dropped) and ``remarks``.

    Raises
    ------
    ValueError
        If there are no captions, or scores or features and pictures disagree.
    TypeError
        If a caption is not text.
    NmnError
        If the program fails.
    """
    if not 0 < precision <= 1:
        raise ValueError(f"precision is {precision}: want above 0 to 1")
    if vocabulary_size is not None and vocabulary_size < 1:
        raise ValueError(f"vocabulary_size is {vocabulary_size}: want at least 1, or None for 1000")
    if seed is not None and seed < 0:
        raise ValueError(f"seed is {seed}: want at least 0, or None")
    if features is not None and scores is not None:
        raise ValueError("scores and features exclude each other: leave out one")
    with _program.scratch() as place:
        folder = str(place)
        bags: list[Any] | None = None
        index: Any = None
        if _arrays.is_path(captions):
            file = _arrays.checked_path(captions, "captions")
        else:
            bags, texts, index = _flat(captions, "captions")
            file = _written(folder, "captions.jsonl", bags, texts)
        output = os.path.join(folder, "own.jsonl")
        arguments = ["audit", "captions", file, "--output", output, "--json", "--top", "0"]
        arguments += ["--precision", repr(float(precision))]
        arguments += _score_arguments(scores, score_ids, logits, bags, vocabulary, folder)
        arguments += _vocabulary(vocabulary, vocabulary_size, folder)
        names: dict[str, str] = {file: "captions"} if bags is not None else {}
        if features is not None:
            arguments += _feature_arguments(features, bags, folder, names)
        if seed is not None:
            arguments += ["--seed", str(int(seed))]
        said = json.loads(_program.call(arguments, names=names))
        with open(output, encoding="utf-8") as lines:
            found = [json.loads(line) for line in lines]
    own = np.asarray([f["own"] for f in found], np.float64)
    columns = {"own": own, "foreign": _dropped(own, said), "caption": [f["caption"] for f in found]}
    if bags is None:
        ids, labels = [f["image_id"] for f in found], [f["annotation_id"] for f in found]
    else:
        at = [int(f["annotation_id"]) for f in found]
        ids = [bags[i] for i in at]
        labels = at if index is None else index[at]
    interval = said.get("foreign_interval")
    return frame(
        {"picture": _column(ids), **columns},
        index=labels,
        index_name="caption_id" if bags is None else None,
        foreign_share=said["foreign"],
        interval=None if interval is None else (interval["low"], interval["high"]),
        refused=said["refused"],
        remarks=said["remarks"],
        expected_precision=said["expected_precision"],
    )


def _dropped(own: np.ndarray[Any, Any], said: Mapping[str, Any]) -> np.ndarray[Any, Any]:
    """Return the captions below the threshold, or none if dropping is refused."""
    if not said["dropped"]:
        return np.zeros(len(own), bool)
    return np.asarray(own < said["threshold"])


def _column(values: Sequence[Any]) -> np.ndarray[Any, Any]:
    """Return names as a column, of their own type if they share one."""
    if all(isinstance(v, (int, np.integer)) for v in values):
        return np.asarray(values, np.int64)
    out = np.empty(len(values), object)
    out[:] = values
    return out


def _flat(captions: Any, name: str) -> tuple[list[Any], list[str], Any]:
    """Return picture and text of each caption, and the index of the captions or None."""
    if is_table(captions):
        columns = list(captions.columns)
        bag = next((c for c in _PICTURE if c in columns), None)
        if bag is None or "caption" not in columns:
            raise ValueError(f"{name} has the columns {columns}: want caption, and image, image_id or video_id")
        bags, texts, index = captions[bag].tolist(), captions["caption"].tolist(), captions.index
    elif hasattr(captions, "index") and hasattr(captions, "to_numpy"):
        bags, texts, index = list(captions.index), captions.tolist(), None
        if texts and all(isinstance(t, (list, tuple)) for t in texts):
            return _flat(dict(zip(bags, texts)), name)
    elif isinstance(captions, Mapping):
        pairs = [(bag, text) for bag, of in captions.items() for text in _several(of)]
        bags, texts, index = [p[0] for p in pairs], [p[1] for p in pairs], None
    elif isinstance(captions, (list, tuple, np.ndarray)):
        if len(captions) and all(isinstance(c, Mapping) for c in captions):
            return _entries(list(captions), name)
        pairs = [(i, text) for i, of in enumerate(captions) for text in _several(of)]
        bags, texts, index = [p[0] for p in pairs], [p[1] for p in pairs], None
    else:
        raise TypeError(f"{name} is of type {type(captions).__name__}: pass a mapping, lists, a table or a path")
    return _checked(bags, texts, name), texts, index


def _entries(entries: Sequence[Mapping[str, Any]], name: str) -> tuple[list[Any], list[str], Any]:
    """Return captions in the form of COCO's results, {"image_id": ..., "caption": ...}."""
    bags: list[Any] = []
    for i, entry in enumerate(entries):
        key = next((k for k in _PICTURE if k in entry), None)
        if key is None or "caption" not in entry:
            raise ValueError(f"{name}: entry {i} has the keys {list(entry)}: want image_id and caption")
        bags.append(entry[key])
    texts = [entry["caption"] for entry in entries]
    return _checked(bags, texts, name), texts, None


def _several(of: Any) -> Iterable[Any]:
    return [of] if isinstance(of, str) else of


def _checked(bags: list[Any], texts: Sequence[Any], name: str) -> list[Any]:
    if not texts:
        raise ValueError(f"{name} is empty: pass at least one caption")
    for bag, text in zip(bags, texts):
        if not isinstance(text, str):
            raise TypeError(f"{name} of {bag!r} holds {text!r}: a caption is text; leave it out, or pass ''")
    known: dict[str, Any] = {}
    for bag in bags:
        if known.setdefault(str(bag), bag) != bag:
            raise ValueError(f"{name}: two pictures are called {bag!s}, of different types: rename one of them")
    return bags


def _written(folder: str, name: str, bags: Sequence[Any], texts: Sequence[str]) -> str:
    """Write captions as JSON lines. The id of a caption is its place."""
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8", errors="surrogatepass") as file:
        for i, (bag, text) in enumerate(zip(bags, texts)):
            json.dump({"id": i, "image_id": str(bag), "caption": text}, file, ensure_ascii=True)
            file.write("\n")
    return path


def _vocabulary(vocabulary: Any, size: int | None, folder: str) -> list[str]:
    if vocabulary is None:
        return [] if size is None else ["--vocab-size", str(int(size))]
    if size is not None:
        raise ValueError("vocabulary_size and vocabulary exclude each other: leave out one")
    return ["--vocab", _words(vocabulary, folder)]


def _words(vocabulary: Any, folder: str) -> str:
    """Return the file of a vocabulary. Given words are written to one, without parts of speech."""
    if _arrays.is_path(vocabulary):
        return _arrays.checked_path(vocabulary, "vocabulary")
    words = [str(w) for w in vocabulary]
    bad = next((w for w in words if not w or any(c in w for c in ',\r\n"')), None)
    if bad is not None:
        raise ValueError(f"vocabulary names {bad!r}: words have no commas, quotes or line ends")
    path = os.path.join(folder, "vocabulary.txt")
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(w + "\n" for w in words)
    return path


def _score_arguments(
    scores: Any, ids: Sequence[Any] | None, logits: bool, bags: list[Any] | None, vocabulary: Any, folder: str
) -> list[str]:
    if scores is None:
        if logits or ids is not None:
            raise ValueError("logits and score_ids need scores: pass scores too")
        return []
    flags = ["--logits"] if logits else []
    if _arrays.is_path(scores):
        return ["--scores", _arrays.checked_path(scores, "scores"), *flags]
    if is_table(scores):
        words, rows = [str(c) for c in scores.columns], list(scores.index)
    elif vocabulary is None or _arrays.is_path(vocabulary):
        raise ValueError("scores is an array without names of words: pass a DataFrame, or the words as vocabulary")
    else:
        words = [str(w) for w in vocabulary]
        known = list(dict.fromkeys(bags)) if bags is not None else None
        rows = list(ids) if ids is not None else known or []
    values = _arrays.as_array(scores, "scores")
    if values.shape != (len(rows), len(words)):
        raise ValueError(f"scores has shape {values.shape}, and there are {len(rows)} pictures and {len(words)} words")
    path = os.path.join(folder, "scores.csv")
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", *words])
        writer.writerows([str(bag), *map(repr, row.tolist())] for bag, row in zip(rows, values))
    return ["--scores", path, *flags]


def _feature_arguments(features: Any, bags: list[Any] | None, folder: str, names: dict[str, str]) -> list[str]:
    path = _arrays.as_npy(features, folder, "features")
    arguments = ["--features", path, "--run-dir", os.path.join(folder, "run")]
    if _arrays.is_path(features):
        return arguments
    names[path] = "features"
    if is_table(features):
        ids = os.path.join(folder, "ids.txt")
        with open(ids, "w", encoding="utf-8") as file:
            file.writelines(f"{bag}\n" for bag in features.index)
        return [*arguments, "--set", f"data.features.ids={json.dumps(ids)}"]
    rows = len(features)
    if bags is not None and rows != len(set(bags)):
        raise ValueError(f"features has {rows} rows, and there are {len(set(bags))} pictures with captions")
    return arguments


_METRICS = ("BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4", "METEOR", "ROUGE-L", "CIDEr-D")


def caption_metrics(
    results: Any,
    references: Any,
    *,
    partial: bool = False,
    split: str | None = None,
    meteor_data: str | os.PathLike[str] | None = None,
    per_caption: bool = False,
) -> Any:
    """Compare generated captions with reference captions: BLEU, METEOR, ROUGE-L and CIDEr-D, without Java.

    Parameters
    ----------
    results : mapping, list, DataFrame, Series, str or path
        One generated caption for each picture or clip: a mapping from its id, a list in the order of `references`,
        COCO's results (a list of ``{"image_id": ..., "caption": ...}``), a table with ``image_id`` and ``caption``, a
        Series indexed by id, or a file.
    references : mapping, list, DataFrame, Series, str or path
        The reference captions, one or several for each id, in the forms of `results`, with lists of captions.
    partial : bool
        Ignore references without a generated caption instead of refusing them.
    split : {"train", "validate", "test"}, optional
        The split to use if `references` are MSR-VTT's annotations.
    meteor_data : str or path, optional
        Folder of METEOR's resource files, for synonyms and paraphrases.
    per_caption : bool
        Return the scores of each caption.

    Returns
    -------
    dict of str to float, or table
        ``"BLEU-1"`` to ``"BLEU-4"``, ``"METEOR"``, ``"ROUGE-L"`` and ``"CIDEr-D"`` of the whole set, from 0 to 1
        (CIDEr-D to 10). With `per_caption` a table with a row for each caption, in the order of `results`.

    Raises
    ------
    ValueError
        If an id lacks results or references, or has two results.
    TypeError
        If a caption is not text.
    NmnError
        If the program fails.
    """
    with _program.scratch() as at:
        folder = str(at)
        arguments = ["caption", "eval", "--json"]
        ids: dict[str, Any] = {}
        for value, name in ((results, "results"), (references, "references")):
            if _arrays.is_path(value):
                path = _arrays.checked_path(value, name)
            else:
                bags, texts, _ = _flat(value, name)
                path = _written(folder, name + ".jsonl", bags, texts)
                if name == "results":
                    ids = {str(b): b for b in bags}
                    if len(ids) != len(bags):
                        twice = next(b for i, b in enumerate(bags) if b in bags[:i])
                        raise ValueError(f"results has two captions of {twice!r}: pass one for each")
            arguments += [f"--{name}", path]
        if not _arrays.is_path(results) and not _arrays.is_path(references):
            _check_ids(ids, references, partial)
        if partial:
            arguments.append("--partial")
        if split is not None:
            arguments += ["--split", split]
        if meteor_data is not None:
            arguments += ["--meteor-data", os.fspath(meteor_data)]
        output = os.path.join(folder, "scores.csv")
        if per_caption:
            arguments += ["--output", output]
        said = json.loads(_program.call(arguments))
        if per_caption:
            return _of_each(output, ids)
    of_all = said["all"]
    values = [*of_all["bleu"], of_all["meteor"], of_all["rouge_l"], of_all["cider_d"]]
    return {name: float(value) for name, value in zip(_METRICS, values)}


def _check_ids(ids: Mapping[str, Any], references: Any, partial: bool) -> None:
    bags, _, _ = _flat(references, "references")
    known = {str(b) for b in bags}
    strange = next((v for k, v in ids.items() if k not in known), None)
    if strange is not None:
        raise ValueError(f"results names {strange!r}, which has no references: add some, or leave it out")
    absent = next((b for b in bags if str(b) not in ids), None)
    if absent is not None and not partial:
        raise ValueError(f"references names {absent!r}, which has no result: add it, or pass partial=True")


def _of_each(path: str, ids: Mapping[str, Any]) -> Table:
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    columns = {"caption": [r[1] for r in rows[1:]]}
    scores = np.asarray([r[2:] for r in rows[1:]], np.float64)
    index = _column([ids.get(r[0], r[0]) for r in rows[1:]])
    return frame({**columns, **{m: scores[:, i] for i, m in enumerate(_METRICS)}}, index=index, index_name="id")
