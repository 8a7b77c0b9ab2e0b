#include <doctest/doctest.h>

#include "cases.hpp"

using namespace bvdt;
using namespace bvdt::test;

TEST_CASE("dot in every order, and add_scaled") {
    Generator rng(3);
    for (const int64_t d : {0, 1, 7, 8, 9, 64, 131}) {
        const auto a = uniforms(rng, d, -1), b = uniforms(rng, d, -1);
        double sum = 0;
        for (int64_t j = 0; j < d; ++j) sum += a[j] * b[j];
        CHECK(near(dot<Order::kAsStored>(a.data(), b.data(), d), sum));
        CHECK(near(dot<Order::kEightSums>(a.data(), b.data(), d), sum));
        auto to = a;
        add_scaled(to.data(), b.data(), -0.5, d);
        for (int64_t j = 0; j < d; ++j) CHECK(near(to[j], a[j] - 0.5 * b[j]));
    }
}

TEST_CASE("a spread row and any other") {
    Generator rng(4);
    const Points points(rng, 9, 20, 0.3);
    const SparsePoints sparse = points.sparse();
    SpreadRow row(points.d);
    for (int64_t i = 0; i < points.n; ++i) {
        row.put(sparse.x_rows(), i);
        for (int64_t j = 0; j < points.n; ++j)
            CHECK(near(row.dot_with(sparse.h_rows(), j), points.inner(i, j)));
        row.clear(sparse.x_rows(), i);
    }
    for (int64_t j = 0; j < points.n; ++j) CHECK(row.dot_with(sparse.h_rows(), j) == 0);
}
