#include "optimum.hpp"

#include <algorithm>
#include <cmath>

#include "tree.hpp"

namespace bvdt {
namespace {

struct Problem : BlockWeights, Solution {
    // Sets q to each block's share among A's own blocks, per entry; returns a_A.
    double own_blocks(int64_t k) const {
        if (!first) {  // coarsest: the one block (k, sibling)
            if (k == 0) return kMinusInfinity;
            const int64_t n_cols = size[parent[k]] - size[k];
            q[k - 1] = 1.0 / static_cast<double>(n_cols);
            return log_weight(k - 1, n_cols);
        }
        double largest = kMinusInfinity, total = 0;
        for (int64_t b = first[k]; b < first[k + 1]; ++b)
            largest = std::max(largest, log_weight(b, size[cols[b]]));
        if (largest == kMinusInfinity) return largest;
        for (int64_t b = first[k]; b < first[k + 1]; ++b)
            total += q[b] = std::exp(log_weight(b, size[cols[b]]) - largest);
        for (int64_t b = first[k]; b < first[k + 1]; ++b) q[b] /= total * size[cols[b]];
        return largest + std::log(total);
    }

    void scale_blocks(int64_t k, double factor) const {
        if (first)
            for (int64_t b = first[k]; b < first[k + 1]; ++b) q[b] *= factor;
        else if (k > 0)
            q[k - 1] *= factor;
    }

    void up(int64_t k) const {
        const double own = own_blocks(k);
        if (size[k] == 1) {
            value[k] = own, below[k] = 0;
            return;
        }
        const int64_t l = k + 1, r = right_child(size, k);
        const double under = (size[l] * value[l] + size[r] * value[r]) / size[k];
        if (own == kMinusInfinity) {
            value[k] = under, below[k] = 1;
            return;
        }
        const double ratio = std::exp(-std::abs(own - under));
        const double large = 1.0 / (1.0 + ratio), small = ratio * large;
        value[k] = std::max(own, under) + std::log1p(ratio);
        below[k] = own > under ? small : large;
        scale_blocks(k, own > under ? large : small);
    }

    void down(int64_t k) const {
        if (k == 0) return;
        const double mass = below[parent[k]];
        scale_blocks(k, mass);
        below[k] *= mass;
    }
};

}  // namespace

void optimum(const BlockWeights& weights, const Solution& solution, int threads) {
    const Problem problem{weights, solution};
    const Subtrees subtrees(problem.size, problem.n_nodes, kSolvedAtOnce);
    subtrees.climb(threads, [&](int64_t k, int64_t) { problem.up(k); });
    subtrees.descend(threads, [&](int64_t k, int64_t) { problem.down(k); });
}

}  // namespace bvdt
