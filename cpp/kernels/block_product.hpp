// Q v of any partition, and Qᵀ v by its blocks grouped the other way; docs/theory.md, "Products".
#pragma once

#include <cstdint>

namespace bvdt {

struct BlockProduct {
    const int32_t *size, *parent;  // (2N − 1,)
    const int32_t* order;          // (N,)
    int64_t n_nodes;               // 2N − 1
    const int64_t* first;          // (2N,) blocks of node k: first[k] … first[k + 1]
    const int32_t* other;          // (n_blocks,) their other node
    const double* q;               // (n_blocks,)
};

// Both (N, columns).
template <typename T>
void multiply_blocks(const BlockProduct& product, const T* v, T* out, int64_t columns, int threads);

}  // namespace bvdt
