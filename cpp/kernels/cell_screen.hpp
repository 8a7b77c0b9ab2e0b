// Which centres of a cell may be among a few rows' nearest: those whose divergence may be below a limit.
#pragma once

#include <cstdint>

#include "cell_tiles.hpp"

namespace bvdt {

// kRows rows; of a pair, what depends on the centre is level − ⟨x, h'⟩, and it matters if that is below the
// row's limit.
struct ScreenRows {
    const float* x[kRows];  // (d,)
    float limit[kRows];
};

// The centres of a cell in panels of 16.
struct ScreenCentres {
    const float* panels;  // (n_panels, d, 16)
    const float* level;   // (n_panels, 16)
    int64_t n_panels, d;
};

// What was found for a row: places in the cell, ascending, and level − ⟨x, h'⟩.
struct Hits {
    float* value;    // room for all centres, and 15 more
    int32_t* place;  // likewise
    int64_t count;
};

// Sets the hits of each row.
void screen(const ScreenRows& rows, const ScreenCentres& centres, Hits* hits);

}  // namespace bvdt
