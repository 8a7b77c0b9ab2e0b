#include "../kernels/ward.hpp"

#include <doctest/doctest.h>

#include "cases.hpp"

using namespace bvdt;
using namespace bvdt::test;

namespace {

struct Cluster {
    std::vector<double> x, h;  // means
    double weight;
};

// |A||B|/(|A|+|B|)·⟨x̄_A − x̄_B, h̄_A − h̄_B⟩
double cost(const Cluster& a, const Cluster& b) {
    double sum = 0;
    for (size_t j = 0; j < a.x.size(); ++j) sum += (a.x[j] - b.x[j]) * (a.h[j] - b.h[j]);
    return a.weight * b.weight / (a.weight + b.weight) * sum;
}

Cluster merged(const Cluster& a, const Cluster& b) {
    Cluster both{a.x, a.h, a.weight + b.weight};
    for (size_t j = 0; j < a.x.size(); ++j) {
        both.x[j] = (a.weight * a.x[j] + b.weight * b.x[j]) / both.weight;
        both.h[j] = (a.weight * a.h[j] + b.weight * b.h[j]) / both.weight;
    }
    return both;
}

// The cheapest merge again and again, from the means: its costs.
std::vector<double> slow_costs(const Points& p, const std::vector<int32_t>& items,
                               const std::vector<double>& weight) {
    std::vector<Cluster> live;
    for (int32_t i : items)
        live.push_back({{p.x.begin() + i * p.d, p.x.begin() + (i + 1) * p.d},
                        {p.h.begin() + i * p.d, p.h.begin() + (i + 1) * p.d},
                        weight[i]});
    std::vector<double> costs;
    while (live.size() > 1) {
        size_t best_a = 0, best_b = 1;
        for (size_t a = 0; a < live.size(); ++a)
            for (size_t b = a + 1; b < live.size(); ++b)
                if (cost(live[a], live[b]) < cost(live[best_a], live[best_b])) best_a = a, best_b = b;
        costs.push_back(cost(live[best_a], live[best_b]));
        live[best_a] = merged(live[best_a], live[best_b]);
        live.erase(live.begin() + static_cast<int64_t>(best_b));
    }
    return costs;
}

template <typename AnyPoints>
void check_ward(const Points& p, const AnyPoints& points, Generator& rng) {
    const auto order = permutation(rng, p.n);
    const auto weight = uniforms(rng, p.n, 1, 4);
    const std::vector<int64_t> bounds{3, 4, 20, p.n};  // a chunk of one point has no merge
    const int64_t n_merges = p.n - 3 - 3;
    std::vector<int32_t> pairs(static_cast<size_t>(2 * n_merges), -1);
    std::vector<double> costs(static_cast<size_t>(n_merges), -1);
    ward_chunks(points, {weight.data(), order.data(), bounds.data(), 3}, {pairs.data(), costs.data()}, 2);
    for (int64_t c = 0; c < 3; ++c) {
        const int64_t first = bounds[c] - 3 - c, last = bounds[c + 1] - 3 - (c + 1);
        const std::vector<int32_t> items(order.begin() + bounds[c], order.begin() + bounds[c + 1]);
        std::vector<double> found(costs.begin() + first, costs.begin() + last);
        std::sort(found.begin(), found.end());
        const auto expected = slow_costs(p, items, weight);
        for (size_t t = 0; t < expected.size(); ++t) CHECK(near(found[t], expected[t], 2e-4));
        std::vector<int32_t> gone;
        for (int64_t t = first; t < last; ++t) {
            for (int32_t place : {pairs[2 * t], pairs[2 * t + 1]}) {
                CHECK(place >= bounds[c]);
                CHECK(place < bounds[c + 1]);
                CHECK(std::find(gone.begin(), gone.end(), place) == gone.end());
            }
            gone.push_back(pairs[2 * t + 1]);
        }
    }
}

}  // namespace

TEST_CASE("Ward's merges cost what merging the cheapest pair again and again costs") {
    Generator rng(22);
    const Points dense(rng, 60, 5), sparse(rng, 60, 40, 0.4);
    check_ward(dense, dense.dense(), rng);
    check_ward(sparse, sparse.sparse(), rng);
    Points self_dual(rng, 60, 5);
    self_dual.h = self_dual.x;
    check_ward(self_dual, DensePoints{self_dual.x.data(), self_dual.x.data(), 60, 5}, rng);
    const Points wide(rng, 60, 40);  // by the matrix of costs
    check_ward(wide, wide.dense(), rng);
}

TEST_CASE(
    "Ward's merges survive a far origin, far points and tiny groups, which single precision cannot see") {
    Generator rng(23);
    for (const double origin : {0.0, 1e9})
        for (const double spread : {1.0, 1e-6, 1e-12}) {
            Points p(rng, 60, 3);
            for (int64_t i = 0; i < p.n; ++i)
                for (int64_t j = 0; j < p.d; ++j)
                    p.x[i * p.d + j] = origin + (i % 4) + spread * p.x[i * p.d + j] + (i == 7 ? 1e15 : 0);
            if (origin > 0 && spread < 1e-3) continue;  // not even double precision sees these
            p.h = p.x;
            check_ward(p, DensePoints{p.x.data(), p.x.data(), p.n, p.d}, rng);
        }
}

TEST_CASE("equal points pair up evenly") {
    const std::vector<double> x(64 * 2, 1.0), weight(64, 1.0);
    std::vector<int32_t> order(64), pairs(63 * 2), height(64, 0);
    std::iota(order.begin(), order.end(), 0);
    const std::vector<int64_t> bounds{0, 64};
    std::vector<double> costs(63);
    ward_chunks(DensePoints{x.data(), x.data(), 64, 2}, {weight.data(), order.data(), bounds.data(), 1},
                {pairs.data(), costs.data()}, 1);
    for (size_t t = 0; t < costs.size(); ++t) {
        CHECK(costs[t] == 0);
        height[pairs[2 * t]] = 1 + std::max(height[pairs[2 * t]], height[pairs[2 * t + 1]]);
    }
    CHECK(*std::max_element(height.begin(), height.end()) == 6);
}
