// One sweep over a tree whose nodes are slots: internal nodes 0 … n − 1, parents before children, then
// leaves.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "platform.hpp"

namespace bvdt {

enum class Side { kForward, kTranspose, kMean };  // Q, its transpose, or the mean of both

using OneColumn = std::integral_constant<int64_t, 1>;

// `Number` is what sums are made in. In: s holds the leaves' values, k numbers per slot. Sums go up; the
// root's is kept in `sum` and the root set to zero; then the sibling products come down: s[left] = s[node] +
// w_left·sum(right), and the mirror image. `Columns` is int64_t or, for k = 1
// known to the compiler, OneColumn.
template <typename Number, typename Slot, typename Columns>
BVDT_NOINLINE void sweep(Number* s, const Slot* child, const double* w, int64_t n, Columns columns,
                         Number* sum, Side side) {
    const int64_t k = columns;
    const double as_stored = side == Side::kForward     ? 1
                             : side == Side::kTranspose ? 0
                                                        : 0.5,
                 exchanged = 1 - as_stored;
    for (int64_t i = n - 1; i >= 0; --i) {
        Number* to = s + i * k;
        const Number *l = s + child[2 * i] * k, *r = s + child[2 * i + 1] * k;
        BVDT_SHORT_LOOP
        for (int64_t j = 0; j < k; ++j) to[j] = l[j] + r[j];
    }
    std::copy_n(s, k, sum);
    std::fill_n(s, k, Number{0});
    for (int64_t i = 0; i < n; ++i) {
        const Number* from = s + i * k;
        Number *l = s + child[2 * i] * k, *r = s + child[2 * i + 1] * k;
        const Number w_left = static_cast<Number>(as_stored * w[2 * i] + exchanged * w[2 * i + 1]);
        const Number w_right = static_cast<Number>(exchanged * w[2 * i] + as_stored * w[2 * i + 1]);
        BVDT_SHORT_LOOP
        for (int64_t j = 0; j < k; ++j) {
            const Number here = from[j], left = l[j], right = r[j];
            l[j] = here + w_left * right;
            r[j] = here + w_right * left;
        }
    }
}

}  // namespace bvdt
