"""Labels as indices of classes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def encode(labels: Sequence[str | None]) -> tuple[list[str], NDArray[np.intp]]:  # (k,), (N,)
    """The classes in order, and each point's index among them, −1 where there is no label."""
    classes = sorted({label for label in labels if label is not None})
    index: dict[str | None, int] = {label: k for k, label in enumerate(classes)}
    return classes, np.array([index.get(label, -1) for label in labels], np.intp)
