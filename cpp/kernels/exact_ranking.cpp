#include "exact_ranking.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "parallel.hpp"

namespace bvdt {
namespace {

constexpr double kRounding = 1e-13;  // of u + w, by which a bound may be too large

}  // namespace

void rank_row(const RowsAndCentres& points, int64_t i, const int32_t* index, const double* estimate,
              int64_t count, bool is_bound, const TopList<double>& best) {
    const int64_t d = points.d;
    std::fill_n(best.index, best.k, -1);
    std::fill_n(best.value, best.k, std::numeric_limits<double>::infinity());
    for (int64_t first = 0; first < count; first += kFour) {
        const double spare = kRounding * (std::abs(points.u[i]) + std::abs(points.w[index[first]]));
        if (is_bound && estimate[first] > best.worst() + spare) return;  // so are all after
        const double* h[kFour];
        double inner[kFour];
        const int64_t here = std::min(kFour, count - first);
        for (int64_t c = 0; c < kFour; ++c) h[c] = points.h + index[first + std::min(c, here - 1)] * d;
        for (int64_t s = first + kFour; s < std::min(first + 2 * kFour, count); ++s)
            prefetch_row(points.h + index[s] * d, d);
        four_products(points.x + i * d, h, d, inner);
        for (int64_t c = 0; c < here; ++c) {
            const int32_t j = index[first + c];
            const double divergence = std::max(points.u[i] + points.w[j] - inner[c], 0.0);
            if (comes_before_last(best, j, divergence)) best.insert(j, divergence);
        }
    }
}

void rank_exactly(const RowsAndCentres& points, const Candidates& found, const int32_t* order, int64_t count,
                  const NeighborLists& lists, int threads) {
    parallel_stretches(count, 64, threads, [&](int64_t from, int64_t last) {
        for (int64_t r = from; r < last; ++r) {
            const int64_t i = order[r];
            const int32_t *index = found.index + i * found.width, *end = index + found.width;
            rank_row(points, i, index, found.estimate + i * found.width, std::find(index, end, -1) - index,
                     found.is_bound, list_of(lists, i));
        }
    });
}

}  // namespace bvdt
