"""The example of a report that is made from Python."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_example_of_a_report(tmp_path):
    path = tmp_path / "digits.html"
    run = [sys.executable, str(ROOT / "examples" / "report.py"), str(path)]
    result = subprocess.run(run, capture_output=True, text=True, check=True)
    assert "95 % interval" in result.stdout
    page = path.read_text(encoding="utf-8")
    assert "Handwritten digits" in page
    data = json.loads(re.search(r'id="map-data">(.*?)</script>', page).group(1))
    number, share = (np.frombuffer(base64.b64decode(data[name]), "<u2") for name in ("label", "confidence"))
    given = np.frombuffer(base64.b64decode(data["given"]), "u1") == 1
    labels = np.array(data["classes"])[number[given]]
    assert labels.tolist() == [f"digit {c}" for c in load_digits(return_X_y=True)[1][:100]]
    assert (share[given] == 1000).all()
