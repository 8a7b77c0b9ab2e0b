// Random trees and points, and what the slow twins share.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "../kernels/points.hpp"
#include "../kernels/tree.hpp"

namespace bvdt::test {

using Generator = std::mt19937_64;

inline int64_t below(Generator& rng, int64_t n) {
    return std::uniform_int_distribution<int64_t>(0, n - 1)(rng);
}
inline double uniform(Generator& rng, double low = 0, double high = 1) {
    return std::uniform_real_distribution<double>(low, high)(rng);
}
inline std::vector<double> uniforms(Generator& rng, int64_t count, double low = 0, double high = 1) {
    std::vector<double> values(static_cast<size_t>(count));
    for (double& value : values) value = uniform(rng, low, high);
    return values;
}
inline std::vector<int32_t> permutation(Generator& rng, int64_t n) {
    std::vector<int32_t> order(static_cast<size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), rng);
    return order;
}

inline bool near(double a, double b, double relative = 1e-12) {
    return std::abs(a - b) <= relative * (1 + std::max(std::abs(a), std::abs(b)));
}

struct Tree {
    std::vector<int32_t> size, parent, start, order;

    int64_t n_nodes() const { return static_cast<int64_t>(size.size()); }
    int64_t n() const { return size[0]; }
    int64_t sibling(int64_t node) const {
        const int64_t left = parent[node] + 1;
        return node == left ? right_child(size.data(), parent[node]) : left;
    }
    std::vector<int32_t> points(int64_t node) const {
        return {order.begin() + start[node], order.begin() + start[node] + size[node]};
    }
};

// Splits at random, or one point at a time: the deepest tree there is.
inline Tree random_tree(Generator& rng, int64_t n, bool chain = false) {
    Tree tree;
    tree.order = permutation(rng, n);
    std::vector<std::pair<int64_t, int32_t>> open{{n, -1}};
    int32_t leaf = 0;
    while (!open.empty()) {
        const auto [size, parent] = open.back();
        open.pop_back();
        const int32_t node = static_cast<int32_t>(tree.size.size());
        tree.size.push_back(static_cast<int32_t>(size)), tree.parent.push_back(parent);
        tree.start.push_back(leaf);
        leaf += size == 1;
        if (size == 1) continue;
        const int64_t left = chain ? (below(rng, 2) ? 1 : size - 1) : 1 + below(rng, size - 1);
        open.emplace_back(size - left, node), open.emplace_back(left, node);
    }
    return tree;
}

// Points in lifted form; the sparse form holds the same numbers as the dense one, without its zeros.
struct Points {
    std::vector<double> x, h, u, w;  // (n, d) ×2, (n,) ×2
    std::vector<int64_t> indptr{0};
    std::vector<int32_t> indices;
    std::vector<double> sparse_x, sparse_h;
    int64_t n, d;

    Points(Generator& rng, int64_t n_, int64_t d_, double density = 1) : n(n_), d(d_) {
        for (int64_t i = 0; i < n; ++i) {
            double uh = 0;
            for (int64_t j = 0; j < d; ++j) {
                const bool stored = uniform(rng) < density;
                const double xi = stored ? uniform(rng, 0.1, 2) : 0, hi = stored ? std::log(1 + xi) : 0;
                x.push_back(xi), h.push_back(hi);
                uh += xi * hi;
                if (stored)
                    indices.push_back(static_cast<int32_t>(j)), sparse_x.push_back(xi),
                        sparse_h.push_back(hi);
            }
            indptr.push_back(static_cast<int64_t>(indices.size()));
            u.push_back(uh), w.push_back(uniform(rng, 5, 6));
        }
    }

    DensePoints dense() const { return {x.data(), h.data(), n, d}; }
    SparsePoints sparse() const {
        return {indptr.data(), indices.data(), sparse_x.data(), sparse_h.data(), n, d};
    }
    double inner(int64_t i, int64_t j) const {  // ⟨x_i, h_j⟩
        double sum = 0;
        for (int64_t k = 0; k < d; ++k) sum += x[i * d + k] * h[j * d + k];
        return sum;
    }
    double divergence(int64_t i, int64_t j) const { return u[i] + w[j] - inner(i, j); }
};

}  // namespace bvdt::test
