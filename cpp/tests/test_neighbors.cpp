#include <doctest/doctest.h>

#include <set>

#include "../kernels/joins.hpp"
#include "../kernels/top_list.hpp"
#include "lists.hpp"

using namespace bvdt;
using namespace bvdt::test;

namespace {

template <typename AnyPoints>
void check_chunks(const Points& p, const AnyPoints& points, Generator& rng, double tolerance) {
    const auto order = permutation(rng, p.n);
    const std::vector<int64_t> bounds{0, 3, 25, p.n};
    Lists lists(p.n, 5);
    const Levels levels{p.u.data(), p.w.data()};
    chunk_neighbors(points, levels, {order.data(), bounds.data(), 3}, lists.view(), 2);
    for (int64_t c = 0; c < 3; ++c) {
        const std::vector<int32_t> chunk(order.begin() + bounds[c], order.begin() + bounds[c + 1]);
        for (int32_t i : chunk) {
            const auto expected = nearest(p, i, chunk, 5);
            for (int64_t s = 0; s < 5; ++s) {
                const bool there = s < static_cast<int64_t>(expected.size());
                CHECK((lists.index[i * 5 + s] >= 0) == there);
                if (there) CHECK(near(lists.divergence[i * 5 + s], expected[s].first, tolerance));
            }
        }
    }
}

}  // namespace

TEST_CASE("a list keeps the k best") {
    Generator rng(26);
    for (const int64_t k : {1, 4, 9}) {
        std::vector<double> value(static_cast<size_t>(k), std::numeric_limits<double>::infinity());
        std::vector<int32_t> index(value.size(), -1);
        const TopList<double> list{value.data(), index.data(), k};
        std::vector<std::pair<double, int32_t>> offered;
        for (int32_t j : permutation(rng, 40)) {
            const double d = static_cast<double>(below(rng, 8));  // many ties
            offered.emplace_back(d, j);
            if (d < list.worst() || (d == list.worst() && j < index.back())) list.insert(j, d);
        }
        std::sort(offered.begin(), offered.end());
        for (int64_t s = 0; s < k; ++s) {
            CHECK(value[s] == offered[s].first);
            CHECK(index[s] == offered[s].second);
        }
        CHECK(list.holds(offered[0].second));
        CHECK_FALSE(list.holds(offered.back().second));
    }
}

TEST_CASE("nearest centres in chunks, against all pairs") {
    Generator rng(27);
    const Points dense(rng, 60, 8), sparse(rng, 60, 40, 0.3);
    check_chunks(dense, dense.dense(), rng, 1e-12);
    check_chunks(sparse, sparse.sparse(), rng, 1e-5);
}

TEST_CASE("nearest centres of equal points, of tiny groups and beside far points") {
    Generator rng(29);
    for (const double spread : {0.0, 1e-9, 1.0}) {
        Points p(rng, 70, 4);
        for (int64_t i = 0; i < p.n; ++i) {
            p.u[i] = p.w[i] = 0;
            for (int64_t j = 0; j < p.d; ++j) {
                double& x = p.x[i * p.d + j];
                x = static_cast<double>(i % 3) + spread * x + (i == 5 ? 1e12 : 0);
                p.h[i * p.d + j] = 2 * x, p.u[i] += x * x;
            }
            p.w[i] = p.u[i];
        }
        const auto order = permutation(rng, p.n);
        const std::vector<int64_t> bounds{0, p.n};
        Lists lists(p.n, 6);
        chunk_neighbors(p.dense(), {p.u.data(), p.w.data()}, {order.data(), bounds.data(), 1}, lists.view(),
                        2);
        for (int32_t i = 0; i < p.n; ++i) {
            const auto expected = nearest(p, i, order, 6);
            for (int64_t s = 0; s < 6; ++s) {
                CHECK(near(lists.divergence[i * 6 + s], expected[s].first, 1e-12));
                if (spread == 0.0 && i != 5) CHECK(lists.index[i * 6 + s] == expected[s].second);
            }
        }
    }
}

TEST_CASE("a point's links are its list and those who list it, nearest first") {
    const std::vector<int32_t> listed{1, 2, 0, -1, 1, 0, 0, 1};  // 0: 1 2; 1: 0; 2: 1 0; 3: 0 1
    const ListLinks links = links_of(listed.data(), nullptr, 4, 2, 2);
    CHECK(links.width == 4);
    CHECK(links.to == std::vector<int32_t>{1, 2, 3, -1, 0, 2, 3, -1, 1, 0, -1, -1, 0, 1, -1, -1});
    const std::vector<int32_t> before{1, -1, 0, -1, 1, 0, 0, -1};
    const ListLinks later = links_of(listed.data(), before.data(), 4, 2, 1);
    CHECK(later.to == links.to);
    CHECK(later.fresh == std::vector<uint8_t>{0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0});
}

TEST_CASE("joining offers the links of links") {
    Generator rng(28);
    const Points sparse(rng, 50, 30, 0.4);
    std::vector<int32_t> ring;  // of each point, those one and two before it
    for (int32_t i = 0; i < 50; ++i) ring.push_back((i + 49) % 50), ring.push_back((i + 48) % 50);
    const ListLinks links = links_of(ring.data(), nullptr, 50, 2, 2);
    const auto visited = permutation(rng, 50);
    const auto check = [&](const Points& p, const auto& points) {
        Lists lists(p.n, 4);
        join_links(points, {p.u.data(), p.w.data()}, links, visited.data(), 50, lists.view(), 2);
        for (int32_t i = 0; i < p.n; ++i) {
            std::set<int32_t> met;
            for (int64_t s = 0; s < 4; ++s) {
                const int32_t via = links.to[i * 4 + s];
                met.insert(via);
                for (int64_t t = 0; t < 4; ++t) met.insert(links.to[via * 4 + t]);
            }
            met.erase(i);
            const auto expected = nearest(p, i, {met.begin(), met.end()}, 4);
            for (int64_t s = 0; s < 4; ++s) {
                CHECK(lists.index[i * 4 + s] == expected[s].second);
                CHECK(near(lists.divergence[i * 4 + s], expected[s].first, 1e-10));
            }
        }
    };
    check(sparse, sparse.sparse());
}
