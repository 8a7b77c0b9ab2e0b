#include <doctest/doctest.h>

#include "cases.hpp"

using namespace bvdt;
using namespace bvdt::test;

TEST_CASE("subtrees cover the tree, climb from the leaves and descend from the root") {
    Generator rng(1);
    for (const bool chain : {false, true})
        for (const int64_t max_leaves : {1, 3, 8, 1000}) {
            const Tree tree = random_tree(rng, 60, chain);
            const Subtrees subtrees(tree.size.data(), tree.n_nodes(), max_leaves);
            int64_t leaves = 0;
            for (int64_t c = 0; c < subtrees.count(); ++c) {
                CHECK(subtrees.start[c] == leaves);
                CHECK(tree.size[subtrees.roots[c]] <= max_leaves);
                leaves += tree.size[subtrees.roots[c]];
            }
            CHECK(leaves == 60);

            std::vector<int> met(tree.size.size(), 0);
            const auto check_leaf = [&](int64_t node, int64_t leaf) {
                if (tree.size[node] == 1) CHECK(leaf == tree.start[node]);
            };
            subtrees.climb(2, [&](int64_t node, int64_t leaf) {
                check_leaf(node, leaf);
                if (tree.size[node] > 1) CHECK(met[node + 1] + met[right_child(tree.size.data(), node)] == 2);
                ++met[node];
            });
            subtrees.descend(2, [&](int64_t node, int64_t leaf) {
                check_leaf(node, leaf);
                if (node > 0) CHECK(met[tree.parent[node]] == 2);
                ++met[node];
            });
            for (int visits : met) CHECK(visits == 2);
        }
}

TEST_CASE("fold_up hands a node its left and its right child") {
    Generator rng(2);
    const Tree tree = random_tree(rng, 40);
    const auto root = fold_up<int64_t>(
        tree.n_nodes(), [&](int64_t k) { return tree.size[k] == 1; }, [](int64_t k) { return k; },
        [&](int64_t k, int64_t left, int64_t right) {
            CHECK(left == k + 1);
            CHECK(right == right_child(tree.size.data(), k));
            return k;
        });
    CHECK(root == 0);
}
