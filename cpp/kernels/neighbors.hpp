// The k nearest centres of every point, approximately (docs/theory.md, "Near and far field"): the best of the
// chunks that hold the point, then, for sparse points, the best among the neighbours of its neighbours. Large
// dense data: cell_search.hpp.
//
// Lists are (N, k), each row ascending by (divergence, index) and filled up with index −1, divergence +∞.
#pragma once

#include <cstdint>

#include "points.hpp"

namespace bvdt {

struct Levels {
    const double *u, *w;  // (N,) of d_ij = u_i + w_j − ⟨x_i, h_j⟩
};

struct NeighborLists {
    int32_t* index;      // (N, k)
    double* divergence;  // (N, k)
    int64_t k;
};

struct PointChunks {
    const int32_t* order;   // points, each once at most
    const int64_t* bounds;  // (count + 1,) chunk c is order[bounds[c] : bounds[c + 1]]
    int64_t count;
};

// Offers every point all others of its chunk.
template <typename Points>
void chunk_neighbors(const Points& points, const Levels& levels, const PointChunks& chunks,
                     const NeighborLists& lists, int threads);

// Offers every point those that the points in its list list. What is listed (N, n_listed) is a copy, so the
// order of work does not matter.
void join_neighbors(const SparsePoints& points, const Levels& levels, const int32_t* listed, int64_t n_listed,
                    const NeighborLists& lists, int threads);

}  // namespace bvdt
