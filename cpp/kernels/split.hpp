// Top-down Bregman 2-means in the lifted form: cuts points into chunks small enough to agglomerate.
// docs/theory.md, "Ward trees".
//
// With centres (x̄, h̄), point i belongs to the side with the smaller ⟨x_i − x̄, h_i − h̄⟩. The difference of the
// two is linear in the point: p_i = ⟨x_i, Δh⟩ + ⟨h_i, Δx⟩ with Δ = centre₁ − centre₀, and the border lies
// midway between the sides' mean projections. So d pairs of numbers hold a split.
#pragma once

#include <cstdint>
#include <vector>

#include "points.hpp"

namespace bvdt {

struct SplitSegments {
    const double* weight;   // (N,) of each point
    int32_t* order;         // (N,) changed: both halves of a segment stay in their old order
    const int64_t* bounds;  // (count + 1,) segment s is order[bounds[s] : bounds[s + 1]]
    int64_t count;
};

struct SplitOptions {
    int64_t cap;           // segments of at most so many points stay whole; at least 1
    double smallest_side;  // share of a segment that may be split off, 0 … 0.5
    uint64_t seed;
};

// One level: every segment of more than `cap` points is cut in two. Returns the new bounds.
template <typename Points>
std::vector<int64_t> split_level(const Points& points, const SplitSegments& segments,
                                 const SplitOptions& options, int threads);

}  // namespace bvdt
