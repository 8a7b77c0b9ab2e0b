"""Labels out and in: CSV, JSON Lines for Prodigy and spaCy, Label Studio's JSON, Parquet, another session."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from .._support.atomic import atomic
from .._support.json import JsonObject
from ..documents.files.labels import Keyed, read_labels
from ..documents.files.write import csv_text, warn_of_formulas
from .corpus import Corpus
from .store import Decision, Shown, Store

FORMATS = ("csv", "jsonl", "json", "parquet")
CHOICE, TEXT = "label", "text"  # names in Label Studio's own configuration


# -- out -----------------------------------------------------------------------------------------------------


def write_export(path: Path, store: Store, tasks: Sequence[JsonObject] | None = None) -> int:
    """Write the labels to a file of that ending, whole or not at all; how many there are."""
    kind = export_format(path)
    content = exported(store, kind, tasks)
    if kind == "csv":
        warn_of_formulas(path, _columns(store.current()))
    with atomic(path, "wb") as file:
        file.write(content)
    return len(store.labels())


def export_format(path: Path) -> str:
    """The format that a name's ending asks for."""
    kind = path.suffix.lower().removeprefix(".")
    if kind not in FORMATS:
        endings = ", ".join(f".{name}" for name in FORMATS)
        raise ValueError(f"{path} needs a name that ends in one of {endings}; it ends in {path.suffix!r}")
    return kind


def exported(store: Store, kind: str, tasks: Sequence[JsonObject] | None = None) -> bytes:
    """The labels that hold now, as a file's content; ``tasks``: more documents, for Label Studio."""
    decisions = store.current()
    if kind == "csv":
        return csv_text(_columns(decisions)).encode()
    if kind == "parquet":
        return _parquet(_columns(decisions))
    texts = store.texts()
    if kind == "jsonl":
        classes = store.classes()
        lines = [json.dumps(_prodigy(d, texts, classes), ensure_ascii=False) for d in decisions]
        return "".join(line + "\n" for line in lines).encode()
    known = {d.document for d in decisions}
    more = [task for task in tasks or () if task["data"]["id"] not in known]
    return json.dumps([_task(d, texts) for d in decisions] + more, ensure_ascii=False, indent=1).encode()


def _columns(decisions: Sequence[Decision]) -> dict[str, list[object]]:
    labeled = [d for d in decisions if d.label is not None]
    names = ("document", "label", "who", "at", "suggested", "confidence")
    columns = {name: [getattr(d, name) for d in labeled] for name in names}
    return {"id": columns.pop("document"), **columns}


def _parquet(columns: Mapping[str, list[object]]) -> bytes:
    from ..documents.files.parquet import need_pyarrow

    pyarrow = need_pyarrow(Path("labels.parquet"))
    import pyarrow.parquet as parquet

    out = io.BytesIO()
    kinds = {"confidence": pyarrow.float64()}
    arrays = {name: pyarrow.array(v, kinds.get(name, pyarrow.string())) for name, v in columns.items()}
    parquet.write_table(pyarrow.table(arrays), out)
    return out.getvalue()


def _prodigy(d: Decision, texts: Mapping[str, str | None], classes: Sequence[str]) -> JsonObject:
    """A line as Prodigy's textcat has it; ``cats`` are spaCy's."""
    line: JsonObject = {"text": texts.get(d.document) or "", "meta": {"id": d.document}}
    if d.label is not None:
        cats = {name: float(name == d.label) for name in classes}
        line |= {"label": d.label, "accept": [d.label], "cats": cats}
    answer = "ignore" if d.label is None else "accept"
    return line | {"answer": answer, "_annotator_id": d.who, "_timestamp": d.at}


def _task(d: Decision, texts: Mapping[str, str | None]) -> JsonObject:
    """A task of Label Studio with what was decided, and what was suggested then."""
    task: JsonObject = {"data": {TEXT: texts.get(d.document) or "", "id": d.document}}
    chosen: JsonObject = {"result": [], "was_cancelled": True}
    if d.label is not None:
        chosen = {"result": [_choice(d.label)], "completed_by": {"email": d.who}}
    task["annotations"] = [chosen | {"created_at": d.at}]
    if d.suggested is not None:
        task["predictions"] = [prediction(d.suggested, d.confidence)]
    return task


