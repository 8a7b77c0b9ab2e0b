// Points in lifted form, dense or CSR, behind one small interface, so that each kernel is written once.
#pragma once

#include <cmath>
#include <stdexcept>

#include "core.hpp"

namespace bvdt {

// Accumulated Σx and Σh of one coordinate; side by side because they are always touched together.
struct Pair {
    double x, h;
};

struct DensePoints {
    const double* x;  // (n, d)
    const double* h;  // (n, d); may be the same memory as x
    int64_t n, d;

    // ⟨x_i, to.h⟩ + ⟨h_i, to.x⟩: both directions of a pair come out of one read.
    double dot_both(int64_t i, const Pair* to) const {
        const double *xi = x + i * d, *hi = h + i * d;
        double sum = 0;
        for (int64_t j = 0; j < d; ++j) sum += xi[j] * to[j].h + hi[j] * to[j].x;
        return sum;
    }
    // ⟨x_i, to.h⟩ and ⟨h_i, to.x⟩ apart.
    void dot_each(int64_t i, const Pair* to, double& as_row, double& as_centre) const {
        const double *xi = x + i * d, *hi = h + i * d;
        double row = 0, centre = 0;
        for (int64_t j = 0; j < d; ++j) row += xi[j] * to[j].h, centre += hi[j] * to[j].x;
        as_row = row, as_centre = centre;
    }
    void add_to(int64_t i, double scale, Pair* to) const {
        const double *xi = x + i * d, *hi = h + i * d;
        for (int64_t j = 0; j < d; ++j) to[j].x += scale * xi[j], to[j].h += scale * hi[j];
    }
    // Sets to zero every coordinate that point i could have touched.
    void clear(int64_t, Pair* to) const {
        for (int64_t j = 0; j < d; ++j) to[j] = {0, 0};
    }
    void clear_all(const int32_t*, int64_t, Pair* to) const { clear(0, to); }
    // ⟨x_i, h_i⟩
    double self_dot(int64_t i) const {
        const double *xi = x + i * d, *hi = h + i * d;
        double sum = 0;
        for (int64_t j = 0; j < d; ++j) sum += xi[j] * hi[j];
        return sum;
    }
};

struct SparsePoints {
    const int64_t* indptr;   // (n + 1,)
    const int32_t* indices;  // (nnz,)
    const double* x;         // (nnz,)
    const double* h;         // (nnz,); the same sparsity pattern as x
    int64_t n, d;

    double dot_both(int64_t i, const Pair* to) const {
        double sum = 0;
        for (int64_t e = indptr[i]; e < indptr[i + 1]; ++e) {
            const Pair& p = to[indices[e]];
            sum += x[e] * p.h + h[e] * p.x;
        }
        return sum;
    }
    void dot_each(int64_t i, const Pair* to, double& as_row, double& as_centre) const {
        double row = 0, centre = 0;
        for (int64_t e = indptr[i]; e < indptr[i + 1]; ++e) {
            const Pair& p = to[indices[e]];
            row += x[e] * p.h, centre += h[e] * p.x;
        }
        as_row = row, as_centre = centre;
    }
    void add_to(int64_t i, double scale, Pair* to) const {
        for (int64_t e = indptr[i]; e < indptr[i + 1]; ++e) {
            Pair& p = to[indices[e]];
            p.x += scale * x[e], p.h += scale * h[e];
        }
    }
    void clear(int64_t i, Pair* to) const {
        for (int64_t e = indptr[i]; e < indptr[i + 1]; ++e) to[indices[e]] = {0, 0};
    }
    void clear_all(const int32_t* ids, int64_t count, Pair* to) const {
        for (int64_t s = 0; s < count; ++s) clear(ids[s], to);
    }
    double self_dot(int64_t i) const {
        double sum = 0;
        for (int64_t e = indptr[i]; e < indptr[i + 1]; ++e) sum += x[e] * h[e];
        return sum;
    }
};

inline DensePoints dense_points(const Matrix<double>& x, const Matrix<double>& h) {
    if (x.shape(0) != h.shape(0) || x.shape(1) != h.shape(1))
        throw std::invalid_argument("X and H must have one shape");
    return {x.data(), h.data(), static_cast<int64_t>(x.shape(0)), static_cast<int64_t>(x.shape(1))};
}

inline SparsePoints sparse_points(const Vector<int64_t>& indptr, const Vector<int32_t>& indices,
                                  const Vector<double>& x, const Vector<double>& h, int64_t d) {
    if (indptr.shape(0) < 1 || x.shape(0) != indices.shape(0) || h.shape(0) != indices.shape(0))
        throw std::invalid_argument("indices, X.data and H.data must have one length");
    return {indptr.data(), indices.data(), x.data(), h.data(), static_cast<int64_t>(indptr.shape(0)) - 1, d};
}

}  // namespace bvdt
