"""A fitted model in one file: how documents become numbers, the operator, the labels; no pickle.

The file is an operator's (``bvdt.operators.storage``) with more arrays and a "model" entry in its header, so
``bvdt.load`` reads the operator of a model file too.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._support.arrays import ArraysByName, Float, Index
from .._support.json import JsonObject
from .._support.sparse import Operator
from ..lifting import ViewsLifting
from ..operators import storage
from ..operators.stored import require
from ..stacking import FeatureScale, NewPoints
from ..walks.novelty import Novelty, Ranks
from .features import Features
from .holdout import Holdout, Measured

if TYPE_CHECKING:
    from ..estimators import LabelPropagation
    from .files import Documents


MODEL_VERSION = 2  # 2: a prior's part in new points
_PREFIX = "model_"
_LARGEST = 1e15  # of what a blend stores: products of two, summed, stay finite
_PRIOR_ARRAYS = ("walk", "unstepped", "weights", "constant", "given")
# Parameters that a file stores, and what it calls those of another name.
_SETTINGS = ("alpha", "max_iter", "tol", "method", "class_mass_normalization", "clamp")
_STORED_AS = {"max_iter": "n_iter", "method": "mode"}
_MEASURED = ("alone", "curve", "gains")  # of a hold-out
_LATER = {"class_balance": True}  # settings that older files lack, and what they meant


@dataclass(frozen=True, eq=False)
class Model:
    """Labels of a class for new documents: their features, then the walk to the labeled ones."""

    features: Features
    propagation: LabelPropagation  # fitted; its classes are indices into ``classes``
    classes: list[str]
    holdout: Holdout | None = None
    source: str = ""  # name of the file it was made from

    @property
    def codes(self) -> NDArray[np.intp]:  # (N,)
        """Class of each point of the fit that was given one, else −1."""
        return np.asarray(self.propagation.codes_)

    def predict_proba(self, documents: Documents) -> Float:  # (n_new, k)
        """Probabilities of the classes of new documents."""
        return np.asarray(self.propagation.predict_proba(self.features.transform(documents)))


def save_model(path: str | Path, model: Model) -> None:
    """Write the model; the file appears whole or not at all."""
    header, arrays = storage.operator_contents(model.propagation.operator_)
    features, learnt = model.features.contents()
    learnt |= {"codes": model.codes.astype(np.int32), "scores": model.propagation.label_distributions_}
    prior, blended = _prior_contents(model.propagation)
    learnt |= blended
    if (model.propagation.label_weights[model.codes >= 0] != 1).any():
        learnt["label_weight"] = model.propagation.label_weights
    novelty = model.propagation.novelty_state
    learnt |= {f"novelty_{name}": array for name, array in _novelty_arrays(novelty).items()}
    header |= {
        "version": max(3, header["version"]),
        "model": {
            "version": MODEL_VERSION,
            "made_by": version("bvdt"),
            "source": model.source,
            "classes": model.classes,
            "features": features,
            "settings": {
                _STORED_AS.get(name, name): getattr(model.propagation, name) for name in (*_SETTINGS, *_LATER)
            }
            | {"alpha": model.propagation.alpha_},
            "prior": prior,
            "novelty": {"usual": list(novelty.usual), "doubted": novelty.doubted},
            "holdout": _holdout_header(model.holdout),
        },
    }
    storage.write(path, header, arrays | {_PREFIX + name: array for name, array in learnt.items()})


def load_model(path: str | Path, *, n_jobs: int | None = None) -> Model:
    """Read a model that ``save_model`` wrote."""
    return model_from(path, *storage.read(path), n_jobs=n_jobs)


def model_from(
    path: str | Path, header: JsonObject, arrays: ArraysByName, *, n_jobs: int | None = None
) -> Model:
    """The model of a file's header and arrays; ``path`` is for the error."""
    stored = header.get("model")
    if stored is None:
        raise ValueError(
            f"{path} holds an operator without labels; a model is what `bvdt propagate --save` writes "
            "(bvdt.load reads this file)"
        )
    if not isinstance(stored, dict) or not isinstance(stored.get("version"), int):
        raise ValueError(f"{path} is a damaged bvdt file: its model has no version")
    if stored["version"] > MODEL_VERSION:
        raise ValueError(
            f"{path} has model version {stored['version']}; this bvdt reads up to {MODEL_VERSION}: "
            "update bvdt to load it"
        )
    operator = storage.operator_from(path, header, arrays, n_jobs=n_jobs)
    learnt = {name[len(_PREFIX) :]: array for name, array in arrays.items() if name.startswith(_PREFIX)}
    try:
        return _model_from(stored, learnt, operator)
    except (KeyError, TypeError, IndexError, ValueError, AttributeError, OverflowError) as error:
        raise ValueError(f"{path} is a damaged bvdt file: {error!r}") from error


