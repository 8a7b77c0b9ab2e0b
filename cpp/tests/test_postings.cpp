#include <doctest/doctest.h>

#include "../kernels/postings.hpp"
#include "lists.hpp"

using namespace bvdt;
using namespace bvdt::test;

TEST_CASE("all postings and candidates give the nearest of those that share a feature") {
    Generator rng(36);
    const Points p(rng, 70, 30, 0.2);
    const SparsePoints points = p.sparse();
    std::vector<int32_t> all(static_cast<size_t>(p.n));
    std::iota(all.begin(), all.end(), 0);
    Lists lists(p.n, 5);
    Postings(points).search({p.u.data(), p.w.data()}, all.data(), p.n, {1 << 20, p.n}, lists.view(), 2);
    for (int32_t i = 0; i < p.n; ++i) {
        std::vector<int32_t> sharing;
        for (int32_t j = 0; j < p.n; ++j) {
            bool shared = false;
            for (int64_t e = points.indptr[i]; e < points.indptr[i + 1]; ++e)
                for (int64_t f = points.indptr[j]; f < points.indptr[j + 1]; ++f)
                    shared |= points.indices[e] == points.indices[f];
            if (shared) sharing.push_back(j);
        }
        const auto expected = nearest(p, i, sharing, 5);
        for (size_t s = 0; s < 5; ++s) {
            CHECK((lists.index[i * 5 + s] >= 0) == (s < expected.size()));
            if (s < expected.size()) CHECK(near(lists.divergence[i * 5 + s], expected[s].first, 1e-10));
        }
    }
}

TEST_CASE("a small budget reads the rarest feature, and visits only whom it is told") {
    // Features 0, 1, 2 with 4, 2 and 1 postings; point 3 is the only other one with feature 1.
    const std::vector<int64_t> indptr{0, 3, 4, 5, 7};
    const std::vector<int32_t> indices{0, 1, 2, 0, 0, 0, 1};
    const std::vector<double> value(7, 1.0), level(4, 1.0);
    const SparsePoints points{indptr.data(), indices.data(), value.data(), value.data(), 4, 3};
    const std::vector<int32_t> visited{0};
    Lists lists(4, 3);
    Postings(points).search({level.data(), level.data()}, visited.data(), 1, {1, 4}, lists.view(), 1);
    CHECK(lists.index[0] == 3);
    CHECK(lists.index[1] == -1);
    CHECK(lists.index[3] == -1);
}
