// The weights |B|·e^{−d̄_AB/β} of a tree's blocks, for the optimum and for the bound as a function of β.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "chunks.hpp"

namespace bvdt {

constexpr int64_t kChunkLeaves = 4096;
constexpr double kLargest = 1e300;  // keeps d̄/β finite for any β
constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

struct Logs {  // log of small integers by table
    std::vector<double> table;
    Logs() : table(4096) {
        for (size_t n = 1; n < table.size(); ++n) table[n] = std::log(static_cast<double>(n));
    }
    double operator()(int64_t n) const {
        return n < static_cast<int64_t>(table.size()) ? table[n] : std::log(static_cast<double>(n));
    }
};

struct BlockWeights {
    const int32_t *size, *parent;  // (2N − 1,)
    const int64_t* first;          // (2N,) blocks of row node k: first[k] … first[k + 1]; null: the coarsest
    const int32_t* cols;           // (n_blocks,)
    const double* dbar;            // (n_blocks,)
    double bandwidth;
    Logs log;

    double log_weight(int64_t block, int64_t n_cols) const {
        return log(n_cols) - std::min(dbar[block] / bandwidth, kLargest);
    }
};

// The arrays checked, as far as a kernel could be sent outside them.
inline BlockWeights checked_weights(const Vector<int32_t>& size, const Vector<int32_t>& parent,
                                    const Vector<double>& dbar, double bandwidth, int threads) {
    checked_points(size, threads);
    require(parent.shape(0) == size.shape(0), "parent needs one entry a node");
    const int64_t n_nodes = parent.shape(0);
    bool holds = true;
#pragma omp parallel for reduction(&& : holds) num_threads(threads)
    for (int64_t k = 1; k < n_nodes; ++k) {
        const int64_t p = parent.data()[k];
        holds = holds && p >= 0 && p < k && size.data()[p] > size.data()[k];
    }
    require(holds, "parent is not that of a pre-order tree");
    require(bandwidth > 0, "bandwidth needs to be positive");
    return {size.data(), parent.data(), nullptr, nullptr, dbar.data(), bandwidth, {}};
}

inline BlockWeights coarsest_weights(const Vector<int32_t>& size, const Vector<int32_t>& parent,
                                     const Vector<double>& dbar, double bandwidth, int threads) {
    require(dbar.shape(0) + 1 == size.shape(0), "the coarsest partition has 2(N − 1) blocks");
    return checked_weights(size, parent, dbar, bandwidth, threads);
}

inline BlockWeights block_weights(const Vector<int32_t>& size, const Vector<int32_t>& parent,
                                  const Vector<int64_t>& first, const Vector<int32_t>& cols,
                                  const Vector<double>& dbar, double bandwidth, int threads) {
    check_blocks(first, cols, size.shape(0));
    require(cols.shape(0) == dbar.shape(0), "cols and mean_divergence need one entry a block");
    BlockWeights weights = checked_weights(size, parent, dbar, bandwidth, threads);
    weights.first = first.data(), weights.cols = cols.data();
    return weights;
}

}  // namespace bvdt
