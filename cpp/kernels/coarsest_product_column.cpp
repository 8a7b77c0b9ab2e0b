// One column by buckets, bound by memory; see coarsest_product.hpp.
#include <algorithm>
#include <memory>

#include "coarsest_product.hpp"
#include "parallel.hpp"
#include "sweep.hpp"

namespace bvdt {
namespace {

// Calls visit(point, place) for the points of range r; `next` is scratch.
template <typename Visit>
void deal(const Buckets& b, int64_t r, int64_t n_points, std::vector<int32_t>& next, const Visit& visit) {
    next.assign(b.start.begin() + r * b.n_buckets, b.start.begin() + (r + 1) * b.n_buckets);
    const uint16_t* of_point = b.of_point.data();
    const int64_t last = std::min((r + 1) * b.range, n_points);
    for (int64_t i = r * b.range; i < last; ++i) visit(i, next[of_point[i]]++);
}

// The subtrees of bucket b, in place; sums[c] becomes the sum of subtree c.
void sweep_bucket(const ProductShape& p, const double* weight, const Buckets& buckets, int64_t b,
                  double* dealt, double* scratch, double* sums, Side side) {
    double* const bucket = dealt + p.first_leaf[buckets.first_subtree[b]];
    for (int64_t c = buckets.first_subtree[b]; c < buckets.first_subtree[b + 1]; ++c) {
        const int64_t n = p.leaves(c), row = 2 * p.first_row(c);
        const uint16_t* slot = buckets.slot.data() + p.first_leaf[c];
        double* leaves = scratch + (n - 1);
        for (int64_t j = 0; j < n; ++j) leaves[j] = bucket[slot[j]];
        sweep(scratch, p.child.data() + row, weight + row, n - 1, OneColumn{}, sums + c, side);
        for (int64_t j = 0; j < n; ++j) bucket[slot[j]] = leaves[j];
    }
}

}  // namespace

template <typename T>
void CoarsestProduct::multiply_column(const T* v, T* out, Side side, int threads) const {
    const ProductShape& p = *shape_;
    const Buckets& b = buckets();
    const int64_t n_top = p.n_subtrees - 1;
    std::vector<double> top(static_cast<size_t>(p.n_subtrees + n_top));
    double* const above = top.data() + n_top;  // per subtree: first its sum, then what comes down to it
    const std::unique_ptr<double[]> dealt(new double[static_cast<size_t>(p.n_points)]);
    const auto next = [] { return std::vector<int32_t>(); };
    parallel_for(b.n_ranges, 1, threads, next, [&](int64_t r, std::vector<int32_t>& scratch) {
        deal(b, r, p.n_points, scratch, [&](int64_t i, int32_t place) { dealt[place] = v[i]; });
    });
    parallel_for(
        b.n_buckets, 1, threads, [&] { return std::vector<double>(static_cast<size_t>(2 * p.largest)); },
        [&](int64_t bucket, std::vector<double>& scratch) {
            sweep_bucket(p, weights(), b, bucket, dealt.get(), scratch.data(), above, side);
        });
    double total = 0;
    sweep(top.data(), p.top_child.data(), top_weights(), n_top, OneColumn{}, &total, side);
    parallel_for(b.n_ranges, 1, threads, next, [&](int64_t r, std::vector<int32_t>& scratch) {
        deal(b, r, p.n_points, scratch,
             [&](int64_t i, int32_t place) { out[i] = static_cast<T>(dealt[place] + above[p.subtree[i]]); });
    });
}

template void CoarsestProduct::multiply_column(const double*, double*, Side, int) const;
template void CoarsestProduct::multiply_column(const float*, float*, Side, int) const;

}  // namespace bvdt
