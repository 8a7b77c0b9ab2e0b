// Which centres of a cell may be among a few rows' nearest: those whose divergence may be below a limit.
#pragma once

#include <cstdint>

#include "cell_bytes.hpp"
#include "cell_tiles.hpp"

namespace bvdt {

// kRows rows; of a pair, what depends on the centre is level − ⟨x, h'⟩, and it matters if that is below the
// row's limit.
struct ScreenRows {
    const float* x[kRows];       // (d,)
    const int32_t* quad[kRows];  // (quads,) as ByteRows has them
    float scale[kRows];          // of a product of whole numbers
    int32_t zero[kRows];         // −128·Σq
    float limit[kRows];
};

// The centres of a cell in panels of 16.
struct ScreenCentres {
    const float* panels;   // (n_panels, d, 16), or
    const uint8_t* bytes;  // (n_panels, quads, 16, 4), the other null
    const float* level;    // (n_panels, 16)
    int64_t n_panels, d;
};

// What was found for a row: places in the cell, ascending, and level − ⟨x, h'⟩.
struct Hits {
    float* value;    // room for all centres, and 15 more
    int32_t* place;  // likewise
    int64_t count;
};

// Sets the hits of each row, by bytes if there are any; then a value may err as cell_bytes.hpp says.
void screen(const ScreenRows& rows, const ScreenCentres& centres, Hits* hits);

// out = level + ⟨x, h'⟩ of one row and all centres in bytes, (n_panels, 16), with the centres' step.
void add_products(const FineRow& x, float step, const ScreenCentres& centres, float* out);

}  // namespace bvdt
