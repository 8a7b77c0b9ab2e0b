"""Who takes part: the libraries, their methods by kind of job, and why a library has none for a kind."""

from __future__ import annotations

from dataclasses import dataclass

OURS = "bvdt"


@dataclass(frozen=True)
class Library:
    """A rival as it is installed: its pins are those of the extra ``bench`` of pyproject.toml."""

    name: str
    pins: tuple[str, ...] = ()  # names in the extra; none: it is in the environment of bvdt itself
    from_source: tuple[str, ...] = ()  # built here, for this processor, where the wheel is for any


@dataclass(frozen=True)
class Method:
    """One row of a table."""

    name: str
    library: str
    call: str  # module:function under benchmarks/rivals
    kinds: tuple[str, ...]
    role: str = ""  # "one tree" and "forest" of ours
    quadratic: bool = False  # not run where its time at 50 000 points says that it would pass the limit
    keeps_cache: bool = False  # NUMBA_CACHE_DIR is kept between its runs
    jobs: tuple[str, ...] = ()  # only these jobs of its kinds; none: all


LIBRARIES = [
    Library(OURS),
    Library("scikit-learn"),
    Library("NumPy"),
    Library("pynndescent", ("pynndescent",)),
    Library("hnswlib", ("hnswlib",)),
    Library("nmslib", ("nmslib",), from_source=("nmslib",)),
    Library("graphlearning", ("graphlearning", "annoy")),
    Library("faiss", ("faiss-cpu",)),
    Library("pykeops", ("pykeops",)),
    Library("mlpack", ("mlpack",)),
]

_TEXT, _GROWTH = ("text",), ("dense", "growth-dense")

