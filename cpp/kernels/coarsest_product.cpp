#include "coarsest_product.hpp"

#include <algorithm>

#include "parallel.hpp"
#include "sweep.hpp"

namespace bvdt {
namespace {

// out[i] += above[subtree of point i], streaming.
template <typename T>
BVDT_NOINLINE void add_above(const double* above, const int32_t* subtree, int64_t first, int64_t last,
                             Columns<T> out) {
    for (int64_t i = first; i < last; ++i) {
        T* to = out.row(i);
        const double* from = above + subtree[i] * out.k;
        for (int64_t c = 0; c < out.k; ++c) to[c] = static_cast<T>(to[c] + from[c]);
    }
}

}  // namespace

template <typename T>
void CoarsestProduct::multiply_columns(const Columns<const T>& v, const Columns<T>& out, Side side,
                                       int threads) const {
    const ProductShape& p = *shape_;
    const int64_t k = v.k, n_top = p.n_subtrees - 1;
    std::vector<double> top(static_cast<size_t>((p.n_subtrees + n_top) * k)), total(static_cast<size_t>(k));
    double* const above = top.data() + n_top * k;  // per subtree: first its sum, then what comes down to it
    parallel_for(
        p.n_subtrees, 16, threads,
        [&] { return std::vector<double>(static_cast<size_t>(2 * p.largest * k)); },
        [&](int64_t c, std::vector<double>& scratch) {
            const int64_t n = p.leaves(c);
            const int32_t* order = p.order.data() + p.first_leaf[c];
            double* leaves = scratch.data() + (n - 1) * k;
            gather(v, order, n, leaves);
            sweep(scratch.data(), p.child.data() + 2 * p.first_row(c), weights() + 2 * p.first_row(c), n - 1,
                  k, above + c * k, side);
            scatter(leaves, order, n, out);
        });
    if (n_top == 0) return;
    sweep(top.data(), p.top_child.data(), top_weights(), n_top, k, total.data(), side);
    parallel_stretches(p.n_points, 4096, threads, [&](int64_t first, int64_t last) {
        add_above(above, p.subtree.data(), first, last, out);
    });
}

template <typename T>
void CoarsestProduct::apply(const T* v, T* out, int64_t columns, bool transpose, int threads) const {
    if (columns == 1) return multiply_column(v, out, side(transpose), threads);
    in_column_batches(v, out, columns, [&](const Columns<const T>& from, const Columns<T>& to) {
        multiply_columns(from, to, side(transpose), threads);
    });
}

template void CoarsestProduct::apply(const double*, double*, int64_t, bool, int) const;
template void CoarsestProduct::apply(const float*, float*, int64_t, bool, int) const;

}  // namespace bvdt
