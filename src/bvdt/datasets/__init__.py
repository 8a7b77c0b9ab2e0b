"""Labeled counts to try things on: documents drawn from Eq. (25)."""

from .generate import Corpus, Mixture, draw_mixture, make_documents

__all__ = ["Corpus", "Mixture", "draw_mixture", "make_documents"]
