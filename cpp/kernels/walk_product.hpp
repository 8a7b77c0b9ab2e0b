// Near and far field in one product, points in the tree's order.
//
//     out_i = own·v_i + far_out_i·Σ_j Q_ij·far_in_j·v_j + near_out_i·Σ_j A_ij·near_in_j·v_j
//
// with Q of a coarsest partition and A the links. Main memory is read once for the links and q and twice for
// v: first the subtrees' sums go up the tree above them, then each subtree of some hundred points sweeps in
// cache, adds what comes down to it and its rows' links, and writes its results.
#pragma once

#include <cstdint>

#include "coarsest_product.hpp"
#include "columns.hpp"
#include "links.hpp"

namespace bvdt {

struct Walk {
    const CoarsestProduct* far;  // null: the links alone
    const Links* near;           // null: the tree alone

    int64_t n_points() const { return near ? near->n_points() : far->n_points(); }
    const int32_t* order() const { return near ? near->order().data() : far->shape().order.data(); }
};

struct WalkScales {  // (N,) each, by place in the tree's order; null for ones
    const double *near_in = nullptr, *near_out = nullptr, *far_in = nullptr, *far_out = nullptr;
    double own = 0;
    double near_times = 1, far_times = 1;  // one more factor for all rows
};

// A three-term step in the place of the product p: with the row that is given,
//     g_i = by_i·(p_i + share·given_i),      out_i ← next·g_i + now·v_i + before·out_i   column by column
// for label spreading and for polynomials of the walk.
template <typename T>
struct WalkStep {
    const int32_t* row;  // (N,) by place: which given row, −1 for none
    const T* given;      // (m, columns)
    const double* by;    // (N,) above 0
    double share;
    const T *next, *now, *before;  // (columns,)
};

// out and v (N, columns), in the tree's order or, with `own_order`, in the points' own. `transpose` is that
// of Q; the links are as they are. sums (n_sums, columns) = Σ_i v_i·out_i and Σ_i out_i² of every column, the
// first or both or, with n_sums = 0, none.
template <typename T>
void multiply_walk(const Walk& walk, const WalkScales& scales, const T* v, T* out, int64_t columns,
                   bool transpose, bool own_order, double* sums, int64_t n_sums, int threads);

// The step; out and v are two arrays. sums (3, columns), or null: Σ|r_i|, Σ|g_i/by_i| and Σ r_i² of
// r_i = (g_i − v_i)/by_i.
template <typename T>
void step_walk(const Walk& walk, const WalkScales& scales, const T* v, T* out, int64_t columns,
               const WalkStep<T>& step, double* sums, int threads);

}  // namespace bvdt
