"""The colors of the map: they differ for every reader and stand out from the page."""

from __future__ import annotations

import numpy as np
import pytest

from bvdt.report import palette

SIGHT = {  # linear RGB as seen without red, green or blue cones (Machado et al. 2009)
    "normal": np.eye(3),
    "protan": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deutan": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritan": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}


def linear(colors) -> np.ndarray:
    rgb = np.array([[int(c[k : k + 2], 16) / 255 for k in (1, 3, 5)] for c in colors])
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def oklab(rgb: np.ndarray) -> np.ndarray:
    lms = [[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566],
           [0.0883024619, 0.2817188376, 0.6299787005]]  # fmt: skip
    lab = [[0.2104542553, 0.7936177850, -0.0040720468], [1.9779984951, -2.4285922050, 0.4505937099],
           [0.0259040371, 0.7827717662, -0.8086757660]]  # fmt: skip
    return np.cbrt(np.clip(rgb, 0, 1) @ np.transpose(lms)) @ np.transpose(lab)


@pytest.mark.parametrize("sight", SIGHT)
@pytest.mark.parametrize("colors", [palette.LIGHT, palette.DARK])
def test_colors_differ_for_every_reader(colors, sight):
    lab = oklab(np.clip(linear(colors) @ np.transpose(SIGHT[sight]), 0, 1))
    distance = np.linalg.norm(lab[:, None] - lab[None], axis=2) + np.eye(len(lab))
    assert distance.min() > 0.07


@pytest.mark.parametrize(
    ("colors", "page", "least"), [(palette.LIGHT, "#ffffff", 1.9), (palette.DARK, "#1b1f26", 2.5)]
)
def test_colors_stand_out_from_the_page(colors, page, least):
    luminance = linear([*colors, page]) @ [0.2126, 0.7152, 0.0722] + 0.05
    contrast = np.maximum(luminance[:-1], luminance[-1]) / np.minimum(luminance[:-1], luminance[-1])
    assert contrast.min() > least
