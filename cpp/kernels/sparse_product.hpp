// A CSR matrix times many columns at once.
#pragma once

#include <cstdint>

namespace bvdt {

template <typename T>
struct SparseMatrix {
    const int64_t* indptr;   // (n + 1,)
    const int32_t* indices;  // (nnz,)
    const T* value;          // (nnz,)
    int64_t n, d;
};

// out (n, columns) = matrix · v (d, columns), each entry one running sum in the order of the row's entries,
// for T float or double.
template <typename T>
void multiply_sparse(const SparseMatrix<T>& matrix, const T* v, T* out, int64_t columns, int threads);

}  // namespace bvdt
