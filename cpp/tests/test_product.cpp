#include <doctest/doctest.h>

#include "../kernels/block_product.hpp"
#include "../kernels/coarsest_product.hpp"
#include "blocks.hpp"

using namespace bvdt;
using namespace bvdt::test;

namespace {

// Q v or Qᵀ v, entry by entry.
std::vector<double> multiply(const std::vector<double>& matrix, const std::vector<double>& v, int64_t n,
                             int64_t k, bool transpose) {
    std::vector<double> out(v.size(), 0.0);
    for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j)
            for (int64_t c = 0; c < k; ++c)
                out[i * k + c] += (transpose ? matrix[j * n + i] : matrix[i * n + j]) * v[j * k + c];
    return out;
}

void check_near(const std::vector<double>& a, const std::vector<double>& b) {
    for (size_t e = 0; e < a.size(); ++e) CHECK(near(a[e], b[e]));
}

}  // namespace

TEST_CASE("products of the coarsest partition, for any subtrees") {
    Generator rng(11);
    for (const int64_t n : {2, 3, 90})
        for (const bool chain : {false, true})
            for (const int64_t subtree_points : {1, 4, 16, 256}) {
                const Tree tree = random_tree(rng, n, chain);
                const Blocks blocks = random_blocks(rng, tree, 0);
                const auto q = uniforms(rng, tree.n_nodes() - 1);
                const auto matrix = dense_matrix(tree, blocks, q);
                auto mean = matrix;
                for (int64_t i = 0; i < n; ++i)
                    for (int64_t j = 0; j < n; ++j)
                        mean[i * n + j] = (matrix[i * n + j] + matrix[j * n + i]) / 2;
                const CoarsestProduct product(tree.size.data(), tree.order.data(), tree.n_nodes(), q.data(),
                                              subtree_points);
                const CoarsestProduct symmetric = product.symmetric();
                for (const int64_t k : {1, 2, 33})
                    for (const bool transpose : {false, true}) {
                        const auto v = uniforms(rng, n * k);
                        std::vector<double> out(v.size());
                        product.apply(v.data(), out.data(), k, transpose, 2);
                        check_near(out, multiply(matrix, v, n, k, transpose));
                        symmetric.apply(v.data(), out.data(), k, transpose, 1);
                        check_near(out, multiply(mean, v, n, k, false));
                    }
            }
}

TEST_CASE("the threads do not change a product, and single precision is that of its result") {
    Generator rng(12);
    const int64_t n = 3000;
    const Tree tree = random_tree(rng, n);
    const auto q = uniforms(rng, tree.n_nodes() - 1);
    const CoarsestProduct product(tree.size.data(), tree.order.data(), tree.n_nodes(), q.data(), 64);
    for (const int64_t k : {1, 3}) {
        const auto v = uniforms(rng, n * k);
        std::vector<double> one(v.size()), two(v.size());
        product.apply(v.data(), one.data(), k, false, 1);
        product.apply(v.data(), two.data(), k, false, 2);
        CHECK(one == two);
        const std::vector<float> single(v.begin(), v.end());
        std::vector<float> out(v.size());
        product.apply(single.data(), out.data(), k, false, 2);
        for (size_t e = 0; e < v.size(); ++e) CHECK(near(out[e], one[e], 1e-6));
    }
}

TEST_CASE("products of any partition") {
    Generator rng(13);
    for (const int n_splits : {0, 100}) {
        const Tree tree = random_tree(rng, 70);
        const Blocks blocks = random_blocks(rng, tree, n_splits);
        const auto q = uniforms(rng, static_cast<int64_t>(blocks.rows.size()));
        const auto matrix = dense_matrix(tree, blocks, q);
        const BlockProduct product{tree.size.data(),    tree.parent.data(), tree.order.data(), tree.n_nodes(),
                                   blocks.first.data(), blocks.cols.data(), q.data()};
        for (const int64_t k : {1, 5, 40}) {
            const auto v = uniforms(rng, 70 * k);
            std::vector<double> out(v.size());
            multiply_blocks(product, v.data(), out.data(), k, 2);
            check_near(out, multiply(matrix, v, 70, k, false));
        }
    }
}
