"""Labels as scikit-learn's users write them, with the unlabeled points among them."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from .._support.arrays import Float, LabelArray
from .._support.class_names import look_alikes, means_nothing, tell_apart
from .._support.sparse import CSR

NO_CLASSES = {"-1", "nan", "None", "<NA>", "unlabeled", "unlabelled"}
MEANT = (
    'did you mean unlabeled? That is "" among texts, and -1, NaN or None in arrays that were not turned '
    "into text; a class needs another name"
)


def encode_labels(
    y: ArrayLike | None, *, joining: bool = False
) -> tuple[LabelArray, NDArray[np.intp]]:  # (k,), (N,)
    """The classes, sorted, and each point's index among them, −1 for the unlabeled.

    ``joining``: the points join others that have labels, so these need none, nor two classes.
    """
    masked = np.ma.getmaskarray(y).ravel() if isinstance(y, np.ma.MaskedArray) else None
    labels: LabelArray = column_or_1d(y, warn=True)
    labeled = ~unlabeled_points(labels)
    if masked is not None:
        labeled &= ~masked
    _refuse_words(labels)
    _refuse_wrapped(labels)
    if joining and not labeled.any():
        return labels[:0], np.full(len(labels), -1, np.intp)
    if not joining:
        _warn_of_signs(labels, labeled)
    if not labeled.any():
        raise ValueError(f"y needs at least one label; all {len(labels)} points are unlabeled")
    known = labels[labeled]
    if known.dtype.kind == "f":
        assert_all_finite(known, input_name="y")
    with warnings.catch_warnings():  # one label per class is not a regression problem, but an ordinary start
        warnings.filterwarnings("ignore", "The number of unique classes is greater than 50%")
        check_classification_targets(np.asarray(known.tolist()) if known.dtype == object else known)
    codes = np.full(len(labels), -1, np.intp)
    try:
        classes, codes[labeled] = np.unique(known, return_inverse=True)
    except TypeError as error:
        raise ValueError(f"y needs labels of one type; {error}") from None
    _warn_of_names(classes)
    return classes, codes


def _refuse_words(y: LabelArray) -> None:
    """Texts that stand for "not labeled" where numbers or None were turned into text."""
    wrong = next(iter(sorted(_texts(y) & NO_CLASSES)), None)
    if wrong is None:
        return
    at = next(place for place, label in enumerate(y.tolist()) if label in (wrong, wrong.encode()))
    raise ValueError(f'y[{at}] is the text "{wrong}": {MEANT}')


def check_classes(classes: LabelArray) -> None:
    """Of labels in pieces what ``encode_labels`` says of whole ones; their classes, sorted."""
    wrong = sorted(_texts(classes) & NO_CLASSES)
    if wrong:
        raise ValueError(f'y holds the text "{wrong[0]}": {MEANT}')
    _refuse_wrapped(classes, "y holds")
    _warn_of_names(classes)


def _texts(y: LabelArray) -> set[str]:
    """The different texts among the labels."""
    if y.dtype.kind in "US":
        return set(np.unique(y).astype(str).tolist())
    return {label for label in y if isinstance(label, str)} if y.dtype == object else set()


def _refuse_wrapped(y: LabelArray, where: str | None = None) -> None:
    """The largest unsigned number, which −1 becomes; 255, an ordinary value of a mask, is only warned of."""
    if y.dtype.kind != "u":
        return
    largest = np.iinfo(y.dtype).max
    if y.dtype.itemsize == 1:
        n = int((y == largest).sum())
        if 2 * n > len(y) and where is None:
            warnings.warn(
                f"y is 255 for {n} of {len(y)} points, and 255 is what -1 (unlabeled) becomes in uint8; if "
                "they are unlabeled, take signed integers before -1 is put in: y.astype(np.int64)",
                UserWarning,
                stacklevel=4,
            )
        return
    if (y == largest).any():
        where = where or f"y[{int(np.argmax(y == largest))}] ="
        raise ValueError(
            f"{where} {largest}, which is what -1 (unlabeled) becomes in {y.dtype}; y needs signed "
            "integers: y.astype(np.int64)"
        )


def _warn_of_names(classes: LabelArray) -> None:
    """Classes that look as if they were none, or one."""
    names = sorted(_texts(classes))
    notes = [
        f'{name!r} was taken for a class; if it means unlabeled, write ""'
        for name in names
        if means_nothing(name)
    ]
    for sentence in notes + [tell_apart(group) for group in look_alikes(names)]:
        warnings.warn(f"y: {sentence}", UserWarning, stacklevel=4)


def _warn_of_signs(y: LabelArray, labeled: NDArray[np.bool_]) -> None:
    """Labels −1 and 1 for two classes look just like one class among unlabeled points."""
    if y.dtype.kind in "if" and (y[labeled] == 1).all() and labeled.any() and (y == -1).any():
        warnings.warn(
            "y holds only -1 and 1, and -1 means unlabeled: all points will have the class 1; "
            "name two classes otherwise, such as 0 and 1",
            UserWarning,
            stacklevel=3,
        )


def checked_weights(sample_weight: ArrayLike | None, n_points: int) -> Float:  # (N,)
    """Weights of the labels, ≥ 0, 1 where none are given."""
    if sample_weight is None:
        return np.broadcast_to(1.0, n_points)
    weight = np.asarray(sample_weight, np.float64)
    if weight.shape != (n_points,):
        raise ValueError(f"sample_weight needs one entry per point, {n_points}; its shape is {weight.shape}")
    bad = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if bad.size:
        raise ValueError(f"sample_weight needs finite values ≥ 0; sample_weight[{bad[0]}] = {weight[bad[0]]}")
    return weight


def unlabeled_points(y: LabelArray) -> NDArray[np.bool_]:  # (N,)
    """−1 and NaN in numbers, "" in strings, all of these and None and pandas.NA in objects."""
    if y.dtype.kind in "US":
        return np.asarray(y == y.dtype.type())
    if y.dtype.kind in "iuf":
        return np.asarray((y == -1) | np.isnan(y))
    if y.dtype.kind == "b":
        return np.zeros(len(y), bool)
    return np.array([_is_missing(label) for label in y], dtype=bool)


def _is_missing(label: object) -> bool:
    if label is None or isinstance(label, str | bytes):
        return not label
    try:
        return bool(label != label) or bool(label == -1)
    except TypeError:  # pandas.NA has no truth value
        return True


def label_columns(codes: NDArray[np.intp], n_classes: int, weight: Float) -> CSR:  # (N,) ×2 -> (N, k)
    """y⁰ of Eq. (29) as a sparse matrix: each label's weight in the column of its class."""
    labeled = np.flatnonzero((codes >= 0) & (weight > 0))
    first = np.zeros(len(codes) + 1, np.int32)
    first[labeled + 1] = 1
    np.cumsum(first, out=first)
    columns = codes[labeled].astype(np.int32)
    return sparse.csr_array((weight[labeled], columns, first), shape=(len(codes), n_classes))


def one_hot(codes: NDArray[np.intp], n_classes: int) -> NDArray[np.float64]:  # (N,) -> (N, k)
    """y⁰ of Eq. (29), one column per class; zeros for the unlabeled."""
    Y0 = np.zeros((len(codes), n_classes))
    labeled = np.flatnonzero(codes >= 0)
    Y0[labeled, codes[labeled]] = 1.0
    return Y0
