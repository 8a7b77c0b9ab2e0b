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
    double near_times = 1, far_times = 1;  // one more factor for all rows
};

// Label spreading's step in the place of the product p: with the row that is given,
//     g_i = by_i·(p_i + share·given_i),      out_i ← turn·g_i + (1 − turn)·out_i
// which is Chebyshev's step where out holds the vector before v. At turn 1 out may hold anything.
template <typename T>
struct WalkStep {
    const int32_t* row;  // (N,) by place: which given row, −1 for none
    const T* given;      // (m, columns)
    const double* by;    // (N,) above 0
    double share, turn;
};

// out and v (N, columns), in the tree's order if `ordered`. `far` may be null: links alone. `transpose` is
// that of Q; the links are as they are. sums (n_sums, columns) = Σ_i v_i·out_i and Σ_i out_i² of every
// column, the first or both or, with n_sums = 0, none.
template <typename T>
void multiply_walk(const CoarsestProduct* far, const Links& near, const WalkScales& scales, const T* v,
                   T* out, int64_t columns, bool transpose, bool ordered, double* sums, int64_t n_sums,
                   int threads);

// The step, in the tree's order; out and v are two arrays. sums (3, columns) = Σ|r_i|, Σ|g_i/by_i| and Σ r_i²
// of r_i = (g_i − v_i)/by_i.
template <typename T>
void step_walk(const CoarsestProduct* far, const Links& near, const WalkScales& scales, const T* v, T* out,
               int64_t columns, const WalkStep<T>& step, double* sums, int threads);

}  // namespace bvdt
