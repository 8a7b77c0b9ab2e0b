"""Texts on five subjects."""

import numpy as np

SUBJECTS = (
    "walrus seal ice arctic",
    "violin sonata tempo orchestra",
    "kernel driver module device",
    "flour oven dough yeast",
    "goal keeper league striker",
)
FILLERS = ["the", "of", "and", "a", "is", "in", "this", "with", "for", "that"]


def corpus(seed=0):
    """Five subjects of 40 documents; fillers everywhere, and one cluster that repeats a phrase of fillers."""
    rng = np.random.default_rng(seed)
    texts, number = [], []
    for k, words in enumerate(SUBJECTS):
        for _ in range(40):
            subject = rng.choice(words.split(), 3).tolist()
            fillers = rng.choice(FILLERS, 4).tolist()
            phrase = ["see", "more"] if k == 0 or rng.random() < 0.1 else []
            texts.append(" ".join(rng.permutation(subject + fillers + phrase)))
            number.append(k + 1)
    return texts, np.array(number)
