"""
Documents from forty labels
===========================

Two thousand documents drawn from a mixture of three topics, forty of them labeled. The walk finds the
rest; how its accuracy grows with the labels shows how few are enough.
"""

import matplotlib.pyplot as plt
import numpy as np

import bvdt

corpus = bvdt.datasets.make_documents(2000, n_classes=3, random_state=0)
op = bvdt.transition_matrix(corpus.counts, "gid", n_neighbors=10, random_state=0)

numbers = [6, 10, 20, 40, 80, 160]
accuracy = np.empty((20, len(numbers)))
for labeling in range(20):
    order = np.random.default_rng(labeling).permutation(2000)
    for k, n in enumerate(numbers):
        few = np.full(2000, -1)
        few[order[:n]] = corpus.labels[order[:n]]
        model = bvdt.LabelPropagation("gid", blend=None).fit(y=few, operator=op)
        accuracy[labeling, k] = (model.transduction_ == corpus.labels)[order[n:]].mean()

plt.figure(figsize=(6, 3.5))
plt.fill_between(numbers, *np.quantile(accuracy, [0.1, 0.9], axis=0), alpha=0.2)
plt.plot(numbers, accuracy.mean(axis=0), "o-")
plt.xscale("log")
plt.xticks(numbers, numbers)
plt.xlabel("labels")
plt.ylabel("accuracy on the others: mean, 10–90 %")
plt.grid(alpha=0.3)
plt.tight_layout()
