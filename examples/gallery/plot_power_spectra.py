"""
Power spectra by Itakura–Saito
==============================

Noise of four colors at a thousandfold range of loudness, its level taken out. Itakura–Saito compares
ratios, so that all frequencies count alike; squared Euclidean distances see the loud end only. Each
spectrum is the mean of eight periodograms: a single one is so rough that its smallest values drown
all else in ratios.
"""

import matplotlib.pyplot as plt
import numpy as np

from bvdt import LabelPropagation

rng = np.random.default_rng(0)
frequency = np.arange(1, 65)
slope = rng.integers(0, 4, 800)
power = frequency ** (-1 - 0.15 * slope[:, None]) * rng.gamma(8, 1 / 8, (800, 64))
power *= 10 ** rng.uniform(-1.5, 1.5, (800, 1))
shape = power / power.mean(axis=1, keepdims=True)

few = np.where(np.arange(800) < 24, slope, -1)
accuracy = {}
for divergence in ("itakura_saito", "gid", "squared_euclidean"):
    model = LabelPropagation(divergence, random_state=0).fit(shape, few)
    accuracy[divergence] = (model.transduction_ == slope)[24:].mean()

fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5))
for kind in range(4):
    left.loglog(frequency, shape[np.flatnonzero(slope == kind)[0]], label=f"slope {-1 - 0.15 * kind:g}")
left.set_xlabel("frequency")
left.set_title("one spectrum of each kind")
left.legend()
right.barh(list(accuracy), list(accuracy.values()))
right.set_xlim(0, 1)
right.set_title("accuracy from 24 labels")
fig.tight_layout()
