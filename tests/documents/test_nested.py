"""Nested clusters: the tree's top, described; its picture."""

import numpy as np
import pytest

import bvdt
from bvdt.documents.nested import nested_clusters
from bvdt.report.dendrogram import Branch, write_dendrogram
from helpers.subjects import SUBJECTS, corpus


def nested(n_leaves):
    from sklearn.feature_extraction.text import CountVectorizer

    texts, number = corpus()
    vectorizer = CountVectorizer(token_pattern=r"\w+")
    X = vectorizer.fit_transform(texts)
    subjects = [k for k, name in enumerate(vectorizer.get_feature_names_out()) if name in " ".join(SUBJECTS)]
    tree = bvdt.transition_matrix(X[:, subjects].astype(float), "squared_euclidean", random_state=0).tree
    names, ids = vectorizer.get_feature_names_out().tolist(), [str(k) for k in range(len(texts))]
    labels = [SUBJECTS[k - 1].split()[0] for k in number]
    return nested_clusters(tree, n_leaves, X, ids, names, texts, labels), tree


def test_every_node_holds_its_children():
    found, tree = nested(5)
    assert len(found.nodes) == 9
    sizes = {node.number: node.summary.documents for node in found.nodes}
    assert sizes[1] == 200
    for node in found.nodes:
        below = [other for other in found.nodes if other.parent == node.number]
        assert node.leaf == (not below)
        assert not below or sizes[node.number] == sum(sizes[other.number] for other in below)
        assert all(other.depth == node.depth + 1 for other in below)
        if node.leaf:
            assert (found.leaf_of == node.number).sum() == node.summary.documents
    cut = tree.cut(5)  # the same partition, under other names
    assert len({(a, b) for a, b in zip(cut, found.leaf_of, strict=True)}) == 5


def test_terms_are_those_of_the_subjects_inside():
    found, _ = nested(5)
    assert found.nodes[0].summary.terms == []  # the root has nothing to be compared with
    for node in found.nodes[1:]:
        words = {
            word
            for subject in SUBJECTS
            if subject.split()[0] in node.summary.label
            for word in subject.split()
        }
        assert words & set(node.summary.terms)


def test_as_json_and_as_a_table():
    found, _ = nested(3)
    top = found.tree()
    assert (top["node"], top["documents"], len(top["children"])) == (1, 200, 2)
    assert sum(child["documents"] for child in top["children"]) == 200
    columns = found.columns()
    assert columns["node"] == [1, 2, 3, 4, 5]
    assert columns["parent"][0] is None
    assert {"typical", "terms", "purity", "label"} <= set(columns)


@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_dendrogram(tmp_path, suffix):
    pytest.importorskip("matplotlib")
    found, _ = nested(4)
    branches = [Branch(n.parent - 1, n.summary.documents, ", ".join(n.summary.terms)) for n in found.nodes]
    path = tmp_path / f"tree{suffix}"
    write_dendrogram(path, branches, "Nested $clusters$")
    assert path.stat().st_size > 2000
    write_dendrogram(path, [Branch(-1, 1, "")], "One document")


def test_dendrogram_of_another_ending(tmp_path):
    with pytest.raises(ValueError, match="needs a name that ends in"):
        write_dendrogram(tmp_path / "tree.txt", [Branch(-1, 2, "")], "")


def test_leaves_are_at_most_the_documents():
    found, tree = nested(10_000)
    assert np.unique(found.leaf_of).size == tree.n_points