def _model_from(stored: JsonObject, learnt: ArraysByName, operator: Operator) -> Model:
    features = Features.from_contents(stored["features"], learnt)
    classes, codes, scores = list(stored["classes"]), learnt["codes"], learnt["scores"]
    n_points, n_features = operator.shape[0], operator.lifted.dimension
    if scores.shape != (n_points, len(classes)) or codes.shape != (n_points,):
        raise IndexError(f"labels of shape {codes.shape} and {scores.shape} for {n_points} points")
    if features.width != n_features or not -1 <= codes.min() <= codes.max() < len(classes):
        raise IndexError("features or classes that do not fit the operator")
    plain = scores.dtype == np.float64 and codes.dtype.kind == "i"
    require(plain, "model_scores and model_codes", "float64 and integers", (scores.dtype, codes.dtype))
    sums = scores.sum(axis=1)
    rows = np.isfinite(scores).all() and (scores >= 0).all() and np.allclose(sums, 1, atol=1e-6)
    require(rows, "model_scores", "probabilities in every row", scores)
    weight = learnt.get("label_weight")
    if weight is not None:
        fits = weight.shape == (n_points,) and weight.dtype == np.float64
        positive = fits and np.isfinite(weight).all() and (weight >= 0).all()
        require(positive, "model_label_weight", "a weight ≥ 0 per point", weight)
    prior = _prior_from(stored.get("prior"), learnt, operator, len(classes))
    kept = prior | {"label_weight": weight, "terms": features.terms}
    kept |= {"novelty": _novelty_from(stored.get("novelty"), learnt, n_points)}
    propagation = _restored(stored["settings"], operator, codes.astype(np.intp), scores, kept)
    holdout = _holdout_from(stored["holdout"], classes)
    return Model(features, propagation, classes, holdout, str(stored["source"]))


def _restored(
    settings: JsonObject, operator: Operator, codes: Index, scores: Float, kept: JsonObject
) -> LabelPropagation:
    """A LabelPropagation as ``fit`` left it."""
    from ..estimators import LabelPropagation

    lifting = operator.lifted.lifting
    divergence = {} if lifting is None else {"divergence": lifting.divergence}
    chosen = {name: settings[_STORED_AS.get(name, name)] for name in _SETTINGS}
    chosen |= {name: settings.get(name, before) for name, before in _LATER.items()}
    return LabelPropagation.restored(
        operator,
        np.arange(scores.shape[1]),
        codes,
        scores,
        bandwidth=operator.bandwidth,
        **kept,
        **divergence,
        **chosen,
    )


def _prior_contents(propagation: LabelPropagation) -> tuple[JsonObject | None, ArraysByName]:
    """Header and arrays of what a blend needs of new points; None without one."""
    new = propagation.new_points
    if new is None:
        return None, {}
    if new.outside is not None:
        name = type(new.outside[0].classifier).__name__
        raise ValueError(f"a model file holds no classifiers of other libraries; this blend is a {name}")
    arrays = {name: getattr(new, name) for name in _PRIOR_ARRAYS}
    if new.scale is not None:
        arrays |= {"mean": new.scale.mean, "scale": new.scale.scale}
    views = () if new.scale is None else new.scale.names
    header = {
        "name": propagation.blend if isinstance(propagation.blend, str) else None,
        "share": new.share,
        "power": new.power,
        "recovered": new.through is not None,
    } | ({"views": list(views)} if views else {})
    return header, {f"prior_{name}": array for name, array in arrays.items() if array is not None}