def prediction(label: str, score: float | None) -> JsonObject:
    """Label Studio's form of a guess."""
    return {"model_version": "bvdt", "score": score, "result": [_choice(label)]}


def task_of(name: str, text: str, label: str, score: float) -> JsonObject:
    """A document without a decision, with its guess."""
    return {"data": {TEXT: text, "id": name}, "predictions": [prediction(label, score)]}


def _choice(label: str) -> JsonObject:
    return {"from_name": CHOICE, "to_name": TEXT, "type": "choices", "value": {"choices": [label]}}


# -- in ------------------------------------------------------------------------------------------------------


def import_labels(store: Store, labels: Mapping[str, str], texts: Callable[[str], str], who: str) -> int:
    """One decision per label of a document that has none yet; how many."""
    current = {d.document for d in store.current()}
    by_label: dict[str, list[Shown]] = {}
    for name, label in labels.items():
        if name not in current:
            by_label.setdefault(label, []).append(Shown(name, texts(name), "import"))
    import secrets

    for label, shown in by_label.items():
        store.decide(f"import {secrets.token_hex(8)}", "import", shown, who=who, label=label)
    return sum(map(len, by_label.values()))


def read_import(path: Path, corpus: Corpus) -> dict[str, str]:
    """Label by document id, from any of the formats that are written, or any table with id and label."""
    texts, ids = corpus.documents.texts, corpus.rows
    try:
        if path.suffix.lower() == ".json":
            return _known(path, dict(_from_tasks(path, texts, ids)), ids)
        if path.suffix.lower() == ".jsonl" and _is_prodigy(path):
            return _known(path, dict(_from_prodigy(path, texts, ids)), ids)
    except (json.JSONDecodeError, UnicodeDecodeError, AttributeError, TypeError, KeyError) as error:
        raise ValueError(f"{path} is not what Prodigy or Label Studio write ({error})") from None
    labels, _ = read_labels(path, Keyed(corpus.documents.path, corpus.ids, None))
    return {name: label for name, label in zip(corpus.ids, labels, strict=True) if label is not None}


def _known(path: Path, found: dict[str, str], ids: Mapping[str, int]) -> dict[str, str]:
    unknown = next((name for name in found if name not in ids), None)
    if unknown is not None:
        raise ValueError(f'{path} names the id "{unknown}", which is not among the documents')
    return found


def _lines(path: Path) -> list[JsonObject]:
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def _is_prodigy(path: Path) -> bool:
    with open(path, encoding="utf-8") as file:
        first = next((line for line in file if line.strip()), "{}")
    return "answer" in json.loads(first)


def _from_prodigy(path: Path, texts: Sequence[str] | None, ids: Mapping[str, int]) -> Any:
    rows = _by_text(texts, ids)
    for line in _lines(path):
        label = line.get("label") or next(iter(line.get("accept", [])), None)
        if line.get("answer", "accept") == "accept" and label:
            yield _name(path, line.get("meta", {}).get("id"), line.get("text"), rows), label


def _from_tasks(path: Path, texts: Sequence[str] | None, ids: Mapping[str, int]) -> Any:
    rows = _by_text(texts, ids)
    with open(path, encoding="utf-8") as file:
        tasks = json.load(file)
    if not isinstance(tasks, list):
        raise ValueError(f"{path} needs a list of tasks, as Label Studio exports it in JSON")
    for task in tasks:
        choices = [
            choice
            for annotation in task.get("annotations", [])
            if not annotation.get("was_cancelled")
            for result in annotation.get("result", [])
            for choice in result.get("value", {}).get("choices", [])
        ]
        if choices:
            yield _name(path, task["data"].get("id"), task["data"].get(TEXT), rows), choices[-1]


def _by_text(texts: Sequence[str] | None, ids: Mapping[str, int]) -> dict[str, str]:
    return {} if texts is None else {texts[row]: name for name, row in ids.items()}


def _name(path: Path, name: object, text: object, rows: Mapping[str, str]) -> str:
    if name is not None:
        return str(name)
    if isinstance(text, str) and text in rows:
        return rows[text]
    raise ValueError(f"{path} holds a label whose text is not among the documents: {str(text)[:60]!r}")
