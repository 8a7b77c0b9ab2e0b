#include <doctest/doctest.h>

#include "../kernels/postings.hpp"
#include "lists.hpp"

using namespace bvdt;
using namespace bvdt::test;

namespace {

constexpr int64_t kAll = 1 << 20;

// What a query's rarest features name, and the sums of their products, until `n_postings` are read.
std::vector<std::pair<double, int32_t>> met(const Points& p, const Points& queries, int64_t i,
                                            int64_t n_postings) {
    std::vector<int64_t> count(static_cast<size_t>(p.d), 0);
    for (const int32_t feature : p.indices) ++count[feature];
    std::vector<std::pair<int64_t, int32_t>> rare;
    for (int64_t e = queries.indptr[i]; e < queries.indptr[i + 1]; ++e)
        rare.emplace_back(count[queries.indices[e]], queries.indices[e]);
    std::sort(rare.begin(), rare.end());
    std::vector<double> sum(static_cast<size_t>(p.n), 0.0);
    for (const auto& [postings, feature] : rare) {
        if (n_postings <= 0) break;
        n_postings -= postings;
        for (int64_t j = 0; j < p.n; ++j) sum[j] += queries.x[i * p.d + feature] * p.h[j * p.d + feature];
    }
    std::vector<std::pair<double, int32_t>> out;
    for (int32_t j = 0; j < p.n; ++j)
        if (sum[j] != 0) out.emplace_back(p.w[j] - sum[j], j);
    return out;
}

double divergence(const Points& p, const Points& queries, int64_t i, int64_t j) {
    double d = queries.u[i] + p.w[j];
    for (int64_t t = 0; t < p.d; ++t) d -= queries.x[i * p.d + t] * p.h[j * p.d + t];
    return std::max(d, 0.0);
}

// Searches for the chosen queries, and again by the definition.
void check_search(const Points& p, const Points& queries, const std::vector<int32_t>& own,
                  const std::vector<int32_t>& chosen, int64_t n_postings, int64_t rerank) {
    Lists lists(queries.n, 5);
    const SparseQueries sought{queries.sparse().x_rows(), queries.u.data(), own.data(), chosen.data(),
                               static_cast<int64_t>(chosen.size())};
    Postings(p.sparse(), p.w.data()).search(sought, n_postings, rerank, lists.view(), 2);
    for (int32_t i = 0; i < queries.n; ++i) {
        std::vector<std::pair<double, int32_t>> expected;
        if (std::find(chosen.begin(), chosen.end(), i) != chosen.end()) {
            expected = met(p, queries, i, n_postings);
            std::erase_if(expected, [&](const auto& one) { return one.second == own[i]; });
            std::sort(expected.begin(), expected.end());
            expected.resize(std::min(expected.size(), static_cast<size_t>(rerank)));
            for (auto& [value, j] : expected) value = divergence(p, queries, i, j);
            std::sort(expected.begin(), expected.end());
        }
        for (size_t s = 0; s < 5; ++s) {
            const bool there = s < expected.size();
            CHECK(lists.index[i * 5 + s] == (there ? expected[s].second : -1));
            if (there) CHECK(near(lists.divergence[i * 5 + s], expected[s].first));
        }
    }
}

void check_chunks(const Points& p, const std::vector<int32_t>& order, const std::vector<int64_t>& bounds,
                  double tolerance) {
    Lists lists(p.n, 5);
    const int64_t count = static_cast<int64_t>(bounds.size()) - 1;
    compare_chunks(p.sparse(), p.u.data(), p.w.data(), {order.data(), bounds.data(), count}, lists.view(), 2);
    for (int64_t c = 0; c < count; ++c) {
        const std::vector<int32_t> chunk(order.begin() + bounds[c], order.begin() + bounds[c + 1]);
        for (int32_t i : chunk) {
            const auto expected = nearest(p, i, chunk, 5);
            for (size_t s = 0; s < 5; ++s) {
                const bool there = s < expected.size();
                CHECK((lists.index[i * 5 + s] >= 0) == there);
                if (there) CHECK(near(lists.divergence[i * 5 + s], expected[s].first, tolerance));
            }
        }
    }
}

}  // namespace

TEST_CASE("all postings and candidates give the nearest of those that share a feature") {
    Generator rng(36);
    const Points p(rng, 70, 30, 0.2);
    check_search(p, p, numbers(p.n), numbers(p.n), kAll, p.n);
}

