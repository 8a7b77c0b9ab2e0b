"""The block partition drawn as in the paper's Figure 1: the matrix cut along the leaves, beside its tree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..operators import TransitionOperator
from .palette import N_CLASSES, color

WHOLE = 200  # points up to which every block is drawn; beyond, nodes of at least N/200 points
MAX_BLOCKS = 4000  # rectangles in a page, the largest first
SIDE, TREE, STRIP = 420.0, 210.0, 10.0  # widths of matrix, tree and strip of classes, in SVG units
PAD = 8.0


def drawn_nodes(op: TransitionOperator) -> NDArray[np.bool_]:  # (2N−1,)
    """Nodes that are large enough to see: all of them for few points, else the top of the tree."""
    return np.asarray(op.tree.size * WHOLE >= op.tree.n_points)


def partition_svg(op: TransitionOperator, marks: NDArray[np.generic] | None = None) -> str:
    """The picture; ``marks``, if given, holds each point's class for the strip between tree and matrix."""
    width, height = TREE + STRIP + SIDE + 3 * PAD, SIDE + 2 * PAD
    left = TREE + STRIP + 2 * PAD
    parts = [
        f'<svg class="partition" viewBox="0 0 {width:g} {height:g}" role="img" '
        f'aria-label="Blocks of the {op.shape[0]}×{op.shape[0]} transition matrix beside the cluster tree">',
        f'<path class="tree" d="{_tree_path(op)}"/>',
        "" if marks is None else _strip(op, marks),
        f'<g transform="translate({left:g} {PAD:g})">',
        f'<rect class="frame" width="{SIDE:g}" height="{SIDE:g}"/>',
        _inside(op),
        _blocks(op),
        "</g></svg>",
    ]
    return "\n".join(parts)


def _blocks(op: TransitionOperator) -> str:
    """One rectangle a block, darker the larger q_AB; the darkness is linear in log q."""
    tree, partition = op.tree, op.partition
    drawn = drawn_nodes(op)
    shown = np.flatnonzero(drawn[partition.rows] & drawn[partition.cols])
    size = tree.size.astype(float)
    areas = size[partition.rows[shown]] * size[partition.cols[shown]]
    shown = shown[np.argsort(-areas, kind="stable")[:MAX_BLOCKS]]
    q_of = _q(op)
    shade = _shades(q_of[shown])
    unit = SIDE / tree.n_points
    line = min(1.0, max(0.15, 60.0 / tree.n_points)) if tree.n_points <= WHOLE else 0.3
    rectangles = []
    for block, dark in zip(shown, shade, strict=True):
        a, b = int(partition.rows[block]), int(partition.cols[block])
        q, n_b = float(q_of[block]), int(tree.size[b])
        rectangles.append(
            f'<rect class="block" x="{tree.start[b] * unit:.6g}" y="{tree.start[a] * unit:.6g}" '
            f'width="{n_b * unit:.6g}" height="{tree.size[a] * unit:.6g}" fill-opacity="{dark:.3f}">'
            f"<title>{tree.size[a]} × {n_b} points, q = {q:.2g}, {100 * q * n_b:.2g} % of a row</title>"
            "</rect>"
        )
    return f'<g stroke-width="{line:.3g}">' + "".join(rectangles) + "</g>"


def _q(op: TransitionOperator) -> NDArray[np.float64]:  # (n_blocks,)
    q = op.partition.q
    assert q is not None  # an operator's partition is optimised
    return q


def _shades(q: NDArray[np.float64]) -> NDArray[np.float64]:
    """0.04 to 1, linear in log q between the least and the greatest; very small q are all the lightest."""
    log_q = np.log10(np.maximum(q, 1e-300))
    high = log_q.max(initial=-300.0)
    low = max(log_q.min(initial=high), high - 12)
    return np.asarray(0.04 + 0.96 * np.clip((log_q - low) / max(high - low, 1e-9), 0, 1))


def q_range(op: TransitionOperator) -> tuple[float, float]:
    """Lightest and darkest q of the picture."""
    drawn = drawn_nodes(op)
    q = _q(op)[drawn[op.partition.rows] & drawn[op.partition.cols]]
    high = float(q.max(initial=0.0))
    return max(float(q.min(initial=high)), high * 1e-12), high


def _inside(op: TransitionOperator) -> str:
    """Squares on the diagonal whose blocks are too small to draw."""
    tree, drawn = op.tree, drawn_nodes(op)
    internal = np.flatnonzero((tree.left >= 0) & drawn)
    hidden = internal[~(drawn[tree.left[internal]] | drawn[tree.right[internal]])]
    unit = SIDE / tree.n_points
    return "".join(
        f'<rect class="inside" x="{tree.start[k] * unit:.6g}" y="{tree.start[k] * unit:.6g}" '
        f'width="{tree.size[k] * unit:.6g}" height="{tree.size[k] * unit:.6g}"/>'
        for k in hidden
    )


def _tree_path(op: TransitionOperator) -> str:
    """Brackets from each node to its children; across: log of its size; down: the middle of its rows."""
    tree, drawn = op.tree, drawn_nodes(op)
    unit = SIDE / tree.n_points
    log_size = np.log(tree.size)
    least, most = log_size[drawn].min(), log_size[0]
    x = PAD + TREE * (most - log_size) / (most - least)
    y = PAD + (tree.start + tree.size / 2) * unit
    path = []
    for k in np.flatnonzero((tree.left >= 0) & drawn):
        for child in (tree.left[k], tree.right[k]):
            if drawn[child]:
                path.append(f"M{x[k]:.1f} {y[k]:.1f}V{y[child]:.1f}H{x[child]:.1f}")
    return "".join(path)


def _strip(op: TransitionOperator, marks: NDArray[np.generic]) -> str:
    """The class of each row, or the most frequent one of each of 200 bands of rows."""
    in_order = marks[op.tree.order]
    bands = np.array_split(in_order, min(len(in_order), WHOLE))
    height = SIDE / len(bands)
    left = TREE + 1.5 * PAD
    strips = []
    for k, band in enumerate(bands):
        mark = int(np.bincount(band, minlength=N_CLASSES + 1).argmax())
        strips.append(
            f'<rect x="{left:g}" y="{PAD + k * height:.5g}" width="{STRIP:g}" height="{height * 1.02:.5g}" '
            f'fill="{color(mark)}"/>'
        )
    return '<g shape-rendering="crispEdges">' + "".join(strips) + "</g>"
