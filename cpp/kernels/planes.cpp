#include "planes.hpp"

#include <algorithm>

#include "parallel.hpp"

namespace bvdt {
namespace {

constexpr int64_t kBatch = 64;  // points that go down together, so that none waits for its own last sum

// One batch, level by level; `at` is scratch of the points that are still on their way.
void descend(const DensePoints& points, const Planes& planes, int64_t first, int64_t count, int32_t* region) {
    const int64_t d = points.d;
    const bool self_dual = points.x == points.h && planes.x == planes.h;
    int32_t going[kBatch], node[kBatch] = {};
    for (int64_t s = 0; s < count; ++s) going[s] = static_cast<int32_t>(s);
    while (count > 0) {
        int64_t left = 0;
        for (int64_t s = 0; s < count; ++s) {
            const int64_t i = first + going[s], p = node[s];
            const double from_x = dot<Order::kEightSums>(points.x + i * d, planes.h + p * d, d);
            const double from_h =
                self_dual ? from_x : dot<Order::kEightSums>(points.h + i * d, planes.x + p * d, d);
            const int32_t next = planes.child[2 * p + (from_x + from_h > planes.border[p])];
            if (next < 0) {
                region[i] = -1 - next;
                continue;
            }
            going[left] = going[s], node[left] = next;
            ++left;
        }
        count = left;
    }
}

}  // namespace

void find_regions(const DensePoints& points, const Planes& planes, int32_t* region, int threads) {
    if (planes.count == 0) {
        std::fill_n(region, points.n, 0);
        return;
    }
    parallel_stretches(points.n, 4096, threads, [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; i += kBatch)
            descend(points, planes, i, std::min(kBatch, last - i), region);
    });
}

}  // namespace bvdt
