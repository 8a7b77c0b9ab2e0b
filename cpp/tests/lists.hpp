// Nearest centres by looking at all of them.
#pragma once

#include <limits>
#include <utility>

#include "../kernels/neighbors.hpp"
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

}  // namespace bvdt::test
