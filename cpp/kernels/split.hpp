// Top-down Bregman 2-means (two_means.hpp): cuts points into chunks small enough to agglomerate.
// docs/beyond.md, "Ward trees".
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
    int64_t cap;                  // segments of at most so many points stay whole; at least 1
    const double* smallest_side;  // (levels,) share of a segment that may be split off, 0 … 0.5
    const int64_t* seed;          // (levels,)
    int64_t levels;               // at most
};

struct SplitBounds {
    std::vector<int64_t> bounds;
    int64_t levels;  // that were needed
};

// Cuts every segment of more than `cap` points in two, and their halves at the next level, until none is left
// or the levels are at their end.
template <typename Points>
SplitBounds split_levels(const Points& points, const SplitSegments& segments, const SplitOptions& options,
                         int threads);

}  // namespace bvdt
