// NumPy arrays as the kernels take them, and back.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "checks.hpp"
#include "gil.hpp"

namespace bvdt {
namespace nb = nanobind;

template <typename T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T>
using MutableVector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <typename T>
using MutableMatrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <typename T>
using NewVector = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

template <typename Array>
int64_t rows(const Array& array) {
    return static_cast<int64_t>(array.shape(0));
}
template <typename Array>
int64_t columns(const Array& array) {
    return static_cast<int64_t>(array.shape(1));
}

// Hands a vector's memory to NumPy.
template <typename T>
NewVector<T> to_numpy(std::vector<T>&& values) {
    auto kept = std::make_unique<std::vector<T>>(std::move(values));
    nb::capsule owner(kept.get(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    auto* vector = kept.release();
    return {vector->data(), {vector->size()}, owner};
}

inline void check_matrix(const char* name, int64_t n_rows, int64_t n_columns, int64_t wanted_rows,
                         int64_t wanted_columns) {
    require(n_rows == wanted_rows && n_columns == wanted_columns, name, " needs shape (", wanted_rows, ", ",
            wanted_columns, "); it has (", n_rows, ", ", n_columns, ")");
}

inline DensePoints dense_points(const Matrix<double>& x, const Matrix<double>& h) {
    check_matrix("H", rows(h), columns(h), rows(x), columns(x));
    return {x.data(), h.data(), rows(x), columns(x)};
}

// A CSR matrix as Python hands it over: its own arrays, and how many of them are to be looked at.
struct Csr {
    Vector<int64_t> indptr;
    Vector<int32_t> indices;
    Vector<double> x, h;
    int64_t d;

    int64_t nnz() const { return rows(indices); }

    // Only the shapes are checked.
    SparsePoints shaped() const {
        require(rows(indptr) >= 1, "indptr needs one entry per point and one more; it is empty");
        check_length("X.data", rows(x), nnz(), "index");
        check_length("H.data", rows(h), nnz(), "index");
        return {indptr.data(), indices.data(), x.data(), h.data(), rows(indptr) - 1, d};
    }
    SparsePoints checked(int threads) const {
        const SparsePoints points = shaped();
        check_csr(points.x_rows(), nnz(), threads);
        return points;
    }
};

void register_anchor(nb::module_& m);
void register_blocks(nb::module_& m);
void register_bound(nb::module_& m);
void register_build(nb::module_& m);
void register_conjugate(nb::module_& m);
void register_layout(nb::module_& m);
void register_links(nb::module_& m);
void register_neighbors(nb::module_& m);
void register_planes(nb::module_& m);
void register_product(nb::module_& m);
void register_sparse(nb::module_& m);
void register_sums(nb::module_& m);
void register_walk_product(nb::module_& m);
void register_ward(nb::module_& m);

}  // namespace bvdt
