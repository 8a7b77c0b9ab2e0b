"""The paper's data sets: from their published homes to npz files, and from those to labeled counts."""

from .corpus import CORPORA, CorpusInfo, corpus_info, load_corpus, save_corpus

__all__ = ["CORPORA", "CorpusInfo", "corpus_info", "load_corpus", "save_corpus"]
