#include "../kernels/merges.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <set>
#include <tuple>

#include "cases.hpp"

using namespace bvdt;
using namespace bvdt::test;

namespace {

// Chunks of random sizes over a random order, and random merges inside them whose costs ascend.
struct Case {
    std::vector<int32_t> order, pairs;
    std::vector<int64_t> bounds{0};
    std::vector<double> costs;

    Case(Generator& rng, int64_t n, int64_t largest) : order(permutation(rng, n)) {
        while (bounds.back() < n) bounds.push_back(std::min(n, bounds.back() + 1 + below(rng, largest)));
        for (size_t c = 0; c + 1 < bounds.size(); ++c) {
            std::vector<int32_t> live(static_cast<size_t>(bounds[c + 1] - bounds[c]));
            std::iota(live.begin(), live.end(), static_cast<int32_t>(bounds[c]));
            for (double cost = 0; live.size() > 1; live.pop_back()) {
                std::shuffle(live.begin(), live.end(), rng);
                pairs.push_back(live[0]), pairs.push_back(live.back());
                costs.push_back(cost += static_cast<double>(below(rng, 3)));  // some are equal
            }
        }
    }
    Merges merges() const {
        return {pairs.data(), costs.data(), order.data(), bounds.data(),
                static_cast<int64_t>(bounds.size()) - 1};
    }
};

}  // namespace

TEST_CASE("merges carried out, against sets of items") {
    Generator rng(23);
    for (const auto& [n, largest, threads] :
         {std::tuple<int64_t, int64_t, int>{30, 30, 1}, {30, 7, 2}, {40'000, 300, 1}, {40'000, 300, 3}}) {
        const Case chunks(rng, n, largest);
        const int64_t n_merges = static_cast<int64_t>(chunks.costs.size()), wanted = 1 + n_merges / 2;
        auto sorted = chunks.costs;
        std::sort(sorted.begin(), sorted.end());
        const double most = kth_smallest(chunks.costs.data(), n_merges, wanted, threads);
        CHECK(most == sorted[wanted - 1]);
        const int32_t first_new = static_cast<int32_t>(n) + 7;
        std::vector<std::set<int32_t>> sets(static_cast<size_t>(n));  // by item that stands for them
        std::vector<int32_t> number = permutation(rng, n), expected;
        auto cluster = number;
        for (int32_t i = 0; i < n; ++i) sets[i] = {i};
        int32_t made = 0;
        for (int64_t t = 0; t < n_merges; ++t) {
            if (chunks.costs[t] > most) continue;
            const int32_t a = chunks.order[chunks.pairs[2 * t]], b = chunks.order[chunks.pairs[2 * t + 1]];
            expected.push_back(number[a]), expected.push_back(number[b]);
            number[a] = first_new + made++, number[b] = -1;
            sets[a].merge(sets[b]);
        }
        std::vector<int32_t> group(static_cast<size_t>(n), -1), linkage(expected.size());
        const AppliedMerges applied = apply_merges(chunks.merges(), most, {cluster.data(), group.data(), n},
                                                   first_new, linkage.data(), threads);
        CHECK(applied.count == made);
        CHECK(linkage == expected);
        int32_t g = 0;
        for (int32_t i = 0; i < n; ++i) {
            if (number[i] < 0) continue;
            REQUIRE(applied.cluster[g] == number[i]);
            for (int32_t item : sets[i]) REQUIRE(group[item] == g);
            ++g;
        }
        CHECK(static_cast<size_t>(g) == applied.cluster.size());
    }
}

TEST_CASE("the dearest of the cheapest merges") {
    Generator rng(26);
    for (const int64_t n : {1, 2, 100, 50'000})
        for (const int kind : {0, 1, 2}) {  // any costs, few values, or in order with some that are none
            std::vector<double> costs = uniforms(rng, n, 0, 5);
            if (kind == 1)
                for (double& cost : costs) cost = std::floor(cost);
            if (kind == 2) {
                std::sort(costs.begin(), costs.end());
                for (size_t i = 0; i < costs.size(); i += 10) costs[i] = NAN;
            }
            auto sorted = costs;
            for (double& cost : sorted) cost = std::isnan(cost) ? INFINITY : cost;
            std::sort(sorted.begin(), sorted.end());
            for (const int64_t count : {int64_t{1}, n / 3, n / 2, n - 1, n, n + 5}) {
                if (count < 1) continue;
                const double most = kth_smallest(costs.data(), n, count, 2);
                CHECK(most == (count < n ? sorted[count - 1] : INFINITY));
            }
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

TEST_CASE("pre-order of many points, against merges placed one by one") {
    Generator rng(27);
    const int64_t n = 20'000, n_nodes = 2 * n - 1;  // more merges than one thread takes alone
    for (const bool chain : {false, true}) {
        std::vector<int32_t> live = permutation(rng, n), linkage;
        for (int32_t made = static_cast<int32_t>(n); live.size() > 1; ++made) {
            const size_t first = chain ? 0 : static_cast<size_t>(below(rng, int64_t(live.size())));
            std::swap(live[first], live.back());
            linkage.push_back(live.back()), live.pop_back();
            int32_t& second = live[chain ? 0 : below(rng, int64_t(live.size()))];
            linkage.push_back(second), second = made;
        }
        std::vector<int32_t> count(static_cast<size_t>(n_nodes), 1), place(count), start(count);
        for (int64_t t = 0; t < n - 1; ++t) count[n + t] = count[linkage[2 * t]] + count[linkage[2 * t + 1]];
        place.back() = start.back() = 0;
        for (int64_t t = n - 2; t >= 0; --t) {
            const int32_t a = linkage[2 * t], b = linkage[2 * t + 1];
            place[a] = place[n + t] + 1, start[a] = start[n + t];
            place[b] = place[a] + 2 * count[a] - 1, start[b] = start[a] + count[a];
        }
        for (const int threads : {1, 3}) {
            const std::vector<int32_t> nodes(static_cast<size_t>(n_nodes), -7);
            std::vector<int32_t> order(static_cast<size_t>(n), -7), size = nodes, left = nodes, right = nodes;
            std::vector<int32_t> parent = nodes, first = nodes;
            const TreeArrays tree{order.data(), size.data(),   left.data(),
                                  right.data(), parent.data(), first.data()};
            const int64_t depth = pre_order(linkage.data(), n - 1, tree, threads);
            CHECK(depth == tree_depth(size.data(), n_nodes));
            for (int64_t c = 0; c < n_nodes; ++c) {
                REQUIRE(size[place[c]] == count[c]);
                REQUIRE(first[place[c]] == start[c]);
                if (c < n) REQUIRE(order[start[c]] == c);
            }
            for (int64_t k = 0; k < n_nodes; ++k) {
                REQUIRE(left[k] == (size[k] > 1 ? k + 1 : -1));
                REQUIRE(right[k] == (size[k] > 1 ? k + 2 * size[k + 1] : -1));
                if (size[k] > 1) REQUIRE(parent[left[k]] == k);
                if (size[k] > 1) REQUIRE(parent[right[k]] == k);
            }
            CHECK(parent[0] == -1);
        }
    }
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
        std::vector<double> weights(7);
        group_means(points.x.data(), 50, 30, groups, dense.data(), weights.data(), threads);
        CHECK(weights == total);
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
