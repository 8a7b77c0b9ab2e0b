// Neighbours of neighbours of sparse points: what lists of near centres tell about each other (steps of
// NN-descent, Dong et al. 2011). docs/theory.md, "Neighbour search on sparse data". Dense points:
// cell_joins.hpp.
//
// A point's links are its list's centres and those points, at most as many, whose lists hold it, nearest
// first. A pass offers every point the links of its links. A link is fresh if the pass before did not have
// it: a way over two links that are both old was taken then, and is not taken again.
#pragma once

#include <cstdint>
#include <vector>

#include "neighbors.hpp"
#include "points.hpp"

namespace bvdt {

struct ListLinks {
    std::vector<int32_t> to;     // (N, width), −1 after a point's last
    std::vector<uint8_t> fresh;  // (N, width)
    int64_t width = 0;
};

// The links of lists (N, k); `before` (N, k) are the lists that the last pass took its links from, or null.
ListLinks links_of(const int32_t* listed, const int32_t* before, int64_t n, int64_t k, int threads,
                   bool both_ways = true);

// Offers every point of `visited` the links of its links. Points near to each other are best visited one
// after the other: what they read is then still in the cache. The order does not change the lists.
void join_links(const SparsePoints& points, const Levels& levels, const ListLinks& links,
                const int32_t* visited, int64_t n_visited, const NeighborLists& lists, int threads);

}  // namespace bvdt
