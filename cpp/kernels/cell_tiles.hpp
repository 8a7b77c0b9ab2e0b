// Tiles of kRows rows and 16 lanes of centres, multiplied in registers.
#pragma once

#include <cstdint>

#include "lanes.hpp"

namespace bvdt {

constexpr int64_t kRows = 6;  // compared at once; with 16 lanes their sums fill an AVX2 CPU's registers

// products[r] = ⟨x_r, panel⟩ for kRows rows and 16 centres.
BVDT_INLINE void multiply(const float* const* x, const float* panel, int64_t d, Lanes<float>* products) {
    Lanes<float> sum[kRows] = {};
    for (int64_t j = 0; j < d; ++j) {
        const auto& h = Lanes<float>::at(panel + j * kLanes);
        for (int64_t r = 0; r < kRows; ++r) sum[r] += x[r][j] * h;
    }
    for (int64_t r = 0; r < kRows; ++r) products[r] = sum[r];
}

}  // namespace bvdt
