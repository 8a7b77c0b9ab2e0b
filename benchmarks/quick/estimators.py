"""What users call."""

from __future__ import annotations

import numpy as np

import bvdt

from .core import points


class Estimators:
    """Blobs, 50 000 × 20, one label in a hundred."""

    timeout = 120

    def setup(self) -> None:
        self.X = points()
        self.few = np.where(np.arange(len(self.X)) % 100 == 0, self.X[:, 0] > 0, -1)

    def time_label_propagation(self) -> None:
        bvdt.LabelPropagation(blend=None, random_state=0).fit(self.X, self.few)

    def time_spectral_embedding(self) -> None:
        bvdt.SpectralEmbedding(5, divergence="squared_euclidean", random_state=0).fit(self.X[:10_000])


class Start:
    """A new process."""

    def timeraw_import(self) -> str:
        return "import bvdt"
