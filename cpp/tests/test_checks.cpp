#include "../bindings/checks.hpp"

#include <doctest/doctest.h>

#include "blocks.hpp"

using namespace bvdt;
using namespace bvdt::test;
using Refused = std::invalid_argument;

TEST_CASE("an error names the object, what it needs, and its value") {
    const std::vector<int32_t> values{0, 2, 7, 1};
    CHECK_THROWS_WITH_AS(check_indices("order", values.data(), 4, 5),
                         "order[2] needs an index in 0…4; it is 7", Refused);
    CHECK_THROWS_WITH_AS(check_length("q", 3, 4, "block"), "q needs one entry per block, 4; it has 3",
                         Refused);
    CHECK_THROWS_WITH_AS(check_threads(0), "threads needs at least 1; it is 0", Refused);
}

TEST_CASE("indices at their limits") {
    for (const int64_t count : {1, 5, 100, 70'000})
        for (const int threads : {1, 2}) {
            std::vector<int32_t> values(static_cast<size_t>(count), 9);
            CHECK_NOTHROW(check_indices("a", values.data(), count, 10, threads));
            values.back() = -1;
            CHECK_NOTHROW(check_indices("a", values.data(), count, 10, threads, -1));
            CHECK_THROWS_AS(check_indices("a", values.data(), count, 10, threads), Refused);
            for (const int32_t wrong : {-2, 10, INT32_MAX, INT32_MIN}) {
                values.back() = wrong;
                CHECK_THROWS_AS(check_indices("a", values.data(), count, 10, threads, -1), Refused);
            }
            values.back() = INT32_MAX;
            CHECK_NOTHROW(check_indices("a", values.data(), count, int64_t{1} << 40, threads));
            CHECK_THROWS_AS(check_indices("a", values.data(), count, 0, threads), Refused);
        }
}

TEST_CASE("a tree with any one size or parent changed is refused") {
    Generator rng(33);
    Tree tree = random_tree(rng, 20);
    const int64_t n_nodes = tree.n_nodes();
    CHECK(check_sizes(tree.size.data(), n_nodes, 1) == 20);
    CHECK(check_parents(tree.size.data(), tree.parent.data(), n_nodes, 2) == 20);
    CHECK_NOTHROW(check_starts(tree.size.data(), tree.start.data(), n_nodes));
    for (int64_t k = 0; k < n_nodes; ++k)
        for (const int32_t wrong : {INT32_MIN, -1, 0, 1, 2, 3, 20, 39, INT32_MAX}) {
            Tree broken = tree;
            broken.size[k] = wrong;
            if (wrong != tree.size[k]) CHECK_THROWS_AS(check_sizes(broken.size.data(), n_nodes, 1), Refused);
            broken = tree;
            broken.parent[k] = wrong;
            if (k > 0 && wrong != tree.parent[k])
                CHECK_THROWS_AS(check_parents(broken.size.data(), broken.parent.data(), n_nodes, 1), Refused);
            broken = tree;
            broken.start[k] = wrong;
            if (wrong != tree.start[k])
                CHECK_THROWS_AS(check_starts(broken.size.data(), broken.start.data(), n_nodes), Refused);
        }
}

TEST_CASE("sparse rows and blocks") {
    Generator rng(34);
    const Points p(rng, 10, 6, 0.5);
    const int64_t nnz = static_cast<int64_t>(p.indices.size());
    const auto few = std::vector<int32_t>{3, 4};
    auto indptr = p.indptr;
    auto indices = p.indices;
    const SparseRows rows{indptr.data(), indices.data(), p.sparse_x.data(), 10, 6};
    CHECK_NOTHROW(check_csr(rows, nnz, 1));
    CHECK_NOTHROW(check_csr_rows(rows, nnz, few.data(), 2, 1));
    indptr[4] = nnz + 1;
    CHECK_THROWS_AS(check_csr(rows, nnz, 1), Refused);
    CHECK_THROWS_AS(check_csr_rows(rows, nnz, few.data(), 2, 1), Refused);
    indptr = p.indptr;
    indices[indptr[3]] = 6;
    CHECK_THROWS_AS(check_csr(rows, nnz, 1), Refused);
    CHECK_THROWS_AS(check_csr_rows(rows, nnz, few.data(), 2, 1), Refused);

    const Tree tree = random_tree(rng, 12);
    Blocks blocks = random_blocks(rng, tree, 20);
    const auto check = [&] {
        check_blocks(blocks.first.data(), static_cast<int64_t>(blocks.first.size()), blocks.cols.data(),
                     static_cast<int64_t>(blocks.cols.size()), tree.n_nodes(), 1);
    };
    CHECK_NOTHROW(check());
    blocks.cols[5] = static_cast<int32_t>(tree.n_nodes());
    CHECK_THROWS_AS(check(), Refused);
    blocks.cols[5] = 1, blocks.first[7] = blocks.first[8] + 1;
    CHECK_THROWS_AS(check(), Refused);
}

TEST_CASE("a permutation, and a linkage, with any one entry changed is refused") {
    Generator rng(36);
    for (const int64_t n : {1, 2, 63, 64, 65, 70'000})
        for (const int threads : {1, 3}) {
            auto order = permutation(rng, n);
            CHECK_NOTHROW(check_permutation("order", order.data(), n, threads));
            for (const int64_t at : {int64_t{0}, n / 2, n - 1})
                for (const int64_t wrong : {int64_t{-1}, (order[at] + 1) % n, n}) {
                    const int32_t right = order[at];
                    if (wrong == right) continue;
                    order[at] = static_cast<int32_t>(wrong);
                    CHECK_THROWS_AS(check_permutation("order", order.data(), n, threads), Refused);
                    order[at] = right;
                }
        }
    for (const int64_t n : {2, 33, 40'000})
        for (const int threads : {1, 3}) {
            std::vector<int32_t> live = permutation(rng, n), linkage;
            for (int64_t made = n; live.size() > 1; ++made) {
                for (int side : {0, 1}) {
                    std::swap(live[below(rng, int64_t(live.size()) - side)], live[live.size() - 1 - side]);
                    linkage.push_back(live[live.size() - 1 - side]);
                }
                live.pop_back(), live.back() = static_cast<int32_t>(made);
            }
            CHECK_NOTHROW(check_linkage(linkage.data(), n - 1, threads));
            for (const int64_t at : {int64_t{0}, n / 2, 2 * n - 3})
                for (const int64_t wrong : {int64_t{-1}, n + at / 2, int64_t{linkage[at]} + 1}) {
                    const int32_t right = linkage[at];
                    linkage[at] = static_cast<int32_t>(wrong);
                    CHECK_THROWS_AS(check_linkage(linkage.data(), n - 1, threads), Refused);
                    linkage[at] = right;
                }
        }
}

TEST_CASE("merges inside chunks: outside of their chunk, gone, or with themselves") {
    const std::vector<int64_t> bounds{0, 3, 4, 6};
    const std::vector<int32_t> pairs{0, 1, 2, 0, 5, 4};
    CHECK_NOTHROW(check_pairs(pairs.data(), bounds.data(), 3, 2));
    for (size_t at = 0; at < pairs.size(); ++at)
        for (const int32_t wrong : {-1, 3, 6, INT32_MAX, INT32_MIN}) {
            auto broken = pairs;
            broken[at] = wrong;
            CHECK_THROWS_AS(check_pairs(broken.data(), bounds.data(), 3, 2), Refused);
        }
    for (const auto& broken :
         {std::vector<int32_t>{0, 0, 2, 1, 5, 4}, {0, 1, 2, 1, 5, 4}, {0, 1, 1, 2, 5, 4}})
        CHECK_THROWS_WITH_AS(check_pairs(broken.data(), bounds.data(), 3, 1),
                             doctest::Contains("needs two places in its chunk that are not gone"), Refused);
}