METHODS = [
    Method("bvdt, one tree", OURS, "ours:text_one_tree", ("text", "growth-text"), "one tree"),
    Method("bvdt, one tree, GID", OURS, "ours:text_one_tree_gid", _TEXT),
    Method("bvdt, forest", OURS, "ours:text_forest", ("text", "growth-text"), "forest"),
    Method("scikit-learn, exact 10-NN", "scikit-learn", "scikit_learn:text_neighbors", _TEXT),
    Method("scikit-learn, LabelSpreading", "scikit-learn", "scikit_learn:text_label_spreading", _TEXT),
    Method("pynndescent", "pynndescent", "pynndescent:text", ("text", "growth-text")),
    Method(
        "pynndescent, cache kept", "pynndescent", "pynndescent:text", _TEXT, keeps_cache=True, jobs=("bbc",)
    ),
    Method("nmslib, HNSW", "nmslib", "nmslib:text", _TEXT),
    Method(
        "graphlearning, Laplace",
        "graphlearning",
        "graphlearning:text_laplace",
        _TEXT,
        jobs=("bbc", "20news"),
    ),
    Method("bvdt, one tree", OURS, "ours:dense_one_tree", _GROWTH, "one tree"),
    Method("bvdt, one tree, spreading", OURS, "ours:dense_spreading", ("dense",)),
    Method("bvdt, near field", OURS, "ours:dense_forest", _GROWTH, "forest"),
    Method("bvdt, near field of 15", OURS, "ours:dense_near_15", ("dense",), jobs=("blobs-1m",)),
    Method("scikit-learn, brute force", "scikit-learn", "scikit_learn:neighbors", ("dense",), quadratic=True),
    Method("scikit-learn, kd-tree", "scikit-learn", "scikit_learn:neighbors_kd_tree", ("dense",)),
    Method(
        "scikit-learn, LabelSpreading",
        "scikit-learn",
        "scikit_learn:label_spreading",
        ("dense",),
        quadratic=True,
    ),
    Method("pynndescent", "pynndescent", "pynndescent:dense", _GROWTH),
    Method(
        "pynndescent, cache kept",
        "pynndescent",
        "pynndescent:dense",
        ("dense",),
        keeps_cache=True,
        jobs=("blobs-50k",),
    ),
    Method("hnswlib", "hnswlib", "hnswlib:dense", _GROWTH),
    Method("nmslib, HNSW", "nmslib", "nmslib:dense", ("dense",)),
    Method("faiss, flat", "faiss", "faiss:flat", ("dense",), quadratic=True),
    Method("faiss, inverted lists", "faiss", "faiss:inverted_lists", _GROWTH),
    Method("faiss, HNSW", "faiss", "faiss:hnsw", ("dense",)),
    Method("graphlearning, Laplace", "graphlearning", "graphlearning:laplace", ("dense",)),
    Method(
        "graphlearning, Poisson",
        "graphlearning",
        "graphlearning:poisson",
        ("dense",),
        jobs=("blobs-50k", "digits-50k"),
    ),
    Method("pykeops, exact", "pykeops", "pykeops:dense", ("dense",), quadratic=True),
    Method("mlpack, dual trees", "mlpack", "mlpack:dense", ("dense",)),
    Method("bvdt, one tree", OURS, "ours:kl_one_tree", ("histograms",), "one tree"),
    Method("bvdt, near field", OURS, "ours:kl_forest", ("histograms",), "forest"),
    Method("nmslib, HNSW", "nmslib", "nmslib:histograms", ("histograms",)),
    Method("nmslib, small world", "nmslib", "nmslib:histograms_small_world", ("histograms",)),
    Method("pynndescent, symmetric KL", "pynndescent", "pynndescent:histograms", ("histograms",)),
    Method("NumPy, exact", "NumPy", "exact:histograms", ("histograms",)),
    Method("pykeops, exact", "pykeops", "pykeops:histograms", ("histograms",)),
    Method("bvdt, one tree", OURS, "ours:spectra_one_tree", ("spectra",), "one tree"),
    Method("bvdt, near field", OURS, "ours:spectra_forest", ("spectra",), "forest"),
    Method("nmslib, HNSW", "nmslib", "nmslib:spectra", ("spectra",)),
    Method("nmslib, small world", "nmslib", "nmslib:spectra_small_world", ("spectra",)),
    Method("pynndescent, own metric", "pynndescent", "pynndescent:spectra", ("spectra",)),
    Method("NumPy, exact", "NumPy", "exact:spectra", ("spectra",)),
    Method("pykeops, exact", "pykeops", "pykeops:spectra", ("spectra",)),
    Method("bvdt, 1 column", OURS, "products:tree_1", ("product",), "one tree"),
    Method("CSR, 1 column", "NumPy", "products:csr_1", ("product",)),
    Method("bvdt, 20 columns", OURS, "products:tree_20", ("product",), "one tree"),
    Method("CSR, 20 columns", "NumPy", "products:csr_20", ("product",)),
    Method("bvdt, one tree", OURS, "ours:embed_one_tree", ("embedding",), "one tree"),
    Method("bvdt, near field", OURS, "ours:embed_near", ("embedding",), "forest"),
    Method("scikit-learn", "scikit-learn", "scikit_learn:embedding", ("embedding",)),
    Method("graphlearning, eigenvectors", "graphlearning", "graphlearning:embedding", ("embedding",)),
    Method("scikit-learn, lobpcg", "scikit-learn", "scikit_learn:embedding_lobpcg", ("embedding",)),
]

_DENSE_ONLY = "takes dense rows only; IMDB's would be 50 000 × 89 527 × 4 bytes = 18 GB"
_METRICS = "has no such divergence, nor a way to give it one from Python"
_NEIGHBORS = "finds neighbors only; it has no embedding"

# Why a library has no row: by kind of job, or by job where it differs.
ABSENT = {
    "text": {"hnswlib": _DENSE_ONLY, "faiss": _DENSE_ONLY, "pykeops": _DENSE_ONLY, "mlpack": _DENSE_ONLY},
    "imdb": {"graphlearning": "its search takes dense rows only: 50 000 × 89 527 × 8 bytes = 36 GB"},
    "histograms": {
        "scikit-learn": "has no KL; a Python function as its metric would be called 2.5 · 10⁹ times",
        "hnswlib": _METRICS,
        "graphlearning": _METRICS,
        "faiss": _METRICS,
        "mlpack": _METRICS,
    },
    "spectra": {
        "scikit-learn": "has no Itakura–Saito; a Python function would be called 2.5 · 10⁹ times",
        "hnswlib": _METRICS,
        "graphlearning": _METRICS,
        "faiss": _METRICS,
        "mlpack": _METRICS,
    },
    "embedding": {
        "pynndescent": _NEIGHBORS,
        "hnswlib": _NEIGHBORS,
        "nmslib": _NEIGHBORS,
        "faiss": _NEIGHBORS,
        "pykeops": _NEIGHBORS,
        "mlpack": _NEIGHBORS,
    },
}
