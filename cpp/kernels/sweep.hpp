// One sweep over a tree whose nodes are slots: internal nodes 0 … n − 1, parents before children, then
// leaves.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "platform.hpp"

namespace bvdt {

using OneColumn = std::integral_constant<int64_t, 1>;

// In: s holds the leaves' values, k numbers per slot. Sums go up; the root's is kept in `sum` and the root
// set to zero; then the sibling products come down: s[left] = s[node] + w_left·sum(right), and the mirror
// image. `flip` is 1 for the transpose. `Columns` is int64_t or, for k = 1 known to the compiler, OneColumn.
template <typename Slot, typename Columns>
BVDT_INLINE void sweep(double* s, const Slot* child, const double* w, int64_t n, Columns columns, double* sum,
                       int flip) {
    const int64_t k = columns;
    for (int64_t i = n - 1; i >= 0; --i) {
        double* to = s + i * k;
        const double *l = s + child[2 * i] * k, *r = s + child[2 * i + 1] * k;
        BVDT_INDEPENDENT_LOOP
        for (int64_t j = 0; j < k; ++j) to[j] = l[j] + r[j];
    }
    std::copy_n(s, k, sum);
    std::fill_n(s, k, 0.0);
    for (int64_t i = 0; i < n; ++i) {
        const double* from = s + i * k;
        double *l = s + child[2 * i] * k, *r = s + child[2 * i + 1] * k;
        const double w_left = w[2 * i + flip], w_right = w[2 * i + 1 - flip];
        BVDT_INDEPENDENT_LOOP
        for (int64_t j = 0; j < k; ++j) {
            const double here = from[j], left = l[j], right = r[j];
            l[j] = here + w_left * right;
            r[j] = here + w_right * left;
        }
    }
}

}  // namespace bvdt
