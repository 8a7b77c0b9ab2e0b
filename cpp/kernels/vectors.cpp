#include "vectors.hpp"

namespace bvdt {

BVDT_SIMD void add_scaled(double* to, const double* from, double scale, int64_t count) {
    BVDT_INDEPENDENT_LOOP
    for (int64_t j = 0; j < count; ++j) to[j] += scale * from[j];
}

}  // namespace bvdt
