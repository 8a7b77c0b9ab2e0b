#include <doctest/doctest.h>

#include "../kernels/curve.hpp"
#include "../kernels/optimum.hpp"
#include "blocks.hpp"

using namespace bvdt;
using namespace bvdt::test;

namespace {

struct Problem {
    Tree tree;
    Blocks blocks;
    std::vector<double> dbar;

    BlockWeights weights(double bandwidth, bool coarsest = false) const {
        return {tree.size.data(),
                tree.parent.data(),
                tree.n_nodes(),
                coarsest ? nullptr : blocks.first.data(),
                coarsest ? nullptr : blocks.cols.data(),
                dbar.data(),
                bandwidth};
    }
    // c of a node as its recursion says, in plain numbers.
    double value(int64_t node, double bandwidth) const {
        double sum = 0;
        for (int64_t b = blocks.first[node]; b < blocks.first[node + 1]; ++b)
            sum += tree.size[blocks.cols[b]] * std::exp(-dbar[b] / bandwidth);
        if (tree.size[node] == 1) return std::log(sum);
        const int64_t left = node + 1, right = right_child(tree.size.data(), node);
        const double under =
            (tree.size[left] * value(left, bandwidth) + tree.size[right] * value(right, bandwidth)) /
            tree.size[node];
        return std::log(sum + std::exp(under));
    }
    // Eq. (18) without its constant, per row, for any q.
    double bound(const std::vector<double>& q, double bandwidth) const {
        double sum = 0;
        for (size_t b = 0; b < q.size(); ++b)
            if (q[b] > 0)
                sum -= double(tree.size[blocks.rows[b]]) * tree.size[blocks.cols[b]] * q[b] *
                       (dbar[b] / bandwidth + std::log(q[b]));
        return sum / double(tree.n());
    }
};

Problem random_problem(Generator& rng, int64_t n, int n_splits, bool chain) {
    Problem problem;
    problem.tree = random_tree(rng, n, chain);
    problem.blocks = random_blocks(rng, problem.tree, n_splits);
    problem.dbar = uniforms(rng, static_cast<int64_t>(problem.blocks.rows.size()), 0, 3);
    return problem;
}

struct Solved {
    std::vector<double> q, value, below;
};

Solved solve(const Problem& p, double bandwidth, bool coarsest, int threads) {
    Solved s{std::vector<double>(p.dbar.size()), std::vector<double>(p.tree.size.size()),
             std::vector<double>(p.tree.size.size())};
    optimum(p.weights(bandwidth, coarsest), {s.q.data(), s.value.data(), s.below.data()}, threads);
    return s;
}

}  // namespace

TEST_CASE("the optimum: its values by recursion, rows that sum to 1, and the bound that it reaches") {
    Generator rng(8);
    for (const bool chain : {false, true})
        for (const int n_splits : {0, 60}) {
            const Problem p = random_problem(rng, 40, n_splits, chain);
            for (const double bandwidth : {0.3, 1.0, 20.0}) {
                const Solved s = solve(p, bandwidth, false, 2);
                for (int64_t k = 0; k < p.tree.n_nodes(); ++k)
                    CHECK(near(s.value[k], p.value(k, bandwidth), 1e-11));
                const auto matrix = dense_matrix(p.tree, p.blocks, s.q);
                for (int64_t i = 0; i < 40; ++i)
                    CHECK(near(std::accumulate(matrix.begin() + i * 40, matrix.begin() + (i + 1) * 40, 0.0),
                               1));
                CHECK(near(p.bound(s.q, bandwidth), s.value[0], 1e-11));
            }
        }
}

TEST_CASE("the coarsest partition's own path gives what the general one gives") {
    Generator rng(9);
    const Problem p = random_problem(rng, 9000, 0, false);  // more than one thread's subtree
    const Solved general = solve(p, 0.7, false, 2), own = solve(p, 0.7, true, 1);
    for (size_t b = 0; b < p.dbar.size(); ++b) CHECK(near(own.q[b], general.q[b]));
    for (size_t k = 0; k < own.value.size(); ++k) CHECK(near(own.value[k], general.value[k]));
}

TEST_CASE("the curve: the optimum's value, and its derivatives by differences") {
    Generator rng(10);
    for (const int n_splits : {0, 60}) {
        const Problem p = random_problem(rng, n_splits ? 40 : 9000, n_splits, false);
        const double theta = 1.3, step = 1e-4;
        const auto at = [&](double t) { return bound_curve(p.weights(1 / t, n_splits == 0), 2); };
        const Curve here = at(theta), before = at(theta - step), after = at(theta + step);
        CHECK(near(here.value, solve(p, 1 / theta, false, 1).value[0], 1e-11));
        CHECK(near(here.mean, -(after.value - before.value) / (2 * step), 1e-6));
        CHECK(near(here.variance, -(after.mean - before.mean) / (2 * step), 1e-6));
        CHECK(near(here.entropy, here.value + theta * here.mean, 1e-10));
    }
}
