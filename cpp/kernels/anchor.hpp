// Growing anchors, Eq. (7): one new anchor steals, by the lifted divergence alone, the points nearer to its
// pivot than to their own. The threshold of Eq. (23), which needs φ*, comes in as an array.
// docs/theory.md, "Anchor trees".
#pragma once

#include <cstdint>

#include "points.hpp"

namespace bvdt {

struct AnchorState {
    const double *u, *w;    // of all points
    const int32_t* points;  // those in play
    double* distance;       // of each of them to its anchor's pivot
    int32_t* owner;         // its anchor
};

struct NewAnchor {
    int64_t pivot;            // its position among the points in play
    int32_t number;           // what `owner` calls it
    const double* threshold;  // of each older anchor against it; nullptr: no pruning
};

struct Stolen {
    double farthest = 0;
    int64_t position = -1;  // of the farthest point; −1 when every point equals its pivot
    int64_t evaluations = 0;

    void offer(double distance, int64_t i) {
        if (distance > farthest) farthest = distance, position = i;
    }
    // Later positions come second, so that ties go to the lowest whatever the number of threads.
    void append(const Stolen& later) {
        offer(later.farthest, later.position);
        evaluations += later.evaluations;
    }
};

struct Segments {
    const int64_t* offsets;        // (count + 1,) into the points in play
    const int64_t* first;          // (count,) position of the first pivot within its segment
    const int64_t* pivot_offsets;  // (count + 1,) into pivots; their differences are the anchors wanted
    int64_t count;
};

// One new anchor against n points, threads over the points.
template <typename Points>
Stolen anchor_steal(const Points& points, const AnchorState& state, int64_t n, const NewAnchor& anchor,
                    int threads);

// All anchors of many small segments without pruning, threads over segments; fills `pivots`, and `grown` with
// how many each segment got. Returns the divergences evaluated.
template <typename Points>
int64_t anchor_grow(const Points& points, const AnchorState& state, const Segments& segments, int32_t* pivots,
                    int32_t* grown, int threads);

}  // namespace bvdt
