"""Does a sample choose its own family? ``bvdt.divergences.compare`` on draws from known ones.

    python benchmarks/families.py [--draws 20] [--rows 300]

Prints, by number of columns, in how many draws each sample's own family came first, and which else did.
"""

from __future__ import annotations

import argparse
from collections import Counter

import numpy as np

from bvdt.divergences import compare

SAMPLES = {
    "gamma, shape 2": ("itakura_saito", lambda rng, shape: rng.gamma(2.0, size=shape)),
    "gamma, shape 20": ("itakura_saito", lambda rng, shape: rng.gamma(20.0, size=shape)),
    "Poisson, mean 0.3": ("gid", lambda rng, shape: rng.poisson(0.3, size=shape)),
    "Poisson, mean 10": ("gid", lambda rng, shape: rng.poisson(10.0, size=shape)),
    "Gaussian, mean 0": ("squared_euclidean", lambda rng, shape: rng.normal(size=shape)),
    "Gaussian, mean 10": ("squared_euclidean", lambda rng, shape: rng.normal(10.0, size=shape)),
    "multinomial": (
        "multinomial",
        lambda rng, shape: rng.multinomial(20, np.full(shape[1], 1 / shape[1]), size=shape[0]),
    ),
    "Bernoulli": ("logistic", lambda rng, shape: (rng.random(shape) < 0.3).astype(int)),
    "negative binomial, r 0.5": (
        "negative_binomial",
        lambda rng, shape: rng.negative_binomial(0.5, 0.2, size=shape),
    ),
    "negative binomial, r 2": (
        "negative_binomial",
        lambda rng, shape: rng.negative_binomial(2.0, 0.5, size=shape),
    ),
    "log-normal": ("log_normal", lambda rng, shape: np.exp(rng.normal(size=shape))),
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--rows", type=int, default=300)
    options = parser.parse_args()
    for columns in (1, 3, 5, 10):
        print(f"{columns} columns")
        for name, (expected, draw) in SAMPLES.items():
            chosen = Counter(
                compare(
                    draw(np.random.default_rng(seed), (options.rows, columns)), random_state=seed
                ).best.name
                for seed in range(options.draws)
            )
            others = ", ".join(f"{other} {n}" for other, n in chosen.items() if other != expected)
            print(f"  {name:26} {chosen[expected]:3} of {options.draws}  {others}", flush=True)


if __name__ == "__main__":
    main()
