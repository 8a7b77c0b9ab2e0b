"""Label spreading on a Nyström approximation of the similarities: node reduction (Kumar et al. 2009)."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh

from bvdt._support.arrays import Float
from bvdt._support.sparse import CSR

__all__ = ["Nystrom"]

_LEAST = 1e-10  # eigenvalues below that share of the largest are not inverted


class Nystrom:
    """W ≈ C·A⁺·Cᵀ with C = k(x, landmarks), A = k(landmarks, landmarks), k = exp(−(1 − cos)/width).

    Landmarks are documents drawn uniformly. W = Z·Zᵀ has m columns, so the normalized D^−½·W·D^−½ and the
    limit of label spreading (Zhou et al. 2003) take O(N·m) numbers and O(N·m²) operations.
    """

    def __init__(self, X: CSR, n_landmarks: int, width: float, rng: np.random.Generator) -> None:  # unit rows
        landmarks = X[rng.choice(X.shape[0], min(n_landmarks, X.shape[0]), replace=False)]
        A, C = (np.exp(((Y @ landmarks.T).toarray() - 1.0) / width) for Y in (landmarks, X))
        values, vectors = eigh(A)
        kept = values > _LEAST * values[-1]
        Z = C @ (vectors[:, kept] / np.sqrt(values[kept]))  # (N, ≤ m)
        degrees = Z @ Z.sum(axis=0)
        positive = degrees > _LEAST * degrees.mean()  # W may have entries below 0
        self.Z: Float = Z / np.sqrt(np.where(positive, degrees, np.inf))[:, None]

    def spread(self, Y0: Float, alpha: float) -> Float:  # (N, k) -> (N, k)
        """(1 − α)·(I − α·Z·Zᵀ)⁻¹·Y0 by the Woodbury identity."""
        Z = self.Z
        inner = cho_factor(np.eye(Z.shape[1]) - alpha * (Z.T @ Z))
        F: Float = (1 - alpha) * (Y0 + alpha * (Z @ cho_solve(inner, Z.T @ Y0)))
        return np.maximum(F, 0.0)
