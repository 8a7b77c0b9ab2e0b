"""mlpack: the exact 10 nearest by its default, dual kd-trees; its Python binding has no thread option."""

from __future__ import annotations

import mlpack
import numpy as np

from .common import Data
from .spreading import K, spread_over


def dense(data: Data) -> np.ndarray:
    """``knn(k=10)`` of the points among themselves, which leaves out the point itself."""
    indices = mlpack.knn(k=K, reference=data.X)["neighbors"]
    return spread_over(indices, data)
