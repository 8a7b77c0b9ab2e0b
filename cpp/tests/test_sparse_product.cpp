#include <doctest/doctest.h>

#include "../kernels/sparse_product.hpp"
#include "cases.hpp"

using namespace bvdt;
using namespace bvdt::test;

TEST_CASE("a sparse matrix times any number of columns, on any number of threads") {
    Generator rng(21);
    const int64_t n = 301, d = 40;
    std::vector<int64_t> indptr{0};
    std::vector<int32_t> indices;
    std::vector<double> value;
    for (int64_t i = 0; i < n; ++i) {
        for (int64_t e = below(rng, 12); e > 0; --e) {  // none at all for some; a column may be there twice
            indices.push_back(static_cast<int32_t>(below(rng, d)));
            value.push_back(uniform(rng, -1));
        }
        indptr.push_back(static_cast<int64_t>(indices.size()));
    }
    const SparseMatrix<double> matrix{indptr.data(), indices.data(), value.data(), n, d};
    for (int64_t k = 0; k <= 35; ++k) {
        const auto v = uniforms(rng, d * k);
        std::vector<double> slow(static_cast<size_t>(n * k), 0.0);
        for (int64_t i = 0; i < n; ++i)
            for (int64_t e = indptr[i]; e < indptr[i + 1]; ++e)
                for (int64_t c = 0; c < k; ++c) slow[i * k + c] += value[e] * v[indices[e] * k + c];
        std::vector<double> one(slow.size(), -1.0), two(slow.size(), -1.0);
        multiply_sparse(matrix, v.data(), one.data(), k, 1);
        multiply_sparse(matrix, v.data(), two.data(), k, 2);
        CHECK(one == two);
        for (size_t e = 0; e < slow.size(); ++e) CHECK(near(one[e], slow[e]));
    }
}
