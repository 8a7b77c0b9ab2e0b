// One tile of the neighbor search: products of kRows rows with panels of 16 points, in registers and single
// precision, and which of these points are below each row's limit.
#pragma once

#include <cstdint>

#include "lanes.hpp"

namespace bvdt {

constexpr int64_t kRows = 6;  // with 16 lanes their sums fill an AVX2 CPU's registers

inline int64_t panels_for(int64_t count) { return (count + kLanes - 1) / kLanes; }

// products[r] = ⟨x_r, panel⟩
BVDT_INLINE void multiply(const float* const* x, const float* panel, int64_t d, Lanes<float>* products) {
    Lanes<float> sum[kRows] = {};
    for (int64_t j = 0; j < d; ++j) {
        const auto& h = Lanes<float>::at(panel + j * kLanes);
        for (int64_t r = 0; r < kRows; ++r) sum[r] += x[r][j] * h;
    }
    for (int64_t r = 0; r < kRows; ++r) products[r] = sum[r];
}

// Points side by side: panel b holds the coordinates of points 16b … 16b + 15 as (d, 16).
struct Panels {
    const float* values;  // (n_panels, d, 16)
    const float* level;   // (n_panels, 16)
    int64_t n_panels, d;

    int64_t room() const { return (n_panels + 1) * kLanes; }  // that a row's hits need
};

// kRows rows; a pair's estimate is level − ⟨x, h⟩, and it is a hit below the row's limit.
struct TileRows {
    const float* x[kRows];  // (d,)
    float limit[kRows];
};

// A row's hits: estimates, and places in the panels, ascending.
struct Hits {
    float* value;    // (room,)
    int32_t* place;  // (room,)
    int64_t count;
};

// Sets the hits of each row.
void screen(const TileRows& rows, const Panels& panels, Hits* hits);

// out (n_rows, n_panels, 16): ⟨x, h⟩ of all rows with all panels.
void multiply_all(const float* x, int64_t n_rows, int64_t d, const float* values, int64_t n_panels,
                  float* out);

// out = scale·(row − mean)
inline void center_row(const double* row, const double* mean, double scale, int64_t d, float* out) {
    BVDT_INDEPENDENT_LOOP
    for (int64_t j = 0; j < d; ++j) out[j] = static_cast<float>(scale * (row[j] - mean[j]));
}

}  // namespace bvdt
