// The product in single precision, for polynomials that need no more: half the numbers to move, and columns
// in whole registers.
#include <algorithm>
#include <type_traits>

#include "coarsest_product.hpp"
#include "parallel.hpp"
#include "sweep.hpp"

namespace bvdt {
namespace {

template <int64_t Count>
using Known = std::integral_constant<int64_t, Count>;

// Rows of a matrix `stride` numbers apart, of which `Count` columns are multiplied.
struct Rows {
    const float *v, *diagonal;
    float* out;
    int64_t stride;
};

template <int64_t Count>
BVDT_INLINE void subtree_lanes(const Rows& rows, const int32_t* order, const uint16_t* child, const double* w,
                               int64_t n, float* scratch, float* sum, Side side) {
    float* const leaves = scratch + (n - 1) * Count;
    for (int64_t j = 0; j < n; ++j) {
        const float *const from = rows.v + order[j] * rows.stride, by = rows.diagonal[order[j]];
        BVDT_SHORT_LOOP
        for (int64_t c = 0; c < Count; ++c) leaves[j * Count + c] = by * from[c];
    }
    sweep(scratch, child, w, n - 1, Known<Count>{}, sum, side);
    for (int64_t j = 0; j < n; ++j) {
        float* const to = rows.out + order[j] * rows.stride;
        BVDT_SHORT_LOOP
        for (int64_t c = 0; c < Count; ++c) to[c] = leaves[j * Count + c];
    }
}

template <int64_t Count>
BVDT_INLINE void add_lanes(const float* above, const int32_t* subtree, const Rows& rows, int64_t first,
                           int64_t last) {
    for (int64_t i = first; i < last; ++i) {
        float* const to = rows.out + i * rows.stride;
        const float* const from = above + subtree[i] * Count;
        BVDT_SHORT_LOOP
        for (int64_t c = 0; c < Count; ++c) to[c] += from[c];
    }
}

void sweep_subtree(const Rows& rows, int64_t count, const int32_t* order, const uint16_t* child,
                   const double* w, int64_t n, float* scratch, float* sum, Side side) {
    switch (count) {
        case 8:
            return subtree_lanes<8>(rows, order, child, w, n, scratch, sum, side);
        case 16:
            return subtree_lanes<16>(rows, order, child, w, n, scratch, sum, side);
        case 24:
            return subtree_lanes<24>(rows, order, child, w, n, scratch, sum, side);
        case 32:
            return subtree_lanes<32>(rows, order, child, w, n, scratch, sum, side);
    }
}

void add_above(const float* above, const int32_t* subtree, const Rows& rows, int64_t count, int64_t first,
               int64_t last) {
    switch (count) {
        case 8:
            return add_lanes<8>(above, subtree, rows, first, last);
        case 16:
            return add_lanes<16>(above, subtree, rows, first, last);
        case 24:
            return add_lanes<24>(above, subtree, rows, first, last);
        case 32:
            return add_lanes<32>(above, subtree, rows, first, last);
    }
}

}  // namespace

void CoarsestProduct::apply_single(const float* v, const float* diagonal, float* out, int64_t columns,
                                   int threads) const {
    const ProductShape& p = *shape_;
    const int64_t n_top = p.n_subtrees - 1;
    const Side side = this->side(false);
    for (int64_t j = 0; j < columns; j += kColumns) {
        const int64_t k = std::min(kColumns, columns - j);
        const Rows rows{v + j, diagonal, out + j, columns};
        std::vector<float> top(static_cast<size_t>((p.n_subtrees + n_top) * k)),
            total(static_cast<size_t>(k));
        float* const above = top.data() + n_top * k;  // per subtree: its sum, then what comes down to it
        parallel_for(
            p.n_subtrees, 16, threads,
            [&] { return std::vector<float>(static_cast<size_t>(2 * p.largest * k)); },
            [&](int64_t c, std::vector<float>& scratch) {
                sweep_subtree(rows, k, p.order.data() + p.first_leaf[c], p.child.data() + 2 * p.first_row(c),
                              weights() + 2 * p.first_row(c), p.leaves(c), scratch.data(), above + c * k,
                              side);
            });
        if (n_top == 0) continue;
        sweep(top.data(), p.top_child.data(), top_weights(), n_top, k, total.data(), side);
        parallel_stretches(p.n_points, 4096, threads, [&](int64_t first, int64_t last) {
            add_above(above, p.subtree.data(), rows, k, first, last);
        });
    }
}

}  // namespace bvdt