TEST_CASE("queries that are not points find them, too, and leave out the point that they are said to be") {
    Generator rng(37);
    const Points p(rng, 70, 30, 0.2), queries(rng, 40, 30, 0.3);
    std::vector<int32_t> own(40, -1);
    check_search(p, queries, own, numbers(40), kAll, p.n);
    for (size_t i = 0; i < 20; ++i) own[i] = static_cast<int32_t>(below(rng, p.n));
    check_search(p, queries, own, {3, 39, 0, 12, 25}, kAll, p.n);
}

TEST_CASE("a query reads its rarest features until it has read as many postings as asked for") {
    Generator rng(38);
    const Points p(rng, 90, 25, 0.15), queries(rng, 30, 25, 0.4);
    const std::vector<int32_t> none(30, -1);
    for (const int64_t n_postings : {1, 7, 20, 60})
        for (const int64_t rerank : {1, 4, 90})
            check_search(p, queries, none, numbers(30), n_postings, rerank);
}

TEST_CASE("a feature that no point has, and rows without features, name no one") {
    // Feature 2 is the query's alone; row 1 is empty.
    const std::vector<int64_t> indptr{0, 1, 1, 2}, sought{0, 1, 2, 2};
    const std::vector<int32_t> indices{0, 1}, features{2, 1}, own(3, -1), chosen{0, 1, 2};
    const std::vector<double> value(3, 1.0), level(3, 1.0);
    const SparsePoints points{indptr.data(), indices.data(), value.data(), value.data(), 3, 3};
    const SparseRows rows{sought.data(), features.data(), value.data(), 3, 3};
    Lists lists(3, 2);
    Postings(points, level.data())
        .search({rows, level.data(), own.data(), chosen.data(), 3}, 1, 3, lists.view(), 1);
    CHECK(lists.index == std::vector<int32_t>{-1, -1, 2, -1, -1, -1});
}

TEST_CASE("lists keep what they hold if nothing better is offered") {
    Generator rng(39);
    const Points p(rng, 50, 20, 0.3);
    Lists lists(p.n, 3), again(p.n, 3);
    const auto all = numbers(p.n);
    const SparseQueries sought{p.sparse().x_rows(), p.u.data(), all.data(), all.data(), p.n};
    const Postings postings(p.sparse(), p.w.data());
    postings.search(sought, kAll, p.n, lists.view(), 2);
    again = lists;
    postings.search(sought, 5, 2, again.view(), 1);
    CHECK(again.index == lists.index);
    CHECK(again.divergence == lists.divergence);
}

TEST_CASE("the nearest in chunks, against all pairs") {
    Generator rng(27);
    for (const double density : {0.3, 1.0}) {
        const Points p(rng, 160, 40, density);
        check_chunks(p, permutation(rng, p.n), {0, 3, 25, 25, p.n}, 1e-5);
    }
}

TEST_CASE("chunks of some points leave the others' lists alone") {
    Generator rng(28);
    const Points p(rng, 30, 10, 0.4);
    const auto order = permutation(rng, p.n);
    const std::vector<int64_t> bounds{5, 12, 20};
    check_chunks(p, order, bounds, 1e-5);
    Lists lists(p.n, 2);
    compare_chunks(p.sparse(), p.u.data(), p.w.data(), {order.data(), bounds.data(), 2}, lists.view(), 1);
    for (size_t place = 0; place < 30; ++place)
        CHECK((lists.index[static_cast<size_t>(order[place]) * 2] >= 0) == (place >= 5 && place < 20));
}

TEST_CASE("the nearest in chunks of equal points") {
    Generator rng(29);
    Points p(rng, 70, 4);
    for (int64_t i = 0; i < p.n; ++i)
        for (int64_t j = 0; j < p.d; ++j)
            p.x[i * p.d + j] = p.sparse_x[i * p.d + j] = static_cast<double>(1 + i % 3);
    make_self_dual(p);
    p.sparse_h = p.h;
    const auto order = permutation(rng, p.n);
    const std::vector<int64_t> bounds{0, p.n};
    Lists lists(p.n, 6);
    compare_chunks(p.sparse(), p.u.data(), p.w.data(), {order.data(), bounds.data(), 1}, lists.view(), 2);
    for (int32_t i = 0; i < p.n; ++i) {
        const auto expected = nearest(p, i, order, 6);
        for (size_t s = 0; s < 6; ++s) {
            CHECK(lists.index[i * 6 + s] == expected[s].second);
            CHECK(lists.divergence[i * 6 + s] == expected[s].first);
        }
    }
}
