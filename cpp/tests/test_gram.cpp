#include "../kernels/gram.hpp"

#include <doctest/doctest.h>

#include "cases.hpp"

using namespace bvdt;
using namespace bvdt::test;

TEST_CASE("products of all pairs of a chunk, in single precision where features are frequent") {
    Generator rng(17);
    const Points points(rng, 90, 70, 0.15);
    const auto items = permutation(rng, 90);
    SparseGram sparse;
    for (const int64_t k : {1, 17, 90}) {
        sparse.compute(points.sparse(), items.data(), k);
        for (int64_t a = 0; a < k; ++a)
            for (int64_t b = 0; b < k; ++b)
                CHECK(near(sparse.value[a * sparse.stride + b], points.inner(items[a], items[b]), 1e-5));
    }
}
