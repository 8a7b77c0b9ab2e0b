#include <doctest/doctest.h>

#include <set>

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
            if (d < list.worst() || (d == list.worst() && j < index.back()))
                list.insert<Ties::kByIndex>(j, d);
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

TEST_CASE("joining offers the neighbours of neighbours") {
    Generator rng(28);
    const Points p(rng, 50, 30, 0.3);
    std::vector<int32_t> listed;
    for (int64_t i = 0; i < p.n; ++i)
        for (int64_t s = 0; s < 4; ++s)
            listed.push_back(static_cast<int32_t>(below(rng, p.n + 1)) - 1);  // −1: nobody
    Lists lists(p.n, 6);
    join_neighbors(p.sparse(), {p.u.data(), p.w.data()}, listed.data(), 4, lists.view(), 2);
    for (int64_t i = 0; i < p.n; ++i) {
        std::set<int32_t> candidates;
        for (int64_t s = 0; s < 4; ++s)
            if (listed[i * 4 + s] >= 0)
                for (int64_t t = 0; t < 4; ++t) candidates.insert(listed[listed[i * 4 + s] * 4 + t]);
        candidates.erase(-1);
        for (int64_t s = 0; s < 4; ++s) candidates.erase(listed[i * 4 + s]);  // those it lists are not new
        const auto expected = nearest(p, i, {candidates.begin(), candidates.end()}, 6);
        for (size_t s = 0; s < 6; ++s) {
            CHECK(lists.index[i * 6 + s] == (s < expected.size() ? expected[s].second : -1));
            if (s < expected.size()) CHECK(near(lists.divergence[i * 6 + s], expected[s].first));
        }
    }
}
