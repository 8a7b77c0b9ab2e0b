// Random partitions into blocks.
#pragma once

#include <utility>

#include "cases.hpp"

namespace bvdt::test {

struct Blocks {
    std::vector<int64_t> first;       // (2N,)
    std::vector<int32_t> rows, cols;  // (n_blocks,) sorted by row
};

// The coarsest partition (block k − 1 is node k and its sibling), split at random.
inline Blocks random_blocks(Generator& rng, const Tree& tree, int n_splits) {
    std::vector<std::pair<int32_t, int32_t>> pairs;
    for (int64_t k = 1; k < tree.n_nodes(); ++k)
        pairs.emplace_back(static_cast<int32_t>(k), static_cast<int32_t>(tree.sibling(k)));
    for (int s = 0; s < n_splits; ++s) {
        const size_t at = static_cast<size_t>(below(rng, static_cast<int64_t>(pairs.size())));
        const auto [a, b] = pairs[at];
        const bool by_row = below(rng, 2);
        const int32_t node = by_row ? a : b;
        if (tree.size[node] == 1) continue;
        const int32_t left = node + 1, right = static_cast<int32_t>(right_child(tree.size.data(), node));
        pairs[at] = by_row ? std::pair{left, b} : std::pair{a, left};
        pairs.push_back(by_row ? std::pair{right, b} : std::pair{a, right});
    }
    std::sort(pairs.begin(), pairs.end());
    Blocks blocks;
    for (int64_t k = 0; k <= tree.n_nodes(); ++k)
        blocks.first.push_back(
            std::lower_bound(pairs.begin(), pairs.end(), std::pair{int32_t(k), int32_t(-1)}) - pairs.begin());
    for (const auto& [a, b] : pairs) blocks.rows.push_back(a), blocks.cols.push_back(b);
    return blocks;
}

// N×N with each block's value in its entries.
inline std::vector<double> dense_matrix(const Tree& tree, const Blocks& blocks,
                                        const std::vector<double>& q) {
    const int64_t n = tree.n();
    std::vector<double> matrix(static_cast<size_t>(n * n), 0.0);
    for (size_t b = 0; b < q.size(); ++b)
        for (int32_t i : tree.points(blocks.rows[b]))
            for (int32_t j : tree.points(blocks.cols[b])) matrix[i * n + j] = q[b];
    return matrix;
}

}  // namespace bvdt::test
