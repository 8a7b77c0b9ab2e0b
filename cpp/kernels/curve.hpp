// The bound of Eq. (18) per row, c, as a function of θ = 1/β: c, −dc/dθ and d²c/dθ² in one pass up the tree.
//
// c_A is the log of a sum of exponentials of −θ·d̄, at A's own blocks and, averaged over its rows, below. So
// its derivatives are the mean and the variance of d̄ under the optimum; the optimum itself need not be made.
#pragma once

#include "weights.hpp"

namespace bvdt {

struct Curve {
    double value, entropy, mean, variance;  // c, the rows' mean entropy, −dc/dθ, d²c/dθ²
};

Curve bound_curve(const BlockWeights& weights, int threads);

}  // namespace bvdt
