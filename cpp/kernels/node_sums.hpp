// Sums of one value per point up the tree, and of one value per node down to the leaves.
//
// Only numbers of the same sum are ever added, none is taken away again: the rounding error of a sum is at
// most the tree's depth times that of one addition of its own terms, in plain double precision.
#pragma once

#include <cstdint>

namespace bvdt {

// out[A] = Σ values[i] over the points of node A: U(A) and W(B) of docs/theory.md, "Block sums".
void node_sums(const double* values,  // (N,)
               const int32_t* size,   // (2N − 1,)
               const int32_t* order,  // (N,)
               int64_t n_nodes,       // 2N − 1
               double* out,           // (2N − 1,)
               int threads);

// out[i] = Σ values[A] over the nodes from the root to the leaf of point i.
void path_sums(const double* values,  // (2N − 1,)
               const int32_t* size,   // (2N − 1,)
               const int32_t* order,  // (N,)
               int64_t n_nodes,       // 2N − 1
               double* out,           // (N,)
               int threads);

}  // namespace bvdt
