"""
Documents from forty labels
===========================

Two thousand documents drawn from a mixture of three topics, forty of them labelled. The walk finds the rest; how
its accuracy grows with the labels shows how few are enough.
"""

import matplotlib.pyplot as plt
import numpy as np

import bvdt

corpus = bvdt.datasets.make_documents(2000, n_classes=3, random_state=0)
op = bvdt.transition_matrix(corpus.counts, "gid", near=10, random_state=0)
order = np.random.default_rng(0).permutation(2000)

numbers, accuracy = [6, 10, 20, 40, 80, 160], []
for n in numbers:
    few = np.full(2000, -1)
    few[order[:n]] = corpus.labels[order[:n]]
    model = bvdt.LabelPropagation("gid").fit(y=few, operator=op)
    accuracy.append((model.transduction_ == corpus.labels)[order[n:]].mean())

plt.figure(figsize=(6, 3.5))
plt.plot(numbers, accuracy, "o-")
plt.xscale("log")
plt.xticks(numbers, numbers)
plt.xlabel("labels")
plt.ylabel("accuracy on the others")
plt.grid(alpha=0.3)
plt.tight_layout()
