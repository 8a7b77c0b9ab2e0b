// The weights |B|·e^{−d̄_AB/β} of a tree's blocks, for the optimum and for the bound as a function of β.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace bvdt {

constexpr int64_t kSolvedAtOnce = 4096;  // leaves of a subtree that one thread solves
constexpr double kLargest = 1e300;       // keeps d̄/β finite for any β
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

// A tree's blocks with their divergences.
struct BlockWeights {
    const int32_t *size, *parent;  // (2N − 1,)
    int64_t n_nodes;               // 2N − 1
    const int64_t* first;          // (2N,) blocks of row node k: first[k] … first[k + 1]; null: the coarsest
    const int32_t* cols;           // (n_blocks,)
    const double* dbar;            // (n_blocks,)
    double bandwidth;
    Logs log = {};

    double log_weight(int64_t block, int64_t n_cols) const {
        return log(n_cols) - std::min(dbar[block] / bandwidth, kLargest);
    }
};

}  // namespace bvdt
