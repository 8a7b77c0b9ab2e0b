#include "vectors.hpp"

#include "lanes.hpp"

namespace bvdt {
namespace {

constexpr int64_t kSums = 8;

// Eight running sums, added up in one fixed order: the same on every CPU.
BVDT_INLINE double total(const Lanes<double>& sums) {
    double t[kSums];
    Lanes<double>::at(t) = sums;
    return ((t[0] + t[4]) + (t[2] + t[6])) + ((t[1] + t[5]) + (t[3] + t[7]));
}

// out[c] = ⟨x, h_c⟩
void multiply_four(const double* x, const double* const* h, int64_t d, double* out) {
    using Part = Lanes<double>;
    Part sum[kFour] = {};
    int64_t j = 0;
    for (; j + kSums <= d; j += kSums)
        for (int64_t c = 0; c < kFour; ++c) sum[c] += Part::at(x + j) * Part::at(h[c] + j);
    for (int64_t c = 0; c < kFour; ++c) {
        double rest = 0;
        for (int64_t i = j; i < d; ++i) rest += x[i] * h[c][i];
        out[c] = total(sum[c]) + rest;
    }
}

}  // namespace

void four_products(const double* x, const double* const* h, int64_t d, double* out) {
    multiply_four(x, h, d, out);
}

void add_scaled(double* to, const double* from, double scale, int64_t count) {
    BVDT_INDEPENDENT_LOOP
    for (int64_t j = 0; j < count; ++j) to[j] += scale * from[j];
}

}  // namespace bvdt
