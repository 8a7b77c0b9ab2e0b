"""
A map of handwritten digits
===========================

The leading eigenvectors of the walk place points that reach each other soon near each other. The classes
had no part in it; they color the picture.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from bvdt import transition_matrix
from bvdt.report import map_coordinates

X, y = load_digits(return_X_y=True)
op = transition_matrix(X, "squared_euclidean", n_neighbors=10, random_state=0)
place = map_coordinates(op)

plt.figure(figsize=(6, 5))
for digit in range(10):
    chosen = y == digit
    plt.scatter(*place[chosen].T, s=6, label=str(digit))
    plt.annotate(str(digit), place[chosen].mean(axis=0), fontsize=14, weight="bold", ha="center")
plt.axis("off")
plt.tight_layout()
