// The k nearest centres of dense points by cells; see cell_store.hpp. What was found in single precision is
// ranked again in double precision.
#pragma once

#include <cstdint>
#include <memory>

#include "cell_scores.hpp"
#include "neighbors.hpp"

namespace bvdt {

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

// Whom the points of a cell are likely to list, by estimates.
class LikelySearch {
  public:
    LikelySearch(const CellStore& cells, int64_t k);
    LikelySearch(LikelySearch&&) noexcept;
    ~LikelySearch();

    // (size of the cell, k) points, in any order, −1 after the last; until the next call.
    const int32_t* near_cell(int64_t cell, int64_t pairs);

  private:
    struct Work;
    std::unique_ptr<Work> work_;
};

}  // namespace bvdt
