"""The paper's data sets from their published homes: download, check, parse, write the npz file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from bvdt._support.arrays import ArraysByName
from bvdt.datasets import Corpus

from .archives import read_members
from .corpus import CorpusInfo, corpus_info, save_corpus
from .download import Progress, download, forget
from .originals import Files, Parsed, parse_bbc, parse_imdb, parse_newsgroups

__all__ = ["SOURCES", "Fetched", "Source", "fetch_corpus"]


@dataclass(frozen=True)
class Source:
    """Where a data set is published, what of the archive is read and by whom, and what is known of it."""

    url: str
    members: tuple[str, ...]
    parse: Callable[[Files], Parsed]
    terms: str  # of use
    sha256: str | None = None  # of the archive, where one is published
    n_entries: int | None = None  # counts that are not 0


@dataclass(frozen=True)
class Fetched:
    """What ``fetch_corpus`` brought."""

    path: Path  # of the npz file
    archive: Path
    sha256: str  # of the archive
    corpus: Corpus


def _bbc(stem: str, n_entries: int) -> Source:
    return Source(
        url=f"https://mlg.ucd.ie/files/datasets/{stem}.zip",
        members=tuple(f"{stem}.{suffix}" for suffix in ("mtx", "terms", "docs", "classes")),
        parse=lambda files: parse_bbc(files, stem),
        terms="for non-commercial and research use, articles by the BBC; cite Greene and Cunningham (2006)",
        n_entries=n_entries,
    )


SOURCES = {
    "bbcsport": _bbc("bbcsport", 85576),
    "bbc": _bbc("bbc", 286774),
    "20news": Source(
        url="https://qwone.com/~jason/20Newsgroups/20news-bydate-matlab.tgz",
        members=("train.data", "train.label", "train.map"),
        parse=lambda files: parse_newsgroups(files, corpus_info("20news").shape[1]),
        terms="none stated; cite Lang (1995)",
        n_entries=1467345,
    ),
    "imdb": Source(
        url="https://ai.stanford.edu/~amaas/data/sentiment/aclImdb_v1.tar.gz",
        members=("train/labeledBow.feat", "test/labeledBow.feat", "imdb.vocab"),
        parse=parse_imdb,
        terms="cite Maas et al. (2011)",
        sha256="c40f74a18d3b61f90feba1e17730e0d38e8b97c05fde7008942e91923d1658fe",
    ),
}


def fetch_corpus(
    name: str,
    folder: str | Path,
    *,
    url: str | None = None,
    sha256: str | None = None,
    timeout: float = 30.0,
    tries: int = 5,
    wait: float = 1.0,
    progress: Progress | None = None,
) -> Fetched:
    """Bring a data set to its npz file in the folder; the archive stays in the folder's ``originals``.

    An archive that is there already, put there by hand or by an earlier call, is not downloaded again.
    ``url``: another address of the same archive; ``sha256``: the digest it has to have, in place of the
    published one. The result has to have the data set's known number of documents, terms, classes and counts.
    """
    info, source = corpus_info(name), _source(name)
    url = url or source.url
    archive = Path(folder) / "originals" / _file_name(url)
    was_here = archive.exists()
    required = sha256 or source.sha256
    digest = download(
        url, archive, sha256=required, timeout=timeout, tries=tries, wait=wait, progress=progress
    )
    try:
        corpus, extra = _parsed(info, source, archive)
    except ValueError as error:
        if not was_here:
            forget(archive)  # else its digest would be required of the next download
        fate = "delete it to download it again" if was_here else f"what {url} sent was deleted"
        raise ValueError(f"{archive.name} is not {name} as it was published: {error}; {fate}") from error
    path = Path(folder) / info.file
    save_corpus(path, corpus, **extra)
    return Fetched(path, archive, digest, corpus)


def _parsed(info: CorpusInfo, source: Source, archive: Path) -> tuple[Corpus, ArraysByName]:
    counts, labels, class_names, extra = source.parse(read_members(archive, source.members))
    found = {
        "documents": (counts.shape[0], info.shape[0]),
        "terms": (counts.shape[1], info.shape[1]),
        "classes": (len(class_names), info.n_classes),
        "counts that are not 0": (counts.nnz, source.n_entries),
    }
    for what, (measured, known) in found.items():
        if known not in (None, measured):
            raise ValueError(f"it has {measured} {what}, but {info.name} has {known}")
    return Corpus(info.name, info.title, counts, labels, class_names), extra


def _source(name: str) -> Source:
    info = corpus_info(name)
    if name not in SOURCES:
        raise ValueError(
            f"{name}, {info.title}, cannot be fetched, having no published home; put {info.file} into the "
            f"folder yourself, or fetch one of {', '.join(SOURCES)}"
        )
    return SOURCES[name]


def _file_name(url: str) -> str:
    name = urlsplit(url).path.rpartition("/")[2]
    if not name or name.startswith("."):
        raise ValueError(f"an address needs to end with the name of a file; it is {url!r}")
    return name
