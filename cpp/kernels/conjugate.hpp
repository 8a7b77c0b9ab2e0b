// The steps of conjugate gradients between two products, all columns of (n, columns) at once.
//
// Sums are taken over batches of rows in double precision and added in the batches' order: no result depends
// on the number of threads.
#pragma once

#include <cstdint>

namespace bvdt {

// out (columns,) = Σ_i a_i·b_i of every column.
template <typename T>
void column_dots(const T* a, const T* b, int64_t n, int64_t columns, double* out, int threads);

// f += step_size·p, r −= step_size·ap, then p ← r + beta·p with the new r, in one pass; squares (columns,) =
// Σ_i r_i² of the new r.
template <typename T>
struct ConjugateStep {
    T *f, *r, *p;               // (n, columns)
    const T* ap;                // (n, columns)
    const T *step_size, *beta;  // (columns,)
    int64_t n, columns;
};
template <typename T>
void conjugate_step(const ConjugateStep<T>& step, double* squares, int threads);

}  // namespace bvdt
