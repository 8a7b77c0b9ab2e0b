// The way of dense points down a binary tree of planes to their region; docs/beyond.md, "Two levels".
//
// A cut is a plane in lifted coordinates: a point goes to side 1 when ⟨x, Δh⟩ + ⟨h, Δx⟩ exceeds the border.
#pragma once

#include <cstdint>

#include "points.hpp"

namespace bvdt {

struct Planes {
    const double* x;       // (count, d) Δx
    const double* h;       // (count, d) Δh; the same memory as x for self-dual points
    const double* border;  // (count,)
    const int32_t* child;  // (count, 2) of either side: a later plane, or −1 − r for region r
    int64_t count;
};

// The region of every point; 0 without any plane. Every point's sums are its own, whatever else is asked.
void find_regions(const DensePoints& points, const Planes& planes, int32_t* region, int threads);

}  // namespace bvdt
