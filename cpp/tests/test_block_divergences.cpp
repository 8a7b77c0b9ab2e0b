#include "../kernels/block_divergences.hpp"

#include <doctest/doctest.h>

#include "../kernels/node_sums.hpp"
#include "cases.hpp"

using namespace bvdt;
using namespace bvdt::test;

namespace {

// D_AB / (|A||B|) pair by pair, Eq. (20).
double mean_divergence(const Points& points, const Tree& tree, int64_t a, int64_t b) {
    double sum = 0;
    for (int32_t i : tree.points(a))
        for (int32_t j : tree.points(b)) sum += points.divergence(i, j);
    return sum / (double(tree.size[a]) * tree.size[b]);
}

}  // namespace

TEST_CASE("the coarsest partition's divergences, dense and sparse") {
    Generator rng(6);
    for (const bool chain : {false, true})
        for (const double density : {1.0, 0.2}) {
            const Points points(rng, 70, 900, density);
            const Tree tree = random_tree(rng, points.n, chain);
            std::vector<double> u(tree.size.size()), w(u), dense(u), sparse(u);
            const auto sums = [&](const std::vector<double>& values, std::vector<double>& out) {
                node_sums(values.data(), tree.size.data(), tree.order.data(), tree.n_nodes(), out.data(), 1);
            };
            sums(points.u, u), sums(points.w, w);
            const NodeLevels nodes{u.data(),          w.data(),          tree.size.data(),
                                   tree.start.data(), tree.order.data(), tree.n_nodes()};
            coarsest_divergences(points.dense(), nodes, dense.data(), 2);
            coarsest_divergences(points.sparse(), nodes, sparse.data(), 2);
            for (int64_t k = 1; k < tree.n_nodes(); ++k) {
                const double expected = std::max(mean_divergence(points, tree, k, tree.sibling(k)), 0.0);
                CHECK(near(dense[k], expected, 1e-10));
                CHECK(near(sparse[k], expected, 1e-10));
            }
        }
}

TEST_CASE("inner products of chosen pairs, dense and sparse") {
    Generator rng(7);
    const Points points(rng, 30, 40, 0.4);
    std::vector<int32_t> a, b;
    for (int e = 0; e < 3000; ++e)
        a.push_back(static_cast<int32_t>(below(rng, 30))), b.push_back(static_cast<int32_t>(below(rng, 30)));
    std::sort(a.begin(), a.begin() + 1500);
    const RowPairs pairs{a.data(), b.data(), 3000};
    std::vector<double> dense(3000), sparse(3000);
    pair_dots(points.x.data(), points.h.data(), points.d, pairs, dense.data(), 2);
    pair_dots(points.sparse().x_rows(), points.sparse().h_rows(), pairs, sparse.data(), 2);
    for (int e = 0; e < 3000; ++e) {
        CHECK(near(dense[e], points.inner(a[e], b[e])));
        CHECK(near(sparse[e], points.inner(a[e], b[e])));
    }
}
