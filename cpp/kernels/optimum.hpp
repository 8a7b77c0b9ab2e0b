// The optimum of Eq. (18) under Eq. (3) by two sweeps; docs/theory.md, "The optimum in two passes".
//
// Up, in the log domain:   a_A = log Σ_B |B| e^{−d̄_AB/β},  k_A = (|L|c_L + |R|c_R)/|A|,
//                          c_A = log(e^{a_A} + e^{k_A}).
// Down, in shares:         a row's mass splits at A into e^{a_A − c_A} for A's own blocks and
//                          e^{k_A − c_A} for the nodes below. The two shares are computed apart, so
//                          they sum to 1 to rounding, and their products cannot overflow.
#pragma once

#include "weights.hpp"

namespace bvdt {

struct Solution {
    double* q;      // (n_blocks,)
    double* value;  // (2N − 1,) c_A
    double* below;  // (2N − 1,) mass of a row that is left below A
};

void optimum(const BlockWeights& weights, const Solution& solution, int threads);

}  // namespace bvdt
