"""Model files written before version 0.1.0 was released, under former names of parameters, stay readable."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from typer.testing import CliRunner

import bvdt
from bvdt.cli import app

FILES = Path(__file__).parent / "files_of_before"


@pytest.mark.parametrize("name", ["forest", "tree"])
def test_an_operator_multiplies_as_it_did(name):
    expected = np.load(FILES / "products.npz")
    assert_allclose(bvdt.load(FILES / f"{name}.bvdt") @ expected["V"], expected[name], rtol=1e-12)


def test_a_model_predicts_as_it_did(tmp_path):
    out = tmp_path / "new.csv"
    arguments = ["propagate", FILES / "docs.csv", "--model", FILES / "model.bvdt", "-o", out]
    done = CliRunner().invoke(app, [str(part) for part in arguments])
    assert done.exit_code == 0, done.output
    written, expected = (np.genfromtxt(path, delimiter=",", dtype=str) for path in (out, FILES / "new.csv"))
    assert (written[:, :2] == expected[:, :2]).all()
    assert_allclose(written[1:, 2].astype(float), expected[1:, 2].astype(float), atol=1e-6)
