"""
PageRank and communities
========================

Link analysis without links: the walk over wines leads to typical ones (PageRank), and its slow parts are
communities (spectral clustering). The cultivars had no part in it.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

import bvdt

wine = load_wine()
X = StandardScaler().fit_transform(wine.data)
op = bvdt.transition_matrix(X, "squared_euclidean", n_neighbors=10, random_state=0)
rank = bvdt.walks.pagerank(op)
clusters = bvdt.SpectralClustering(3, divergence="squared_euclidean", random_state=0).fit_predict(X)

place = PCA(2).fit_transform(X)
plt.figure(figsize=(6, 4))
plt.scatter(*place.T, s=6000 * rank, c=clusters, cmap="tab10", vmax=9, alpha=0.6, linewidths=0)
plt.title(f"size: PageRank; color: cluster (adjusted Rand {adjusted_rand_score(wine.target, clusters):.2f})")
plt.axis("off")
plt.tight_layout()
