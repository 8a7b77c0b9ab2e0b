// Inner products and sums of dense vectors.
#pragma once

#include <cstdint>

#include "platform.hpp"

namespace bvdt {

// In which order a sum is added up, which decides its last digits.
enum class Order {
    kAsStored,   // one running sum
    kEightSums,  // eight running sums, themselves added in one fixed order
};

// ⟨a, b⟩
template <Order order, typename T>
BVDT_INLINE T dot(const T* a, const T* b, int64_t d) {
    T sum = 0;
    if constexpr (order == Order::kAsStored) {
        for (int64_t j = 0; j < d; ++j) sum += a[j] * b[j];
    } else {
        T lane[8] = {};
        int64_t j = 0;
        for (; j + 8 <= d; j += 8)
            for (int k = 0; k < 8; ++k) lane[k] += a[j + k] * b[j + k];
        for (; j < d; ++j) sum += a[j] * b[j];
        sum = ((lane[0] + lane[4]) + (lane[1] + lane[5])) + ((lane[2] + lane[6]) + (lane[3] + lane[7])) + sum;
    }
    return sum;
}

constexpr int64_t kFour = 4;

// out[c] = ⟨x, h[c]⟩ of four vectors, which share the reads of x; eight running sums each.
void four_products(const double* x, const double* const* h, int64_t d, double* out);

// to += scale·from
void add_scaled(double* to, const double* from, double scale, int64_t count);

}  // namespace bvdt
