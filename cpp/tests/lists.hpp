// Neighbor lists, and the nearest by looking at all.
#pragma once

#include <limits>
#include <utility>

#include "../kernels/ivf.hpp"
#include "../kernels/top_k.hpp"
#include "cases.hpp"

namespace bvdt::test {

struct Lists {
    std::vector<int32_t> index;
    std::vector<double> divergence;
    int64_t k;

    Lists(int64_t n, int64_t k_)
        : index(static_cast<size_t>(n * k_), -1),
          divergence(static_cast<size_t>(n * k_), std::numeric_limits<double>::infinity()),
          k(k_) {}

    NeighborLists view() { return {index.data(), divergence.data(), k}; }
};

// The k nearest of the candidates, by divergence, then by index.
inline std::vector<std::pair<double, int32_t>> nearest(const Points& p, int64_t i,
                                                       const std::vector<int32_t>& candidates, int64_t k) {
    std::vector<std::pair<double, int32_t>> all;
    for (int32_t j : candidates)
        if (j != i) all.emplace_back(std::max(p.divergence(i, j), 0.0), j);
    std::sort(all.begin(), all.end());
    all.resize(std::min(all.size(), static_cast<size_t>(k)));
    return all;
}

inline std::vector<int32_t> numbers(int64_t n) {
    std::vector<int32_t> all(static_cast<size_t>(n));
    std::iota(all.begin(), all.end(), 0);
    return all;
}

// Ends of parts of `size`, the last one smaller.
inline std::vector<int64_t> parts_of(int64_t n, int64_t size) {
    std::vector<int64_t> bounds;
    for (int64_t b = 0; b < n; b += size) bounds.push_back(b);
    bounds.push_back(n);
    return bounds;
}

// h = x and u = w = ‖x‖²/2: half the squared distance.
inline void make_self_dual(Points& p) {
    p.h = p.x;
    for (int64_t i = 0; i < p.n; ++i) p.u[i] = p.w[i] = p.inner(i, i) / 2;
}

inline DensePoints self_dual(const Points& p) { return {p.x.data(), p.x.data(), p.n, p.d}; }

inline InvertedLists inverted(const Points& p, const DensePoints& points, const std::vector<int32_t>& order,
                              const std::vector<int64_t>& bounds, int threads = 2) {
    const int64_t n_lists = static_cast<int64_t>(bounds.size()) - 1;
    return {points, p.u.data(), p.w.data(), order.data(), bounds.data(), n_lists, threads};
}

}  // namespace bvdt::test
