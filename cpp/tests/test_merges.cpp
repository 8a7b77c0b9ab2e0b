#include "../kernels/merges.hpp"

#include <doctest/doctest.h>

#include <set>

#include "cases.hpp"

using namespace bvdt;
using namespace bvdt::test;

TEST_CASE("merges carried out, against sets of items") {
    Generator rng(23);
    const int64_t n = 30;
    std::vector<std::set<int32_t>> sets(static_cast<size_t>(n));
    std::vector<int32_t> live, pairs, expected, number(static_cast<size_t>(n));
    for (int32_t i = 0; i < n; ++i) live.push_back(i), sets[i] = {i}, number[i] = 100 + i;
    auto cluster = number;
    for (int32_t t = 0; t < 18; ++t) {
        const size_t at = static_cast<size_t>(below(rng, static_cast<int64_t>(live.size())));
        const int32_t gone = live[at];
        live.erase(live.begin() + static_cast<int64_t>(at));
        const int32_t kept = live[below(rng, static_cast<int64_t>(live.size()))];
        pairs.push_back(kept), pairs.push_back(gone);
        expected.push_back(number[kept]), expected.push_back(number[gone]);
        number[kept] = 500 + t;
        sets[kept].merge(sets[gone]);
    }
    std::vector<int32_t> group(static_cast<size_t>(n), -1), linkage(pairs.size());
    const int64_t remaining =
        apply_merges({pairs.data(), 18}, {cluster.data(), group.data(), n}, 500, linkage.data());
    CHECK(remaining == n - 18);
    CHECK(linkage == expected);
    for (int64_t g = 0; g < remaining; ++g) {
        CHECK(cluster[g] == number[live[g]]);
        for (int32_t item : sets[live[g]]) CHECK(group[item] == g);
    }
}

TEST_CASE("pre-order of a linkage: every cluster is a stretch of leaves with its own points") {
    Generator rng(24);
    const int64_t n = 25;
    std::vector<std::set<int32_t>> points;
    std::vector<int32_t> live, linkage;
    for (int32_t i = 0; i < n; ++i) live.push_back(i), points.push_back({i});
    while (live.size() > 1) {
        std::shuffle(live.begin(), live.end(), rng);
        const int32_t a = live.back(), b = live[live.size() - 2];
        live.pop_back();
        live.back() = static_cast<int32_t>(points.size());
        linkage.push_back(a), linkage.push_back(b);
        auto both = points[a];
        both.insert(points[b].begin(), points[b].end());
        points.push_back(both);
    }
    const std::vector<int32_t> nodes(static_cast<size_t>(2 * n - 1));
    std::vector<int32_t> order(static_cast<size_t>(n)), size = nodes, left = nodes, right = nodes;
    std::vector<int32_t> parent = nodes, start = nodes;
    const TreeArrays tree{order.data(), size.data(), left.data(), right.data(), parent.data(), start.data()};
    const int64_t depth = pre_order(linkage.data(), n - 1, tree, 3);
    CHECK(depth == tree_depth(size.data(), 2 * n - 1));
    CHECK(size[0] == n);
    CHECK(parent[0] == -1);
    std::set<std::set<int32_t>> expected(points.begin(), points.end()), found;
    int64_t leaf = 0;
    for (int64_t k = 0; k < 2 * n - 1; ++k) {
        found.emplace(order.begin() + leaf, order.begin() + leaf + size[k]);
        CHECK(start[k] == leaf);
        CHECK((left[k] < 0) == (size[k] == 1));
        CHECK((right[k] < 0) == (size[k] == 1));
        if (size[k] > 1) {
            CHECK(left[k] == k + 1);
            CHECK(right[k] == k + 2 * size[k + 1]);
            CHECK(parent[left[k]] == k);
            CHECK(parent[right[k]] == k);
        }
        leaf += size[k] == 1;
    }
    CHECK(found == expected);
}

TEST_CASE("group means, dense and sparse") {
    Generator rng(25);
    const Points points(rng, 50, 30, 0.3);
    std::vector<int32_t> group;
    for (int i = 0; i < 50; ++i) group.push_back(i < 7 ? i : static_cast<int32_t>(below(rng, 7)));
    const auto weight = uniforms(rng, 50, 1, 5);
    const Groups groups{weight.data(), group.data(), 7};
    for (const int threads : {1, 3}) {
        std::vector<double> dense(7 * 30), total(7, 0), expected_x(7 * 30, 0), expected_h(7 * 30, 0);
        for (int i = 0; i < 50; ++i) total[group[i]] += weight[i];
        for (int i = 0; i < 50; ++i)
            for (int j = 0; j < 30; ++j) {
                expected_x[group[i] * 30 + j] += weight[i] / total[group[i]] * points.x[i * 30 + j];
                expected_h[group[i] * 30 + j] += weight[i] / total[group[i]] * points.h[i * 30 + j];
            }
        group_means(points.x.data(), 50, 30, groups, dense.data(), threads);
        for (size_t e = 0; e < dense.size(); ++e) CHECK(near(dense[e], expected_x[e]));
        const SparseMeans means = group_means(points.sparse(), groups, threads);
        std::vector<double> x(7 * 30, 0), h(7 * 30, 0);
        for (int64_t g = 0; g < 7; ++g)
            for (int64_t e = means.indptr[g]; e < means.indptr[g + 1]; ++e) {
                CHECK(x[g * 30 + means.indices[e]] == 0);  // each feature once
                x[g * 30 + means.indices[e]] = means.x[e], h[g * 30 + means.indices[e]] = means.h[e];
            }
        for (size_t e = 0; e < x.size(); ++e) {
            CHECK(near(x[e], expected_x[e]));
            CHECK(near(h[e], expected_h[e]));
        }
    }
}
