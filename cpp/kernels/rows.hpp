// Rows of (n, columns) put in another order, and label spreading's step, on threads.
#pragma once

#include <cstdint>

namespace bvdt {

// out_i = factor·v_order[i]
template <typename T>
void take_rows(const T* v, const int32_t* order, T factor, int64_t n, int64_t columns, T* out, int threads);

// out_order[i] = factor_i·v_i; factor null for ones
template <typename T>
void put_rows(const T* v, const int32_t* order, const double* factor, int64_t n, int64_t columns, T* out,
              int threads);

// v ← max(v, 0), count values
template <typename T>
void cut_below_zero(T* v, int64_t count, int threads);

// What a step of label spreading changed.
struct StepChange {
    double *change, *size;  // (columns,) Σ_i |step_i − before_i| and Σ_i |step_i| of every column
    double tol, rounding;
    bool beyond;  // whether an entry changed by more than tol and by more than rounding·|entry|
};

// step_i ← alpha·step_i + (1 − alpha)·given_order[i], order null for the rows as they are. Sums are those of
// batches of rows, added in their order.
template <typename T>
void blend_rows(T* step, const T* before, const T* given, const int32_t* order, double alpha, int64_t n,
                int64_t columns, StepChange& made, int threads);

}  // namespace bvdt
