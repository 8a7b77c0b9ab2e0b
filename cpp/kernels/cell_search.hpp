// The k nearest centres of dense points by cells; see cell_store.hpp. What was found in single precision is
// ranked again in double precision.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cell_store.hpp"
#include "neighbors.hpp"

namespace bvdt {

// Points that lists are sought for: those of the cells, or others that were lifted alike.
struct CellRows {
    DensePoints points;
    const double* u;     // (n,)
    const int32_t* own;  // (n,) the centre that a row is, which its list leaves out, or −1; null: row i is i

    // d_ij of row i and a centre in double precision; not a number where it overflows.
    double divergence(int64_t i, const CellStore& cells, int64_t j) const {
        const int64_t d = points.d;
        const double inner = dot<Order::kAsStored>(points.x + i * d, cells.points.h + j * d, d);
        return std::max(u[i] + cells.w[j] - inner, 0.0);
    }
    // The same of kAtOnce centres: a sum waits for its own last term, not for those of the others.
    void divergences(int64_t i, const CellStore& cells, const int32_t* centre, double* out) const;
};

// Rows that are ranked together: group g is order[bounds[g] : bounds[g + 1]], near to cell home[g].
struct RowGroups {
    const int32_t* order;
    const int64_t* bounds;  // (count + 1,)
    const int32_t* home;    // (count,)
    int64_t count;
};

struct CellRange {
    int64_t first, last;  // cells first … last − 1, whose points' lists are written
};

// `pairs` is how many centres, at least, a row is compared with, if there are as many; pairs > k.
void search_cells(const CellStore& cells, const CellRows& rows, const RowGroups& groups, int64_t pairs,
                  const NeighborLists& lists, int threads);

// The same for the cells' own points.
void search_cells(const CellStore& cells, const CellRange& range, int64_t pairs, const NeighborLists& lists,
                  int threads);

}  // namespace bvdt
