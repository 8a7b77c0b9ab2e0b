// Lists found by an estimate, ranked again by the divergence itself, in double precision.
#pragma once

#include <cstdint>

#include "neighbors.hpp"

namespace bvdt {

// What was found for each row: candidates that ascend by an estimate, −1 after the last.
struct Candidates {
    const int32_t* index;    // (n, width)
    const double* estimate;  // (n, width)
    int64_t width;
    bool is_bound;  // whether no divergence is below its estimate: then the far ones are left out unseen
};

// Rows with x and u, centres with h and w.
struct RowsAndCentres {
    const double *x, *h;  // (n, d), (N, d)
    const double *u, *w;  // (n,), (N,)
    int64_t d;
};

// Writes the k best of one row's candidates, all that are not −1, ascending by their estimates.
void rank_row(const RowsAndCentres& points, int64_t i, const int32_t* index, const double* estimate,
              int64_t count, bool is_bound, const TopList<double>& best);

// Writes the k best of the rows order[0 … count − 1], which need few reads where rows that stand side by side
// in `order` have the same candidates.
void rank_exactly(const RowsAndCentres& points, const Candidates& found, const int32_t* order, int64_t count,
                  const NeighborLists& lists, int threads);

}  // namespace bvdt
