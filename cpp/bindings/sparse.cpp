// Products of CSR matrices: see kernels/sparse_product.hpp.
#include "../kernels/sparse_product.hpp"

#include "arrays.hpp"

namespace bvdt {
namespace {

template <typename T>
void product_sparse(Vector<int64_t> indptr, Vector<int32_t> indices, Vector<T> value, Matrix<T> v,
                    MutableMatrix<T> out, int threads) {
    ReleasedGil release;
    check_threads(threads);
    require(rows(indptr) >= 1, "indptr needs one entry per row and one more; it is empty");
    check_length("value", rows(value), rows(indices), "index");
    const int64_t n = rows(indptr) - 1, d = rows(v);
    check_csr({indptr.data(), indices.data(), nullptr, n, d}, rows(indices), threads);
    check_matrix("out", rows(out), columns(out), n, columns(v));
    multiply_sparse(SparseMatrix<T>{indptr.data(), indices.data(), value.data(), n, d}, v.data(), out.data(),
                    columns(v), threads);
}

}  // namespace

void register_sparse(nb::module_& m) {
    using namespace nb::literals;
    m.def("product_sparse", &product_sparse<double>, "indptr"_a, "indices"_a, "value"_a.noconvert(), "v"_a,
          "out"_a.noconvert(), "threads"_a);
    m.def("product_sparse", &product_sparse<float>, "indptr"_a, "indices"_a, "value"_a.noconvert(), "v"_a,
          "out"_a.noconvert(), "threads"_a);
}

}  // namespace bvdt
