"""
Sentence embeddings
===================

An encoder's vectors mean their direction: scaled to length 1, squared Euclidean distance is cosine's.
Here 3 000 vectors of 384 dimensions about eight centers stand in for an encoder's; forty are labeled.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.preprocessing import normalize

from bvdt import LabelPropagation

rng = np.random.default_rng(0)
truth = rng.integers(0, 8, 3000)
vectors = normalize(rng.normal(size=(8, 384))[truth] + 4 * rng.normal(size=(3000, 384)))
few = np.where(np.arange(3000) < 40, truth, -1)

model = LabelPropagation("squared_euclidean", n_neighbors=15, blend="auto", random_state=0).fit(vectors, few)
P = model.label_distributions_[40:]
right = (model.transduction_ == truth)[40:]
confidence = P.max(axis=1)
edges = np.quantile(confidence, np.linspace(0, 1, 9))
at = np.clip(np.searchsorted(edges, confidence) - 1, 0, 7)

plt.figure(figsize=(4.5, 4))
plt.plot([0, 1], [0, 1], color="0.7")
plt.plot([confidence[at == b].mean() for b in range(8)], [right[at == b].mean() for b in range(8)], "o-")
plt.xlabel("confidence")
plt.ylabel("share that is right")
plt.title(f"accuracy {right.mean():.3f}")
plt.tight_layout()
