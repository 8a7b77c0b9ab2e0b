// Block divergences, Eq. (20) in lifted form:  d̄_AB = U(A)/|A| + W(B)/|B| − ⟨X(A), H(B)⟩ / (|A||B|).
//
// The coarsest partition needs, for every internal node, both directions between its two children. Dense data
// go up the tree with a stack of node sums; sparse data walk the heavy paths. Any other partition asks for
// inner products of chosen pairs of stored node sums. docs/theory.md, "Block sums".
#pragma once

#include <cstdint>

#include "points.hpp"

namespace bvdt {

struct NodeLevels {
    const double *u, *w;   // (2N − 1,) U and W of every node
    const int32_t* size;   // (2N − 1,)
    const int32_t* start;  // (2N − 1,) first leaf of every node; sparse points only
    const int32_t* order;  // (N,) point of every leaf
    int64_t n_nodes;
};

// out[k] = d̄ of (node k, its sibling), (2N − 1,); the root's entry is left alone.
void coarsest_divergences(const DensePoints& points, const NodeLevels& nodes, double* out, int threads);
void coarsest_divergences(const SparsePoints& points, const NodeLevels& nodes, double* out, int threads);

struct RowPairs {
    const int32_t *a, *b;  // (count,) a row of X and one of H
    int64_t count;
};

// out[e] = ⟨X[a[e]], H[b[e]]⟩; for sparse rows fastest where equal a follow each other.
void pair_dots(const double* x, const double* h, int64_t d, const RowPairs& pairs, double* out, int threads);
void pair_dots(const SparseRows& x, const SparseRows& h, const RowPairs& pairs, double* out, int threads);

}  // namespace bvdt
