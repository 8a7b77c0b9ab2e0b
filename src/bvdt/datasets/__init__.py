"""Labeled counts: the paper's data sets from their original files, and documents drawn from Eq. (25)."""

from .corpus import CORPORA, Corpus, CorpusInfo, corpus_info, load_corpus, save_corpus
from .generate import Mixture, draw_mixture, make_documents

__all__ = [
    "CORPORA",
    "Corpus",
    "CorpusInfo",
    "Mixture",
    "corpus_info",
    "draw_mixture",
    "load_corpus",
    "make_documents",
    "save_corpus",
]
