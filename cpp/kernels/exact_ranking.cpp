#include "exact_ranking.hpp"

#include <algorithm>
#include <cmath>

#include "parallel.hpp"

namespace bvdt {
namespace {

constexpr double kRounding = 1e-13;  // of u + w, by which a bound may be too large

// Offers row i the candidates from `first` on, kFour of them; false if these and all after are too far.
bool look_at(const RowsAndCentres& points, const Candidates& found, int64_t i, int64_t first, int64_t count,
             const TopList<double>& best) {
    const int64_t d = points.d;
    const int32_t* index = found.index + i * found.width;
    const double bound = found.estimate[i * found.width + first];
    const double spare = kRounding * (std::abs(points.u[i]) + std::abs(points.w[index[first]]));
    if (found.is_bound && bound > best.worst() + spare) return false;
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
    return true;
}

}  // namespace

void rank_exactly(const RowsAndCentres& points, const Candidates& found, const int32_t* order, int64_t count,
                  const NeighborLists& lists, int threads) {
    parallel_stretches(count, 64, threads, [&](int64_t from, int64_t last) {
        for (int64_t r = from; r < last; ++r) {
            const int32_t *index = found.index + order[r] * found.width, *end = index + found.width;
            const int64_t n_found = std::find(index, end, -1) - index;
            for (int64_t first = 0; first < n_found; first += kFour)
                if (!look_at(points, found, order[r], first, n_found, list_of(lists, order[r]))) break;
        }
    });
}

}  // namespace bvdt
