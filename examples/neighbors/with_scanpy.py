"""Clusters of cells by scanpy on its own neighbors and on bvdt's.

Needs scanpy, leidenalg and igraph: the extra "libraries".
"""

from __future__ import annotations

import json
import warnings

import anndata
import numpy as np
import scanpy
from data import cells
from sklearn.metrics import adjusted_rand_score

from bvdt import KNeighborsTransformer


def clusters(adata: anndata.AnnData, key: str) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of leidenalg's future default
        scanpy.tl.leiden(adata, resolution=0.5, key_added=key, random_state=0)
    return adata.obs[key].to_numpy()


def compare(n: int = 6000) -> dict[str, float]:
    """Adjusted Rand indices of Leiden's clusters with the types, and of both with each other."""
    counts, kind = cells(n)
    adata = anndata.AnnData(counts)
    scanpy.pp.normalize_total(adata, target_sum=1e4)
    scanpy.pp.log1p(adata)
    scanpy.pp.pca(adata, n_comps=30, random_state=0)

    scanpy.pp.neighbors(adata, n_neighbors=15, use_rep="X_pca", random_state=0)
    default = clusters(adata, "default")
    transformer = KNeighborsTransformer(n_neighbors=15, metric="euclidean", random_state=0)
    scanpy.pp.neighbors(adata, transformer=transformer, use_rep="X_pca")
    ours = clusters(adata, "bvdt")
    return {
        "default": adjusted_rand_score(kind, default),
        "bvdt": adjusted_rand_score(kind, ours),
        "both": adjusted_rand_score(default, ours),
    }


if __name__ == "__main__":
    print(json.dumps({name: round(value, 4) for name, value in compare().items()}))
