"""The same walk on Dask, and without a cluster in a memory limit: ``bvdt`` for data beyond one machine."""

try:
    import distributed  # noqa: F401

    import dask  # noqa: F401
except ImportError as error:
    raise ImportError(
        "bvdt.dask needs Dask, the extra dask of bvdt: pip install '.[dask]' in a clone of bvdt"
    ) from error

from .labeling import LabelPropagation
from .texts import text_features
from .walk import DaskOperator, propagate_labels, transition_matrix

__all__ = ["DaskOperator", "LabelPropagation", "propagate_labels", "text_features", "transition_matrix"]
