// Points in lifted form, dense or CSR: what a kernel needs of either is written once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "vectors.hpp"

namespace bvdt {

// Accumulated Σx and Σh of one coordinate; side by side because they are always touched together.
struct Pair {
    double x, h;
};

struct DensePoints {
    const double* x;  // (n, d)
    const double* h;  // (n, d); may be the same memory as x
    int64_t n, d;

    // ⟨x_i, h_i⟩
    double self_dot(int64_t i) const { return dot<Order::kAsStored>(x + i * d, h + i * d, d); }
};

// A CSR matrix.
struct SparseRows {
    const int64_t* indptr;   // (n + 1,)
    const int32_t* indices;  // (nnz,)
    const double* value;     // (nnz,)
    int64_t n, d;
};

struct SparsePoints {
    const int64_t* indptr;   // (n + 1,)
    const int32_t* indices;  // (nnz,)
    const double* x;         // (nnz,)
    const double* h;         // (nnz,); the same sparsity pattern as x
    int64_t n, d;

    SparseRows x_rows() const { return {indptr, indices, x, n, d}; }
    SparseRows h_rows() const { return {indptr, indices, h, n, d}; }

    // ⟨x_i, to.h⟩ + ⟨h_i, to.x⟩: both directions of a pair come out of one read.
    double dot_both(int64_t i, const Pair* to) const {
        double sum = 0;
        for (int64_t e = indptr[i]; e < indptr[i + 1]; ++e) {
            const Pair& p = to[indices[e]];
            sum += x[e] * p.h + h[e] * p.x;
        }
        return sum;
    }
    // ⟨x_i, to.h⟩ and ⟨h_i, to.x⟩ apart.
    void dot_each(int64_t i, const Pair* to, double& as_row, double& as_center) const {
        double row = 0, center = 0;
        for (int64_t e = indptr[i]; e < indptr[i + 1]; ++e) {
            const Pair& p = to[indices[e]];
            row += x[e] * p.h, center += h[e] * p.x;
        }
        as_row = row, as_center = center;
    }
    void add_to(int64_t i, double scale, Pair* to) const {
        for (int64_t e = indptr[i]; e < indptr[i + 1]; ++e) {
            Pair& p = to[indices[e]];
            p.x += scale * x[e], p.h += scale * h[e];
        }
    }
    // Sets to zero every coordinate that point i could have touched.
    void clear(int64_t i, Pair* to) const {
        for (int64_t e = indptr[i]; e < indptr[i + 1]; ++e) to[indices[e]] = {0, 0};
    }
    // ⟨x_i, h_i⟩
    double self_dot(int64_t i) const {
        double sum = 0;
        for (int64_t e = indptr[i]; e < indptr[i + 1]; ++e) sum += x[e] * h[e];
        return sum;
    }
};

// One sparse row at a time, spread out over the features, so that its product with any other row is one read
// of that row.
class SpreadRow {
  public:
    explicit SpreadRow(int64_t d) : value_(static_cast<size_t>(d), 0.0) {}

    const double* put(const SparseRows& rows, int64_t i) {
        for (int64_t e = rows.indptr[i]; e < rows.indptr[i + 1]; ++e) value_[rows.indices[e]] = rows.value[e];
        return value_.data();
    }
    void clear(const SparseRows& rows, int64_t i) {
        for (int64_t e = rows.indptr[i]; e < rows.indptr[i + 1]; ++e) value_[rows.indices[e]] = 0;
    }
    BVDT_NOINLINE double dot_with(const SparseRows& rows, int64_t j) const {
        double sum = 0;
        for (int64_t e = rows.indptr[j]; e < rows.indptr[j + 1]; ++e)
            sum += value_[rows.indices[e]] * rows.value[e];
        return sum;
    }

  private:
    std::vector<double> value_;  // (d,)
};

}  // namespace bvdt
