#include "exact_ranking.hpp"

#include <algorithm>
#include <cmath>

#include "lanes.hpp"
#include "parallel.hpp"

namespace bvdt {
namespace {

constexpr int64_t kTogether = 4;  // products that share the reads of their row
constexpr int64_t kSums = 8;
constexpr double kRounding = 1e-13;  // of u + w, by which a bound may be too large

// Eight running sums, added up in one fixed order: the same on every CPU.
template <int Width>
BVDT_INLINE double total(const Lanes<double, Width>& sums) {
    double t[kSums];
    Lanes<double, Width>::at(t) = sums;
    return ((t[0] + t[4]) + (t[2] + t[6])) + ((t[1] + t[5]) + (t[3] + t[7]));
}

// out[c] = ⟨x, h_c⟩
template <int Width>
BVDT_INLINE void products_lanes(const double* x, const double* const* h, int64_t d, double* out) {
    using Part = Lanes<double, Width>;
    Part sum[kTogether] = {};
    int64_t j = 0;
    for (; j + kSums <= d; j += kSums)
        for (int64_t c = 0; c < kTogether; ++c) sum[c] += Part::at(x + j) * Part::at(h[c] + j);
    for (int64_t c = 0; c < kTogether; ++c) {
        double rest = 0;
        for (int64_t i = j; i < d; ++i) rest += x[i] * h[c][i];
        out[c] = total(sum[c]) + rest;
    }
}
BVDT_EACH_WIDTH(products, (const double* x, const double* const* h, int64_t d, double* out), (x, h, d, out))

// Offers row i the candidates from `first` on, kTogether of them; false if these and all after are too far.
bool look_at(const RowsAndCentres& points, const Candidates& found, int64_t i, int64_t first, int64_t count,
             const TopList<double>& best) {
    const int64_t d = points.d;
    const int32_t* index = found.index + i * found.width;
    const double bound = found.estimate[i * found.width + first];
    const double spare = kRounding * (std::abs(points.u[i]) + std::abs(points.w[index[first]]));
    if (found.is_bound && bound > best.worst() + spare) return false;
    const double* h[kTogether];
    double inner[kTogether];
    const int64_t here = std::min(kTogether, count - first);
    for (int64_t c = 0; c < kTogether; ++c) h[c] = points.h + index[first + std::min(c, here - 1)] * d;
    for (int64_t s = first + kTogether; s < std::min(first + 2 * kTogether, count); ++s)
        prefetch_row(points.h + index[s] * d, d);
    products(points.x + i * d, h, d, inner);
    for (int64_t c = 0; c < here; ++c) {
        const int32_t j = index[first + c];
        const double divergence = std::max(points.u[i] + points.w[j] - inner[c], 0.0);
        if (comes_before_last(best, j, divergence)) best.insert<Ties::kByIndex>(j, divergence);
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
            for (int64_t first = 0; first < n_found; first += kTogether)
                if (!look_at(points, found, order[r], first, n_found, list_of(lists, order[r]))) break;
        }
    });
}

}  // namespace bvdt
