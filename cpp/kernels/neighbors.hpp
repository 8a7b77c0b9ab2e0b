// The k nearest centres of every point, approximately (docs/theory.md, "Neighbour search"): the best of the
// chunks that hold the point. Large dense data: cell_search.hpp; neighbours of neighbours: joins.hpp.
//
// Lists are (N, k), each row ascending by (divergence, index) and filled up with index −1, divergence +∞.
#pragma once

#include <cstdint>

#include "points.hpp"
#include "top_list.hpp"

namespace bvdt {

struct Levels {
    const double *u, *w;  // (N,) of d_ij = u_i + w_j − ⟨x_i, h_j⟩
};

struct NeighborLists {
    int32_t* index;      // (N, k)
    double* divergence;  // (N, k)
    int64_t k;
};

inline TopList<double> list_of(const NeighborLists& lists, int64_t i) {
    return {lists.divergence + i * lists.k, lists.index + i * lists.k, lists.k};
}

struct PointChunks {
    const int32_t* order;   // points, each once at most
    const int64_t* bounds;  // (count + 1,) chunk c is order[bounds[c] : bounds[c + 1]]
    int64_t count;
};

// Offers every point all others of its chunk.
void chunk_neighbors(const DensePoints& points, const Levels& levels, const PointChunks& chunks,
                     const NeighborLists& lists, int threads);
void chunk_neighbors(const SparsePoints& points, const Levels& levels, const PointChunks& chunks,
                     const NeighborLists& lists, int threads);

// Whether centre j comes before a list's last; equal divergences go by index.
inline bool comes_before_last(const TopList<double>& list, int32_t j, double d) {
    const int32_t last = list.index[list.k - 1];
    return d < list.worst() || (d == list.worst() && (j < last || last < 0));
}

// Puts centre j into a list if it belongs there.
inline void offer(const TopList<double>& list, int32_t j, double d) {
    if (comes_before_last(list, j, d) && !list.holds(j)) list.insert(j, d);
}

}  // namespace bvdt
