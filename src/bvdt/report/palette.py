"""Colors and marks of the classes: ten colors, on circles for the first ten classes, squares for the rest.

The colors maximise the smallest distance in OKLab between any two as seen by readers with normal sight and
by those without red, green or blue cones (Machado et al. 2009), among colors that stand out from the page:
one set for a white page and one for a dark one. tests/report/test_palette.py measures both.
"""

from __future__ import annotations

LIGHT = (
    *("#378cd6", "#f7922d", "#427e24", "#8c17df", "#f80f7b"),
    *("#43d1a2", "#221caf", "#fd94fa", "#1a4213", "#720f63"),
)
DARK = (
    *("#799ffe", "#fbcf9d", "#82cb13", "#a938f0", "#d82f7b"),
    *("#22edfc", "#1c8199", "#e98cb9", "#377102", "#a4890e"),
)
N_CLASSES = 2 * len(LIGHT)  # the rest of the classes share the last mark, "other"
SHAPES = ('<circle cx="6" cy="6" r="5"/>', '<rect x="1.5" y="1.5" width="9" height="9"/>')


def css_variables(colors: tuple[str, ...], other: str) -> str:
    """--c0 … --c9 and --other, for the style sheet."""
    return "".join(f"--c{k}:{color};" for k, color in enumerate(colors)) + f"--other:{other};"


def color(mark: int) -> str:
    """The style sheet's name for a mark's color."""
    return f"var(--c{mark % len(LIGHT)})" if mark < N_CLASSES else "var(--other)"


def swatch(mark: int) -> str:
    """A small picture of a class's mark."""
    shape = SHAPES[mark // len(LIGHT)] if mark < N_CLASSES else SHAPES[0]
    return f'<svg class="swatch" viewBox="0 0 12 12" aria-hidden="true" fill="{color(mark)}">{shape}</svg>'
