// Near and far field in one product, points in the tree's order.
//
//     out_i = own·v_i + far_out_i·Σ_j Q_ij·far_in_j·v_j + near_out_i·Σ_j A_ij·near_in_j·v_j
//
// with Q of a coarsest partition and A the links. Main memory is read once for the links and q and twice for
// v: first the subtrees' sums go up the tree above them, then each subtree of some hundred points sweeps in
// cache, adds what comes down to it and its rows' links, and writes its results. Vectors in the points' own
// order are put in the tree's on the first way, and put back as they are written.
#pragma once

#include <cstdint>

#include "coarsest_product.hpp"
#include "links.hpp"

namespace bvdt {

struct WalkScales {  // (N,) each, by place in the tree's order; null for ones
    const double *near_in, *near_out, *far_in, *far_out;
    double own;
};

// out and v (N, columns), in the tree's order if `ordered`. `far` may be null: links alone. `transpose` is
// that of Q; the links are as they are. dots (columns,) = Σ_i v_i·out_i of every column, unless it is null.
template <typename T>
void multiply_walk(const CoarsestProduct* far, const Links& near, const WalkScales& scales, const T* v,
                   T* out, int64_t columns, bool transpose, bool ordered, double* dots, int threads);

}  // namespace bvdt
