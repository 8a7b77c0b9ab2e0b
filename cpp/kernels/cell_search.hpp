// The k nearest centres of dense points by cells; see cell_store.hpp. What was found in single precision is
// ranked again in double precision.
#pragma once

#include <cstdint>

#include "cell_store.hpp"
#include "neighbors.hpp"

namespace bvdt {

struct CellRange {
    int64_t first, last;  // cells first … last − 1, whose points' lists are written
};

// `pairs` is how many centres, at least, a point is compared with, if there are as many; pairs > k.
void search_cells(const CellStore& cells, const CellRange& range, int64_t pairs, const NeighborLists& lists,
                  int threads);

}  // namespace bvdt
