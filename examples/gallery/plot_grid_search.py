"""
A scikit-learn pipeline with grid search
========================================

The estimators keep scikit-learn's contracts: they stand in pipelines, are cloned, and are searched over.
Accuracy is on folds that the fit has not seen.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bvdt import LabelPropagation

X, y = load_breast_cancer(return_X_y=True)
pipeline = make_pipeline(StandardScaler(), LabelPropagation("squared_euclidean", random_state=0))
grid = {"labelpropagation__n_neighbors": [3, 10, 30], "labelpropagation__alpha": [0.5, 0.9, 0.99]}
search = GridSearchCV(pipeline, grid, cv=5).fit(X, y)
print(search.best_params_, round(search.best_score_, 3))

table = search.cv_results_["mean_test_score"].reshape(3, 3)  # alpha × near
plt.figure(figsize=(4.5, 3.5))
plt.imshow(table, cmap="viridis")
plt.xticks(range(3), grid["labelpropagation__n_neighbors"])
plt.yticks(range(3), grid["labelpropagation__alpha"])
plt.xlabel("n_neighbors")
plt.ylabel("alpha")
plt.colorbar(label="accuracy")
plt.tight_layout()
