#include "distance_tile.hpp"

#include <algorithm>

namespace bvdt {
namespace {

// Of 16 values those below the limit, one after the other. As a rule one or two are, at unforeseeable places:
// so all are written, and the next ones over those that are not.
BVDT_INLINE void take_below(const float* value, float limit, int32_t first, Hits& hits) {
    for (int32_t lane = 0; lane < kLanes; ++lane) {
        hits.value[hits.count] = value[lane], hits.place[hits.count] = first + lane;
        hits.count += value[lane] < limit;
    }
}

}  // namespace

void screen(const TileRows& rows, const Panels& panels, Hits* hits) {
    using Part = Lanes<float>;
    for (int64_t r = 0; r < kRows; ++r) hits[r].count = 0;
    for (int64_t b = 0; b < panels.n_panels; ++b) {
        Part rest[kRows];
        multiply(rows.x, panels.values + b * panels.d * kLanes, panels.d, rest);
        const Part level = Part::at(panels.level + b * kLanes);
        Signs<float> below;
        for (int64_t r = 0; r < kRows; ++r) rest[r] = level - rest[r], below.add(rest[r] - rows.limit[r]);
        if (!below.any()) continue;
        for (int64_t r = 0; r < kRows; ++r) {
            Signs<float> here;
            here.add(rest[r] - rows.limit[r]);
            if (!here.any()) continue;
            float value[kLanes];
            Part::at(value) = rest[r];
            take_below(value, rows.limit[r], static_cast<int32_t>(b * kLanes), hits[r]);
        }
    }
}

void multiply_all(const float* x, int64_t n_rows, int64_t d, const float* values, int64_t n_panels,
                  float* out) {
    using Part = Lanes<float>;
    for (int64_t first = 0; first < n_rows; first += kRows) {
        const float* tile[kRows];
        for (int64_t r = 0; r < kRows; ++r) tile[r] = x + std::min(first + r, n_rows - 1) * d;
        for (int64_t b = 0; b < n_panels; ++b) {
            Part products[kRows];
            multiply(tile, values + b * d * kLanes, d, products);
            for (int64_t r = 0; r < std::min(kRows, n_rows - first); ++r)
                Part::at(out + ((first + r) * n_panels + b) * kLanes) = products[r];
        }
    }
}

}  // namespace bvdt
