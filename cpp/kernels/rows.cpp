#include "rows.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "columns.hpp"
#include "parallel.hpp"

namespace bvdt {
namespace {

constexpr int64_t kBatch = 4096;

}  // namespace

template <typename T>
void take_rows(const T* v, const int32_t* order, T factor, int64_t n, int64_t columns, T* out, int threads) {
    parallel_stretches(n, kBatch, threads, [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) {
            if (i + kAhead < last) prefetch_ends<0>(v + order[i + kAhead] * columns, columns);
            const T* const from = v + order[i] * columns;
            for (int64_t c = 0; c < columns; ++c) out[i * columns + c] = factor * from[c];
        }
    });
}

template <typename T>
void put_rows(const T* v, const int32_t* order, const double* factor, int64_t n, int64_t columns, T* out,
              int threads) {
    parallel_stretches(n, kBatch, threads, [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) {
            if (i + kAhead < last) prefetch_ends<1>(out + order[i + kAhead] * columns, columns);
            const double by = factor ? factor[i] : 1;
            T* const to = out + order[i] * columns;
            for (int64_t c = 0; c < columns; ++c) to[c] = static_cast<T>(by * v[i * columns + c]);
        }
    });
}

template <typename T>
void cut_below_zero(T* v, int64_t count, int threads) {
    parallel_stretches(count, int64_t{1} << 15, threads, [&](int64_t first, int64_t last) {
        for (int64_t e = first; e < last; ++e) v[e] = std::max(v[e], T{0});
    });
}

template <typename T>
void blend_rows(T* step, const T* before, const T* given, const int32_t* order, double alpha, int64_t n,
                int64_t columns, StepChange& made, int threads) {
    const int64_t n_batches = (n + kBatch - 1) / kBatch;
    const T share = static_cast<T>(alpha), rest = static_cast<T>(1 - alpha);
    std::vector<double> sums(static_cast<size_t>(2 * n_batches * columns), 0.0);
    std::atomic<bool> beyond{false};
    parallel_stretches(n, kBatch, threads, [&](int64_t first, int64_t last) {
        double* const changed = sums.data() + 2 * (first / kBatch) * columns;
        double* const total = changed + columns;
        bool here = false;
        for (int64_t i = first; i < last; ++i) {
            if (order && i + kAhead < last) prefetch_ends<0>(given + order[i + kAhead] * columns, columns);
            const T* const from = given + (order ? order[i] : i) * columns;
            for (int64_t c = 0; c < columns; ++c) {
                const int64_t e = i * columns + c;
                const T value = share * step[e] + rest * from[c];
                const double change = std::abs(value - before[e]), size = std::abs(value);
                step[e] = value;
                changed[c] += change, total[c] += size;
                here |= (change > made.tol) & (change > made.rounding * size);
            }
        }
        if (here) beyond.store(true, std::memory_order_relaxed);
    });
    std::fill_n(made.change, columns, 0.0), std::fill_n(made.size, columns, 0.0);
    for (int64_t b = 0; b < n_batches; ++b)
        for (int64_t c = 0; c < columns; ++c) {
            made.change[c] += sums[2 * b * columns + c];
            made.size[c] += sums[(2 * b + 1) * columns + c];
        }
    made.beyond = beyond.load();
}

#define BVDT_FOR(T)                                                                                         \
    template void take_rows(const T*, const int32_t*, T, int64_t, int64_t, T*, int);                        \
    template void put_rows(const T*, const int32_t*, const double*, int64_t, int64_t, T*, int);             \
    template void cut_below_zero(T*, int64_t, int);                                                         \
    template void blend_rows(T*, const T*, const T*, const int32_t*, double, int64_t, int64_t, StepChange&, \
                             int);
BVDT_FOR(double)
BVDT_FOR(float)
#undef BVDT_FOR

}  // namespace bvdt
