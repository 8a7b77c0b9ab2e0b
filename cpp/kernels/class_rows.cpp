#include "class_rows.hpp"

#include <algorithm>
#include <vector>

#include "parallel.hpp"

namespace bvdt {
namespace {

constexpr int64_t kBatch = 4096;

}  // namespace

void count_classes(const double* scores, const double* divisor, int64_t n, int64_t k, int64_t* count,
                   int threads) {
    const int64_t n_batches = (n + kBatch - 1) / kBatch;
    std::vector<int64_t> counts(static_cast<size_t>(n_batches * k), 0);
    parallel_stretches(n, kBatch, threads, [&](int64_t first, int64_t last) {
        int64_t* const here = counts.data() + first / kBatch * k;
        for (int64_t i = first; i < last; ++i) {
            const double* const row = scores + i * k;
            bool reached = false;
            int64_t best = 0;
            for (int64_t c = 0; c < k; ++c) {
                reached |= row[c] != 0;
                if (row[c] / divisor[c] > row[best] / divisor[best]) best = c;
            }
            here[best] += reached;
        }
    });
    std::fill_n(count, k, 0);
    for (int64_t e = 0; e < n_batches * k; ++e) count[e % k] += counts[e];
}

void distribute_rows(double* scores, const double* divisor, const double* prior, int64_t n, int64_t k,
                     int32_t* best, int threads) {
    parallel_stretches(n, kBatch, threads, [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) {
            double* const row = scores + i * k;
            double peak = 0, sum = 0;
            for (int64_t c = 0; c < k; ++c) row[c] /= divisor[c], peak = std::max(peak, row[c]);
            // First to a peak of 1: sums of tiny scores may underflow.
            for (int64_t c = 0; c < k; ++c) sum += row[c] = peak > 0 ? row[c] / peak : prior[c];
            for (int64_t c = 0; c < k; ++c) row[c] /= sum;
            best[i] = static_cast<int32_t>(std::max_element(row, row + k) - row);
        }
    });
}

}  // namespace bvdt
