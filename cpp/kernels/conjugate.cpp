#include "conjugate.hpp"

#include <algorithm>
#include <vector>

#include "parallel.hpp"
#include "platform.hpp"

namespace bvdt {
namespace {

constexpr int64_t kBatch = 4096;  // rows whose sums are one term
constexpr int64_t kTile = 16;     // rows that are handled as one long one: columns may be few

// `values` (columns,) again and again, for the rows of a tile.
template <typename T>
std::vector<T> tiled(const T* values, int64_t columns) {
    std::vector<T> tile(static_cast<size_t>(kTile * columns));
    for (size_t e = 0; e < tile.size(); ++e) tile[e] = values[e % static_cast<size_t>(columns)];
    return tile;
}

template <typename T>
BVDT_INLINE void add_dots(const T* a, const T* b, int64_t count, int64_t width, double* sum) {
    for (int64_t base = 0; base < count; base += width) {
        const int64_t here = std::min(width, count - base);
        BVDT_INDEPENDENT_LOOP
        for (int64_t e = 0; e < here; ++e)
            sum[e] += static_cast<double>(a[base + e]) * static_cast<double>(b[base + e]);
    }
}

template <typename T>
BVDT_INLINE void take_step(const ConjugateStep<T>& s, int64_t count, int64_t width, double* sum) {
    for (int64_t base = 0; base < count; base += width) {
        const int64_t here = std::min(width, count - base);
        BVDT_INDEPENDENT_LOOP
        for (int64_t e = 0; e < here; ++e) {
            const T along = s.p[base + e], left = s.r[base + e] - s.step_size[e] * s.ap[base + e];
            s.f[base + e] += s.step_size[e] * along;
            s.r[base + e] = left;
            s.p[base + e] = left + s.beta[e] * along;
            sum[e] += static_cast<double>(left) * static_cast<double>(left);
        }
    }
}

// body(first value, values, tile of sums) for every batch of rows; out (columns,) = the sums of all batches.
template <typename Body>
void sum_batches(int64_t n, int64_t columns, double* out, int threads, const Body& body) {
    const int64_t n_batches = (n + kBatch - 1) / kBatch, width = kTile * columns;
    std::vector<double> sums(static_cast<size_t>(n_batches * columns), 0.0);
    parallel_for(
        n_batches, 1, threads, [&] { return std::vector<double>(static_cast<size_t>(width)); },
        [&](int64_t b, std::vector<double>& tile) {
            std::fill(tile.begin(), tile.end(), 0.0);
            body(b * kBatch * columns, (std::min((b + 1) * kBatch, n) - b * kBatch) * columns, tile.data());
            for (int64_t e = 0; e < width; ++e) sums[b * columns + e % columns] += tile[e];
        });
    std::fill_n(out, columns, 0.0);
    for (int64_t e = 0; e < n_batches * columns; ++e) out[e % columns] += sums[e];
}

}  // namespace

template <typename T>
void column_dots(const T* a, const T* b, int64_t n, int64_t columns, double* out, int threads) {
    sum_batches(n, columns, out, threads, [&](int64_t first, int64_t count, double* tile) {
        add_dots(a + first, b + first, count, kTile * columns, tile);
    });
}

template <typename T>
void conjugate_step(const ConjugateStep<T>& step, double* squares, int threads) {
    const std::vector<T> step_size = tiled(step.step_size, step.columns),
                         beta = tiled(step.beta, step.columns);
    sum_batches(step.n, step.columns, squares, threads, [&](int64_t first, int64_t count, double* tile) {
        ConjugateStep<T> batch = step;
        batch.f += first, batch.r += first, batch.p += first, batch.ap += first;
        batch.step_size = step_size.data(), batch.beta = beta.data();
        take_step(batch, count, kTile * step.columns, tile);
    });
}

#define BVDT_FOR(T)                                                                \
    template void column_dots(const T*, const T*, int64_t, int64_t, double*, int); \
    template void conjugate_step(const ConjugateStep<T>&, double*, int);
BVDT_FOR(double)
BVDT_FOR(float)
#undef BVDT_FOR

}  // namespace bvdt