def _prior_from(
    stored: JsonObject | None, learnt: ArraysByName, operator: Operator, n_classes: int
) -> JsonObject:
    """Arguments of ``LabelPropagation.restored``."""
    if stored is None:
        return {"blend": None}
    n_points, lifted = operator.shape[0], operator.lifted
    n_features = lifted.n_features if stored["recovered"] else lifted.dimension
    shapes: dict[str, tuple[int, ...]] = dict.fromkeys(("walk", "unstepped", "given"), (n_points, n_classes))
    shapes |= {"weights": (n_features, n_classes), "constant": (n_classes,)}
    views = stored.get("views", [])
    lifting = lifted.lifting
    if isinstance(lifting, ViewsLifting) and not stored["recovered"]:
        require(list(views) == list(lifting.names), "views", "the operator's", views)
        n_dense = sum(part.n_features for part in lifting.parts if not part.sparse)
    else:
        n_dense = n_features
    shapes |= {"mean": (n_dense,), "scale": (n_dense,)}
    arrays: dict[str, Any] = {name: learnt.get(f"prior_{name}") for name in shapes}
    for name, array in arrays.items():
        if array is not None:
            _check_prior(f"model_prior_{name}", array, shapes[name])
    linear = arrays["weights"] is not None
    needed = ("walk", "unstepped", *(("constant",) if linear else ()))
    if any(arrays[name] is None for name in needed) or (arrays["mean"] is None) != (arrays["scale"] is None):
        raise KeyError("what a blend needs")
    require((arrays["unstepped"] >= 0).all(), "model_prior_unstepped", "values ≥ 0", arrays["unstepped"])
    for name, most in {"share": 1.0, "power": _LARGEST}.items():
        value = stored[name]
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        require(is_number and 0 <= value <= most, name, f"a number from 0 to {most:g}", value)
    new = NewPoints(
        share=float(stored["share"]),
        power=float(stored["power"]),
        scale=FeatureScale(arrays["mean"], arrays["scale"], tuple(views)) if linear else None,
        through=operator.lifted.lifting if stored["recovered"] else None,
        **{name: arrays[name] for name in _PRIOR_ARRAYS},
    )
    return {"new_points": new, "blend": stored["name"]}


def _novelty_arrays(novelty: Novelty) -> ArraysByName:
    arrays = {"lack": novelty.lack, "score": novelty.score}
    arrays |= {"known": novelty.among.known, "below": novelty.among.below}
    return arrays | {"known_new": novelty.among_new.known, "below_new": novelty.among_new.below}


def _novelty_from(stored: JsonObject | None, learnt: ArraysByName, n_points: int) -> Novelty | None:
    """None in files of before it was stored: it is found anew then, without the doubt."""
    if stored is None:
        return None

    def read(name: str, n: int, ascending: bool = False) -> Float:
        array = learnt[f"novelty_{name}"]
        fits = array.shape == (n,) and array.dtype == np.float64 and n > 0 and bool(np.isfinite(array).all())
        fits = fits and not (ascending and (np.diff(array) < 0).any())
        require(fits, f"model_novelty_{name}", f"{n} numbers" + (", ascending" if ascending else ""), array)
        return array

    def ranks(end: str) -> Ranks:
        n = len(learnt[f"novelty_known{end}"])
        return Ranks(read(f"known{end}", n, True), read(f"below{end}", n, True))

    middle, deviation = (float(value) for value in stored["usual"])
    require(np.isfinite(middle) and 0 < deviation < np.inf, "usual", "a deviation > 0", deviation)
    arrays = read("lack", n_points), read("score", n_points)
    return Novelty(*arrays, ranks(""), ranks("_new"), (middle, deviation), bool(stored["doubted"]))


def _check_prior(field: str, array: NDArray[np.generic], shape: tuple[int, ...]) -> None:
    """Numbers of that shape; of those that are multiplied, sums of products stay finite."""
    require(array.dtype.kind == "f" and array.shape == shape, field, f"floats of shape {shape}", array)
    values = np.asarray(array, np.float64)
    most = np.finfo(np.float64).max if field.endswith(("_mean", "_scale")) else _LARGEST
    require((np.abs(values) <= most).all(), field, f"values up to {most:g}", array)


def _holdout_header(holdout: Holdout | None) -> JsonObject | None:
    if holdout is None:
        return None
    plain = {name: getattr(holdout, name) for name in ("n", "accuracy", "low", "high", "folds")}
    plain |= {name: [asdict(found) for found in getattr(holdout, name)] for name in _MEASURED}
    return plain | {"confusion": holdout.confusion.tolist(), "untested": list(holdout.untested)}


def _holdout_from(stored: JsonObject | None, classes: list[str]) -> Holdout | None:
    if stored is None:
        return None
    confusion = np.array(stored["confusion"], np.int64).reshape(len(classes), len(classes))
    figures = {name: stored[name] for name in ("n", "accuracy", "low", "high", "folds")}
    figures |= {name: tuple(Measured(**m) for m in stored.get(name, ())) for name in _MEASURED}
    return Holdout(**figures, classes=classes, confusion=confusion, untested=tuple(stored["untested"]))
