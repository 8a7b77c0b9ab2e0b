"""The data sets' original files, written from counts: small ones by hand, or the real ones back again."""

from __future__ import annotations

import io
import tarfile
import zipfile

import numpy as np
from scipy import sparse

from bvdt.datasets import Corpus


def zipped(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def tarred(files: dict[str, bytes], extra: list[tarfile.TarInfo] | None = None) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
        for info in extra or []:
            archive.addfile(info)
    return buffer.getvalue()


def bbc_files(corpus: Corpus, stem: str) -> dict[str, bytes]:
    """Terms × documents, from 1, sorted by term, counts with a decimal point, as the originals are."""
    terms = sparse.coo_array(corpus.counts.T.tocsr())
    rows = zip(terms.row + 1, terms.col + 1, terms.data, strict=True)
    n_terms, n_documents = terms.shape
    head = f"%%MatrixMarket matrix coordinate real general\n{n_terms} {n_documents} {terms.nnz}\n"
    classes = f"%%Clustering hard\n%Name NaturalClasses\n%Clusters {len(corpus.class_names)} "
    classes += ",".join(corpus.class_names) + "\n%Objects\n"
    return {
        f"{stem}.mtx": (head + "".join(f"{i} {j} {x:.1f}\n" for i, j, x in rows)).encode(),
        f"{stem}.terms": b"".join(b"term%d\n" % i for i in range(n_terms)),
        f"{stem}.docs": b"".join(b"doc.%03d\n" % i for i in range(n_documents)),
        f"{stem}.classes": (classes + "".join(f"{i} {k}\n" for i, k in enumerate(corpus.labels))).encode(),
    }


def newsgroups_files(corpus: Corpus) -> dict[str, bytes]:
    counts = sparse.coo_array(corpus.counts)
    table = np.column_stack([counts.row + 1, counts.col + 1, counts.data.astype(int)])
    folder, names = "20news-bydate/matlab", enumerate(corpus.class_names)
    return {
        f"{folder}/train.data": b"".join(b"%d %d %d\n" % tuple(row) for row in table.tolist()),
        f"{folder}/train.label": b"".join(b"%d\n" % (k + 1) for k in corpus.labels),
        f"{folder}/train.map": "".join(f"{name} {k + 1}\n" for k, name in names).encode(),
        f"{folder}/test.data": b"1 1 1\n",
    }


def imdb_files(counts: sparse.csr_array, rating: np.ndarray, is_test: np.ndarray) -> dict[str, bytes]:
    def feat(rows: np.ndarray) -> bytes:
        lines = []
        for i in rows:
            here = slice(counts.indptr[i], counts.indptr[i + 1])
            pairs = zip(counts.indices[here].tolist(), counts.data[here].astype(int).tolist(), strict=True)
            lines.append(" ".join([str(rating[i]), *(f"{j}:{x}" for j, x in pairs)]))
        return "\n".join(lines).encode() + b"\n"

    return {
        "aclImdb/imdb.vocab": b"".join(b"word%d\n" % i for i in range(counts.shape[1])),
        "aclImdb/train/labeledBow.feat": feat(np.flatnonzero(~is_test)),
        "aclImdb/train/unsupBow.feat": b"0 1:1\n",
        "aclImdb/test/labeledBow.feat": feat(np.flatnonzero(is_test)),
    }
