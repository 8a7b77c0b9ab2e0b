// Polynomials of the symmetrised walk S = A + Σ_t ω_t·C·Q_t·C by their three-term recurrence, in single
// precision: A sparse, Q_t symmetric products of trees, C a diagonal. Per row the sparse product, the trees'
// part and the recurrence are one pass.
#pragma once

#include <cstdint>
#include <vector>

#include "coarsest_product.hpp"
#include "sparse_product.hpp"

namespace bvdt {

struct WalkParts {
    SparseMatrix<float> links;                  // A
    std::vector<const CoarsestProduct*> trees;  // Q_t
    std::vector<float> share;                   // ω_t
    const float* scale;                         // (N,) C
};

// Y_(n+1) = a_n·(S·Y_n − centre·Y_n + R)/radius − b_n·Y_(n−1), column by column, with Y_(−1) = 0.
struct Recurrence {
    float centre, radius;
    const float *a, *b;  // (steps, m)
    int64_t steps, m;
    const double *start, *rest;  // (N, m) Y_0 and R, or null for 0
};

// y (N, m): the last. Columns may be of any size: each is scaled by a power of 2, which rounds nothing.
void recur(const WalkParts& walk, const Recurrence& recurrence, double* y, int threads);

// The same S in double precision.
struct ExactWalkParts {
    SparseMatrix<double> links;
    std::vector<const CoarsestProduct*> trees;
    std::vector<double> share;
    const double* scale;
};

// out ← S·v, (N, m) both.
void multiply_walk(const ExactWalkParts& walk, const double* v, double* out, int64_t m, int threads);

}  // namespace bvdt
