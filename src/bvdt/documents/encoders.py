"""Vectors of texts by an encoder on disk, kept beside the documents so that they are made once."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .._support.arrays import UNREADABLE
from .._support.atomic import atomic

_AT_ONCE = 512  # texts between two steps of the progress


class Encoder(Protocol):
    """What sentence-transformers and model2vec have in common."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.floating]: ...


def load_encoder(folder: Path) -> Encoder:
    """The model of a folder: one of sentence-transformers, or a static one of model2vec."""
    if not folder.is_dir():
        raise FileNotFoundError(f"--encoder needs a folder that holds a model; there is none at {folder}")
    static = _is_static(folder)
    try:
        if static:
            from model2vec import StaticModel

            loaded: Any = StaticModel.from_pretrained(folder)
        else:
            from sentence_transformers import SentenceTransformer

            loaded = SentenceTransformer(str(folder))
    except ImportError as error:
        package = "model2vec" if static else "sentence-transformers"
        raise ImportError(f"--encoder needs {package}: pip install 'bvdt[encoder]' ({error})") from None
    except Exception as error:  # whatever these libraries raise for a folder without a model
        raise ValueError(f"--encoder found no model in {folder} ({type(error).__name__}: {error})") from None
    encoder: Encoder = loaded
    return encoder


def vectors_of(
    texts: Sequence[str],
    folder: Path,
    documents: Path,
    advance: Callable[[int], None] = lambda _: None,
) -> tuple[NDArray[np.float32], Path | None]:
    """Vectors of the texts, and their file: an earlier call's where texts and model are the same.

    ``advance`` is called with how many more texts are done. None for the file where it cannot be written.
    """
    kept = documents.with_name(f"{documents.name}.{folder.name}.vectors.npz")
    key = _digest(texts, folder)
    found = _read(kept, key, len(texts))
    if found is not None:
        return found, kept
    encoder, parts = load_encoder(folder), []
    for first in range(0, len(texts), _AT_ONCE):
        some = list(texts[first : first + _AT_ONCE])
        parts.append(np.asarray(encoder.encode(some), np.float32).reshape(len(some), -1))
        advance(len(some))
    vectors = np.concatenate(parts)
    try:
        with atomic(kept, "wb") as file:
            np.savez(file, vectors=vectors, key=np.frombuffer(key, np.uint8))
    except OSError:
        return vectors, None
    return vectors, kept


def _is_static(folder: Path) -> bool:
    """Whether it is a model of model2vec, by the files that both libraries read."""
    try:
        modules, config = (
            json.loads((folder / name).read_text(encoding="utf-8"))
            for name in ("modules.json", "config.json")
        )
    except (OSError, ValueError):
        return (folder / "model.safetensors").is_file() and not (folder / "modules.json").is_file()
    kinds = [str(module.get("type", "")) for module in modules if isinstance(module, dict)]
    return "model_type" not in config and any(kind.endswith("StaticEmbedding") for kind in kinds)


def _digest(texts: Sequence[str], folder: Path) -> bytes:
    """Of the texts and of the model's files: their names, sizes and times."""
    digest = blake2b(digest_size=16)
    for text in texts:
        digest.update(text.encode("utf-8", "surrogatepass") + b"\0")
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            stat = path.stat()
            digest.update(f"{path.relative_to(folder)} {stat.st_size} {stat.st_mtime_ns}\n".encode())
    return digest.digest()


def _read(path: Path, key: bytes, n_texts: int) -> NDArray[np.float32] | None:
    try:
        with np.load(path, allow_pickle=False) as file:
            vectors, stored = file["vectors"], file["key"].tobytes()
    except (OSError, ValueError, KeyError, EOFError, *UNREADABLE):
        return None
    fits = stored == key and vectors.ndim == 2 and len(vectors) == n_texts and vectors.dtype == np.float32
    return vectors if fits else None
