#include "../kernels/node_sums.hpp"

#include <doctest/doctest.h>

#include "cases.hpp"

using namespace bvdt;
using namespace bvdt::test;

TEST_CASE("sums over the points of every node, and over the nodes above every point") {
    Generator rng(5);
    for (const int64_t n : {2, 3, 50, 9000})
        for (const int threads : {1, 2}) {
            const Tree tree = random_tree(rng, n);
            const auto by_point = uniforms(rng, n, -1), by_node = uniforms(rng, tree.n_nodes(), -1);
            std::vector<double> up(tree.size.size()), down(static_cast<size_t>(n)), expected(down.size(), 0);
            node_sums(by_point.data(), tree.size.data(), tree.order.data(), tree.n_nodes(), up.data(),
                      threads);
            path_sums(by_node.data(), tree.size.data(), tree.order.data(), tree.n_nodes(), down.data(),
                      threads);
            for (int64_t node = 0; node < tree.n_nodes(); ++node) {
                double sum = 0;
                for (int32_t point : tree.points(node))
                    sum += by_point[point], expected[point] += by_node[node];
                CHECK(near(up[node], sum));
            }
            for (int64_t i = 0; i < n; ++i) CHECK(near(down[i], expected[i]));
        }
}
