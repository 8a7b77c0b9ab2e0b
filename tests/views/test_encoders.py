"""Vectors by an encoder on disk, made once; the encoder here is small, and takes the library's place."""

from __future__ import annotations

import json
import sys
from types import ModuleType

import numpy as np
import pytest

from bvdt.documents.encoders import load_encoder, vectors_of
from helpers.cli_cases import read_csv, run


class Letters:
    """Counts of a few letters; ``calls`` are the texts that it was asked for."""

    calls: list[str] = []  # noqa: RUF012  # shared by all

    @classmethod
    def from_pretrained(cls, folder):
        if not (folder / "config.json").is_file():
            raise OSError("no config.json")
        return cls()

    def encode(self, texts):
        Letters.calls += texts
        return np.array([[text.count(letter) for letter in "aeiou"] for text in texts], np.float64)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A static model's folder, as model2vec writes it."""
    library = ModuleType("model2vec")
    library.StaticModel = Letters
    monkeypatch.setitem(sys.modules, "model2vec", library)
    Letters.calls = []
    path = tmp_path / "letters"
    path.mkdir()
    (path / "config.json").write_text(json.dumps({"normalize": False}), encoding="utf-8")
    modules = [{"type": "sentence_transformers.models.StaticEmbedding"}]
    (path / "modules.json").write_text(json.dumps(modules), encoding="utf-8")
    return path


def test_vectors_are_made_once(folder, tmp_path):
    texts, path = [f"text {k}" for k in range(1100)], tmp_path / "docs.csv"
    done = []
    first, kept = vectors_of(texts, folder, path, done.append)
    assert kept == tmp_path / "docs.csv.letters.vectors.npz"
    assert sum(done) == len(Letters.calls) == 1100
    again, _ = vectors_of(texts, folder, path)
    assert len(Letters.calls) == 1100
    np.testing.assert_array_equal(again, first)
    vectors_of([*texts[:-1], "another"], folder, path)
    assert len(Letters.calls) == 2200
    (folder / "config.json").write_text("{}  ", encoding="utf-8")
    vectors_of([*texts[:-1], "another"], folder, path)
    assert len(Letters.calls) == 3300
    kept.write_bytes(b"damaged")
    vectors_of(texts, folder, path)
    assert len(Letters.calls) == 4400


def test_propagate_with_an_encoder(folder, tmp_path):
    lines = [f"{'aaa aa' if k % 2 else 'ooo oo'} {k},{'ao'[1 - k % 2] if k < 12 else ''}" for k in range(60)]
    docs, out = tmp_path / "docs.csv", tmp_path / "out.csv"
    docs.write_text("text,kind\n" + "\n".join(lines) + "\n", encoding="utf-8")
    result = run("propagate", docs, "--labels", "kind", "--encoder", folder, "-o", out)
    assert result.exit_code == 0, result.output
    assert "5 columns, kept in" in result.stderr + result.output
    assert [row["label"] for row in read_csv(out)] == ["ao"[1 - k % 2] for k in range(60)]
    both = run("propagate", docs, "--labels", "kind", "--encoder", folder, "--vectors", docs, "-o", out)
    assert "leave out one of them" in both.output + both.stderr


def test_what_is_no_encoder(folder, tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError, match="needs a folder that holds a model; there is none at"):
        load_encoder(tmp_path / "nothing")
    (folder / "config.json").unlink()
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(ImportError, match=r"needs sentence-transformers: pip install 'bvdt\[encoder\]'"):
        load_encoder(folder)
    (folder / "modules.json").unlink()
    (folder / "model.safetensors").touch()
    with pytest.raises(ValueError, match=r"found no model in .* no config\.json"):
        load_encoder(folder)
