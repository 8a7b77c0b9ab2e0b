// One sweep over a tree whose nodes are slots: internal nodes 0 … n − 1, parents before children, then
// leaves.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "platform.hpp"

namespace bvdt {

enum class Side { kForward, kTranspose, kMean };  // Q, its transpose, or the mean of both

// `k` is int64_t or, for one column known to the compiler, an integral constant.
template <typename Slot, typename Columns>
BVDT_NOINLINE void sweep_columns(double* s, const Slot* child, const double* w, int64_t n, Columns k,
                                 double* sum, Side side) {
    const double as_stored = side == Side::kForward     ? 1
                             : side == Side::kTranspose ? 0
                                                        : 0.5,
                 exchanged = 1 - as_stored;
    for (int64_t i = n - 1; i >= 0; --i) {
        double* to = s + i * k;
        const double *l = s + child[2 * i] * k, *r = s + child[2 * i + 1] * k;
        BVDT_SHORT_LOOP
        for (int64_t j = 0; j < k; ++j) to[j] = l[j] + r[j];
    }
    std::copy_n(s, k, sum);
    std::fill_n(s, k, 0.0);
    for (int64_t i = 0; i < n; ++i) {
        const double* from = s + i * k;
        double *l = s + child[2 * i] * k, *r = s + child[2 * i + 1] * k;
        const double w_left = as_stored * w[2 * i] + exchanged * w[2 * i + 1];
        const double w_right = exchanged * w[2 * i] + as_stored * w[2 * i + 1];
        BVDT_SHORT_LOOP
        for (int64_t j = 0; j < k; ++j) {
            const double here = from[j], left = l[j], right = r[j];
            l[j] = here + w_left * right;
            r[j] = here + w_right * left;
        }
    }
}

// In: s holds the leaves' values, k numbers per slot. Sums go up; the root's is kept in `sum` and the root
// set to zero; then the sibling products come down: s[left] = s[node] + w_left·sum(right), and the mirror
// image.
template <typename Slot>
void sweep(double* s, const Slot* child, const double* w, int64_t n, int64_t k, double* sum, Side side) {
    if (k == 1) return sweep_columns(s, child, w, n, std::integral_constant<int64_t, 1>{}, sum, side);
    sweep_columns(s, child, w, n, k, sum, side);
}

}  // namespace bvdt
