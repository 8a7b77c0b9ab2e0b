#include "sparse_product.hpp"

#include "lanes.hpp"
#include "parallel.hpp"
#include "platform.hpp"

namespace bvdt {
namespace {

constexpr int64_t kAtOnce = 16;  // columns whose sums stay in registers
constexpr int64_t kSoon = 16;    // entries ahead whose rows of v are asked for
constexpr int64_t kRows = 128;   // per turn of a thread

// `Count` columns of rows first … last − 1. With their number known to the compiler the sums are registers.
template <typename T, int Count>
BVDT_NOINLINE void multiply_rows(const SparseMatrix<T>& matrix, const T* v, T* out, int64_t stride,
                                 int64_t first, int64_t last) {
    const int64_t end = matrix.indptr[last];
    for (int64_t i = first; i < last; ++i) {
        RowSum<T, Count> sum;
        for (int64_t e = matrix.indptr[i]; e < matrix.indptr[i + 1]; ++e) {
            if (e + kSoon < end) prefetch_ends<0>(v + matrix.indices[e + kSoon] * stride, Count);
            sum.add(matrix.value[e], v + matrix.indices[e] * stride);
        }
        sum.put(out + i * stride);
    }
}

// With so many columns as the compiler knows.
template <typename T, int... Count>
void multiply_some(const SparseMatrix<T>& m, const T* v, T* out, int64_t stride, int64_t count, int64_t first,
                   int64_t last, std::integer_sequence<int, Count...>) {
    ((count == Count + 1 ? multiply_rows<T, Count + 1>(m, v, out, stride, first, last) : void()), ...);
}

}  // namespace

template <typename T>
void multiply_sparse(const SparseMatrix<T>& matrix, const T* v, T* out, int64_t columns, int threads) {
    const auto some = [&](int64_t first, int64_t last) {
        for (int64_t j = 0; j < columns; j += kAtOnce)
            multiply_some(matrix, v + j, out + j, columns, std::min(kAtOnce, columns - j), first, last,
                          std::make_integer_sequence<int, kAtOnce>{});
    };
    if (matrix.indptr[matrix.n] * columns < kBriefWork)
        parallel_stretches<BriefTeam>(matrix.n, kRows, threads, some);
    else
        parallel_stretches(matrix.n, kRows, threads, some);
}

template void multiply_sparse(const SparseMatrix<float>&, const float*, float*, int64_t, int);
template void multiply_sparse(const SparseMatrix<double>&, const double*, double*, int64_t, int);

}  // namespace bvdt
