// The coarsest partition prepared for products (product.py): chunks of the tree, and the tree above them.
//
// Sizes are checked at every product, the N entries of child, chunk, order and the buckets are not: looking
// at them would cost as much as the product. They come from product.py alone, out of a validated tree.
#pragma once

#include <algorithm>

#include "core.hpp"

namespace bvdt {

struct Plan {
    const int32_t* first_leaf;  // (n_chunks + 1,)
    const int32_t* chunk;       // (N,) chunk of each point
    const uint16_t* child;      // (N − n_chunks, 2) slots inside the chunk
    const double* weight;       // (N − n_chunks, 2) q of (left, right) and (right, left)
    const int32_t* top_child;   // (n_chunks − 1, 2) slots of the tree above the chunks
    const double* top_weight;   // (n_chunks − 1, 2)
    int64_t n_points, n_chunks, largest;

    int64_t leaves(int64_t c) const { return first_leaf[c + 1] - first_leaf[c]; }
    const uint16_t* children(int64_t c) const { return child + 2 * (first_leaf[c] - c); }
    const double* weights(int64_t c) const { return weight + 2 * (first_leaf[c] - c); }
};

inline Plan checked_plan(const Vector<int32_t>& first_leaf, const Vector<int32_t>& chunk,
                         const Matrix<uint16_t>& child, const Matrix<double>& weight,
                         const Matrix<int32_t>& top_child, const Matrix<double>& top_weight) {
    const int64_t n = chunk.shape(0), n_chunks = static_cast<int64_t>(first_leaf.shape(0)) - 1;
    require(n_chunks >= 1 && first_leaf.data()[0] == 0 && first_leaf.data()[n_chunks] == n,
            "first_leaf needs to run from 0 to N");
    const auto is = [](const auto& a, int64_t rows) {
        return static_cast<int64_t>(a.shape(0)) == rows && a.shape(1) == 2;
    };
    require(is(child, n - n_chunks) && is(weight, n - n_chunks) && is(top_child, n_chunks - 1) &&
                is(top_weight, n_chunks - 1),
            "child and weight need a row for each internal node");
    int64_t largest = 1;
    for (int64_t c = 0; c < n_chunks; ++c) {
        const int64_t leaves = first_leaf.data()[c + 1] - first_leaf.data()[c];
        require(leaves >= 1, "first_leaf needs to ascend");
        largest = std::max(largest, leaves);
    }
    return {
        first_leaf.data(), chunk.data(), child.data(), weight.data(), top_child.data(), top_weight.data(), n,
        n_chunks,          largest};
}

}  // namespace bvdt
